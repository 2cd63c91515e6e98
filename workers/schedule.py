"""What runs on a clock, as data; each entry says why. One beat process sends these; overlap is harmless."""

from typing import Any

from models.messages import SWEEP
from models.settings import Settings


def beat_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """Celery's beat table."""
    return {
        # Finishes what a crash, a lost message or a stopped broker left behind. `expires`: ticks that pile
        # up while workers are away are worth one sweep, not many.
        "sweep": {
            "task": SWEEP,
            "schedule": settings.sweep_seconds,
            "options": {"expires": settings.sweep_seconds},
        },
    }
