"""A circuit breaker: after several failures in a row nobody is asked for a while, then one may try."""

import threading
import time
from collections.abc import Callable
from typing import Final

FAILURES_TO_OPEN: Final = 3
OPEN_SECONDS: Final = 60.0


class CircuitBreaker:
    """Closed while calls succeed; open after `failures` in a row; after `open_seconds` one call may try."""

    def __init__(
        self,
        *,
        failures: int = FAILURES_TO_OPEN,
        open_seconds: float = OPEN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = failures
        self._open_seconds = open_seconds
        self._clock = clock
        self._failed = 0
        self._closed_from = 0.0
        self._lock = threading.Lock()

    @property
    def is_closed(self) -> bool:
        """Whether a call may be made now."""
        with self._lock:
            return self._failed < self._limit or self._clock() >= self._closed_from

    def succeed(self) -> None:
        """A call went well: all is forgiven."""
        with self._lock:
            self._failed = 0

    def fail(self) -> None:
        """A call failed; at the limit, and at each failed trial after it, the pause begins anew."""
        with self._lock:
            self._failed += 1
            self._closed_from = self._clock() + self._open_seconds
