"""Memory that nobody said in a conversation: each text becomes a turn of a session of its own, and rests on it."""

import hashlib
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from api.runtime import Runtime
from api.turns.schemas import TurnIn
from models.domain.records import GLOBAL_NAMESPACE, Identity, read_identity
from models.errors import Conflict
from models.messages import INGEST
from models.store.conversation.turns import accept_turns
from models.store.engine import single_statement
from models.store.memory.memories import add_memory
from models.store.tenancy.tokens import Caller
from models.tables import MAX_NAME_LENGTH

DIRECT_SESSION: Final = "direct:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """Which turn a text is, and whether its id stood for other words before."""

    turn_id: UUID
    differs: bool


def name_collection(namespace: str) -> str:
    """The collection that durable memories of a namespace are in."""
    return GLOBAL_NAMESPACE if namespace == GLOBAL_NAMESPACE else f"user:{namespace}"


def name_direct_session(collection: str) -> str:
    """The session of what was put into a collection directly; a long name is told apart by its hash."""
    name = DIRECT_SESSION + collection
    if len(name) <= MAX_NAME_LENGTH:
        return name
    return name[:400] + "#" + hashlib.sha256(name.encode()).hexdigest()[:32]


def append_turn(
    runtime: Runtime, caller: Caller, *, session_id: str, identity: Identity, turn: TurnIn
) -> UUID:
    """The turn's id, new or known. Other words under a known id are another turn: nothing said is lost."""
    appended = _append(runtime, caller, session_id, identity, turn)
    if appended.differs:
        digest = hashlib.sha256(turn.content.encode()).hexdigest()[:12]
        other = turn.model_copy(update={"id": f"{(turn.id or '')[:490]}#{digest}"})
        appended = _append(runtime, caller, session_id, identity, other)
    runtime.doorbell.ring(INGEST)
    return appended.turn_id


def _append(runtime: Runtime, caller: Caller, session_id: str, identity: Identity, turn: TurnIn) -> Appended:
    began_ns = time.time_ns()
    with single_statement(runtime.engine, timeout_ms=runtime.settings.statement_timeout_ms) as connection:
        accepted = accept_turns(
            connection, whose=caller, session_id=session_id, identity=identity, turns=[turn.to_domain()]
        )
    if runtime.traces:
        runtime.traces.add_accepted(accepted.turn_ids, began_ns=began_ns)
    if accepted.turn_ids:
        return Appended(turn_id=accepted.turn_ids[0], differs=False)
    if accepted.erased:
        raise Conflict(
            "the same words were erased here, and stay erased",
            code="was_erased",
            remedy="say it in other words, if it is to be remembered after all",
        )
    known = accepted.duplicates[0]
    return Appended(turn_id=known.turn_id, differs=known.content_differs)


def remember(
    runtime: Runtime,
    caller: Caller,
    *,
    namespace: str,
    turn: TurnIn,
    score: float,
    collection: str | None = None,
) -> tuple[UUID, UUID]:
    """Keep a text as a durable memory of a namespace; returns the turn it rests on, and the memory."""
    turn_id = append_turn(
        runtime,
        caller,
        session_id=name_direct_session(collection or name_collection(namespace)),
        identity=read_identity(namespace),
        turn=turn,
    )
    with runtime.transaction(caller) as connection:
        memory_id = add_memory(
            connection,
            tenant_id=caller.tenant_id,
            namespace=namespace,
            turn_id=turn_id,
            body=turn.content,
            gate_score=score,
            seen_at=turn.ts or datetime.now(UTC),
        )
    return turn_id, memory_id
