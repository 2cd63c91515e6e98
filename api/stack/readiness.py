"""Waiting for parts: each has a probe that is content when it is well; one that keeps dying is given up."""

import time
from collections.abc import Callable
from typing import Literal

from api.stack import health, postgres, valkey
from api.stack.diagnosis import Diagnosis, StartFailed
from api.stack.parts import POSTGRES, REDIS, WORKERS, node_names
from api.stack.supervision import ProcessState, Supervisor
from models.errors import TransientError

Probe = Callable[[ProcessState], str | None]  # a short detail when ready, None when not yet

# PostgreSQL may meet survivors of a killed predecessor and needs a few tries; others do not.
DEATHS_MAX = {POSTGRES: 6, REDIS: 4}
DEATHS_MAX_OTHERWISE = 2
# Recovery after a crash replays journals, however long they are; the others only load code and weights.
SECONDS_MAX = {POSTGRES: 600.0, REDIS: 300.0}
SECONDS_MAX_OTHERWISE = 120.0


def await_ready(
    supervisor: Supervisor,
    probes: dict[str, Probe],
    *,
    report: Callable[[str, Literal["starting", "ready", "failed"], str], None],
    explain: Callable[[str], Diagnosis],
) -> None:
    """Return when every probe was content; raise StartFailed for the first part that will not come."""
    began = time.monotonic()
    deaths: dict[str, set[int]] = {part: set() for part in probes}
    pending = dict(probes)
    while pending:
        processes = supervisor.processes()
        for part, probe in list(pending.items()):
            process = processes[part]
            if process.stopped_at:
                deaths[part].add(process.stopped_at)
            detail = probe(process) if process.pid else None
            seconds = time.monotonic() - began
            problem = None
            if detail is not None:
                report(part, "ready", f"{detail} ({seconds:.1f} s)" if detail else f"{seconds:.1f} s")
                del pending[part]
            elif process.state == "FATAL" or len(deaths[part]) >= DEATHS_MAX.get(part, DEATHS_MAX_OTHERWISE):
                problem = "stops as soon as it starts"
            elif seconds > SECONDS_MAX.get(part, SECONDS_MAX_OTHERWISE):
                problem = f"was not ready after {seconds:.0f} seconds"
            if problem:
                report(part, "failed", problem)
                raise StartFailed(part, problem, explain(part))
        if pending:
            time.sleep(0.1)


def probe_running(process: ProcessState) -> str | None:
    """For parts that answer nobody: they stayed up long enough."""
    return "" if process.state == "RUNNING" else None


def probe_postgres(url: str) -> Probe:
    def probe(process: ProcessState) -> str | None:
        del process
        try:
            return postgres.probe(url)["version"]
        except TransientError:
            return None

    return probe


def probe_redis(url: str) -> Probe:
    def probe(process: ProcessState) -> str | None:
        del process
        try:
            found = valkey.probe(url)
        except TransientError:
            return None
        return None if found["loading"] else f"{found['server']} {found['version']}"

    return probe


def probe_api(url: str) -> Probe:
    def probe(process: ProcessState) -> str | None:
        del process
        ready, _ = health.read_readiness(url)
        return url if ready else None

    return probe


def probe_flower(url: str) -> Probe:
    def probe(process: ProcessState) -> str | None:
        del process
        return url if health.answers_http(url) else None

    return probe


def probe_workers(redis_url: str) -> dict[str, Probe]:
    """One probe a worker; they share each question, which takes up to a second."""
    names = node_names()
    heard: set[str] = set()

    def make(part: str) -> Probe:
        def probe(process: ProcessState) -> str | None:
            del process
            if names[part] not in heard:
                heard.update(
                    health.ping_workers(redis_url, [name for name in names.values() if name not in heard])
                )
            return "" if names[part] in heard else None

        return probe

    return {part: make(part) for part in WORKERS}
