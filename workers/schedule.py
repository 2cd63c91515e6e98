"""The clock as Celery's beat wants it (`models/schedule.py` says what is on it)."""

from datetime import datetime
from typing import Any, Final

from celery.schedules import schedstate, schedule

from models.schedule import list_ticks
from models.settings import Settings

LONGEST_SLEEP_SECONDS: Final = (
    2  # of beat: a clock set back while it counts what is left costs no more than this
)


class Every(schedule):
    """Due every so many seconds, and at once where the last time lies ahead: the clock was set back."""

    def is_due(self, last_run_at: datetime) -> schedstate:
        if self.maybe_make_aware(last_run_at) > self.now():
            return schedstate(is_due=True, next=self.seconds)
        return super().is_due(last_run_at)


def beat_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """Celery's beat table. `expires`: ticks that pile up while workers are away are worth one, not many."""
    return {
        tick.name: {"task": tick.task, "schedule": Every(tick.seconds), "options": {"expires": tick.seconds}}
        for tick in list_ticks(settings)
    }
