"""The HTTP surface of raw turns: append, read back, search."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query

from api.access import (
    Reader,
    RuntimeOf,
    resolve_namespace,
    writer,
)
from api.idempotency import IdempotentRoute
from api.parameters import PROBLEM, Cursor, SessionId
from api.schemas import Name
from api.turns.schemas import DuplicateOut, GrepIn, GrepOut, TurnPageOut, TurnsIn, TurnsOut
from api.turns.service import grep, page_turns
from models.domain.records import Identity
from models.messages import INGEST
from models.store.engine import single_statement, tenant_transaction
from models.store.sessions import find_session
from models.store.tokens import Caller
from models.store.turns import accept_turns

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)


@router.get("/v1/sessions/{session_id:path}/turns", tags=["history"])
def get_turns(
    session_id: SessionId,
    runtime: RuntimeOf,
    caller: Reader,
    cursor: Cursor = None,
    limit: Annotated[int, Query(gt=0, le=1000)] = 100,
) -> TurnPageOut:
    """The raw record of a session, oldest first, word for word."""
    return page_turns(runtime, caller, session_id, cursor=cursor, limit=limit)


@router.post("/v1/grep", tags=["history"])
def post_grep(body: GrepIn, runtime: RuntimeOf, caller: Reader) -> GrepOut:
    """Search every raw turn, covered or not, for a text or a regular expression."""
    return grep(runtime, caller, body)


@router.post("/v1/sessions/{session_id:path}/turns", status_code=202, responses=PROBLEM, tags=["memory"])
def post_turns(
    session_id: SessionId,
    body: TurnsIn,
    runtime: RuntimeOf,
    caller: Annotated[Caller, Depends(writer)],
    idempotency_key: Annotated[
        Name | None, Header(description="The same as `idempotency_key` in the body.")
    ] = None,
) -> TurnsOut:
    """Append turns to the raw record, once each, and wake the workers."""
    identity = Identity(user_id=body.user_id, session_key=body.session_key, agent_id=body.agent_id)
    timeout_ms = runtime.settings.statement_timeout_ms
    if caller.namespace is not None:
        with tenant_transaction(runtime.engine, caller.tenant_id, timeout_ms=timeout_ms) as connection:
            known = find_session(connection, tenant_id=caller.tenant_id, session_id=session_id)
        resolve_namespace(caller, identity, session_id, known)
    with single_statement(runtime.engine, timeout_ms=timeout_ms) as connection:
        accepted = accept_turns(
            connection,
            tenant_id=caller.tenant_id,
            session_id=session_id,
            identity=identity,
            turns=[turn.to_domain() for turn in body.turns],
            idempotency_key=body.idempotency_key or idempotency_key,
        )
    if accepted.turn_ids:
        runtime.doorbell.ring(INGEST)
    return TurnsOut(
        accepted=[str(turn_id) for turn_id in accepted.turn_ids],
        duplicates=[
            DuplicateOut(index=one.index, turn_id=str(one.turn_id), content_differs=one.content_differs)
            for one in accepted.duplicates
        ],
        pending=accepted.pending,
    )
