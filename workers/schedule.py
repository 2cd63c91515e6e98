"""What runs on a clock, as data; each entry says why. One beat process sends these; overlap is harmless."""

from typing import Any

from models.messages import COMPACT_DUE, PRUNE_JOURNAL, PRUNE_RECEIPTS, SWEEP, VERIFY_LINEAGE
from models.settings import Settings


def beat_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """Celery's beat table. `expires`: ticks that pile up while workers are away are worth one, not many."""
    every = {
        # Finishes what a crash, a lost message or a stopped broker left behind.
        "sweep": (SWEEP, settings.sweep_seconds),
        # Sessions that fell idle, hints whose bell was lost, and runs that yielded to ingest or died: the rows
        # know what is due. Two ticks at once find the same sessions; the lock of each lets one run.
        "compact-due": (COMPACT_DUE, settings.compaction_scan_seconds),
        # Losslessness is a claim about the live database, so it is proved there, and reported as a number.
        "verify-lineage": (VERIFY_LINEAGE, settings.lineage_check_seconds),
        # Appending prunes a tenant's own journal; this prunes those nobody appends to, and old lineage checks.
        "prune-journal": (PRUNE_JOURNAL, settings.lineage_check_seconds),
        # Receipts grow with every prompt; the API bounds their number while it writes, this bounds their age too.
        "prune-receipts": (PRUNE_RECEIPTS, settings.receipt_prune_seconds),
    }
    return {
        name: {"task": task, "schedule": seconds, "options": {"expires": seconds}}
        for name, (task, seconds) in every.items()
    }
