"""A clock on the client's side: a server that hangs cannot be asked to cancel, so its socket is cut.

`statement_timeout` needs a server that still runs. When PostgreSQL is frozen, or its disk is, a reader would
wait for ever; cutting the socket turns that into the error every caller handles.
"""

import heapq
import itertools
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass(order=True, slots=True)
class _Watch:
    due: float
    number: int
    descriptor: int = field(compare=False)
    is_over: bool = field(default=False, compare=False)


class Watchdog:
    """One thread that cuts sockets whose time is up; watching one costs a heap push."""

    def __init__(self) -> None:
        self._watches: list[_Watch] = []
        self._numbers = itertools.count()
        self._change = threading.Condition()
        self._process = 0  # the thread does not survive a fork: each process starts its own

    @contextmanager
    def watch(self, descriptor: int, *, seconds: float) -> Iterator[None]:
        """While inside, the socket is cut `seconds` from now."""
        entry = _Watch(due=time.monotonic() + seconds, number=next(self._numbers), descriptor=descriptor)
        with self._change:
            self._start_thread()
            is_first = not self._watches or entry < self._watches[0]
            heapq.heappush(self._watches, entry)
            if is_first:
                self._change.notify()
        try:
            yield
        finally:
            with self._change:  # under the lock, so that a descriptor in use elsewhere by now is never cut
                entry.is_over = True

    def _start_thread(self) -> None:
        if self._process != os.getpid():
            self._process = os.getpid()
            self._watches = []
            threading.Thread(target=self._run, name="watchdog", daemon=True).start()

    def _run(self) -> None:
        with self._change:
            while True:
                while self._watches and (
                    self._watches[0].is_over or self._watches[0].due <= time.monotonic()
                ):
                    entry = heapq.heappop(self._watches)
                    if not entry.is_over:
                        cut(entry.descriptor)
                self._change.wait(self._watches[0].due - time.monotonic() if self._watches else None)


def cut(descriptor: int) -> None:
    """Shut a socket down under whoever reads from it: the reader sees its end at once."""
    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as duplicate:
        duplicate.shutdown(socket.SHUT_RDWR)
