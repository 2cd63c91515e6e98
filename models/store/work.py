"""The queue that cannot be lost: rows that wait, leases on them, and what failed for good."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A row somebody is working on until the lease runs out."""

    item_id: UUID
    tenant_id: UUID
    kind: str
    namespace: str
    seq: int
    attempts: int


def claim_work(connection: Connection, *, stage: str, batch: int, lease_seconds: float) -> list[Claim]:
    """Take up to `batch` waiting rows of a stage, oldest first, from any tenant."""
    rows = connection.execute(
        text("SELECT * FROM longtail.claim_work(:stage, :batch, make_interval(secs => :lease))"),
        {"stage": stage, "batch": batch, "lease": lease_seconds},
    )
    claims = [
        Claim(
            item_id=row.item_id,
            tenant_id=row.tenant_id,
            kind=row.kind,
            namespace=row.namespace,
            seq=row.seq,
            attempts=row.attempts,
        )
        for row in rows
    ]
    return sorted(claims, key=lambda claim: claim.seq)


def extend_leases(
    connection: Connection, *, item_ids: Sequence[UUID], stage: str, lease_seconds: float
) -> None:
    """The work on these rows still goes on; those that have left their stage are left alone."""
    connection.execute(
        text(
            "UPDATE work SET not_before = clock_timestamp() + make_interval(secs => :lease) "
            "WHERE item_id = ANY(:ids) AND stage = :stage"
        ),
        {"ids": sorted(item_ids), "stage": stage, "lease": lease_seconds},
    )


def find_queued(connection: Connection, *, tenant_id: UUID, item_ids: Sequence[UUID]) -> set[UUID]:
    """Of these items, those that still have a row here; what was erased has none."""
    rows = connection.execute(
        text("SELECT item_id FROM work WHERE tenant_id = :tenant_id AND item_id = ANY(:ids)"),
        {"tenant_id": tenant_id, "ids": list(item_ids)},
    )
    return set(rows.scalars())


def find_undecided(connection: Connection, *, tenant_id: UUID, item_ids: Sequence[UUID]) -> set[UUID]:
    """Of these items, those that the gate has still to look at."""
    rows = connection.execute(
        text(
            "SELECT item_id FROM work WHERE tenant_id = :tenant_id AND item_id = ANY(:ids) "
            "AND stage IN ('accepted', 'ingested', 'embedded')"
        ),
        {"tenant_id": tenant_id, "ids": list(item_ids)},
    )
    return set(rows.scalars())


def advance_work(connection: Connection, *, item_ids: Sequence[UUID], to_stage: str) -> None:
    """These rows are done with their stage and free for the next; earlier failures are forgiven."""
    connection.execute(
        text(
            "UPDATE work SET stage = :to_stage, attempts = 0, last_error = NULL, not_before = now(), "
            "updated_at = now() WHERE item_id = ANY(:ids)"
        ),
        {"ids": list(item_ids), "to_stage": to_stage},
    )


def postpone_work(connection: Connection, *, item_id: UUID, error: str, delay_seconds: float) -> None:
    """The row waits a while and is tried again."""
    connection.execute(
        text(
            "UPDATE work SET not_before = now() + make_interval(secs => :delay), last_error = :error, "
            "updated_at = now() WHERE item_id = :id"
        ),
        {"id": item_id, "error": error[:2000], "delay": delay_seconds},
    )


def bury_work(connection: Connection, *, claim: Claim, stage: str, reason: str) -> None:
    """The row is given up and shown in `dead_letters`; the raw turn stays."""
    connection.execute(
        text(
            "UPDATE work SET stage = 'failed', last_error = :reason, updated_at = now() WHERE item_id = :id"
        ),
        {"id": claim.item_id, "reason": reason[:2000]},
    )
    connection.execute(
        text(
            "INSERT INTO dead_letters (tenant_id, item_id, stage, reason, attempts) "
            "VALUES (:tenant_id, :id, :stage, :reason, :attempts) "
            "ON CONFLICT (item_id, stage) DO UPDATE SET reason = excluded.reason, failed_at = now()"
        ),
        {
            "tenant_id": claim.tenant_id,
            "id": claim.item_id,
            "stage": stage,
            "reason": reason[:2000],
            "attempts": claim.attempts,
        },
    )


def count_ready_work(connection: Connection) -> dict[str, int]:
    """How many rows of each stage could be taken now, over all tenants."""
    return {row.stage: row.ready for row in connection.execute(text("SELECT * FROM longtail.ready_work()"))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What is accepted but not yet remembered."""

    pending: int
    lag_seconds: float


_BACKLOG = text("""
SELECT count(*) AS pending,
       coalesce(extract(epoch FROM clock_timestamp() - min(accepted_at)), 0) AS lag_seconds
FROM work WHERE tenant_id = :tenant_id AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace)
  AND stage IN ('accepted', 'ingested', 'embedded')
""")


def measure_backlog(connection: Connection, *, tenant_id: UUID, namespace: str | None = None) -> Backlog:
    """How much of a tenant (or one namespace) is still in the pipeline, and for how long."""
    row = connection.execute(_BACKLOG, {"tenant_id": tenant_id, "namespace": namespace}).one()
    return Backlog(pending=row.pending, lag_seconds=round(float(max(row.lag_seconds, 0)), 3))


def count_dead_letters(connection: Connection, *, tenant_id: UUID) -> int:
    """How many rows of a tenant were given up."""
    found: int = connection.execute(
        text("SELECT count(*) FROM dead_letters WHERE tenant_id = :tenant_id"), {"tenant_id": tenant_id}
    ).scalar_one()
    return found


_KEPT = """
SELECT (SELECT count(*) FROM sessions WHERE {mine}) AS sessions, (SELECT count(*) FROM turns WHERE {mine}) AS turns,
       (SELECT count(*) FROM memories WHERE {mine} AND forgotten_at IS NULL) AS memories,
       (SELECT count(*) FROM summaries WHERE {mine} AND is_active) AS active_summaries,
       (SELECT count(*) FROM forgotten WHERE {mine}) AS forgotten_turns
"""


def count_kept(connection: Connection, *, tenant_id: UUID, namespace: str | None) -> dict[str, int]:
    """How much a tenant (or one namespace) holds; it reads every row, so it is not for polling."""
    mine = "tenant_id = :tenant_id AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace)"
    row = connection.execute(
        text(_KEPT.format(mine=mine)), {"tenant_id": tenant_id, "namespace": namespace}
    ).one()
    return dict(row._mapping)
