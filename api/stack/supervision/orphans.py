"""Processes of this stack whose supervisor is gone: killed by hand, or by the machine when memory ran out.

They are known by what they are, never by a remembered process id, which may belong to somebody else by now:
the servers work in their data folder, everything else carries our mark in its environment. Where setproctitle is
installed, Celery writes its titles over that environment: then they are known by the folder they work in and the title.
"""

import re
import signal
from pathlib import Path

import psutil

from api.stack.home.layout import Layout
from api.stack.supervision.endings import await_end
from api.stack.supervision.parts import (
    BEAT,
    IN_START_ORDER,
    PART_VARIABLE,
    POSTGRES,
    REDIS,
    STOP_TOGETHER,
    WORKERS,
)

STOP_SECONDS = 15.0
SERVERS = frozenset({POSTGRES, REDIS})
_WORKER_TITLE = re.compile(r"\[celeryd: (?P<name>[a-z]+)@")


def find_orphans(layout: Layout) -> dict[str, list[psutil.Process]]:
    """Living processes by part. Ask only when no supervisord answers: with one, they are its children."""
    found: dict[str, list[psutil.Process]] = {}
    for process in psutil.process_iter():
        part = _recognise(process, layout)
        if part is not None:
            found.setdefault(part, []).append(process)
    return found


def stop_orphans(
    layout: Layout, *, service_seconds: float = STOP_SECONDS, server_seconds: float = STOP_SECONDS
) -> list[str]:
    """Stop them politely, what serves before what it rests on, then without asking; return the parts that had any.

    No seconds, no politeness: what may be cut off anywhere is ended at once.
    """
    found = find_orphans(layout)
    for together in STOP_TOGETHER:
        processes = [process for part in together for process in found.get(part, [])]
        numbers = {process.pid for process in processes}
        patience = server_seconds if set(together) <= SERVERS else service_seconds
        for process in processes if patience else []:
            # The first of a family stops the others in order; PostgreSQL takes INT as its fast shutdown.
            if _parent_of(process) not in numbers:
                _signal(process, signal.SIGINT if together == (POSTGRES,) else signal.SIGTERM)
        alive = await_end(processes, seconds=patience)
        for process in alive:
            _signal(process, signal.SIGKILL)
        await_end(alive, seconds=STOP_SECONDS)
    return [name for name in IN_START_ORDER if name in found]


def _recognise(process: psutil.Process, layout: Layout) -> str | None:
    try:
        name = process.name()
        if name == "postgres" and Path(process.cwd()) == layout.postgres_data:
            return POSTGRES
        if name == "valkey-server" and Path(process.cwd()) == layout.redis_data:
            return REDIS
        environment = process.environ()
        if not environment.get(PART_VARIABLE) and Path(process.cwd()) == layout.home:
            return _read_title(" ".join(process.cmdline()))
    except (psutil.Error, OSError):
        return None
    if environment.get("LONGTAIL_HOME") != str(layout.home):
        return None
    part = environment.get(PART_VARIABLE)
    return part if part in IN_START_ORDER else None


def _read_title(title: str) -> str | None:
    """Which part a Celery process with its own title is.

    >>> _read_title("[celeryd: embed@host:ForkPoolWorker-1]"), _read_title("[celery beat] --quiet")
    ('worker-embed', 'beat')
    """
    worker = _WORKER_TITLE.match(title)
    if worker is not None:
        part = f"worker-{worker['name']}"
        return part if part in WORKERS else None
    return BEAT if title.startswith("[celery beat]") else None


def _parent_of(process: psutil.Process) -> int:
    try:
        return process.ppid()
    except psutil.Error:
        return 0


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)  # psutil checks that the id still means this process
    except psutil.Error:
        return
