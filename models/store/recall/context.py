"""What an assembly reads first, in one round trip, while the query is being encoded."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from models.domain.records import Turn
from models.domain.rules.tiers import Tier
from models.store.documents import Rule
from models.store.engine import Cursors
from models.store.index.embeddings import table_of
from models.store.recall.nearest import Sizes
from models.store.work import Backlog

if TYPE_CHECKING:
    from psycopg import Cursor

TAIL_TURNS = 64  # as many of the newest turns as one call brings at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Rules, newest turns, what waits, and where to search."""

    namespace: str
    bindings: tuple[str, ...]
    places: tuple[str, ...]  # every namespace that recall may search
    rules: Sequence[Rule]
    turns: Sequence[Turn]  # oldest first
    backlog: Backlog
    sizes: Sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who asks, as far as the call says."""

    tenant_id: UUID
    session_id: str
    namespace: str | None  # None: the session's own
    user_id: str | None = None
    session_key: str | None = None
    agent_id: str | None = None

    def values(self) -> dict[str, Any]:
        """As parameters of a statement."""
        return {
            "tenant_id": self.tenant_id,
            "session_id": self.session_id,
            "namespace": self.namespace,
            "user_id": self.user_id,
            "session_key": self.session_key,
            "agent_id": self.agent_id,
        }


_READ = """
SELECT longtail.read_context(
    %(tenant_id)s, %(session_id)s, %(namespace)s, %(user_id)s, %(session_key)s, %(agent_id)s, %(tail_chars)s, %(tail_turns)s,
    %(vectors)s::text::regclass)
"""


def send_context(cursors: Cursors, *, origin: Origin, tail_chars: int, encoder: str) -> "Cursor[Any]":
    """Ask for everything that needs no vector and no words; `receive_context` reads the answer."""
    return cursors.send(
        _READ,
        {
            **origin.values(),
            "tail_chars": tail_chars,
            "tail_turns": TAIL_TURNS,
            "vectors": f"longtail.{table_of(encoder)}",
        },
    )


def receive_context(sent: "Cursor[Any]") -> Context:
    """What `send_context` asked for."""
    found: dict[str, Any] = sent.fetchone()[0]  # type: ignore[index]  # one row always
    pending, lag_seconds = found["waiting"]
    asked = int(found["asked"])
    return Context(
        namespace=found["namespace"],
        bindings=tuple(found["bindings"]),
        places=tuple(found["places"]),
        rules=[_to_rule(row) for row in found["rules"] or ()],
        turns=[_to_turn(row) for row in found["turns"] or ()],
        backlog=Backlog(pending=pending, lag_seconds=round(max(lag_seconds, 0.0), 3)),
        sizes=Sizes(asked=asked, everybody=max(int(found["everybody"]), asked)),
    )


def _to_rule(row: Sequence[Any]) -> Rule:
    node_id, tier, kind, body, heading_path, document, binding = row
    return Rule(
        id=UUID(node_id),
        tier=Tier(tier),
        kind=kind,
        body=body,
        heading_path=tuple(heading_path),
        document=document,
        binding=binding,
    )


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
