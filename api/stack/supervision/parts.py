"""The parts of the stack as data: what runs, as whom, with which environment, and how it stops."""

import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from api.stack.home.accounts import SERVER_ENVIRONMENT
from api.stack.home.layout import Layout
from api.stack.sockets.doors import VARIABLE as DOORS_VARIABLE

POSTGRES = "postgres"
REDIS = "redis"
API = "api"
WORKER_EMBED = "worker-embed"
WORKER_PIPELINE = "worker-pipeline"
WORKER_COMPACT = "worker-compact"
BEAT = "beat"
FLOWER = "flower"
WORKERS = (WORKER_EMBED, WORKER_PIPELINE, WORKER_COMPACT)
STOP_WAIT_SECONDS = {API: 20}  # a little longer than the API drains
IN_START_ORDER = (POSTGRES, REDIS, API, WORKER_EMBED, WORKER_PIPELINE, WORKER_COMPACT, BEAT, FLOWER)
STOP_TOGETHER = ((FLOWER, BEAT), WORKERS, (API,), (REDIS,), (POSTGRES,))

# Marks our processes, so that those whose supervisor was killed can be found and stopped.
PART_VARIABLE = "LONGTAIL_PART"
# Our matrices are small: threads for them only take the cores from the encoder and the database.
SMALL_MATRICES = {"OPENBLAS_NUM_THREADS": "1"}
# Addresses and secrets that a part gets explicitly or not at all; the owner's address reaches none of them.
WITHHELD_VARIABLES = (
    "LONGTAIL_DATABASE_URL",
    "LONGTAIL_API_DATABASE_URL",
    "LONGTAIL_WORKER_DATABASE_URL",
    "LONGTAIL_REPORT_DATABASE_URL",
    "LONGTAIL_REDIS_URL",
    "LONGTAIL_TOKEN",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One supervised process."""

    name: str
    command: list[str]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    user: str | None = None  # another account to drop to
    autostart: bool = False
    stop_signal: str = "TERM"
    stop_wait_seconds: int = 15
    start_seconds: int = 2  # one that dies sooner is retried with growing pauses


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Where the parts find each other."""

    redis_url: str
    api_database_url: str
    worker_database_url: str
    host: str
    port: int
    token: str
    flower_port: int | None = None


def node_names() -> dict[str, str]:
    """The Celery node name of each worker here: {"worker-embed": "embed@host", …}."""
    host = socket.gethostname()
    return {part: f"{part.removeprefix('worker-')}@{host}" for part in WORKERS}


def inherited_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The operator's environment without the addresses and secrets that parts must not inherit."""
    return {name: value for name, value in environment.items() if name not in WITHHELD_VARIABLES}


def plan_server(layout: Layout, name: str, command: list[str]) -> Part:
    """A database server: its own account, an empty environment, and time to write everything down."""
    clean = [f"{variable}={value}" for variable, value in SERVER_ENVIRONMENT.items()]
    return Part(
        name=name,
        command=["/usr/bin/env", "-i", *clean, *command],
        folder=layout.postgres if name == POSTGRES else layout.redis,
        user=layout.service.name if layout.drops_privileges else None,
        autostart=True,
        # INT is PostgreSQL's fast shutdown; TERM would wait for every client to leave
        stop_signal="INT" if name == POSTGRES else "TERM",
        stop_wait_seconds=60,
        start_seconds=1,
    )


def plan_services(layout: Layout, addresses: Addresses) -> list[Part]:
    """API, workers and beat (and Flower where it has a port), each with the least it needs to know."""
    common = {"LONGTAIL_HOME": str(layout.home), "LONGTAIL_REDIS_URL": addresses.redis_url}
    api = {
        **common,
        "LONGTAIL_API_DATABASE_URL": addresses.api_database_url,
        "LONGTAIL_HOST": addresses.host,
        "LONGTAIL_PORT": str(addresses.port),
        DOORS_VARIABLE: str(layout.doors_socket),
    }
    worker = {**common, "LONGTAIL_WORKER_DATABASE_URL": addresses.worker_database_url}
    python = [sys.executable, "-P", "-m"]  # -P: a file that happens to lie in the folder is not a module
    celery = [*python, "celery", "--quiet", "-A", "workers.app"]
    serving = ["--include", "workers.tasks", "--without-mingle", "--without-gossip"]
    names = node_names()
    parts = [
        _service(layout, API, [*python, "api.server"], api),
        _service(
            layout,
            WORKER_EMBED,
            [*celery, "worker", "-n", names[WORKER_EMBED], "-Q", "embed",
             "--pool", "prefork", "-c", "1", *serving],
            worker,
        ),
        _service(
            layout,
            WORKER_PIPELINE,
            [*celery, "worker", "-n", names[WORKER_PIPELINE], "-Q", "ingest,gate,maintenance",
             "--pool", "prefork", "-c", "2", "--max-tasks-per-child", "5000", *serving],
            worker,
        ),
        # a worker of its own: a summariser that hangs must not keep anything else waiting
        _service(
            layout,
            WORKER_COMPACT,
            [*celery, "worker", "-n", names[WORKER_COMPACT], "-Q", "compact",
             "--pool", "prefork", "-c", "1", "--max-tasks-per-child", "2000", *serving],
            worker,
        ),
        # no pid file: one left by a crash would keep beat from starting
        _service(
            layout, BEAT, [*celery, "beat", "-s", str(layout.run / "beat-schedule"), "--pidfile="], worker
        ),
    ]  # fmt: skip
    if addresses.flower_port is not None:
        flower = {**worker, "FLOWER_BASIC_AUTH": f"longtail:{addresses.token}"}
        command = [*celery, "flower", "--address=127.0.0.1", f"--port={addresses.flower_port}"]
        parts.append(_service(layout, FLOWER, command, flower))
    return parts


def _service(layout: Layout, name: str, command: list[str], environment: dict[str, str]) -> Part:
    return Part(
        name=name,
        command=command,
        folder=layout.home,
        environment={
            **environment,
            **SMALL_MATRICES,
            PART_VARIABLE: name,
            "PYTHONUNBUFFERED": "1",
            "PWD": str(layout.home),
        },
        stop_wait_seconds=STOP_WAIT_SECONDS.get(name, 30 if name in WORKERS else 10),
        start_seconds=3 if name == BEAT else 5,
    )
