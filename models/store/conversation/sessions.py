"""Sessions: whose they are, how much they hold, how far their compaction came."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from models.domain.records import Identity, durable_namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """A session: how long it is, and how far its compaction came."""

    session_id: str
    namespace: str
    user_id: str | None
    session_key: str | None
    agent_id: str | None
    is_shared: bool
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
       sessions.is_shared, sessions.created_at, sessions.last_turn_at, counted.turns, counted.tokens, counted.covered_turns,
       made.summaries, made.active_summaries, coalesce(state.uncompacted_tokens, 0) AS uncompacted_tokens,
       coalesce(state.generation, 0) AS generation, state.ran_at AS compacted_at,
       state.requested_at IS NOT NULL AS is_compaction_requested
FROM ({page}) AS sessions
LEFT JOIN compactions AS state ON state.tenant_id = :tenant_id AND state.session_id = sessions.session_id
CROSS JOIN LATERAL (
    SELECT count(*) AS turns, count(edge.turn_id) AS covered_turns,
           coalesce(sum(coalesce(items.token_estimate, turns.tokens)), 0)::bigint AS tokens
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
class Home:
    """Whose memory a call about a session is about."""

    namespace: str
    user_id: str | None
    agent_id: str | None
    is_known: bool  # whether the session has turns
    is_shared: bool


_HOME = text("SELECT * FROM longtail.find_home(:session_id, :namespace, :user_id, :session_key, :agent_id)")


def find_home(connection: Connection, *, session_id: str, identity: Identity) -> Home:
    """Whose memory it is, if this identity may see the session; else the refusal, as the database says it."""
    row = connection.execute(
        _HOME,
        {
            "session_id": session_id,
            "namespace": None if identity.is_empty else durable_namespace(identity, session_id),
            "user_id": identity.user_id,
            "session_key": identity.session_key,
            "agent_id": identity.agent_id,
        },
    ).one()
    return Home(
        namespace=row.home,
        user_id=row.home_user,
        agent_id=row.home_agent,
        is_known=row.is_known,
        is_shared=row.is_shared,
    )
