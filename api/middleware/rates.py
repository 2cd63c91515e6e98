"""A bound on how often one token may call: a bucket of requests that refills steadily (decision 0017)."""

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from api.routing.problems import problem

MOST_BUCKETS: Final = 10_000  # of the callers seen last; whoever was forgotten starts with a full bucket
ALWAYS_OPEN: Final = frozenset({"/healthz", "/readyz", "/metrics"})


@dataclass(slots=True)
class Bucket:
    """What is left of a caller's requests, and when that was."""

    left: float
    at: float


class RateLimiter:
    """Buckets by caller; `wait_seconds` takes a request out, or says how long it is until there is one.

    >>> limiter = RateLimiter(per_second=2.0, burst=1, clock=iter((0.0, 0.0, 0.5)).__next__)
    >>> [limiter.wait_seconds("ann") for _ in range(3)]
    [0.0, 0.5, 0.0]
    """

    def __init__(self, *, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_second = per_second
        self.burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait_seconds(self, caller: str) -> float:
        """0 when the request may go on, else the seconds until it may; a refused request costs nothing."""
        now = self._clock()
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = self._buckets[caller] = Bucket(left=float(self.burst), at=now)
            if len(self._buckets) > MOST_BUCKETS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(caller)
        bucket.left = min(self.burst, bucket.left + (now - bucket.at) * self.per_second)
        bucket.at = now
        if bucket.left < 1:
            return (1 - bucket.left) / self.per_second
        bucket.left -= 1
        return 0.0


class RateLimit:
    """Answers 429 with `Retry-After` when a token calls more often than it may; health is always answered."""

    def __init__(self, app: ASGIApp, per_second: float, burst: int) -> None:
        self.app = app
        self.limiter = RateLimiter(per_second=per_second, burst=burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in ALWAYS_OPEN:
            await self.app(scope, receive, send)
            return
        wait = self.limiter.wait_seconds(_caller(scope))
        if wait == 0:
            await self.app(scope, receive, send)
            return
        refusal = problem(
            status=429,
            code="rate_limited",
            detail=f"the token may send {self.limiter.per_second:g} requests a second, {self.limiter.burst} at once",
            remedy="wait as long as Retry-After says, or raise LONGTAIL_RATE_LIMIT_PER_SECOND",
            headers={"Retry-After": str(math.ceil(wait))},
        )
        await refusal(scope, receive, send)


def _caller(scope: Scope) -> str:
    """Whoever holds the same token is the same caller; without one, whoever comes from the same address."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            return hashlib.sha256(value).hexdigest()
    return str((scope.get("client") or ("unknown",))[0])
