"""How the stack is now: one report, gathered in about a second, whether it runs here or elsewhere."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from api.host.configuration import Configuration
from api.host.spool import Spool
from api.stack.home.layout import Layout
from api.stack.home.state import read_state
from api.stack.reports.encoders import read_encoders
from api.stack.servers import postgres, valkey
from api.stack.sockets.endpoints import find_endpoints, is_answered
from api.stack.supervision import health
from api.stack.supervision.orphans import find_orphans
from api.stack.supervision.parts import WORKERS, node_names
from api.stack.supervision.supervisor import ProcessState, Supervisor
from api.version import find_version
from models.errors import ServiceError, TransientError
from models.messages import QUEUES
from models.settings import Settings, without_password

ALIVE = {"RUNNING", "STARTING"}


def gather_status(settings: Settings, layout: Layout) -> dict[str, Any]:
    """The report of `longtail status --json`; what cannot be known is null, and `problems` says why."""
    state = read_state(layout)
    supervisor = Supervisor(layout.control_socket)
    processes, supervisor_problem = _ask_supervisor(supervisor)
    local = bool(processes) or supervisor_problem is not None
    database_url = settings.database_url or settings.api_database_url or state.get("database_url")
    redis_url = settings.redis_url or state.get("redis_url")
    somewhere = local or bool(settings.database_url or settings.api_url)
    names = list((state.get("nodes") or node_names()).values()) if local else None

    with ThreadPoolExecutor(max_workers=5) as pool:
        asked_postgres = pool.submit(_ask_postgres, database_url if somewhere else None)
        asked_redis = pool.submit(_ask_redis, redis_url if somewhere else None)
        asked_api = pool.submit(_ask_api, settings, somewhere)
        asked_workers = (
            pool.submit(health.ping_workers, redis_url, names) if somewhere and redis_url else None
        )
        asked_encoders = pool.submit(read_encoders, settings) if somewhere else None
        found_postgres, postgres_problem = asked_postgres.result()
        found_redis, queues, redis_problem = asked_redis.result()
        api, counts, api_problem = asked_api.result()
        alive = asked_workers.result() if asked_workers else []

    encoders = asked_encoders.result() if asked_encoders and not postgres_problem else None
    expected = len(WORKERS) if local else 1
    found = (supervisor_problem, postgres_problem, redis_problem, api_problem)
    problems = [problem for problem in found if problem]
    if somewhere and len(alive) < expected:
        problems.append(f"{len(alive)} of {expected} workers answer")
    problems += [
        f"{name} is {process.state.lower()}{': ' + process.problem if process.problem else ''}"
        for name, process in processes.items()
        if process.state not in ALIVE
    ]
    endpoints, silent = _ask_endpoints(layout) if local else ([], [])
    problems += silent
    orphans = [] if local else list(find_orphans(layout))
    if orphans:
        problems.append(
            f"supervisord is gone, and {', '.join(orphans)} still run without it; unless they are replaced within "
            "a minute, run 'longtail down', then 'longtail up'"
        )
    elif not somewhere:
        problems.append("the stack ended without 'longtail down'" if state else "the stack is not running")
    return {
        "healthy": somewhere and not problems,
        "version": state.get("version") or find_version(),
        "home": str(layout.home),
        "servers": str(layout.servers),
        "started_at": state.get("started_at"),
        "api": api,
        "postgres": {"url": without_password(database_url), **found_postgres},
        "redis": {"url": without_password(redis_url), **found_redis},
        "workers": {"alive": len(alive), "expected": expected, "names": alive},
        "encoder": encoders,
        "pending": counts.get("pending"),
        "lag_seconds": counts.get("lag_seconds"),
        "queues": queues,
        "dead_letters": counts.get("dead_letters"),
        "orphans": orphans,
        "parts": {name: _describe(process) for name, process in processes.items()},
        "rpc": {"endpoints": endpoints},
        "inspector_url": find_inspector(api["url"]) if api["url"] else None,
        "flower_url": state.get("flower_url"),
        "spool": measure_spool(layout),
        "problems": problems,
    }


def find_inspector(api_url: str) -> str:
    """Where the Inspector's pages are."""
    return f"{api_url}/inspector"


def _ask_supervisor(supervisor: Supervisor) -> tuple[dict[str, ProcessState], str | None]:
    """The parts as supervisord sees them; on a busy machine it may answer once and not again in time."""
    if not supervisor.answers():
        return {}, None
    try:
        return supervisor.processes(), None
    except TransientError as error:
        return {}, error.detail


def measure_spool(layout: Layout) -> dict[str, Any]:
    """What hooks left while the API was away; known also when nothing runs."""
    configuration = Configuration(home=str(layout.home))
    return Spool(configuration.home, max_bytes=configuration.spool_max_bytes).measure()


def _ask_endpoints(layout: Layout) -> tuple[list[str], list[str]]:
    """The line server's endpoints that take connections, and what is wrong with the others."""
    named = find_endpoints(layout.home)
    answered = [endpoint for endpoint in named if is_answered(endpoint)]
    return answered, [f"nobody listens on {endpoint}" for endpoint in named if endpoint not in answered]


def _describe(process: ProcessState) -> dict[str, Any]:
    return {
        "state": process.state.lower(),
        "pid": process.pid or None,
        "uptime_seconds": process.uptime_seconds,
    }


def _ask_postgres(url: str | None) -> tuple[dict[str, Any], str | None]:
    empty = {"healthy": False, "version": None, "pgvector": None}
    if url is None:
        return empty, None
    try:
        found = postgres.probe(url)
    except ServiceError as error:
        return empty, error.detail
    return {"healthy": True, "version": found["version"], "pgvector": found["pgvector"]}, None


def _ask_redis(url: str | None) -> tuple[dict[str, Any], dict[str, int | None], str | None]:
    empty = {"healthy": False, "version": None, "server": None}
    unknown: dict[str, int | None] = dict.fromkeys(QUEUES)
    if url is None:
        return empty, unknown, None
    try:
        found = valkey.probe(url)
        queues: dict[str, int | None] = {**valkey.measure_queues(url, QUEUES)}
    except ServiceError as error:
        return empty, unknown, error.detail
    return {"healthy": True, "version": found["version"], "server": found["server"]}, queues, None


def _ask_api(settings: Settings, somewhere: bool) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    url = settings.service_url()
    if not somewhere:
        return {"url": None, "healthy": False}, {}, None
    readiness = health.read_readiness(url)
    if not readiness.ready:
        return {"url": url, "healthy": False}, {}, f"the API at {url} is not ready: {readiness.explain()}"
    status, counts = health.read_service_status(url, settings.client_token())
    if status == 200:
        return {"url": url, "healthy": True}, counts, None
    return {"url": url, "healthy": True}, {}, f"GET {url}/v1/status answered {status or 'nothing'}"
