"""Waiting for parts: each has a probe that is content when it is well; one that keeps dying is given up."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from api.stack.servers import postgres, valkey
from api.stack.supervision import health
from api.stack.supervision.diagnosis import Diagnosis, StartFailed
from api.stack.supervision.parts import POSTGRES, REDIS, WORKERS, node_names
from api.stack.supervision.supervisor import ProcessState, Supervisor
from models.errors import TransientError


@dataclass(frozen=True, slots=True)
class Answer:
    """What a probe found: ready or not yet, and a few words on either."""

    ready: bool
    words: str = ""


Probe = Callable[[ProcessState], Answer]
NOT_YET = Answer(False)

# PostgreSQL may meet survivors of a killed predecessor and needs a few tries; others do not.
DEATHS_MAX = {POSTGRES: 6, REDIS: 4}
DEATHS_MAX_OTHERWISE = 2
# Recovery after a crash replays journals, however long they are; the others only load code and weights.
SECONDS_MAX = {POSTGRES: 600.0, REDIS: 300.0}
SECONDS_MAX_OTHERWISE = 180.0


def await_ready(
    supervisor: Supervisor,
    probes: dict[str, Probe],
    *,
    report: Callable[[str, Literal["starting", "ready", "failed"], str], None],
    explain: Callable[[str], Diagnosis],
    interrupt: Callable[[], None] = lambda: None,
) -> None:
    """Return when every probe was content; raise StartFailed for the first part that will not come.

    `interrupt` is called before each round and raises where the start is to be broken off.
    """
    began = time.monotonic()
    deaths: dict[str, set[int]] = {part: set() for part in probes}
    pending = dict(probes)
    while pending:
        interrupt()
        processes = supervisor.processes()
        for part, probe in list(pending.items()):
            process = processes[part]
            if process.stopped_at:
                deaths[part].add(process.stopped_at)
            answer = probe(process) if process.pid else NOT_YET
            seconds = time.monotonic() - began
            problem = None
            if answer.ready:
                report(
                    part, "ready", f"{answer.words} ({seconds:.1f} s)" if answer.words else f"{seconds:.1f} s"
                )
                del pending[part]
            elif process.state == "FATAL" or len(deaths[part]) >= DEATHS_MAX.get(part, DEATHS_MAX_OTHERWISE):
                problem = "stops as soon as it starts"
            elif seconds > SECONDS_MAX.get(part, SECONDS_MAX_OTHERWISE):
                why = f" ({answer.words})" if answer.words else ""
                problem = f"was not ready after {seconds:.0f} seconds{why}"
            if problem:
                report(part, "failed", problem)
                raise StartFailed(part, problem, explain(part))
        if pending:
            time.sleep(0.1)


def probe_running(process: ProcessState) -> Answer:
    """For parts that answer nobody: they stayed up long enough."""
    return Answer(process.state == "RUNNING")


def probe_postgres(url: str) -> Probe:
    """Ready when it takes a login and a query."""

    def probe(process: ProcessState) -> Answer:
        del process
        try:
            return Answer(True, postgres.probe(url)["version"] or "")
        except TransientError as error:
            return Answer(False, error.detail)

    return probe


def probe_redis(url: str) -> Probe:
    """Ready when it has read its journal."""

    def probe(process: ProcessState) -> Answer:
        del process
        try:
            found = valkey.probe(url)
        except TransientError as error:
            return Answer(False, error.detail)
        return Answer(not found["loading"], f"{found['server']} {found['version']}")

    return probe


def probe_api(url: str) -> Probe:
    """Ready when it says so."""

    def probe(process: ProcessState) -> Answer:
        del process
        found = health.read_readiness(url)
        return Answer(found.ready, url if found.ready else found.explain())

    return probe


def probe_flower(url: str) -> Probe:
    """Ready when its pages are served."""

    def probe(process: ProcessState) -> Answer:
        del process
        return Answer(health.answers_http(url), url)

    return probe


def probe_workers(redis_url: str) -> dict[str, Probe]:
    """One probe a worker; they share each question, which takes up to a second or two."""
    names = node_names()
    heard: set[str] = set()

    def make(part: str) -> Probe:
        def probe(process: ProcessState) -> Answer:
            del process
            if names[part] not in heard:
                silent = [name for name in names.values() if name not in heard]
                heard.update(health.ping_workers(redis_url, silent))
            return Answer(names[part] in heard)

        return probe

    return {part: make(part) for part in WORKERS}
