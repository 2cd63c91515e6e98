"""The queue that cannot be lost: rows that wait, leases on them, and what failed for good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from models.errors import ServiceError
from models.store.engine import keep_pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A row somebody is working on; the lease is of the claim it was taken with, and tells whose it is."""

    item_id: UUID
    tenant_id: UUID
    kind: str
    namespace: str
    seq: int
    attempts: int
    lease_id: UUID


class LeaseLost(ServiceError):
    """Somebody else has the row by now; what was made of it here must not be written."""

    code = "lease_lost"


def claim_work(connection: Connection, *, stage: str, batch: int, lease_seconds: float) -> list[Claim]:
    """Take up to `batch` waiting rows of a stage, from every tenant its share, oldest first."""
    rows = connection.execute(
        text("SELECT * FROM longtail.claim_work(:stage, :batch, make_interval(secs => :lease))"),
        {"stage": stage, "batch": batch, "lease": lease_seconds},
    ).all()
    for row in rows:
        keep_pass(row.tenant_id, row._mapping["pass"])
    claims = [
        Claim(
            item_id=row.item_id,
            tenant_id=row.tenant_id,
            kind=row.kind,
            namespace=row.namespace,
            seq=row.seq,
            attempts=row.attempts,
            lease_id=row.lease_id,
        )
        for row in rows
    ]
    return sorted(claims, key=lambda claim: claim.seq)


def hold_work(connection: Connection, *, claims: Sequence[Claim], lease_seconds: float) -> None:
    """The work on these rows still goes on; those that are advanced, gone or somebody else's are left alone."""
    connection.execute(
        text("SELECT longtail.hold_work(:holder, :ids, make_interval(secs => :lease))"),
        {"holder": claims[0].lease_id, "ids": [claim.item_id for claim in claims], "lease": lease_seconds},
    )


def release_work(connection: Connection, *, claims: Sequence[Claim]) -> None:
    """Nothing was done and no row is to blame: they are as they were before the claim."""
    connection.execute(
        text(
            "UPDATE work SET attempts = attempts - 1, lease_id = NULL, not_before = now() "
            "WHERE item_id = ANY(:ids) AND lease_id = :holder AND attempts > 0"
        ),
        {"holder": claims[0].lease_id, "ids": [claim.item_id for claim in claims]},
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


def advance_work(connection: Connection, *, claims: Sequence[Claim], to_stage: str) -> None:
    """These rows are done with their stage and free for the next; earlier failures are forgiven.

    LeaseLost where another claim holds one of them: then nothing of this transaction may stay. Rows that were erased
    meanwhile are no loss.
    """
    if not claims:
        return
    values = {"ids": [claim.item_id for claim in claims], "holder": claims[0].lease_id, "to_stage": to_stage}
    advanced = connection.execute(
        text(
            "UPDATE work SET stage = :to_stage, attempts = 0, last_error = NULL, "
            "not_before = now(), updated_at = now() WHERE item_id = ANY(:ids) AND lease_id = :holder"
        ),
        values,
    ).rowcount
    if advanced < len(claims):
        there = connection.execute(
            text("SELECT count(*) FROM work WHERE item_id = ANY(:ids)"), values
        ).scalar_one()
        if there > advanced:
            raise LeaseLost(f"{there - advanced} of {len(claims)} rows were taken by another worker")


def postpone_work(connection: Connection, *, claim: Claim, error: str, delay_seconds: float) -> None:
    """The row waits a while and is tried again; one that another claim holds is left alone."""
    connection.execute(
        text(
            "UPDATE work SET not_before = now() + make_interval(secs => :delay), last_error = :error, "
            "lease_id = NULL, updated_at = now() WHERE item_id = :id AND lease_id = :holder"
        ),
        {"id": claim.item_id, "holder": claim.lease_id, "error": error[:2000], "delay": delay_seconds},
    )


def bury_work(connection: Connection, *, claim: Claim, stage: str, reason: str) -> None:
    """The row is given up and shown in `dead_letters`; the raw turn stays. One that another claim holds is left alone."""
    connection.execute(
        text(
            "WITH given_up AS (UPDATE work SET stage = 'failed', last_error = :reason, lease_id = NULL, "
            "updated_at = now() WHERE item_id = :id AND lease_id = :holder RETURNING item_id) "
            "INSERT INTO dead_letters (tenant_id, item_id, stage, reason, attempts) "
            "SELECT :tenant_id, item_id, :stage, :reason, :attempts FROM given_up "
            "ON CONFLICT (item_id, stage) DO UPDATE SET reason = excluded.reason, failed_at = now()"
        ),
        {
            "tenant_id": claim.tenant_id,
            "id": claim.item_id,
            "holder": claim.lease_id,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A row that was given up, and why."""

    item_id: UUID
    stage: str
    reason: str
    attempts: int
    failed_at: datetime


def list_dead_letters(connection: Connection, *, tenant_id: UUID, count: int) -> list[DeadLetter]:
    """What was given up, the newest first."""
    rows = connection.execute(
        text(
            "SELECT item_id, stage, reason, attempts, failed_at FROM longtail.dead_letters "
            "WHERE tenant_id = :tenant_id ORDER BY failed_at DESC, item_id LIMIT :count"
        ),
        {"tenant_id": tenant_id, "count": count},
    )
    return [DeadLetter(**row._mapping) for row in rows]


def revive_work(connection: Connection, *, tenant_id: UUID, item_id: UUID | None) -> int:
    """Give one row, or all that were given up, to the workers again; how many. The next sweep rings for them."""
    wanted = {"tenant_id": tenant_id, "item_id": item_id}
    which = "tenant_id = :tenant_id AND (CAST(:item_id AS uuid) IS NULL OR item_id = :item_id)"
    revived = connection.execute(
        text(
            "UPDATE longtail.work SET stage = 'accepted', attempts = 0, last_error = NULL, "
            f"not_before = now(), updated_at = now() WHERE {which} AND stage = 'failed'"
        ),
        wanted,
    ).rowcount
    connection.execute(text(f"DELETE FROM longtail.dead_letters WHERE {which}"), wanted)
    return revived


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
