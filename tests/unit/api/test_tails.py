"""Claims about held tails: by session, the newest, and bounded."""

from api import tails
from api.tails import TailStarts


def test_a_start_is_held_for_its_own_key_until_another_takes_its_place() -> None:
    starts = TailStarts()
    assert starts.find("s") is None
    starts.hold("s", 4)
    starts.hold("t", 7)
    starts.hold("s", 9)
    assert (starts.find("s"), starts.find("t")) == (9, 7)


def test_the_session_that_was_not_asked_about_for_longest_is_forgotten_first() -> None:
    starts = TailStarts()
    for number in range(tails.MOST_HELD):
        starts.hold(number, number)
    starts.hold(0, 1)
    starts.hold("new", 2)
    assert starts.find(0) == 1
    assert starts.find(1) is None
