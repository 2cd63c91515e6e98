"""Memories one by one: look, explain, correct, forget."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import Connection

from api.access.decisions import check_namespace, check_owner, choose_namespace
from api.memories.direct import remember
from api.memories.schemas import (
    CorrectionIn,
    DecisionOut,
    EchoOut,
    ForgottenOut,
    MemoryExplainOut,
    MemoryIn,
    MemoryOut,
    MemoryPageOut,
    RevisionOut,
    SourceOut,
)
from api.routing.superseding import show_supersession
from api.runtime import Runtime
from api.turns.schemas import TurnIn
from models.domain.records import GLOBAL_NAMESPACE, Identity
from models.errors import Conflict, InvalidInput, NotFound
from models.messages import INGEST
from models.store.engine import repeat_if_overtaken
from models.store.index.embeddings import table_of
from models.store.memory.decisions import WORDS, find_decision
from models.store.memory.forgetting import (
    correct_memory,
    find_echoes,
    find_turns_of,
    forget_memory,
    forget_turns,
    load_revisions,
)
from models.store.memory.memories import LAST_ID, Memory, find_memory, list_memories, load_memory_sources
from models.store.memory.updates import Supersession, load_supersessions
from models.store.tenancy.tokens import Caller


def read_memory(
    runtime: Runtime, caller: Caller, memory_id: UUID, *, asked: Identity, explain: bool
) -> MemoryOut:
    """One memory, forgotten or not, and if wanted everything it rests on."""
    with runtime.transaction(caller, is_snapshot=True) as connection:
        return _read(connection, caller, memory_id, asked=asked, explain=explain)


def _read(
    connection: Connection, caller: Caller, memory_id: UUID, *, asked: Identity, explain: bool
) -> MemoryOut:
    memory = _find(connection, caller, memory_id, asked)
    marks = load_supersessions(connection, tenant_id=caller.tenant_id, turn_ids=[memory.turn_id])
    shown = _show(memory, marks)
    if explain:
        shown.explain = _explain(connection, caller, memory)
    return shown


def page_memories(
    runtime: Runtime,
    caller: Caller,
    *,
    asked: Identity,
    session_id: str | None,
    since: datetime | None,
    until: datetime | None,
    min_score: float,
    with_forgotten: bool,
    cursor: UUID | None,
    limit: int,
) -> MemoryPageOut:
    """A page of memories, those made last first."""
    wanted = choose_namespace(caller, asked)
    with runtime.transaction(caller) as connection:
        found = list_memories(
            connection,
            tenant_id=caller.tenant_id,
            namespace=wanted,
            session_id=session_id,
            since=since,
            until=until,
            min_score=min_score,
            with_forgotten=with_forgotten,
            before_id=cursor or LAST_ID,
            count=limit + 1,
        )
        marks = load_supersessions(
            connection, tenant_id=caller.tenant_id, turn_ids=[memory.turn_id for memory in found]
        )
    return MemoryPageOut(
        memories=[_show(memory, marks) for memory in found[:limit]],
        next_cursor=found[limit - 1].id if len(found) > limit else None,
    )


def add(runtime: Runtime, caller: Caller, body: MemoryIn) -> MemoryOut:
    """A memory on a turn of its own; recall finds it as soon as the pipeline has indexed that turn."""
    namespace = check_namespace(caller, GLOBAL_NAMESPACE if body.scope == "global" else body.user_id or "")
    turn = screen_memory(body)
    digest = hashlib.sha256(turn.content.encode()).hexdigest()[:32]
    turn = turn.model_copy(update={"id": body.id or f"memory:{digest}"})
    score = runtime.settings.gate_threshold
    _, memory_id = remember(runtime, caller, namespace=namespace, turn=turn, score=score)
    shown = read_memory(runtime, caller, memory_id, asked=Identity(), explain=False)
    shown.secrets = turn.secrets
    return shown


def screen_memory(body: MemoryIn) -> TurnIn:
    """The turn that a memory rests on, without secrets; InvalidInput where they are refused."""
    try:
        return TurnIn(role="user", content=body.text, metadata=body.metadata)
    except ValidationError as error:
        context = error.errors()[0].get("ctx") or {}
        raise InvalidInput(
            error.errors()[0]["msg"], code=context.get("code"), field="text", remedy=context.get("remedy")
        ) from error


def correct(
    runtime: Runtime, caller: Caller, memory_id: UUID, request: CorrectionIn, *, asked: Identity
) -> MemoryOut:
    """Give a memory other words; they are found as soon as the workers have indexed them."""
    is_changed, shown = repeat_if_overtaken(partial(_correct, runtime, caller, memory_id, request, asked))
    if is_changed:
        runtime.doorbell.ring(INGEST)
    shown.secrets = request.secrets
    return shown


def _correct(
    runtime: Runtime, caller: Caller, memory_id: UUID, request: CorrectionIn, asked: Identity
) -> tuple[bool, MemoryOut]:
    with runtime.transaction(caller) as connection:
        memory = _find(connection, caller, memory_id, asked)
        if memory.forgotten_at is not None:
            raise Conflict(
                f"memory {memory_id} was forgotten at {memory.forgotten_at.isoformat()}",
                code="memory_forgotten",
                remedy="send what is to be remembered as a new turn",
            )
        is_changed = correct_memory(
            connection,
            tenant_id=caller.tenant_id,
            memory_id=memory_id,
            body=request.text,
            reason=request.reason,
        )
        return is_changed, _read(connection, caller, memory_id, asked=asked, explain=True)


def forget(
    runtime: Runtime,
    caller: Caller,
    memory_id: UUID,
    *,
    asked: Identity,
    also: Sequence[UUID],
    reason: str | None,
) -> ForgottenOut:
    """A memory leaves recall for good, and with it which of its echoes are named; turns stay in the raw record."""
    table = table_of(runtime.serving.name)

    def leave() -> ForgottenOut:
        with runtime.transaction(caller) as connection:
            memory = _find(connection, caller, memory_id, asked)
            known: dict[str, Any] = {"tenant_id": caller.tenant_id, "memory_id": memory_id}
            echoes = find_echoes(connection, **known, table=table) if memory.forgotten_at is None else []
            since = forget_memory(connection, **known, reason=reason)
            taken = 0
            if also:
                own = find_turns_of(
                    connection, tenant_id=caller.tenant_id, namespace=memory.namespace, ids=also
                )
                taken = forget_turns(
                    connection,
                    tenant_id=caller.tenant_id,
                    turn_ids=own,
                    reason=f"an echo of memory {memory_id}",
                )
            assert since is not None
            return ForgottenOut(
                id=str(memory_id),
                forgotten_at=since,
                also_forgotten=taken,
                echoes=[
                    EchoOut(
                        turn_id=str(one.turn_id),
                        role=one.role,
                        text=one.content,
                        similarity=round(one.similarity, 3),
                    )
                    for one in echoes
                    if one.turn_id not in set(also)
                ],
            )

    return repeat_if_overtaken(leave)


def _find(connection: Connection, caller: Caller, memory_id: UUID, asked: Identity) -> Memory:
    missing = NotFound(
        f"no memory {memory_id} in this tenant",
        remedy="GET /v1/memories lists them; items of an assembly name them",
    )
    found = find_memory(connection, tenant_id=caller.tenant_id, memory_id=memory_id)
    if found is None:
        raise missing
    check_owner(caller, found.namespace, asked, missing=missing)
    return found


def _explain(connection: Connection, caller: Caller, memory: Memory) -> MemoryExplainOut:
    decision = find_decision(connection, tenant_id=caller.tenant_id, turn_id=memory.turn_id)
    return MemoryExplainOut(
        decision=DecisionOut(
            keep=decision.keep,
            threshold=decision.threshold,
            signals={WORDS[name]: value for name, value in decision.signals.items()},
            reasons=list(decision.reasons),
            decided_at=decision.decided_at,
        )
        if decision is not None
        else None,
        sources=[
            SourceOut(
                turn_id=str(source.turn_id),
                session_id=source.session_id,
                position=source.position,
                ts=source.ts,
                text=source.content,
                similarity=source.similarity,
            )
            for source in load_memory_sources(connection, tenant_id=caller.tenant_id, memory_id=memory.id)
        ],
        revisions=[
            RevisionOut(text=one.body, reason=one.reason, replaced_at=one.replaced_at)
            for one in load_revisions(connection, tenant_id=caller.tenant_id, memory_id=memory.id)
        ],
    )


def _show(memory: Memory, marks: Mapping[UUID, Supersession]) -> MemoryOut:
    return MemoryOut(
        id=str(memory.id),
        namespace=memory.namespace,
        text=memory.body,
        gate_score=memory.gate_score,
        mention_count=memory.mention_count,
        turn_id=str(memory.turn_id),
        session_id=memory.session_id,
        first_seen_at=memory.first_seen_at,
        last_seen_at=memory.last_seen_at,
        corrected_at=memory.corrected_at,
        forgotten_at=memory.forgotten_at,
        superseded=show_supersession(marks, memory.turn_id),
    )
