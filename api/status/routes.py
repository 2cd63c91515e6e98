"""The HTTP surface of status, health and readiness."""

from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse
from sqlalchemy import text

from api.access import RuntimeOf, reader
from api.idempotency import IdempotentRoute
from api.parameters import PROBLEM
from api.status.schemas import StatusOut
from models.errors import ServiceError
from models.store.engine import plain_transaction, tenant_transaction
from models.store.tokens import Caller
from models.store.work import count_dead_letters, count_kept, measure_backlog

router = APIRouter(route_class=IdempotentRoute)


@router.get("/v1/status", responses=PROBLEM, tags=["operations"])
def get_status(
    runtime: RuntimeOf, caller: Annotated[Caller, Depends(reader)], counts: bool = False
) -> StatusOut:
    """What waits, how long, and what was given up, in the caller's tenant or the one namespace its token opens."""
    with tenant_transaction(runtime.engine, caller) as connection:
        backlog = measure_backlog(connection, tenant_id=caller.tenant_id, namespace=caller.namespace)
        dead = count_dead_letters(connection, tenant_id=caller.tenant_id)
        kept = (
            count_kept(connection, tenant_id=caller.tenant_id, namespace=caller.namespace) if counts else None
        )
    return StatusOut(
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
