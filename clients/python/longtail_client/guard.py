"""What every adapter stands behind: a framework's turn never waits long for memory, and never fails because of it."""

import logging
import os
import time
from collections.abc import Mapping
from typing import Any, TypeVar

from longtail_client.client import Client
from longtail_client.errors import LongtailError, NotFound
from longtail_client.outbox import Outbox
from longtail_client.request import Request

T = TypeVar("T")
log = logging.getLogger("longtail_client")
DEADLINE_MS = 2000
REST_SECONDS = 5.0  # after nobody answered, nobody asks for so long: a turn has many calls
FLUSH_SECONDS = 1.0  # that one write may spend on writes that wait


def read_patience(env: Mapping[str, str]) -> float:
    """How many seconds a turn may wait for memory: the hooks' own setting.

    >>> read_patience({}), read_patience({"LONGTAIL_HOOK_DEADLINE_MS": "500"})
    (2.0, 0.5)
    """
    given = env.get("LONGTAIL_HOOK_DEADLINE_MS", "")
    is_number = given.isascii() and given.isdigit() and int(given) > 0
    return (int(given) if is_number else DEADLINE_MS) / 1000


class Guard:
    """Reads that answer with a default where nobody answers, and writes that wait on disk until somebody does."""

    def __init__(self, client: Client | None = None, *, outbox: Outbox | None = None) -> None:
        self.client = client or Client(timeout_seconds=read_patience(os.environ), retries=1)
        self.outbox = outbox or Outbox.of(self.client.config)
        self._rests_until = 0.0

    @property
    def is_resting(self) -> bool:
        """Whether the service was found away a moment ago."""
        return time.monotonic() < self._rests_until

    def read(self, request: Request[T], default: T) -> T:
        """The answer, or the default with a word in the log."""
        if self.is_resting:
            return default
        try:
            return self.client.send(request)
        except NotFound:  # nothing was ever written there
            return default
        except LongtailError as error:
            self._note("going on without memory", error)
            return default

    def write(self, *requests: Request[Any]) -> None:
        """Send writes in order, or keep them for later; what the service refuses is kept aside with its reason."""
        waiting = list(requests)
        try:
            if not self.is_resting and self._catch_up():
                waiting = self._send_in_order(waiting)
            if waiting:
                self.outbox.append(*waiting)
        except (OSError, LongtailError) as error:
            log.error("longtail: %d writes are lost, the outbox cannot keep them: %s", len(waiting), error)

    def _send_in_order(self, requests: list[Request[Any]]) -> list[Request[Any]]:
        """Those that nobody answered."""
        place = next((place for place, one in enumerate(requests) if not self._send(one)), len(requests))
        return requests[place:]

    def _send(self, request: Request[Any]) -> bool:
        """Whether the service answered, with yes or no."""
        try:
            self.client.send(request)
        except LongtailError as error:
            self._note("a write waits" if error.is_transient else "a write was refused", error)
            if error.is_transient:
                return False
            self.outbox.set_aside(request, error)
        return True

    def _catch_up(self) -> bool:
        """Send what waits first, so that order is kept; whether nothing waits any more."""
        if self.outbox.is_empty:
            return True
        flushed = self.outbox.flush(self.client.send, seconds=FLUSH_SECONDS)
        if flushed.refused:
            log.warning(
                "longtail: %d kept writes were refused: %s", flushed.refused, self.outbox.refused_path
            )
        return flushed.waiting == 0 and self.outbox.is_empty

    def _note(self, what: str, error: LongtailError) -> None:
        if error.is_transient:
            self._rests_until = time.monotonic() + REST_SECONDS
        log.warning("longtail: %s: %s (%s)", what, error, error.code)

    def close(self) -> None:
        """Close the connections; what waits stays in the outbox."""
        self.client.close()
