"""The HTTP surface of receipts: how a prompt came about, and whether it would come about again."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends

from api.access.decisions import RuntimeOf, reader
from api.receipts.schemas import ReceiptOut, ReplayOut
from api.receipts.service import read_receipt, replay
from api.routing.parameters import PROBLEM
from models.store.tenancy.tokens import Caller

NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {**PROBLEM[403], "description": "Not here: never kept, pruned, or another tenant's"}
}
router = APIRouter(responses={**PROBLEM, **NOT_FOUND}, tags=["receipts"])
Reader = Annotated[Caller, Depends(reader)]


@router.get("/v1/assemblies/{assembly_id}")
def get_assembly(assembly_id: UUID, runtime: RuntimeOf, caller: Reader) -> ReceiptOut:
    """The receipt of an assembly: budget arithmetic, every candidate with its terms and its fate, timings, settings."""
    return read_receipt(runtime, caller, assembly_id)


@router.post("/v1/assemblies/{assembly_id}/replay")
def post_replay(assembly_id: UUID, runtime: RuntimeOf, caller: Reader) -> ReplayOut:
    """Make the prompt again from what is stored now, at the moment it was made for, and say what changed."""
    return replay(runtime, caller, assembly_id)
