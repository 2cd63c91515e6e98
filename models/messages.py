"""The contract between api/ and workers/: task names, queues, and what a message may hold.

Messages are doorbells. They say that there is work; which work, the database knows. Losing one costs
latency until the next sweep, never data.
"""

from typing import Final

INGEST: Final = "memory.ingest"
EMBED_PENDING: Final = "memory.embed_pending"
GATE_PENDING: Final = "memory.gate_pending"
SWEEP: Final = "memory.sweep"
COMPACT_DUE: Final = "memory.compact_due"
COMPACT_SESSION: Final = "memory.compact_session"
VERIFY_LINEAGE: Final = "memory.verify_lineage"
PRUNE_JOURNAL: Final = "memory.prune_journal"
PRUNE_RECEIPTS: Final = "memory.prune_receipts"

QUEUE_OF_TASK: Final[dict[str, str]] = {
    INGEST: "ingest",
    EMBED_PENDING: "embed",
    GATE_PENDING: "gate",
    SWEEP: "maintenance",
    COMPACT_DUE: "compact",  # not behind ingest: a drain of a deep queue would keep it waiting for a minute
    COMPACT_SESSION: "compact",
    VERIFY_LINEAGE: "compact",
    PRUNE_JOURNAL: "maintenance",
    PRUNE_RECEIPTS: "maintenance",
}
QUEUES: Final = tuple(dict.fromkeys(QUEUE_OF_TASK.values()))
