"""While PostgreSQL is away, only now and then somebody waits to find out: the others are answered at once."""

import time
from typing import Final

OUTAGE_SECONDS: Final = 1.0


class Outage:
    """Remembers for a moment that PostgreSQL did not answer."""

    def __init__(self) -> None:
        self._until = 0.0

    def note(self) -> None:
        """PostgreSQL did not answer just now."""
        self._until = time.monotonic() + OUTAGE_SECONDS

    @property
    def is_on(self) -> bool:
        """Whether it did not answer a moment ago, and is not worth waiting for yet."""
        return time.monotonic() < self._until
