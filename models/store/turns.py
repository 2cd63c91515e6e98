"""The raw record: turns in, turns out, nothing changed."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, text

from models.domain.records import Identity, NewTurn, Turn, durable_namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """A turn that was here already: its place in the call, and the turn it is."""

    index: int
    turn_id: UUID
    content_differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What became of a call: new turns in the order given, and those that were known."""

    turn_ids: tuple[UUID, ...]
    duplicates: tuple[Duplicate, ...]
    namespace: str
    pending: int  # items of the namespace that are not remembered yet, these included


_OPEN_SESSION = text("""
INSERT INTO sessions
    (tenant_id, session_id, namespace, user_id, session_key, agent_id, next_position, last_turn_at)
VALUES (:tenant_id, :session_id, :namespace, :user_id, :session_key, :agent_id, :count, now())
ON CONFLICT (tenant_id, session_id) DO UPDATE SET
    next_position = sessions.next_position + :count,
    last_turn_at = now(),
    namespace = CASE WHEN :is_named THEN excluded.namespace ELSE sessions.namespace END,
    user_id = coalesce(excluded.user_id, sessions.user_id),
    session_key = coalesce(excluded.session_key, sessions.session_key),
    agent_id = coalesce(excluded.agent_id, sessions.agent_id)
RETURNING next_position - :count AS first_position, namespace
""")  # the row lock it takes orders every call of one session, so positions never race

_APPEND = text("""
WITH appended AS (
    INSERT INTO turns (tenant_id, session_id, position, namespace, role, content, name, host_message_id,
                       dedup_key, content_sha256, ts, metadata)
    SELECT :tenant_id, :session_id, :first_position + given.ordinal - 1, :namespace, given.role,
           given.content, given.name, given.host_message_id, given.dedup_key, given.digest, given.ts, given.metadata::jsonb
    FROM unnest(CAST(:roles AS text[]), CAST(:contents AS text[]), CAST(:names AS text[]),
                CAST(:host_ids AS text[]), CAST(:dedup_keys AS text[]), CAST(:digests AS bytea[]),
                CAST(:moments AS timestamptz[]), CAST(:metadata AS text[]))
         WITH ORDINALITY
         AS given (role, content, name, host_message_id, dedup_key, digest, ts, metadata, ordinal)
    ORDER BY given.ordinal
    ON CONFLICT (tenant_id, session_id, dedup_key) DO NOTHING
    RETURNING id, dedup_key, namespace, position, accepted_at
), queued AS (
    INSERT INTO work (item_id, tenant_id, kind, namespace, accepted_at)
    SELECT id, :tenant_id, 'turn', namespace, accepted_at FROM appended ORDER BY position
)
SELECT id, dedup_key, (
    SELECT count(*) FROM work WHERE tenant_id = :tenant_id AND namespace = :namespace
      AND stage IN ('accepted', 'ingested', 'embedded')
) AS waiting FROM appended RIGHT JOIN (SELECT) AS always ON true
""")  # `waiting` is counted before these turns are queued, and is there even when none is new

_FIND_BY_KEY = text("""
SELECT id, dedup_key, content_sha256 FROM turns
WHERE tenant_id = :tenant_id AND session_id = :session_id AND dedup_key = ANY(:dedup_keys)
""")


def accept_turns(
    connection: Connection,
    *,
    tenant_id: UUID,
    session_id: str,
    identity: Identity,
    turns: Sequence[NewTurn],
    idempotency_key: str | None = None,
    now: datetime | None = None,
) -> Accepted:
    """Append turns to a session, once each, and queue the work on them in the same transaction."""
    now = now or datetime.now(UTC)
    session = connection.execute(
        _OPEN_SESSION,
        {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "namespace": durable_namespace(identity, session_id),
            "is_named": not identity.is_empty,
            "user_id": identity.user_id,
            "session_key": identity.session_key,
            "agent_id": identity.agent_id,
            "count": len(turns),
        },
    ).one()
    digests = [hashlib.sha256(turn.content.encode()).digest() for turn in turns]
    keys = [
        _dedup_key(
            turn, digest, position=session.first_position + index, index=index, call_key=idempotency_key
        )
        for index, (turn, digest) in enumerate(zip(turns, digests, strict=True))
    ]
    appended = connection.execute(
        _APPEND,
        {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "first_position": session.first_position,
            "namespace": session.namespace,
            "roles": [turn.role for turn in turns],
            "contents": [turn.content for turn in turns],
            "names": [turn.name for turn in turns],
            "host_ids": [turn.host_message_id for turn in turns],
            "dedup_keys": keys,
            "digests": digests,
            "moments": [turn.ts or now for turn in turns],
            "metadata": [json.dumps(dict(turn.metadata)) for turn in turns],
        },
    ).all()
    new = {row.dedup_key: row.id for row in appended if row.id is not None}
    pending = appended[0].waiting + len(new)
    known: dict[str, Row[Any]] = {}
    if len(new) < len(turns):
        found = connection.execute(
            _FIND_BY_KEY, {"tenant_id": tenant_id, "session_id": session_id, "dedup_keys": keys}
        )
        known = {row.dedup_key: row for row in found}
    accepted: list[UUID] = []
    duplicates: list[Duplicate] = []
    for index, (key, digest) in enumerate(zip(keys, digests, strict=True)):
        if key in new:
            accepted.append(
                new.pop(key)
            )  # popped: a second turn with this key in the same call is a duplicate
        else:
            row = known[key]
            duplicates.append(
                Duplicate(index=index, turn_id=row.id, content_differs=bytes(row.content_sha256) != digest)
            )
    return Accepted(
        turn_ids=tuple(accepted), duplicates=tuple(duplicates), namespace=session.namespace, pending=pending
    )


def _dedup_key(turn: NewTurn, digest: bytes, *, position: int, index: int, call_key: str | None) -> str:
    """What makes two sendings one turn: the host's id, else the call's key and place, else time and words.

    A turn with none of these is always new: two people may both say "yes".
    """
    if turn.host_message_id:
        return f"id:{turn.host_message_id}"
    if call_key:
        return f"call:{call_key}:{index}:{digest.hex()[:16]}"
    if turn.ts:
        return f"at:{turn.ts.isoformat()}:{turn.role}:{digest.hex()[:32]}"
    return f"position:{position}:{digest.hex()[:16]}"


_TURN_COLUMNS = "id, session_id, position, seq, namespace, role, content, ts, name, host_message_id, metadata"


def to_turn(row: Row[Any]) -> Turn:
    """A row of `turns` as the domain knows it."""
    return Turn(
        id=row.id,
        session_id=row.session_id,
        position=row.position,
        seq=row.seq,
        namespace=row.namespace,
        role=row.role,
        content=row.content,
        ts=row.ts,
        name=row.name,
        host_message_id=row.host_message_id,
        metadata=row.metadata,
    )


_RECENT = text(f"""
SELECT {_TURN_COLUMNS} FROM turns
WHERE tenant_id = :tenant_id AND session_id = :session_id AND position < :before
ORDER BY position DESC LIMIT :count
""")


def load_recent_turns(
    connection: Connection, *, tenant_id: UUID, session_id: str, count: int, before: int = 2**62
) -> list[Turn]:
    """The newest turns of a session below a position, oldest first."""
    rows = connection.execute(
        _RECENT, {"tenant_id": tenant_id, "session_id": session_id, "count": count, "before": before}
    )
    return [to_turn(row) for row in rows][::-1]


_BY_IDS = text(
    f"SELECT {_TURN_COLUMNS} FROM turns WHERE tenant_id = :tenant_id AND id = ANY(:ids) ORDER BY seq"
)


def load_turns(connection: Connection, *, tenant_id: UUID, ids: Sequence[UUID]) -> list[Turn]:
    """The turns with these ids, in order of arrival."""
    return [to_turn(row) for row in connection.execute(_BY_IDS, {"tenant_id": tenant_id, "ids": list(ids)})]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What the assembly must know of a session before anything else."""

    namespace: str | None
    user_id: str | None
    agent_id: str | None


_SESSION = text("""
SELECT namespace, user_id, agent_id FROM sessions WHERE tenant_id = :tenant_id AND session_id = :session_id
""")


def find_session(connection: Connection, *, tenant_id: UUID, session_id: str) -> SessionFacts | None:
    """The session's standing identity, or None when it has no turn yet."""
    row = connection.execute(_SESSION, {"tenant_id": tenant_id, "session_id": session_id}).one_or_none()
    if row is None:
        return None
    return SessionFacts(namespace=row.namespace, user_id=row.user_id, agent_id=row.agent_id)
