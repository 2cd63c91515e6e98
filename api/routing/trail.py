"""What happened on the way to an answer: how long each stage took, and what the answer lacks."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from api.routing.schemas import DegradedOut


class Trail:
    """Notes of the stages, in order; only the answer and its receipt read them."""

    def __init__(self) -> None:
        self.began_ns = time.time_ns()
        self._start = time.perf_counter()
        self.degraded: list[DegradedOut] = []
        self.timings_ms: dict[str, float] = {}
        self.began_ms: dict[str, float] = {}  # of each stage, since the request was taken up

    def elapsed_ms(self) -> float:
        """Since the request was taken up."""
        return (time.perf_counter() - self._start) * 1000

    def miss(self, code: str, detail: str) -> None:
        """Name something the answer lacks."""
        self.degraded.append(DegradedOut(code=code, detail=detail))

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Measure a stage, whether it succeeds or not."""
        start = time.perf_counter()
        self.began_ms[stage] = (start - self._start) * 1000
        try:
            yield
        finally:
            self.timings_ms[stage] = round((time.perf_counter() - start) * 1000, 3)
