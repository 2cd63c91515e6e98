"""The HTTP surface of namespaces and erasures."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.access import Administrator, Reader, RuntimeOf
from api.idempotency import IdempotentRoute
from api.namespaces.schemas import ErasedOut, ErasuresOut, NamespacePageOut
from api.namespaces.service import erase, page_namespaces, read_erasures
from api.parameters import PROBLEM, Limit, TextCursor, Why
from api.schemas import Name

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


@router.get("/v1/erasures", tags=["operations"])
def get_erasures(runtime: RuntimeOf, caller: Administrator, limit: Limit = 100) -> ErasuresOut:
    """What was erased, when, and by which token; newest first."""
    return read_erasures(runtime, caller, limit=limit)
