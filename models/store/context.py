"""What an assembly reads first, in one round trip, while the query is being encoded."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.domain.authored import Tier
from models.domain.records import Turn
from models.store.documents import Rule
from models.store.embeddings import table_of
from models.store.engine import Cursors
from models.store.nearest import Sizes
from models.store.recall import MOST_POSTINGS, MOST_QUERY_TERMS, NamedItem
from models.store.work import Backlog

TAIL_TURNS = 64  # as many of the newest turns as one call brings at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Rules, newest turns, what waits, and what holds words of the query."""

    namespace: str
    bindings: tuple[str, ...]
    places: tuple[str, ...]  # every namespace that recall may search
    rules: Sequence[Rule]
    turns: Sequence[Turn]  # oldest first
    backlog: Backlog
    named: Sequence[NamedItem]
    sizes: Sizes


_READ = """
SELECT longtail.read_context(
    %(tenant_id)s, %(session_id)s, %(namespace)s, %(user_id)s, %(agent_id)s, %(tail_chars)s, %(tail_turns)s, %(terms)s,
    %(count)s, %(most_postings)s, %(vectors)s::text::regclass)
"""


def read_context(
    cursors: Cursors,
    *,
    tenant_id: UUID,
    session_id: str,
    namespace: str | None,
    user_id: str | None,
    agent_id: str | None,
    tail_chars: int,
    terms: Collection[str],
    count: int,
    encoder: str,
) -> Context:
    """Everything that needs no vector. `namespace` None: the session's own."""
    found: dict[str, Any] = cursors.send(
        _READ,
        {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "namespace": namespace,
            "user_id": user_id,
            "agent_id": agent_id,
            "tail_chars": tail_chars,
            "tail_turns": TAIL_TURNS,
            "terms": list(terms)[:MOST_QUERY_TERMS],
            "count": count,
            "most_postings": MOST_POSTINGS,
            "vectors": f"longtail.{table_of(encoder)}",
        },
    ).fetchone()[0]  # type: ignore[index]  # one row always
    pending, lag_seconds = found["waiting"]
    asked = int(found["asked"])
    return Context(
        namespace=found["namespace"],
        bindings=tuple(found["bindings"]),
        places=tuple(found["places"]),
        rules=[_to_rule(row) for row in found["rules"] or ()],
        turns=[_to_turn(row) for row in found["turns"] or ()],
        backlog=Backlog(pending=pending, lag_seconds=round(max(lag_seconds, 0.0), 3)),
        named=[NamedItem(item_id=item_id, weight=weight) for item_id, weight in found["named"] or ()],
        sizes=Sizes(asked=asked, everybody=max(int(found["everybody"]), asked)),
    )


def _to_rule(row: Sequence[Any]) -> Rule:
    node_id, tier, body, heading_path = row
    return Rule(id=UUID(node_id), tier=Tier(tier), body=body, heading_path=tuple(heading_path))


def _to_turn(row: Sequence[Any]) -> Turn:
    turn_id, session_id, position, seq, namespace, role, content, ts, name, host_message_id, metadata = row
    return Turn(
        id=UUID(turn_id),
        session_id=session_id,
        position=position,
        seq=seq,
        namespace=namespace,
        role=role,
        content=content,
        ts=datetime.fromisoformat(ts),
        name=name,
        host_message_id=host_message_id,
        metadata=metadata,
    )
