"""The HTTP surface of namespaces and erasures."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from api.access.decisions import Administrator, Reader, RuntimeOf
from api.idempotency import IdempotentRoute
from api.namespaces.schemas import ErasedOut, ErasureIn, ErasuresOut, NamespacePageOut, RemovedOut
from api.namespaces.service import erase, page_namespaces, read_erasure, read_erasures, remove
from api.routing.parameters import PROBLEM, Limit, TextCursor, Why
from api.routing.schemas import Name

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)


@router.get("/v1/namespaces", tags=["operations"])
def get_namespaces(
    runtime: RuntimeOf, caller: Reader, cursor: TextCursor = None, limit: Limit = 100
) -> NamespacePageOut:
    """Namespaces by name, and how much each holds."""
    return page_namespaces(runtime, caller, cursor=cursor, limit=limit)


@router.delete("/v1/namespaces/{namespace:path}", tags=["operations"])
def delete_namespace(
    namespace: Annotated[Name, Path()],
    runtime: RuntimeOf,
    caller: Administrator,
    confirm: Annotated[
        Name | None, Query(description="The namespace again; without it nothing is erased.")
    ] = None,
    reason: Why = None,
) -> ErasedOut:
    """Erase a namespace for good, raw turns included. The erasure is written down; what was erased is not."""
    return erase(runtime, caller, namespace, confirm=confirm, reason=reason)


@router.post("/v1/erasures", tags=["operations"])
def post_erasure(body: ErasureIn, runtime: RuntimeOf, caller: Administrator) -> RemovedOut:
    """Erase a namespace, a session, a memory or a document, raw turns included; `dry_run` counts first."""
    return remove(runtime, caller, body)


@router.get("/v1/erasures/{erasure_id}", tags=["operations"])
def get_erasure(erasure_id: UUID, runtime: RuntimeOf, caller: Administrator) -> RemovedOut:
    """How far an erasure is; what went, when it is done."""
    return read_erasure(runtime, caller, erasure_id)


@router.get("/v1/erasures", tags=["operations"])
def get_erasures(runtime: RuntimeOf, caller: Administrator, limit: Limit = 100) -> ErasuresOut:
    """What was erased, when, and by which token; newest first."""
    return read_erasures(runtime, caller, limit=limit)
