"""The HTTP surface of what is remembered: memories and spoken rules, one by one."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api import memory_schemas as schemas
from api import remembering
from api.callers import Reader, RuntimeOf, Writer
from api.idempotency import IdempotentRoute
from api.routes import PROBLEM
from api.schemas import Instant, Name

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute, tags=["memories"])
Namespace = Annotated[Name | None, Query(description="A namespace, as a user's id; the token may fix it.")]
Since = Annotated[Instant | None, Query(description="From this moment on.")]
Until = Annotated[Instant | None, Query(description="Before this moment.")]
PageCursor = Annotated[UUID | None, Query(description="`next_cursor` of the page before.")]
Limit = Annotated[int, Query(gt=0, le=1000)]
Why = Annotated[schemas.Reason | None, Query(description="Written down with the deed.")]


@router.get("/v1/memories")
def get_memories(
    runtime: RuntimeOf,
    caller: Reader,
    namespace: Namespace = None,
    session_id: Annotated[Name | None, Query()] = None,
    since: Since = None,
    until: Until = None,
    min_score: Annotated[float, Query(ge=0, le=1, description="The least gate score.")] = 0.0,
    forgotten: Annotated[bool, Query(description="List forgotten ones too.")] = False,
    cursor: PageCursor = None,
    limit: Limit = 100,
) -> schemas.MemoryPageOut:
    """Durable memories, those made last first; `since` and `until` are about when one was last said."""
    return remembering.page_memories(
        runtime,
        caller,
        namespace=namespace,
        session_id=session_id,
        since=since,
        until=until,
        min_score=min_score,
        with_forgotten=forgotten,
        cursor=cursor,
        limit=limit,
    )


@router.get("/v1/memories/{memory_id}")
def get_memory(
    memory_id: UUID, runtime: RuntimeOf, caller: Reader, explain: bool = False
) -> schemas.MemoryOut:
    """One memory; with `explain`, why it was kept, the turns it rests on, and what it said before."""
    return remembering.read_memory(runtime, caller, memory_id, explain=explain)


@router.patch("/v1/memories/{memory_id}")
def patch_memory(
    memory_id: UUID, body: schemas.CorrectionIn, runtime: RuntimeOf, caller: Writer
) -> schemas.MemoryOut:
    """Correct a memory: recall says the new words, the raw turn and the old words are kept."""
    return remembering.correct(runtime, caller, memory_id, body)


@router.delete("/v1/memories/{memory_id}")
def delete_memory(
    memory_id: UUID, runtime: RuntimeOf, caller: Writer, reason: Why = None
) -> schemas.ForgottenOut:
    """Forget a memory: it and the turns that said it leave recall for good; the raw record keeps the turns."""
    return remembering.forget(runtime, caller, memory_id, reason=reason)


@router.get("/v1/guidance")
def get_guidance(
    runtime: RuntimeOf,
    caller: Reader,
    namespace: Namespace = None,
    collection: Annotated[Name | None, Query(description="elevated:user:… or elevated:session:…")] = None,
    standing: Annotated[bool, Query(description="False: superseded and forgotten ones too.")] = True,
    cursor: PageCursor = None,
    limit: Limit = 100,
) -> schemas.GuidancePageOut:
    """Rules and wishes spoken in conversation, those noted last first."""
    return remembering.page_guidance(
        runtime,
        caller,
        namespace=namespace,
        collection=collection,
        only_standing=standing,
        cursor=cursor,
        limit=limit,
    )


@router.delete("/v1/guidance/{guidance_id}")
def delete_guidance(
    guidance_id: UUID, runtime: RuntimeOf, caller: Writer, reason: Why = None
) -> schemas.ForgottenOut:
    """Forget a spoken rule: it stands no more, and nothing recalls the turn that spoke it."""
    return remembering.forget_rule(runtime, caller, guidance_id, reason=reason)
