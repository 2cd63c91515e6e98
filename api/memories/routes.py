"""The HTTP surface of durable memories."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.access.decisions import Reader, RuntimeOf, Writer
from api.idempotency import IdempotentRoute
from api.memories.schemas import CorrectionIn, ForgottenOut, MemoryIn, MemoryOut, MemoryPageOut
from api.memories.service import add, correct, forget, page_memories, read_memory
from api.routing.parameters import PROBLEM, Asked, Limit, PageCursor, Since, Until, Why
from api.routing.schemas import Name

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute, tags=["memories"])


@router.get("/v1/memories")
def get_memories(
    runtime: RuntimeOf,
    caller: Reader,
    asked: Asked,
    session_id: Annotated[Name | None, Query()] = None,
    since: Since = None,
    until: Until = None,
    min_score: Annotated[float, Query(ge=0, le=1, description="The least gate score.")] = 0.0,
    forgotten: Annotated[bool, Query(description="List forgotten ones too.")] = False,
    cursor: PageCursor = None,
    limit: Limit = 100,
) -> MemoryPageOut:
    """Durable memories, those made last first; `since` and `until` are about when one was last said."""
    return page_memories(
        runtime,
        caller,
        asked=asked,
        session_id=session_id,
        since=since,
        until=until,
        min_score=min_score,
        with_forgotten=forgotten,
        cursor=cursor,
        limit=limit,
    )


@router.post("/v1/memories", status_code=201)
def post_memory(body: MemoryIn, runtime: RuntimeOf, caller: Writer) -> MemoryOut:
    """Keep a memory that nobody said in a conversation: a user's, or with `scope` global everybody's."""
    return add(runtime, caller, body)


@router.get("/v1/memories/{memory_id}")
def get_memory(
    memory_id: UUID, runtime: RuntimeOf, caller: Reader, asked: Asked, explain: bool = False
) -> MemoryOut:
    """One memory; with `explain`, why it was kept, the turns it rests on, and what it said before."""
    return read_memory(runtime, caller, memory_id, asked=asked, explain=explain)


@router.patch("/v1/memories/{memory_id}")
def patch_memory(
    memory_id: UUID, body: CorrectionIn, runtime: RuntimeOf, caller: Writer, asked: Asked
) -> MemoryOut:
    """Correct a memory: recall says the new words, the raw turn and the old words are kept."""
    return correct(runtime, caller, memory_id, body, asked=asked)


@router.delete("/v1/memories/{memory_id}")
def delete_memory(
    memory_id: UUID,
    runtime: RuntimeOf,
    caller: Writer,
    asked: Asked,
    also: Annotated[
        list[UUID], Query(max_length=100, description="Turns to forget with it: ids from `echoes`.")
    ] = [],  # noqa: B006 - FastAPI copies it
    reason: Why = None,
) -> ForgottenOut:
    """Forget a memory: it and the turns that said it leave recall for good; the raw record keeps the turns.

    The answer offers what says the same; `also` takes it."""
    return forget(runtime, caller, memory_id, asked=asked, also=also, reason=reason)
