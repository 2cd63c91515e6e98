"""Start and stop: the order of things, what is waited for, and what happens when a part does not come.

servers → database and schema → API, workers, beat → state.json       stopping runs the other way
"""

import secrets
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

import psutil

from api.stack.home.files import hold_lock, write_file
from api.stack.home.layout import Layout, plan_layout, prepare_folders, remove_short_folder
from api.stack.home.state import clear_state, read_state, write_state
from api.stack.interruption import StopSignals
from api.stack.servers import postgres, valkey
from api.stack.servers.binaries import find_postgres, find_redis
from api.stack.sockets import ports
from api.stack.sockets.endpoints import read_endpoints
from api.stack.supervision.diagnosis import StartFailed, diagnose, measure_log
from api.stack.supervision.endings import await_end
from api.stack.supervision.orphans import stop_orphans
from api.stack.supervision.parts import (
    API,
    BEAT,
    FLOWER,
    POSTGRES,
    REDIS,
    STOP_TOGETHER,
    Addresses,
    Part,
    node_names,
    plan_server,
    plan_services,
)
from api.stack.supervision.readiness import (
    Probe,
    await_ready,
    probe_api,
    probe_flower,
    probe_postgres,
    probe_redis,
    probe_running,
    probe_workers,
)
from api.stack.supervision.supervisor import (
    GUARDIAN,
    Supervisor,
    render_configuration,
    render_part,
    start_supervisord,
)
from api.version import find_version
from models.errors import Misconfigured, TransientError
from models.settings import Settings, derive_role_url
from models.traces import check_installed

Phase = Literal["starting", "ready", "failed", "stopping", "stopped"]
Report = Callable[[str, Phase, str], None]

SCHEMA = "schema"  # shown like a part: it takes time and can fail
LOCK_WAIT_SECONDS = 5.0
STOP_SECONDS_MAX = 90.0
GUARDIAN_SECONDS = 10.0
GONE = {"STOPPED", "EXITED", "FATAL", "UNKNOWN"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A stack that runs; `supervisord` is None where it ran before we came."""

    layout: Layout
    state: dict[str, Any]
    supervisord: subprocess.Popen[bytes] | None


def start_stack(settings: Settings, *, flower: bool, report: Report, signals: StopSignals) -> Started:
    """Bring every part up and write state.json, or stop everything again and raise why."""
    _check_flower(flower)
    check_installed(settings.traces_endpoint)
    layout = plan_layout(settings.home, settings.run_as)
    read_endpoints(settings.rpc_listen, home=layout.home)  # refused here, before anything is started
    prepare_folders(layout, with_servers=not (settings.database_url and settings.redis_url))
    with hold_lock(layout.lock_file, wait_seconds=LOCK_WAIT_SECONDS):
        supervisor = Supervisor(layout.control_socket)
        if supervisor.answers():
            state = read_state(layout)
            if state:
                if flower and FLOWER not in state["parts"]:
                    state = _add_flower(layout, settings, state, report)
                return Started(layout=layout, state=state, supervisord=None)
        _stop(layout, report)  # a start that was broken off, or what a crash left
        try:
            return _start(layout, settings, flower=flower, report=report, signals=signals)
        except BaseException:
            signals.shield()
            _stop(layout, report)
            remove_short_folder(layout)
            raise


def stop_stack(layout: Layout, report: Report) -> bool:
    """Stop whatever of this stack runs, in order; return whether anything did."""
    if not layout.run.is_dir():
        return False
    with hold_lock(layout.lock_file, wait_seconds=STOP_SECONDS_MAX):
        was_running = _stop(layout, report)
        remove_short_folder(layout)
        return was_running


def _start(
    layout: Layout, settings: Settings, *, flower: bool, report: Report, signals: StopSignals
) -> Started:
    servers: list[Part] = []
    owner_url, postgres_port = settings.database_url, 0
    if owner_url:
        report(POSTGRES, "starting", "checking the one at LONGTAIL_DATABASE_URL")
        report(POSTGRES, "ready", f"yours, {postgres.check_existing(owner_url)['version']}")
    else:
        report(POSTGRES, "starting", "preparing")
        programs = find_postgres(layout)
        postgres_port = ports.claim_port(layout.ports_file, POSTGRES)
        postgres.prepare_cluster(layout, programs, postgres_port, memory_mb=settings.postgres_memory_mb)
        servers.append(plan_server(layout, POSTGRES, postgres.server_command(layout, programs)))
    redis_url = settings.redis_url
    if redis_url:
        report(REDIS, "starting", "checking the one at LONGTAIL_REDIS_URL")
        report(REDIS, "ready", f"yours, {valkey.check_existing(redis_url)['version']}")
    else:
        report(REDIS, "starting", "preparing")
        valkey.prepare_server(layout)
        servers.append(plan_server(layout, REDIS, valkey.server_command(layout, find_redis(layout))))

    api_port = ports.claim_port(layout.ports_file, API, host=settings.host, wanted=settings.port)
    flower_port = ports.claim_port(layout.ports_file, FLOWER) if flower else None
    token = _ensure_token_file(layout, settings)
    owner_url = owner_url or postgres.local_url(layout, postgres_port)
    redis_url = redis_url or valkey.local_url(layout)
    addresses = _address(
        settings,
        owner_url=owner_url,
        redis_url=redis_url,
        port=api_port,
        token=token,
        flower_port=flower_port,
    )
    services = plan_services(layout, addresses)
    parts = [*servers, *services]
    write_file(layout.supervisor_conf, render_configuration(layout, parts))
    marks = {part.name: measure_log(layout.log_file(part.name)) for part in parts}

    process = start_supervisord(layout)
    supervisor = Supervisor(layout.control_socket)

    def await_parts(probes: dict[str, Probe]) -> None:
        await_ready(
            supervisor,
            probes,
            report=report,
            explain=lambda part: diagnose(part, layout.log_file(part), marks[part]),
            interrupt=signals.raise_if_asked,
        )

    server_probes = {
        POSTGRES: probe_postgres(
            postgres.local_url(layout, postgres_port, role="postgres", database="postgres")
        ),
        REDIS: probe_redis(redis_url),
    }
    await_parts({part.name: server_probes[part.name] for part in servers})

    report(SCHEMA, "starting", "migrating")
    if not settings.database_url:
        postgres.create_database(layout, postgres_port)
    _migrate(owner_url, {token, settings.token or token})
    report(SCHEMA, "ready", "up to date")

    for part in services:
        signals.raise_if_asked()
        report(part.name, "starting", "")
        supervisor.start(part.name)
    api_url = ports.local_url(settings.host, api_port)
    ping = probe_workers(redis_url)
    probes: dict[str, Probe] = {API: probe_api(api_url), **ping, BEAT: probe_running}
    if flower_port is not None:
        probes[FLOWER] = probe_flower(f"http://127.0.0.1:{flower_port}")
    await_parts(probes)
    signals.raise_if_asked()

    state: dict[str, Any] = {
        "version": find_version(),
        "started_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "supervisord_pid": supervisor.pid(),
        "home": str(layout.home),
        "servers": str(layout.servers),
        "sockets": str(layout.sockets),
        "service_user": layout.service.name,
        "database_url": owner_url,
        "redis_url": redis_url,
        "api_url": api_url,
        "parts": [part.name for part in parts],
        "nodes": node_names(),  # as started: the machine may be renamed meanwhile
    }
    if flower_port is not None:
        state["flower_url"] = f"http://127.0.0.1:{flower_port}"
    write_state(layout, state)
    return Started(layout=layout, state=state, supervisord=process)


def _address(
    settings: Settings, *, owner_url: str, redis_url: str, port: int, token: str, flower_port: int | None
) -> Addresses:
    return Addresses(
        redis_url=redis_url,
        api_database_url=settings.api_database_url or derive_role_url(owner_url, "longtail_api"),
        worker_database_url=settings.worker_database_url or derive_role_url(owner_url, "longtail_worker"),
        host=settings.host,
        port=port,
        token=token,
        flower_port=flower_port,
    )


def _add_flower(layout: Layout, settings: Settings, state: dict[str, Any], report: Report) -> dict[str, Any]:
    """Start Flower beside a stack that runs; nothing else of it is touched. Raises where Flower does not come."""
    port = ports.claim_port(layout.ports_file, FLOWER)
    addresses = _address(
        settings,
        owner_url=state["database_url"],
        redis_url=state["redis_url"],
        port=urlsplit(state["api_url"]).port or 0,
        token=_ensure_token_file(layout, settings),
        flower_port=port,
    )
    part = next(part for part in plan_services(layout, addresses) if part.name == FLOWER)
    written = layout.supervisor_conf.read_text()
    write_file(layout.supervisor_conf, written + render_part(layout, part, len(state["parts"])))
    supervisor = Supervisor(layout.control_socket)
    mark = measure_log(layout.log_file(FLOWER))
    report(FLOWER, "starting", "")
    url = f"http://127.0.0.1:{port}"
    try:
        supervisor.add(FLOWER)
        supervisor.start(FLOWER)
        await_ready(
            supervisor,
            {FLOWER: probe_flower(url)},
            report=report,
            explain=lambda part: diagnose(part, layout.log_file(part), mark),
        )
    except BaseException:
        _stop_parts(supervisor, (FLOWER,), report)
        write_file(layout.supervisor_conf, written)
        raise
    state = {**state, "parts": [*state["parts"], FLOWER], "flower_url": url}
    write_state(layout, state)
    return state


def _stop(layout: Layout, report: Report) -> bool:
    supervisor = Supervisor(layout.control_socket)
    was_running = supervisor.answers()
    if was_running:
        pid = supervisor.pid()
        for together in STOP_TOGETHER:
            _stop_parts(supervisor, together, report)
        _leave(supervisor, pid)
    orphans = stop_orphans(layout)
    for part in orphans:
        report(part, "stopped", "was left without a supervisor")
    clear_state(layout)
    return was_running or bool(orphans)


def _stop_parts(supervisor: Supervisor, together: tuple[str, ...], report: Report) -> None:
    try:
        asked = [
            name
            for name, found in supervisor.processes().items()
            if name in together and found.state not in GONE
        ]
        for part in asked:
            report(part, "stopping", "")
            supervisor.stop(part)
        deadline = time.monotonic() + STOP_SECONDS_MAX
        while asked and time.monotonic() < deadline:
            states = supervisor.processes()
            for part in [part for part in asked if states[part].state in GONE]:
                report(part, "stopped", "")
                asked.remove(part)
            if asked:
                time.sleep(0.1)
    except TransientError:
        return  # supervisord went away under us: the orphans' turn comes next


def _leave(supervisor: Supervisor, pid: int) -> None:
    try:
        process = psutil.Process(pid)
        guardian = process.parent()
        supervisor.shutdown()
        if await_end([process], seconds=STOP_SECONDS_MAX):
            process.kill()
        elif guardian is not None and GUARDIAN in guardian.cmdline():
            await_end([guardian], seconds=GUARDIAN_SECONDS)  # it ends with supervisord, a moment later
    except (psutil.NoSuchProcess, TransientError):
        return


def _ensure_token_file(layout: Layout, settings: Settings) -> str:
    try:
        kept = layout.token_file.read_text().strip()
    except FileNotFoundError:
        kept = ""
    if not kept:
        kept = settings.token or f"lt_{secrets.token_urlsafe(32)}"
        write_file(layout.token_file, kept + "\n")
    elif layout.token_file.stat().st_mode & 0o077:
        layout.token_file.chmod(0o600)
    return kept


def _migrate(owner_url: str, tokens: set[str]) -> None:
    from models.migrations.run import migrate
    from models.store.tenancy.tokens import ensure_token

    migrate(owner_url)
    for token in tokens:
        ensure_token(owner_url, tenant="default", token=token)


def _check_flower(wanted: bool) -> None:
    from importlib.util import find_spec

    if wanted and find_spec("flower") is None:
        raise Misconfigured(
            "--flower needs the package flower, which is not installed",
            remedy="install it with pip install 'longtail[flower]', or leave --flower out",
        )


__all__ = ["Phase", "Report", "StartFailed", "Started", "start_stack", "stop_stack"]
