"""Claims about beat's clock: what is due is sent, also after the machine's clock was set back."""

from datetime import UTC, datetime, timedelta

import pytest

from models.settings import Settings
from workers.schedule import LONGEST_SLEEP_SECONDS, beat_schedule

SCHEDULE = beat_schedule(Settings())


@pytest.mark.parametrize("name", SCHEDULE)
def test_a_task_is_due_once_its_time_is_over_and_not_before(name: str) -> None:
    every = SCHEDULE[name]["schedule"]
    now = datetime.now(UTC)
    assert every.is_due(now - timedelta(seconds=every.seconds + 1)).is_due
    waiting = every.is_due(now - timedelta(seconds=every.seconds / 10))
    assert not waiting.is_due and 0 < waiting.next <= every.seconds


@pytest.mark.parametrize("name", SCHEDULE)
def test_a_clock_set_back_holds_nothing_up(name: str) -> None:
    every = SCHEDULE[name]["schedule"]
    due = every.is_due(datetime.now(UTC) + timedelta(hours=2))  # when it was sent last, by the clock of then
    assert due.is_due and due.next == every.seconds


def test_beat_looks_at_the_clock_again_before_a_sweep_is_missed() -> None:
    from workers.app import app

    assert app.conf.beat_max_loop_interval == LONGEST_SLEEP_SECONDS < Settings().sweep_seconds
