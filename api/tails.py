"""Where the tail of each session's last prompt began, so that the next one begins there too while it fits.

Held in memory alone: after a restart, or in another process, a tail is the longest that fits, and a prompt cache reads it
once again (decision 29).
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

MOST_HELD: Final = 10_000  # sessions; the one that was not asked about for longest is forgotten first


class TailStarts:
    """Positions by session and budget."""

    def __init__(self) -> None:
        self._held: OrderedDict[Hashable, int] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> int | None:
        """Where the last tail began, if it is known."""
        with self._lock:
            return self._held.get(key)

    def hold(self, key: Hashable, position: int) -> None:
        """The tail begins here now."""
        with self._lock:
            self._held[key] = position
            self._held.move_to_end(key)
            if len(self._held) > MOST_HELD:
                self._held.popitem(last=False)
