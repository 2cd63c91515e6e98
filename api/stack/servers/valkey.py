"""Valkey, which is our Redis: the server we keep, or the checks on one that the operator keeps.

It carries doorbells, not memory, and keeps nothing on disk: after a restart the sweep rings again within seconds, and
there is no journal that a crash could damage or a full disk could stop.
"""

from typing import Any

from api.stack.home.files import write_file
from api.stack.home.layout import Layout
from api.stack.servers.binaries import RedisProgram
from models.errors import BrokerUnavailable, Misconfigured
from models.settings import without_password

REDIS_MIN = (6, 2)
TIMEOUT_SECONDS = 2.0

CONFIGURATION = """\
# Written by `longtail up`; changes here are lost.
port 0
unixsocket "{socket}"
unixsocketperm 700
dir "{data}"
daemonize no
databases 1
appendonly no
# The folder of a journal is looked into even where none is kept: not into one that an earlier version left.
appenddirname none
save ""
maxmemory-policy noeviction
loglevel notice
"""


def prepare_server(layout: Layout) -> None:
    """Write the configuration; Valkey makes its data by itself."""
    text = CONFIGURATION.format(socket=layout.redis_socket, data=layout.redis_data)
    write_file(layout.redis / "valkey.conf", text, mode=0o644)


def server_command(layout: Layout, program: RedisProgram) -> list[str]:
    """The command that runs the server in the foreground."""
    return [str(program.server), str(layout.redis / "valkey.conf")]


def local_url(layout: Layout) -> str:
    """The address over the socket."""
    return f"unix://{layout.redis_socket}"


def probe(url: str) -> dict[str, Any]:
    """What a server that answers says of itself: version, name, and how it keeps its data."""
    import redis

    try:
        with redis.Redis.from_url(
            url, socket_connect_timeout=TIMEOUT_SECONDS, socket_timeout=TIMEOUT_SECONDS, decode_responses=True
        ) as client:
            server: dict[str, Any] = dict(client.info("server"))
            persistence: dict[str, Any] = dict(client.info("persistence"))
            memory: dict[str, Any] = dict(client.info("memory"))
    except redis.RedisError as error:
        raise BrokerUnavailable(
            f"Redis at {without_password(url)} does not answer: {error}",
            remedy="check that it runs and that the address and password are right",
        ) from error
    except ValueError as error:
        raise Misconfigured(
            f"LONGTAIL_REDIS_URL is not an address Redis understands: {error}",
            field="redis_url",
            remedy="write it as redis://host:6379/0 or unix:///path/to/redis.sock",
        ) from error
    return {
        "version": str(server.get("valkey_version") or server["redis_version"]),
        "server": "valkey" if "valkey_version" in server else "redis",
        "redis_version": str(server["redis_version"]),
        "persistent": bool(persistence.get("aof_enabled")),
        "loading": bool(persistence.get("loading")),
        "writes_ok": persistence.get("aof_last_write_status", "ok") == "ok",
        "eviction": str(memory.get("maxmemory_policy", "noeviction")),
    }


def check_existing(url: str) -> dict[str, Any]:
    """Refuse a server of the operator's that is unreachable or older than we use."""
    found = probe(url)
    numbers = tuple(int(part) for part in found["redis_version"].split(".")[:2])
    if numbers < REDIS_MIN:
        raise Misconfigured(
            f"the Redis at {without_password(url)} is {found['redis_version']}, Longtail needs 6.2 or later",
            code="redis_too_old",
            remedy="upgrade it, or unset LONGTAIL_REDIS_URL to use the one Longtail brings",
        )
    return found


def measure_queues(url: str, queues: tuple[str, ...]) -> dict[str, int]:
    """How many doorbells wait in each queue."""
    import redis

    try:
        with redis.Redis.from_url(
            url, socket_connect_timeout=TIMEOUT_SECONDS, socket_timeout=TIMEOUT_SECONDS
        ) as client:
            pipeline = client.pipeline(transaction=False)
            for queue in queues:
                pipeline.llen(queue)
            return dict(zip(queues, (int(depth) for depth in pipeline.execute()), strict=True))
    except redis.RedisError as error:
        raise BrokerUnavailable(f"Redis at {without_password(url)} does not answer: {error}") from error
