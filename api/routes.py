"""The HTTP surface: parse, check the caller, call one function, shape the answer."""

from importlib.metadata import version
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import text

from api import schemas
from api.assembling import assemble_prompt
from api.calibrating import apply_threshold, report_calibration, take_feedback
from api.callers import RuntimeOf, administrator, reader, reader_if_known, writer
from api.documents import load_document
from api.gathering import resolve_namespace
from api.idempotency import IdempotentRoute
from api.searching import search_memory
from models.domain.authored import DocumentKind
from models.domain.records import Identity
from models.errors import ServiceError
from models.messages import INGEST
from models.store.access import Caller
from models.store.engine import plain_transaction, single_statement, tenant_transaction
from models.store.turns import accept_turns, find_session
from models.store.work import count_dead_letters, count_kept, measure_backlog

router = APIRouter(route_class=IdempotentRoute)
PROBLEM: dict[int | str, dict[str, Any]] = {
    status: {
        "description": reason,
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, reason in (
        (400, "Malformed"),
        (401, "No token, or an unknown one"),
        (403, "The token may not do this"),
        (404, "No such thing in this tenant"),
        (405, "The path has other methods"),
        (409, "It does not fit what is there"),
        (413, "Larger than a stated limit"),
        (422, "A value that cannot be taken; `field` and `remedy` say which and what to do"),
        (429, "More requests than the token may send; `Retry-After` says when"),
        (503, "PostgreSQL does not answer; the call may be repeated"),
    )
}


SessionId = Annotated[str, Path(min_length=1, max_length=512)]


@router.post("/v1/sessions/{session_id:path}/turns", status_code=202, responses=PROBLEM, tags=["memory"])
def post_turns(
    session_id: SessionId,
    body: schemas.TurnsIn,
    runtime: RuntimeOf,
    caller: Annotated[Caller, Depends(writer)],
    idempotency_key: Annotated[
        schemas.Name | None, Header(description="The same as `idempotency_key` in the body.")
    ] = None,
) -> schemas.TurnsOut:
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
    return schemas.TurnsOut(
        accepted=[str(turn_id) for turn_id in accepted.turn_ids],
        duplicates=[
            schemas.DuplicateOut(
                index=one.index, turn_id=str(one.turn_id), content_differs=one.content_differs
            )
            for one in accepted.duplicates
        ],
        pending=accepted.pending,
    )


@router.post("/v1/assemble", response_model=schemas.AssembleOut, responses=PROBLEM, tags=["memory"])
def post_assemble(
    body: schemas.AssembleIn,
    runtime: RuntimeOf,
    caller: Annotated[Caller | None, Depends(reader_if_known)],
) -> Response:
    """The prompt for the next model call, within its budget; what is missing is named in `degraded`."""
    answer = assemble_prompt(runtime, caller, body)
    return Response(answer.model_dump_json(), media_type="application/json")  # checked when it was made


@router.post("/v1/search", responses=PROBLEM, tags=["memory"])
def post_search(
    body: schemas.SearchIn, runtime: RuntimeOf, caller: Annotated[Caller, Depends(reader)]
) -> schemas.SearchOut:
    """Ranked memory for a query, without a budget."""
    return search_memory(runtime, caller, body)


async def read_body(request: Request) -> bytes:
    """The raw body."""
    return await request.body()


@router.put(
    "/v1/documents/{name:path}",
    responses=PROBLEM,
    tags=["authored"],
    openapi_extra={
        "requestBody": {"required": True, "content": {"text/markdown": {"schema": {"type": "string"}}}}
    },
)
def put_document(
    name: Annotated[schemas.Name, Path()],
    body: Annotated[bytes, Depends(read_body)],
    runtime: RuntimeOf,
    caller: Annotated[Caller, Depends(writer)],
    user_id: Annotated[schemas.UserId | None, Query()] = None,
    agent_id: Annotated[schemas.Name | None, Query()] = None,
    policy: Annotated[Literal["refuse", "demote"], Query()] = "refuse",
    kind: Annotated[
        DocumentKind, Query(description="A note has no rules: recall finds it, no prompt must hold it.")
    ] = "authored",
) -> schemas.DocumentOut:
    """Load authored Markdown: rules for every prompt, lore for recall. Replaces the version before it."""
    loaded = load_document(
        runtime,
        caller,
        name=name,
        body=body,
        user_id=user_id,
        agent_id=agent_id,
        policy=policy,
        kind=kind,
    )
    runtime.doorbell.ring(INGEST)
    return loaded


@router.post("/v1/feedback", responses=PROBLEM, tags=["calibration"])
def post_feedback(
    body: schemas.FeedbackIn, runtime: RuntimeOf, caller: Annotated[Caller, Depends(writer)]
) -> schemas.FeedbackOut:
    """Say which recalled items were useful; the gate is calibrated on it."""
    return take_feedback(runtime, caller, body)


@router.get("/v1/calibration", responses=PROBLEM, tags=["calibration"])
def get_calibration(
    runtime: RuntimeOf,
    caller: Annotated[Caller, Depends(reader)],
    wanted_precision: Annotated[float, Query(gt=0, le=1)] = 0.8,
) -> schemas.CalibrationOut:
    """What the labels say about the gate, and which threshold would reach a precision."""
    return report_calibration(runtime, caller.tenant_id, wanted_precision=wanted_precision)


@router.put("/v1/calibration", status_code=204, responses=PROBLEM, tags=["calibration"])
def put_calibration(
    body: schemas.ThresholdIn, runtime: RuntimeOf, caller: Annotated[Caller, Depends(administrator)]
) -> None:
    """Set the tenant's gate threshold; null goes back to the configured one."""
    apply_threshold(runtime, caller, body.threshold)


@router.get("/v1/status", responses=PROBLEM, tags=["operations"])
def get_status(
    runtime: RuntimeOf, caller: Annotated[Caller, Depends(reader)], counts: bool = False
) -> schemas.StatusOut:
    """What waits, how long, and what was given up, in the caller's tenant or the one namespace its token opens."""
    with tenant_transaction(runtime.engine, caller.tenant_id) as connection:
        backlog = measure_backlog(connection, tenant_id=caller.tenant_id, namespace=caller.namespace)
        dead = count_dead_letters(connection, tenant_id=caller.tenant_id)
        kept = (
            count_kept(connection, tenant_id=caller.tenant_id, namespace=caller.namespace) if counts else None
        )
    return schemas.StatusOut(
        version=version("longtail"),
        uptime_seconds=round(runtime.uptime_seconds(), 1),
        redis="ok" if runtime.doorbell.is_working else "not reached; work waits in PostgreSQL",
        counts=kept,
        pending=backlog.pending,
        lag_seconds=backlog.lag_seconds,
        dead_letters=dead,
        encoder=runtime.settings.encoder,
        encoder_fingerprint=runtime.encoder.fingerprint.digest() if runtime.encoder else None,
    )


@router.get("/healthz", tags=["operations"])
def get_health() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz", tags=["operations"])
def get_readiness(runtime: RuntimeOf) -> Response:
    """Whether PostgreSQL and the encoder are there; 503 names what is not. Redis may be away."""
    parts: dict[str, str] = {"encoder": runtime.encoder_problem or "ok"}
    try:
        with plain_transaction(runtime.engine, timeout_ms=1000) as connection:
            connection.execute(text("SELECT 1"))
        parts["postgres"] = "ok"
    except ServiceError as error:
        parts["postgres"] = error.detail
    is_ready = all(state == "ok" for state in parts.values())
    parts["redis"] = "ok" if runtime.doorbell.is_working else "not reached; work waits in PostgreSQL"
    return JSONResponse({"ready": is_ready, "parts": parts}, status_code=200 if is_ready else 503)
