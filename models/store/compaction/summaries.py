"""Summaries and what they cover: written once under an id made from their sources, read down to raw turns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Row, text

from models.store.engine import Cursors, to_uuid_array

if TYPE_CHECKING:
    from psycopg import Cursor

MAX_DEPTH: Final = 64  # levels grow with the logarithm; a walk deeper than this has met a cycle


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredTurn:
    """An edge from a summary to a raw turn."""

    turn_id: UUID
    tokens: int
    is_protected: bool = False  # kept verbatim as guidance; the summary does not say it


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary as it is stored."""

    id: UUID
    session_id: str
    namespace: str
    level: int
    body: str
    method: str
    attempt: str
    backend: str
    confidence: float
    align: float
    cover: float
    prior_ids: Sequence[UUID]
    summary_tokens: int
    source_tokens: int
    turn_count: int
    turn_tokens: int
    first_position: int
    last_position: int
    earliest_at: datetime
    latest_at: datetime
    is_active: bool = True
    generation: int = 0
    made_at: datetime | None = None
    parent_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSummary:
    """A summary to store, with its edges: turns at level 1, summaries above."""

    summary: Summary
    turns: Sequence[CoveredTurn] = field(default_factory=tuple)
    children: Sequence[UUID] = field(default_factory=tuple)


_FIELDS: Final = (
    *(
        "id",
        "session_id",
        "namespace",
        "level",
        "body",
        "method",
        "attempt",
        "backend",
        "confidence",
        "align",
    ),
    *("cover", "prior_ids", "summary_tokens", "source_tokens", "turn_count", "turn_tokens"),
    *("first_position", "last_position", "earliest_at", "latest_at", "generation"),
)
_ADD = text(
    f"INSERT INTO summaries (tenant_id, {', '.join(_FIELDS)}) VALUES (:tenant_id, "
    f"{', '.join(f':{name}' for name in _FIELDS)}) ON CONFLICT (id) DO NOTHING RETURNING 1"
)


def add_summary(connection: Connection, *, tenant_id: UUID, new: NewSummary) -> bool:
    """Store a summary, its edges, and retire what it covers; False when it was stored before.

    No `ON CONFLICT` on the edges: a turn that is covered twice is a mistake, and the commit must fail.
    """
    summary = new.summary
    values = {name: getattr(summary, name) for name in _FIELDS} | {"prior_ids": list(summary.prior_ids)}
    if connection.execute(_ADD, {"tenant_id": tenant_id, **values}).first() is None:
        return False
    if new.turns:
        connection.execute(
            text(
                "INSERT INTO summary_turns (tenant_id, summary_id, turn_id, ordinal, tokens, is_protected) "
                "VALUES (:tenant_id, :summary_id, :turn_id, :ordinal, :tokens, :is_protected)"
            ),
            [
                {
                    "tenant_id": tenant_id,
                    "summary_id": summary.id,
                    "turn_id": edge.turn_id,
                    "ordinal": ordinal,
                    "tokens": edge.tokens,
                    "is_protected": edge.is_protected,
                }
                for ordinal, edge in enumerate(new.turns)
            ],
        )
    if new.children:
        connection.execute(
            text(
                "INSERT INTO summary_children (tenant_id, parent_id, child_id, ordinal) "
                "VALUES (:tenant_id, :parent_id, :child_id, :ordinal)"
            ),
            [
                {"tenant_id": tenant_id, "parent_id": summary.id, "child_id": child, "ordinal": ordinal}
                for ordinal, child in enumerate(new.children)
            ],
        )
        retire_summaries(connection, tenant_id=tenant_id, ids=new.children)
    return True


def retire_summaries(connection: Connection, *, tenant_id: UUID, ids: Sequence[UUID]) -> None:
    """A higher summary stands for these now: they leave the search index; expansion still finds them."""
    connection.execute(
        text("UPDATE summaries SET is_active = false WHERE tenant_id = :tenant_id AND id = ANY(:ids)"),
        {"tenant_id": tenant_id, "ids": list(ids)},
    )
    connection.execute(text("SELECT longtail.unindex_summaries(:ids)"), {"ids": list(ids)})


_SELECT: Final = (
    f"SELECT {', '.join(f'summaries.{name}' for name in _FIELDS)}, summaries.is_active, summaries.made_at, "
    "above.parent_id FROM summaries LEFT JOIN summary_children AS above ON above.child_id = summaries.id "
)


def _to_summary(row: Row[Any]) -> Summary:
    values = {name: getattr(row, name) for name in (*_FIELDS, "is_active", "made_at", "parent_id")}
    return Summary(**(values | {"prior_ids": tuple(row.prior_ids)}))


def load_summaries(connection: Connection, *, tenant_id: UUID, ids: Sequence[UUID]) -> list[Summary]:
    """The summaries with these ids, oldest part of the session first."""
    rows = connection.execute(
        text(
            f"{_SELECT} WHERE summaries.tenant_id = :tenant_id AND summaries.id = ANY(:ids) "
            "ORDER BY summaries.first_position, summaries.level DESC"
        ),
        {"tenant_id": tenant_id, "ids": list(ids)},
    )
    return [_to_summary(row) for row in rows]


def load_active_summaries(
    connection: Connection, *, tenant_id: UUID, session_id: str, level: int | None = None
) -> list[Summary]:
    """The active summaries of a session, of one level or of all, oldest part first."""
    rows = connection.execute(
        text(
            f"{_SELECT} WHERE summaries.tenant_id = :tenant_id AND summaries.session_id = :session_id "
            "AND summaries.is_active AND (CAST(:level AS integer) IS NULL OR summaries.level = :level) "
            "ORDER BY summaries.first_position"
        ),
        {"tenant_id": tenant_id, "session_id": session_id, "level": level},
    )
    return [_to_summary(row) for row in rows]


MOST_OUTLINED: Final = 2000


def list_of_session(
    connection: Connection, *, tenant_id: UUID, session_id: str, count: int = MOST_OUTLINED
) -> list[Summary]:
    """The summaries of a session, retired ones too, the newest part of it at most; highest level first."""
    rows = connection.execute(
        text(
            f"SELECT * FROM ({_SELECT} WHERE summaries.tenant_id = :tenant_id AND summaries.session_id = :session_id "
            "ORDER BY summaries.last_position DESC LIMIT :count) AS made ORDER BY level DESC, first_position"
        ),
        {"tenant_id": tenant_id, "session_id": session_id, "count": count},
    )
    return [_to_summary(row) for row in rows]


def load_sources(
    connection: Connection, *, tenant_id: UUID, summary_id: UUID
) -> tuple[list[UUID], list[UUID]]:
    """What a summary covers directly: turn ids and summary ids, in order."""
    values = {"tenant_id": tenant_id, "id": summary_id}
    turns = connection.execute(
        text(
            "SELECT turn_id FROM summary_turns WHERE tenant_id = :tenant_id AND summary_id = :id ORDER BY ordinal"
        ),
        values,
    )
    children = connection.execute(
        text(
            "SELECT child_id FROM summary_children WHERE tenant_id = :tenant_id AND parent_id = :id ORDER BY ordinal"
        ),
        values,
    )
    return [row.turn_id for row in turns], [row.child_id for row in children]


# depth counts edges: the summary itself is 0, what it covers directly is 1
_BELOW = """
WITH RECURSIVE below (id, depth) AS (
    SELECT id, 0 FROM summaries WHERE tenant_id = :tenant_id AND id = :id
    UNION ALL
    SELECT edge.child_id, below.depth + 1 FROM below JOIN summary_children AS edge ON edge.parent_id = below.id
    WHERE below.depth < :depth
)
"""


def expand_to_summaries(
    connection: Connection, *, tenant_id: UUID, summary_id: UUID, depth: int = MAX_DEPTH
) -> list[Summary]:
    """The summaries below one, down to `depth` edges, oldest part first and higher before lower."""
    rows = connection.execute(
        text(f"{_BELOW} SELECT DISTINCT id FROM below WHERE depth > 0"),
        {"tenant_id": tenant_id, "id": summary_id, "depth": min(depth, MAX_DEPTH)},
    )
    return load_summaries(connection, tenant_id=tenant_id, ids=[row.id for row in rows])


def expand_to_turns(
    connection: Connection,
    *,
    tenant_id: UUID,
    summary_id: UUID,
    depth: int = MAX_DEPTH,
    after_position: int = -1,
    count: int = 1_000_000,
) -> list[UUID]:
    """The raw turns below a summary within `depth` edges, in order of the session."""
    rows = connection.execute(
        text(
            f"{_BELOW} SELECT turns.id FROM below JOIN summary_turns AS edge ON edge.summary_id = below.id "
            "JOIN turns ON turns.id = edge.turn_id "
            "WHERE below.depth < :depth AND turns.position > :after ORDER BY turns.position LIMIT :count"
        ),
        {
            "tenant_id": tenant_id,
            "id": summary_id,
            "depth": min(depth, MAX_DEPTH),
            "after": after_position,
            "count": count,
        },
    )
    return [row.id for row in rows]


_COVERAGE: Final = """
WITH RECURSIVE asked AS (
    SELECT id, level, confidence, turn_count FROM summaries
    WHERE tenant_id = %(tenant_id)s AND id = ANY(CAST(%(summary_ids)s AS uuid[]))
), above (turn_id, summary_id, depth) AS (
    SELECT edge.turn_id, edge.summary_id, 1 FROM summary_turns AS edge
    WHERE edge.tenant_id = %(tenant_id)s AND edge.turn_id = ANY(CAST(%(turn_ids)s AS uuid[])) AND NOT edge.is_protected
    UNION ALL
    SELECT above.turn_id, edge.parent_id, above.depth + 1
    FROM above JOIN summary_children AS edge ON edge.child_id = above.summary_id WHERE above.depth < %(depth)s
)
SELECT asked.id::text, asked.level, asked.confidence, asked.turn_count,
       coalesce(array_agg(above.turn_id::text) FILTER (WHERE above.turn_id IS NOT NULL), '{}')
FROM asked LEFT JOIN above ON above.summary_id = asked.id
GROUP BY asked.id, asked.level, asked.confidence, asked.turn_count
"""  # upward from the turns: each has at most one parent at every level, so the walk is short and indexed


class Coverage(NamedTuple):
    """What the assembly must know of a recalled summary: how far to trust it, and whom it repeats."""

    summary_id: str
    level: int
    confidence: float
    turn_count: int
    turn_ids: Sequence[str]  # of the turns asked about, those it stands for (verbatim shards excepted)


def find_coverage(
    cursors: Cursors, *, tenant_id: UUID, summary_ids: Sequence[str], turn_ids: Sequence[str]
) -> "Cursor[Coverage]":
    """Ask, for each of these summaries, which of these turns it stands for, at any level; a row a summary."""
    return cursors.send(
        _COVERAGE,
        {
            "tenant_id": tenant_id,
            "summary_ids": to_uuid_array(summary_ids),
            "turn_ids": to_uuid_array(turn_ids),
            "depth": MAX_DEPTH,
        },
        into=Coverage,
    )
