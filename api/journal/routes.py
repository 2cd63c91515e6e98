"""The HTTP surface of lifecycle hints."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.access.decisions import Reader, RuntimeOf, Writer
from api.idempotency import IdempotentRoute
from api.journal.schemas import Event, JournalOut, LifecycleIn, LifecycleOut
from api.journal.service import read_journal, take_hint
from api.routing.parameters import PROBLEM, Asked
from api.routing.schemas import Name

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)


@router.post("/v1/lifecycle", status_code=202, tags=["compaction"])
def post_lifecycle(body: LifecycleIn, runtime: RuntimeOf, caller: Writer) -> LifecycleOut:
    """A hint that a session ends or is about to be reset."""
    return take_hint(runtime, caller, body)


@router.get("/v1/journal", tags=["compaction"])
def get_journal(
    runtime: RuntimeOf,
    caller: Reader,
    asked: Asked,
    session_id: Annotated[Name | None, Query()] = None,
    event: Annotated[Event | None, Query()] = None,
    cursor: Annotated[UUID | None, Query(description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(gt=0, le=500)] = 100,
) -> JournalOut:
    """The newest hints, newest first."""
    return read_journal(
        runtime, caller, asked=asked, session_id=session_id, event=event, cursor=cursor, limit=limit
    )
