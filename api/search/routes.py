"""The HTTP surface of search."""

from typing import Annotated

from fastapi import APIRouter, Depends

from api.access.decisions import RuntimeOf, reader
from api.idempotency import IdempotentRoute
from api.routing.parameters import PROBLEM
from api.search.schemas import SearchIn, SearchOut
from api.search.service import search_memory
from models.store.tenancy.tokens import Caller

router = APIRouter(route_class=IdempotentRoute)


@router.post("/v1/search", responses=PROBLEM, tags=["memory"])
def post_search(body: SearchIn, runtime: RuntimeOf, caller: Annotated[Caller, Depends(reader)]) -> SearchOut:
    """Ranked memory for a query, without a budget."""
    return search_memory(runtime, caller, body)
