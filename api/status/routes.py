"""The HTTP surface of status, health and readiness."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse

from api.access.decisions import RuntimeOf, reader
from api.idempotency import IdempotentRoute
from api.routing.parameters import PROBLEM
from api.status.schemas import StatusOut
from api.status.service import check_parts, read_status
from models.store.tenancy.tokens import Caller

router = APIRouter(route_class=IdempotentRoute)


@router.get("/v1/status", responses=PROBLEM, tags=["operations"])
def get_status(
    runtime: RuntimeOf, caller: Annotated[Caller, Depends(reader)], counts: bool = False
) -> StatusOut:
    """What waits, how long, and what was given up, in the caller's tenant or the one namespace its token opens."""
    return read_status(runtime, caller, counts=counts)


@router.get("/healthz", tags=["operations"])
def get_health() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz", tags=["operations"])
def get_readiness(runtime: RuntimeOf) -> Response:
    """Whether PostgreSQL and the encoder are there; 503 names what is not. Redis may be away."""
    parts = check_parts(runtime)
    is_ready = parts["encoder"] == parts["postgres"] == "ok"
    return JSONResponse({"ready": is_ready, "parts": parts}, status_code=200 if is_ready else 503)
