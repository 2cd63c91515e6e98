"""Where things are kept: namespaces, sessions, and what is indexed in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, text

FIRST_ID: Final = UUID(int=0)  # pages go upward from here


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceCounts:
    """A namespace and how much it holds."""

    namespace: str
    sessions: int
    turns: int
    memories: int
    guidance: int
    indexed: int
    last_turn_at: datetime | None


# One pass over the turns, whatever the number of namespaces.
_NAMESPACES = text("""
WITH known AS (
    SELECT namespace FROM sessions WHERE tenant_id = :tenant_id
    UNION SELECT namespace FROM namespaces WHERE tenant_id = :tenant_id AND item_count > 0
    UNION SELECT 'authored:' || binding FROM documents WHERE tenant_id = :tenant_id
), page AS MATERIALIZED (
    SELECT namespace FROM known
    WHERE namespace > :after AND (CAST(:only AS text) IS NULL OR namespace = :only) ORDER BY namespace LIMIT :count
), said AS (
    SELECT turns.namespace, count(*) AS turns, count(guidance.id) AS guidance
    FROM turns LEFT JOIN guidance ON guidance.turn_id = turns.id AND guidance.superseded_by IS NULL
                                 AND guidance.forgotten_at IS NULL
    WHERE turns.tenant_id = :tenant_id AND turns.namespace IN (SELECT namespace FROM page) GROUP BY turns.namespace
), held AS (
    SELECT namespace, count(*) AS sessions, max(last_turn_at) AS last_turn_at FROM sessions
    WHERE tenant_id = :tenant_id GROUP BY namespace
), kept AS (
    SELECT namespace, count(*) AS memories FROM memories
    WHERE tenant_id = :tenant_id AND forgotten_at IS NULL GROUP BY namespace
)
SELECT page.namespace, coalesce(held.sessions, 0) AS sessions, coalesce(said.turns, 0) AS turns,
       coalesce(kept.memories, 0) AS memories, coalesce(said.guidance, 0) AS guidance,
       coalesce(indexed.item_count, 0) AS indexed, held.last_turn_at
FROM page LEFT JOIN said USING (namespace) LEFT JOIN held USING (namespace) LEFT JOIN kept USING (namespace)
LEFT JOIN namespaces AS indexed ON indexed.tenant_id = :tenant_id AND indexed.namespace = page.namespace
ORDER BY page.namespace
""")


def list_namespaces(
    connection: Connection, *, tenant_id: UUID, only: str | None = None, after: str = "", count: int = 100
) -> list[NamespaceCounts]:
    """Namespaces by name, with counts; `only` one of them, if it exists."""
    rows = connection.execute(
        _NAMESPACES, {"tenant_id": tenant_id, "only": only, "after": after, "count": count}
    )
    return [NamespaceCounts(**row._mapping) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """A session: how long it is, and how far its compaction came."""

    session_id: str
    namespace: str
    user_id: str | None
    session_key: str | None
    agent_id: str | None
    created_at: datetime
    last_turn_at: datetime
    turns: int
    tokens: int
    covered_turns: int
    summaries: int
    active_summaries: int
    uncompacted_tokens: int
    generation: int
    compacted_at: datetime | None
    is_compaction_requested: bool


_SESSIONS = """
SELECT sessions.session_id, sessions.namespace, sessions.user_id, sessions.session_key, sessions.agent_id,
       sessions.created_at, sessions.last_turn_at, counted.turns, counted.tokens, counted.covered_turns,
       made.summaries, made.active_summaries, coalesce(state.uncompacted_tokens, 0) AS uncompacted_tokens,
       coalesce(state.generation, 0) AS generation, state.ran_at AS compacted_at,
       state.requested_at IS NOT NULL AS is_compaction_requested
FROM ({page}) AS sessions
LEFT JOIN compactions AS state ON state.tenant_id = :tenant_id AND state.session_id = sessions.session_id
CROSS JOIN LATERAL (
    SELECT count(*) AS turns, count(edge.turn_id) AS covered_turns,
           coalesce(sum(coalesce(items.token_estimate, (char_length(turns.content) + 3) / 4)), 0)::bigint AS tokens
    FROM turns LEFT JOIN items ON items.id = turns.id LEFT JOIN summary_turns AS edge ON edge.turn_id = turns.id
    WHERE turns.tenant_id = :tenant_id AND turns.session_id = sessions.session_id
) AS counted
CROSS JOIN LATERAL (
    SELECT count(*) AS summaries, count(*) FILTER (WHERE is_active) AS active_summaries FROM summaries
    WHERE summaries.tenant_id = :tenant_id AND summaries.session_id = sessions.session_id
) AS made
ORDER BY sessions.session_id
"""
_ONE_SESSION = "SELECT * FROM sessions WHERE tenant_id = :tenant_id AND session_id = :session_id"
_SESSION_PAGE = """
SELECT * FROM sessions WHERE tenant_id = :tenant_id AND session_id > :after
  AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace)
  AND (CAST(:since AS timestamptz) IS NULL OR last_turn_at >= :since)
  AND (CAST(:until AS timestamptz) IS NULL OR last_turn_at < :until)
ORDER BY session_id LIMIT :count
"""


def describe_session(connection: Connection, *, tenant_id: UUID, session_id: str) -> SessionState | None:
    """One session with its counts, or None when it has no turn."""
    row = connection.execute(
        text(_SESSIONS.format(page=_ONE_SESSION)), {"tenant_id": tenant_id, "session_id": session_id}
    ).one_or_none()
    return SessionState(**row._mapping) if row is not None else None


def list_sessions(
    connection: Connection,
    *,
    tenant_id: UUID,
    namespace: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    after: str = "",
    count: int = 100,
) -> list[SessionState]:
    """A page of sessions by name; `since` and `until` are about the newest turn."""
    rows = connection.execute(
        text(_SESSIONS.format(page=_SESSION_PAGE)),
        {
            "tenant_id": tenant_id,
            "namespace": namespace,
            "since": since,
            "until": until,
            "after": after,
            "count": count,
        },
    )
    return [SessionState(**row._mapping) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedItem:
    """Something recall can find, with its words."""

    id: UUID  # the memory's, where a turn became one
    item_id: UUID
    kind: str
    namespace: str
    session_id: str | None
    role: str | None
    name: str | None
    text: str
    ts: datetime
    authority: float
    access_count: int
    source_turn_ids: tuple[UUID, ...]


_ITEMS = """
SELECT coalesce(memories.id, items.id) AS id, items.id AS item_id,
       CASE WHEN memories.id IS NULL THEN items.kind ELSE 'memory' END AS kind,
       items.namespace, items.session_id, items.role, items.name, coalesce(items.body, turns.content) AS text,
       items.ts, coalesce(memories.gate_score, items.authority) AS authority, items.access_count,
       CASE WHEN memories.id IS NULL THEN items.source_turn_ids
            ELSE ARRAY(SELECT turn_id FROM memory_sources WHERE memory_id = memories.id ORDER BY linked_at, turn_id)
       END AS source_turn_ids
FROM items LEFT JOIN turns ON turns.id = items.id AND items.kind = 'turn'
LEFT JOIN memories ON memories.turn_id = items.id
WHERE items.tenant_id = :tenant_id AND items.is_active
"""


def list_items(
    connection: Connection,
    *,
    tenant_id: UUID,
    namespaces: Sequence[str] | None = None,
    session_id: str | None = None,
    kinds: Sequence[str] | None = None,
    after_id: UUID = FIRST_ID,
    count: int = 100,
) -> list[IndexedItem]:
    """A page of what is indexed, oldest id first; `kinds` of turn, memory, summary, rule, lore."""
    rows = connection.execute(
        text(
            f"SELECT * FROM ({_ITEMS} AND items.id > :after_id "
            "AND (CAST(:namespaces AS text[]) IS NULL OR items.namespace = ANY(:namespaces)) "
            "AND (CAST(:session_id AS text) IS NULL OR items.session_id = :session_id)) AS found "
            "WHERE CAST(:kinds AS text[]) IS NULL OR kind = ANY(:kinds) ORDER BY item_id LIMIT :count"
        ),
        {
            "tenant_id": tenant_id,
            "namespaces": None if namespaces is None else list(namespaces),
            "session_id": session_id,
            "kinds": None if kinds is None else list(kinds),
            "after_id": after_id,
            "count": count,
        },
    )
    return [_to_item(row) for row in rows]


def load_items(
    connection: Connection, *, tenant_id: UUID, namespaces: Sequence[str], ids: Sequence[UUID]
) -> dict[UUID, IndexedItem]:
    """Items by the id of their index row, as far as they are in these namespaces."""
    rows = connection.execute(
        text(f"{_ITEMS} AND items.namespace = ANY(:namespaces) AND items.id = ANY(:ids)"),
        {"tenant_id": tenant_id, "namespaces": list(namespaces), "ids": list(ids)},
    )
    return {row.item_id: _to_item(row) for row in rows}


def _to_item(row: Any) -> IndexedItem:
    return IndexedItem(**{**row._mapping, "source_turn_ids": tuple(row.source_turn_ids)})
