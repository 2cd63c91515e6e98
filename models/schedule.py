"""What runs on a clock, as data; each entry says why. Beat sends these, pages show them; overlap is harmless."""

from typing import NamedTuple

from models.messages import COMPACT_DUE, PRUNE_JOURNAL, PRUNE_RECEIPTS, SWEEP, VERIFY_LINEAGE
from models.settings import Settings


class Tick(NamedTuple):
    """A task, how often it is sent, and what for."""

    name: str
    task: str
    seconds: float
    why: str


def list_ticks(settings: Settings) -> tuple[Tick, ...]:
    """Everything on the clock."""
    return (
        Tick(
            "sweep",
            SWEEP,
            settings.sweep_seconds,
            "finishes what a crash, a lost message or a stopped broker left behind",
        ),
        # Two ticks at once find the same sessions; the lock of each lets one run.
        Tick(
            "compact-due",
            COMPACT_DUE,
            settings.compaction_scan_seconds,
            "finds sessions that fell idle, hints whose bell was lost, and runs that yielded to ingest or died",
        ),
        Tick(
            "verify-lineage",
            VERIFY_LINEAGE,
            settings.lineage_check_seconds,
            "proves on the live rows that every summary leads back to its turns",
        ),
        # Appending prunes a tenant's own journal; this prunes those nobody appends to, and old lineage checks.
        Tick(
            "prune-journal",
            PRUNE_JOURNAL,
            settings.lineage_check_seconds,
            "keeps the newest entries of every journal",
        ),
        # The API bounds their number while it writes, this bounds their age too.
        Tick(
            "prune-receipts",
            PRUNE_RECEIPTS,
            settings.receipt_prune_seconds,
            "keeps the newest receipts, and none that is too old",
        ),
    )
