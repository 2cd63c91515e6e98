"""How compaction shares the machine with ingest: freely while little waits, by its fair share while much does.

Giving way altogether would starve it: a host that writes for an hour would be summarised after that hour, from a
view that has grown by all of it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Pace:
    """Work is followed by rest while `is_ingest_deep` says so: work ÷ (work + rest) is the share.

    >>> now = 0.0
    >>> pace = Pace(share=0.25, is_ingest_deep=lambda: True, clock=lambda: now)
    >>> pace.must_rest(), pace.spend(2.0), pace.must_rest(), pace.seconds_to_rest()
    (False, None, True, 6.0)
    """

    share: float = 1.0  # of the time, in (0, 1]
    is_ingest_deep: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    _rests_until: float = field(default=0.0, init=False)

    def spend(self, seconds: float) -> None:
        """A pass took so long."""
        self._rests_until = self.clock() + seconds * (1 - self.share) / self.share

    def must_rest(self) -> bool:
        """Whether ingest comes first now."""
        return self.seconds_to_rest() > 0

    def seconds_to_rest(self) -> float:
        """How long ingest comes first; 0 as soon as little waits."""
        left = self._rests_until - self.clock()
        return left if left > 0 and self.is_ingest_deep() else 0.0
