"""The raw record: turns in, turns out, nothing changed."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, Row, text

from models.domain.prompt.escaping import shows_nothing
from models.domain.prompt.tokens import CharsCounter
from models.domain.records import Identity, NewTurn, Turn, durable_namespace
from models.errors import InvalidInput
from models.store.engine import ALL_OF_TENANT, Whose, pass_of

COUNTER = CharsCounter()


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
    erased: tuple[int, ...]  # places of those that were erased from this session once: they do not come back
    namespace: str
    pending: int  # items of the namespace that are not remembered yet, these included


_ACCEPT = text("""
SELECT * FROM longtail.accept_turns(
    :tenant_id, :pass, :opens, :session_id, :is_shared, :namespace, :user_id, :session_key, :agent_id, :roles, :contents,
    :names, :host_ids, :keys, :digests, :moments, :metadata, :costs)
""")


def accept_turns(
    connection: Connection,
    *,
    whose: Whose,
    session_id: str,
    identity: Identity,
    turns: Sequence[NewTurn],
    places: Sequence[int] | None = None,
    idempotency_key: str | None = None,
    is_shared: bool = False,
    now: datetime | None = None,
) -> Accepted:
    """Append turns to a session, once each, and queue the work on them, in one statement.

    `places` are those of the turns in the caller's list, where some of it was left out.
    """
    _check_names(session_id, identity)
    places = range(len(turns)) if places is None else places
    now = now or datetime.now(UTC)
    digests = [hashlib.sha256(turn.content.encode()).digest() for turn in turns]
    rows = connection.execute(
        _ACCEPT,
        {
            "tenant_id": whose if isinstance(whose, UUID) else whose.tenant_id,
            "pass": pass_of(whose),
            "opens": ALL_OF_TENANT if isinstance(whose, UUID) else whose.opens,
            "session_id": session_id,
            "is_shared": is_shared,
            "namespace": None if identity.is_empty else durable_namespace(identity, session_id),
            "user_id": identity.user_id,
            "session_key": identity.session_key,
            "agent_id": identity.agent_id,
            "roles": [turn.role for turn in turns],
            "contents": [turn.content for turn in turns],
            "names": [turn.name for turn in turns],
            "host_ids": [turn.host_message_id for turn in turns],
            "keys": [
                _dedup_key(turn, digest, index=index, call_key=idempotency_key)
                for index, turn, digest in zip(places, turns, digests, strict=True)
            ],
            "digests": digests,
            "moments": [turn.ts or now for turn in turns],
            "metadata": [json.dumps(dict(turn.metadata)) for turn in turns],
            "costs": [COUNTER.count(turn.content) for turn in turns],
        },
    ).all()
    return Accepted(
        turn_ids=tuple(row.turn_id for row in rows if row.is_new),
        duplicates=tuple(
            Duplicate(index=places[row.place], turn_id=row.turn_id, content_differs=row.content_differs)
            for row in rows
            if not row.is_new and row.turn_id is not None
        ),
        erased=tuple(places[row.place] for row in rows if row.turn_id is None),
        namespace=rows[0].namespace,
        pending=max(row.waiting for row in rows),
    )


def _check_names(session_id: str, identity: Identity) -> None:
    """What nobody can see in a list, nobody can name: no session is opened under it, and no memory either."""
    given = {
        "session_id": session_id,
        "user_id": identity.user_id,
        "session_key": identity.session_key,
        "agent_id": identity.agent_id,
    }
    for field, name in given.items():
        if name and shows_nothing(name):
            raise InvalidInput(
                f"the {field} has no visible character",
                code="empty_text",
                field=field,
                remedy="send a name that can be read",
            )


def _dedup_key(turn: NewTurn, digest: bytes, *, index: int, call_key: str | None) -> str | None:
    """What makes two sendings one turn: the host's id, else the call's key and place, else time and words.

    A turn with none of these is always new, by its place in the session: two people may both say "yes".
    """
    if turn.host_message_id:
        return f"id:{turn.host_message_id}"
    if call_key:
        return f"call:{call_key}:{index}:{digest.hex()[:16]}"
    if turn.ts:
        return f"at:{turn.ts.isoformat()}:{turn.role}:{digest.hex()[:32]}"
    return None


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


_BY_HOST_IDS = text(
    "SELECT id::text FROM turns "
    "WHERE tenant_id = :tenant_id AND session_id = :session_id AND dedup_key = ANY(:keys)"
)


def find_by_host_ids(
    connection: Connection, *, tenant_id: UUID, session_id: str, host_ids: Sequence[str]
) -> set[str]:
    """Ids of a session's turns, by the ids the host gave them."""
    keys = [f"id:{host_id}" for host_id in host_ids]
    rows = connection.execute(_BY_HOST_IDS, {"tenant_id": tenant_id, "session_id": session_id, "keys": keys})
    return set(rows.scalars())


KNOWN_BY: Final = 3  # user turns without an assistant's among the newest: fewer tell nothing
NEWEST_LOOKED_AT: Final = 40
_BETWEEN_PEOPLE = text("""
SELECT named.session_id FROM unnest(CAST(:session_ids AS text[])) AS named (session_id)
CROSS JOIN LATERAL (
    SELECT role FROM turns WHERE tenant_id = :tenant_id AND turns.session_id = named.session_id
    ORDER BY position DESC LIMIT :newest
) AS said
GROUP BY named.session_id
HAVING count(*) FILTER (WHERE role = 'user') >= :known_by AND count(*) FILTER (WHERE role IN ('assistant', 'tool')) = 0
""")


def find_talk_between_people(
    connection: Connection, *, tenant_id: UUID, session_ids: Collection[str]
) -> frozenset[str]:
    """Of these sessions, those in which users have spoken for a while and no assistant did."""
    if not session_ids:
        return frozenset()
    rows = connection.execute(
        _BETWEEN_PEOPLE,
        {
            "tenant_id": tenant_id,
            "session_ids": sorted(session_ids),
            "newest": NEWEST_LOOKED_AT,
            "known_by": KNOWN_BY,
        },
    )
    return frozenset(rows.scalars())
