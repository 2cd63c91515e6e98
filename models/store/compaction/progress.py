"""Where each session stands with its compaction: what waits, who asked, what came of it, and the lock."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from models.errors import NotFound, TransientError
from models.store.engine import keep_pass, plain_transaction, translated_errors

_COUNT = text("""
INSERT INTO compactions (tenant_id, session_id, uncompacted_tokens, counted_at)
SELECT :tenant_id, added.session_id, added.tokens, clock_timestamp()
FROM unnest(CAST(:session_ids AS text[]), CAST(:tokens AS bigint[])) AS added (session_id, tokens)
ON CONFLICT (tenant_id, session_id) DO UPDATE SET
    uncompacted_tokens = compactions.uncompacted_tokens + excluded.uncompacted_tokens, counted_at = clock_timestamp()
RETURNING session_id, uncompacted_tokens
""")


def count_uncompacted(connection: Connection, *, tenant_id: UUID, added: Mapping[str, int]) -> dict[str, int]:
    """Add tokens that no summary covers yet; returns the new total of each session touched."""
    rows = connection.execute(
        _COUNT,
        {
            "tenant_id": tenant_id,
            "session_ids": sorted(added),
            "tokens": [added[key] for key in sorted(added)],
        },
    )
    return {row.session_id: row.uncompacted_tokens for row in rows}


def find_covered(connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]) -> set[UUID]:
    """Of these turns, those a summary covers already: imported with it, or processed again."""
    rows = connection.execute(
        text("SELECT turn_id FROM summary_turns WHERE tenant_id = :tenant_id AND turn_id = ANY(:ids)"),
        {"tenant_id": tenant_id, "ids": list(turn_ids)},
    )
    return set(rows.scalars())


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCompaction:
    """A session whose compaction is due, and whether somebody asked for it."""

    tenant_id: UUID
    session_id: str
    is_requested: bool


def claim_due(
    connection: Connection,
    *,
    threshold_tokens: int,
    tail_tokens: int,
    idle_seconds: float,
    count: int,
    count_unasked: int,
    claim_seconds: float,
) -> list[DueCompaction]:
    """Due sessions of every tenant, requests first; nobody else is given them while the claim lasts.

    `count_unasked` bounds those that nobody asked for. Their messages may be lost: then the claim ends, and they are due.
    """
    rows = connection.execute(
        text(
            "SELECT * FROM longtail.claim_compactions(:threshold, :tail, make_interval(secs => :idle), :count, "
            ":unasked, make_interval(secs => :claim))"
        ),
        {
            "threshold": threshold_tokens,
            "tail": tail_tokens,
            "idle": idle_seconds,
            "count": count,
            "unasked": count_unasked,
            "claim": claim_seconds,
        },
    )
    return [
        DueCompaction(tenant_id=row.tenant_id, session_id=row.session_id, is_requested=row.is_requested)
        for row in rows
    ]


_REQUEST = text("""
INSERT INTO compactions (tenant_id, session_id, requested_at, is_forced)
SELECT tenant_id, session_id, clock_timestamp(), :force FROM sessions
WHERE tenant_id = :tenant_id AND session_id = :session_id
ON CONFLICT (tenant_id, session_id) DO UPDATE SET
    requested_at = clock_timestamp(), is_forced = compactions.is_forced OR excluded.is_forced,
    not_before = clock_timestamp()
RETURNING requested_at
""")


def request_compaction(
    connection: Connection, *, tenant_id: UUID, session_id: str, force: bool = False
) -> datetime:
    """Ask for a compaction; the row is the request, so a lost message only delays it."""
    asked: datetime | None = connection.execute(
        _REQUEST, {"tenant_id": tenant_id, "session_id": session_id, "force": force}
    ).scalar_one_or_none()
    if asked is None:
        raise NotFound(f"session '{session_id}' has no turns", remedy="send its turns first")
    return asked


def find_outcome(
    connection: Connection, *, tenant_id: UUID, session_id: str, requested_at: datetime
) -> dict[str, Any] | None:
    """What came of a request, or None while it is not answered."""
    found: dict[str, Any] | None = connection.execute(
        text(
            "SELECT outcome FROM compactions WHERE tenant_id = :tenant_id AND session_id = :session_id "
            "AND served_at >= :requested_at"
        ),
        {"tenant_id": tenant_id, "session_id": session_id, "requested_at": requested_at},
    ).scalar_one_or_none()
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionState:
    """A session as its compaction finds it."""

    namespace: str
    generation: int
    requested_at: datetime | None
    is_forced: bool
    has_news: bool  # asked for, or grown since the last run
    started_at: datetime


_BEGIN = text("""
INSERT INTO compactions (tenant_id, session_id, attempts, not_before)
SELECT tenant_id, session_id, 1, clock_timestamp() + make_interval(secs => :backoff) FROM sessions
WHERE tenant_id = :tenant_id AND session_id = :session_id
ON CONFLICT (tenant_id, session_id) DO UPDATE SET
    attempts = least(compactions.attempts + 1, 100),
    not_before = clock_timestamp() + make_interval(secs => least(:backoff * 2.0 ^ least(compactions.attempts, 20), 600))
RETURNING generation, requested_at, is_forced, clock_timestamp() AS started_at,
    requested_at IS NOT NULL OR coalesce(counted_at > coalesce(ran_at, '-infinity'), false) AS has_news,
    (SELECT namespace FROM sessions WHERE tenant_id = :tenant_id AND session_id = :session_id) AS namespace
""")  # the pause is taken back when the run ends; after a crash it keeps a poisonous session from spinning


def begin_compaction(
    connection: Connection, *, tenant_id: UUID, session_id: str, backoff_seconds: float
) -> CompactionState | None:
    """Note that a run begins; None when there is no such session."""
    row = connection.execute(
        _BEGIN, {"tenant_id": tenant_id, "session_id": session_id, "backoff": backoff_seconds}
    ).one_or_none()
    if row is None:
        return None
    return CompactionState(
        namespace=row.namespace,
        generation=row.generation,
        requested_at=row.requested_at,
        is_forced=row.is_forced,
        has_news=row.has_news,
        started_at=row.started_at,
    )


def ask_for_pass(engine: Engine, *, tenant_id: UUID, session_id: str) -> None:
    """Learn the pass of a tenant one of whose sessions is to be compacted; none is given where nothing is to be done."""
    with plain_transaction(engine) as connection:
        secret: UUID | None = connection.execute(
            text("SELECT longtail.compaction_pass(:tenant_id, :session_id)"),
            {"tenant_id": tenant_id, "session_id": session_id},
        ).scalar_one()
    if secret is not None:
        keep_pass(tenant_id, secret)


def advance_generation(connection: Connection, *, tenant_id: UUID, session_id: str, expected: int) -> int:
    """The next generation; refused when another compaction was quicker, whatever the lock said."""
    found: int | None = connection.execute(
        text(
            "UPDATE compactions SET generation = generation + 1 WHERE tenant_id = :tenant_id "
            "AND session_id = :session_id AND generation = :expected RETURNING generation"
        ),
        {"tenant_id": tenant_id, "session_id": session_id, "expected": expected},
    ).scalar_one_or_none()
    if found is None:
        raise TransientError(
            f"session '{session_id}' is no longer at generation {expected}: another compaction committed first",
            code="compaction_overtaken",
        )
    return found


# Truth, from the rows themselves: what the counter drifted by is mended with every run. Turns still on their way are
# left out: the gate adds them when they arrive, and counted twice they would make every second of talk worth a run.
_RECOUNT = text("""
WITH bare AS (
    SELECT turns.position, coalesce(items.token_estimate, turns.tokens) AS tokens,
           coalesce(work.stage IN ('accepted', 'ingested', 'embedded'), false) AS is_on_its_way
    FROM turns LEFT JOIN summary_turns ON summary_turns.turn_id = turns.id
    LEFT JOIN items ON items.id = turns.id LEFT JOIN work ON work.item_id = turns.id
    WHERE turns.tenant_id = :tenant_id AND turns.session_id = :session_id AND summary_turns.turn_id IS NULL
)
UPDATE compactions SET
    uncompacted_tokens = (SELECT coalesce(sum(tokens), 0) FROM bare WHERE NOT is_on_its_way),
    covered_through = coalesce((SELECT min(position) - 1 FROM bare), (
        SELECT max(position) FROM turns WHERE tenant_id = :tenant_id AND session_id = :session_id), -1)
WHERE tenant_id = :tenant_id AND session_id = :session_id
""")


def recount_session(connection: Connection, *, tenant_id: UUID, session_id: str) -> None:
    """Set the session's counters to what its rows say."""
    # Locked first: the count then sees all that a gate has added, and a gate that adds more waits for the count.
    connection.execute(
        text("SELECT FROM compactions WHERE tenant_id = :tenant_id AND session_id = :session_id FOR UPDATE"),
        {"tenant_id": tenant_id, "session_id": session_id},
    )
    connection.execute(_RECOUNT, {"tenant_id": tenant_id, "session_id": session_id})


_END = text("""
UPDATE compactions SET
    ran_at = :started_at, attempts = 0, not_before = clock_timestamp(),
    served_at = greatest(served_at, CAST(:requested_at AS timestamptz)),
    outcome = CASE WHEN CAST(:requested_at AS timestamptz) IS NULL THEN outcome ELSE CAST(:outcome AS jsonb) END,
    requested_at = CASE WHEN requested_at > coalesce(:requested_at, '-infinity'::timestamptz) THEN requested_at END,
    is_forced = coalesce(requested_at > coalesce(:requested_at, '-infinity'::timestamptz), false) AND is_forced
WHERE tenant_id = :tenant_id AND session_id = :session_id
""")  # a request that came while the run went on stays open


def end_compaction(
    connection: Connection,
    *,
    tenant_id: UUID,
    session_id: str,
    state: CompactionState,
    outcome: Mapping[str, Any],
) -> None:
    """Note that a run ended well, and answer whoever asked for it."""
    connection.execute(
        _END,
        {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "started_at": state.started_at,
            "requested_at": state.requested_at,
            "outcome": json.dumps(dict(outcome)),
        },
    )


def release_compaction(
    connection: Connection, *, tenant_id: UUID, session_id: str, pause_seconds: float = 0.0
) -> None:
    """A run ended before its work did: the session stays due, and may be taken up after the pause."""
    connection.execute(
        text(
            "UPDATE compactions SET attempts = 0, not_before = clock_timestamp() + make_interval(secs => :pause) "
            "WHERE tenant_id = :tenant_id AND session_id = :session_id"
        ),
        {"tenant_id": tenant_id, "session_id": session_id, "pause": pause_seconds},
    )


def find_first_pending(connection: Connection, *, tenant_id: UUID, session_id: str) -> int | None:
    """The position of the session's oldest turn that is still on its way to being remembered; None: all are."""
    found: int | None = connection.execute(
        text(
            "SELECT min(turns.position) FROM work JOIN turns ON turns.id = work.item_id "
            "WHERE work.tenant_id = :tenant_id AND work.stage IN ('accepted', 'ingested', 'embedded') "
            "AND turns.tenant_id = :tenant_id AND turns.session_id = :session_id"
        ),
        {"tenant_id": tenant_id, "session_id": session_id},
    ).scalar_one()
    return found


@contextmanager
def session_lock(engine: Engine, *, tenant_id: UUID, session_id: str) -> Iterator[bool]:
    """Whether this process may compact the session now; held outside of any transaction.

    It belongs to a connection: whoever is killed lets it go at once.
    """
    key = {"key": f"compact:{tenant_id}:{session_id}"}
    with translated_errors(), engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        is_ours: bool = connection.execute(
            text("SELECT pg_try_advisory_lock(hashtextextended(:key, 0))"), key
        ).scalar_one()
        try:
            yield is_ours
        finally:
            if is_ours:
                try:
                    connection.execute(text("SELECT pg_advisory_unlock(hashtextextended(:key, 0))"), key)
                except DBAPIError:
                    connection.invalidate()  # a lost connection has let it go already
