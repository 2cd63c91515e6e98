"""Claims about the bucket of requests: a burst, then a steady rate, each caller alone, and a bounded memory."""

from hypothesis import given
from hypothesis import strategies as st

from api.middleware import rates
from api.middleware.rates import RateLimiter


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_goes_through_and_the_next_one_waits_for_its_turn() -> None:
    clock = Clock()
    limiter = RateLimiter(per_second=4.0, burst=3, clock=clock)
    assert [limiter.wait_seconds("ann") for _ in range(4)] == [0.0, 0.0, 0.0, 0.25]
    clock.now = 0.25
    assert limiter.wait_seconds("ann") == 0.0
    assert limiter.wait_seconds("ann") == 0.25
    assert limiter.wait_seconds("bob") == 0.0


@given(
    per_second=st.floats(0.5, 100),
    burst=st.integers(1, 50),
    pauses=st.lists(st.floats(0, 2), min_size=1, max_size=200),
)
def test_no_more_go_through_than_the_burst_and_the_rate_allow(
    per_second: float, burst: int, pauses: list[float]
) -> None:
    clock = Clock()
    limiter = RateLimiter(per_second=per_second, burst=burst, clock=clock)
    passed = 0
    for pause in pauses:
        clock.now += pause
        passed += limiter.wait_seconds("ann") == 0.0
    assert passed <= burst + per_second * clock.now + 1e-6


@given(per_second=st.floats(0.5, 100), burst=st.integers(1, 5), tries=st.integers(1, 40))
def test_whoever_waits_as_long_as_told_goes_through(per_second: float, burst: int, tries: int) -> None:
    clock = Clock()
    limiter = RateLimiter(per_second=per_second, burst=burst, clock=clock)
    for _ in range(tries):
        wait = limiter.wait_seconds("ann")
        if wait:
            clock.now += wait + 1e-9
            assert limiter.wait_seconds("ann") == 0.0


def test_callers_beyond_the_bound_are_forgotten_oldest_first() -> None:
    limiter = RateLimiter(per_second=1.0, burst=1, clock=Clock())
    for number in range(rates.MOST_BUCKETS + 10):
        limiter.wait_seconds(str(number))
    assert len(limiter._buckets) == rates.MOST_BUCKETS
    assert limiter.wait_seconds(str(rates.MOST_BUCKETS + 9)) > 0
    assert limiter.wait_seconds("0") == 0.0
