"""The clock as Celery's beat wants it (`models/schedule.py` says what is on it)."""

from typing import Any

from models.schedule import list_ticks
from models.settings import Settings


def beat_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """Celery's beat table. `expires`: ticks that pile up while workers are away are worth one, not many."""
    return {
        tick.name: {"task": tick.task, "schedule": tick.seconds, "options": {"expires": tick.seconds}}
        for tick in list_ticks(settings)
    }
