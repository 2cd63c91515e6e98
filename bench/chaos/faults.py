"""Every fault: what is done to the stack, for how long, and how the cause is taken away again. Nothing is mended here."""

import base64
import gzip
import json
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack

import psutil
import psycopg

from api.stack.supervision.parts import (
    API,
    BEAT,
    POSTGRES,
    REDIS,
    WORKER_COMPACT,
    WORKER_EMBED,
    WORKER_PIPELINE,
)
from bench.chaos.place import Place, each
from models.migrations.run import migrate

Fault = Callable[[Place, random.Random], None]
MOST_SECONDS = 4.0  # that a cause lasts


def _kill(part: str) -> Fault:
    return lambda place, _rng: place.part(part).kill()


def _kill_child(part: str) -> Fault:
    def fault(place: Place, rng: random.Random) -> None:
        if children := place.part(part).children():
            rng.choice(children).kill()

    return fault


def kill_supervisor(place: Place, _rng: random.Random) -> None:
    psutil.Process(place.supervisor.pid()).kill()


def flush_redis(place: Place, _rng: random.Random) -> None:
    with place.broker() as broker:
        broker.flushall()


def _freeze(part: str) -> Fault:
    def fault(place: Place, rng: random.Random) -> None:
        frozen = place.family(part)
        for process in each(*frozen):
            process.suspend()
        try:
            time.sleep(rng.uniform(1, MOST_SECONDS))
        finally:
            for process in each(*frozen):
                process.resume()

    return fault


def _stop(part: str) -> Fault:
    def fault(place: Place, rng: random.Random) -> None:
        place.supervisor.stop(part)
        time.sleep(rng.uniform(1, MOST_SECONDS))
        deadline = time.monotonic() + 60
        while place.supervisor.processes()[part].state == "STOPPING" and time.monotonic() < deadline:
            time.sleep(0.1)
        place.supervisor.start(part)

    return fault


def slow_postgres(place: Place, _rng: random.Random) -> None:
    """Stopped two thirds of the time."""
    for _ in range(30):
        frozen = place.family(POSTGRES)
        for process in each(*frozen):
            process.suspend()
        time.sleep(0.08)
        for process in each(*frozen):
            process.resume()
        time.sleep(0.04)


def slow_disk(place: Place, rng: random.Random) -> None:
    """Every write and every flush of PostgreSQL's takes up to a second."""
    place.slow_disk.set_milliseconds(rng.randint(100, 1000))
    try:
        time.sleep(rng.uniform(1, 2 * MOST_SECONDS))
    finally:
        place.slow_disk.set_milliseconds(0)


def take_connections(place: Place, rng: random.Random) -> None:
    """Every connection that PostgreSQL gives."""
    with ExitStack() as held:
        try:
            for _ in range(200):
                held.enter_context(psycopg.connect(place.owner_url, connect_timeout=2))
        except psycopg.OperationalError:
            pass
        time.sleep(rng.uniform(1, MOST_SECONDS))


def set_clock_back(place: Place, rng: random.Random) -> None:
    """The clock of API, workers, beat and supervisord goes back by up to two hours, and jumps forward again."""
    place.clock.set_ahead(-rng.randint(60, 7200))
    try:
        time.sleep(rng.uniform(1, MOST_SECONDS))
    finally:
        place.clock.set_ahead(0)


def fill_disk(place: Place, rng: random.Random) -> None:
    place.disk.fill()
    try:
        time.sleep(rng.uniform(1, MOST_SECONDS))
    finally:
        place.disk.free()


def hide_encoder(place: Place, rng: random.Random) -> None:
    """The model's file is gone while its worker starts again."""
    model = next(place.encoder.rglob("*.onnx"))
    hidden = model.with_suffix(".hidden")
    model.rename(hidden)
    try:
        place.part(WORKER_EMBED).kill()
        time.sleep(rng.uniform(1, MOST_SECONDS))
    finally:
        hidden.rename(model)


def starve_worker(place: Place, rng: random.Random) -> None:
    """No more memory for the processes of a worker than they have; then the kernel ends one, as it does."""
    part = rng.choice([WORKER_EMBED, WORKER_PIPELINE, WORKER_COMPACT])
    children = place.part(part).children()
    for child in each(*children):
        child.rlimit(resource.RLIMIT_AS, (child.memory_info().vms, resource.RLIM_INFINITY))
    time.sleep(rng.uniform(1, MOST_SECONDS))
    for child in each(*children):
        child.rlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        child.kill()


def second_beat(place: Place, rng: random.Random) -> None:
    celery = [sys.executable, "-P", "-m", "celery", "--quiet", "-A", "workers.app"]
    process = subprocess.Popen(
        [*celery, "beat", "-s", str(place.layout.run / "second-beat"), "--pidfile="],
        env=place.stack.env,
        cwd=place.layout.home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(rng.uniform(2, MOST_SECONDS))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def run_migration(place: Place, _rng: random.Random) -> None:
    migrate(place.owner_url)


def damage_redis_data(place: Place, rng: random.Random) -> None:
    """Garbage where Redis would keep its journal, and a restart."""
    folder = place.layout.redis_data / "appendonlydir"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    for file in [*folder.iterdir(), folder / "appendonly.aof.1.incr.aof", folder / "appendonly.aof.manifest"]:
        file.write_bytes(rng.randbytes(500))
        file.chmod(0o644)
    place.part(REDIS).kill()


def send_nonsense(place: Place, _rng: random.Random) -> None:
    """Messages that used to stop ingest."""
    bomb = base64.b64encode(gzip.compress(b"[" + b" " * 50_000_000 + b"]")).decode()
    route = {"exchange": "", "routing_key": "ingest"}
    properties = {"delivery_tag": "x", "delivery_info": route, "body_encoding": "base64"}
    kind = {"content-type": "application/json", "content-encoding": "utf-8", "properties": properties}
    headers = {"task": "memory.ingest", "id": "x", "lang": "py"}
    empty = base64.b64encode(b"[[], {}, {}]").decode()
    with place.broker() as broker:
        for message in (
            {**kind, "headers": {**headers, "timelimit": "abc"}, "body": empty},
            {**kind, "headers": headers, "body": base64.b64encode(b"7").decode()},
            {**kind, "headers": {**headers, "compression": "application/x-gzip"}, "body": bomb},
        ):
            broker.lpush("ingest", json.dumps(message))
        broker.lpush("ingest", "{")


FAULTS: Mapping[str, Fault] = {
    "kill -9 api": _kill(API),
    "kill -9 worker-embed": _kill(WORKER_EMBED),
    "kill -9 a process of worker-embed": _kill_child(WORKER_EMBED),
    "kill -9 worker-pipeline": _kill(WORKER_PIPELINE),
    "kill -9 a process of worker-pipeline": _kill_child(WORKER_PIPELINE),
    "kill -9 worker-compact": _kill(WORKER_COMPACT),
    "kill -9 a process of worker-compact": _kill_child(WORKER_COMPACT),
    "kill -9 beat": _kill(BEAT),
    "kill -9 redis": _kill(REDIS),
    "kill -9 postgres": _kill(POSTGRES),
    "kill -9 a process of postgres": _kill_child(POSTGRES),
    "kill -9 supervisord": kill_supervisor,
    "FLUSHALL": flush_redis,
    "Redis frozen": _freeze(REDIS),
    "Redis stopped": _stop(REDIS),
    "PostgreSQL frozen": _freeze(POSTGRES),
    "PostgreSQL stopped": _stop(POSTGRES),
    "PostgreSQL slow": slow_postgres,
    "connections exhausted": take_connections,
    "clock set back": set_clock_back,
    "disk full": fill_disk,
    "slow disk": slow_disk,
    "encoder's file missing": hide_encoder,
    "worker out of memory": starve_worker,
    "two beats": second_beat,
    "migration under load": run_migration,
    "Redis data damaged": damage_redis_data,
    "nonsense in the queue": send_nonsense,
}
