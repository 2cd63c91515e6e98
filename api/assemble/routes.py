"""The HTTP surface of assemble."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from api.access.decisions import RuntimeOf, reader_if_known
from api.assemble.schemas import AssembleIn, AssembleOut
from api.assemble.service import assemble_prompt
from api.idempotency import IdempotentRoute
from api.routing.parameters import PROBLEM
from models.store.tenancy.tokens import Caller

router = APIRouter(route_class=IdempotentRoute)


@router.post("/v1/assemble", response_model=AssembleOut, responses=PROBLEM, tags=["memory"])
def post_assemble(
    body: AssembleIn,
    runtime: RuntimeOf,
    caller: Annotated[Caller | None, Depends(reader_if_known)],
) -> Response:
    """The prompt for the next model call, within its budget; what is missing is named in `degraded`."""
    answer = assemble_prompt(runtime, caller, body)
    return Response(answer.model_dump_json(), media_type="application/json")  # checked when it was made
