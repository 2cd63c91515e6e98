"""The HTTP surface of raw turns: append, read back, search."""

from typing import Annotated

from fastapi import APIRouter, Header, Query

from api.access.decisions import Reader, RuntimeOf, Writer
from api.idempotency import IdempotentRoute
from api.routing.parameters import PROBLEM, Asked, Cursor, SessionId
from api.routing.schemas import Name
from api.turns.schemas import GrepIn, GrepOut, TurnPageOut, TurnsIn, TurnsOut
from api.turns.service import accept, grep, page_turns

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)


@router.get("/v1/sessions/{session_id:path}/turns", tags=["history"])
def get_turns(
    session_id: SessionId,
    runtime: RuntimeOf,
    caller: Reader,
    asked: Asked,
    cursor: Cursor = None,
    limit: Annotated[int, Query(gt=0, le=1000)] = 100,
) -> TurnPageOut:
    """The raw record of a session, oldest first, word for word."""
    return page_turns(runtime, caller, session_id, asked=asked, cursor=cursor, limit=limit)


@router.post("/v1/grep", tags=["history"])
def post_grep(body: GrepIn, runtime: RuntimeOf, caller: Reader) -> GrepOut:
    """Search every raw turn, covered or not, for a text or a regular expression."""
    return grep(runtime, caller, body)


@router.post("/v1/sessions/{session_id:path}/turns", status_code=202, responses=PROBLEM, tags=["memory"])
def post_turns(
    session_id: SessionId,
    body: TurnsIn,
    runtime: RuntimeOf,
    caller: Writer,
    idempotency_key: Annotated[
        Name | None, Header(description="The same as `idempotency_key` in the body.")
    ] = None,
) -> TurnsOut:
    """Append turns to the raw record, once each, and wake the workers."""
    return accept(runtime, caller, session_id, body, idempotency_key=idempotency_key)
