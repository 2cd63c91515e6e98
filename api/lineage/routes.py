"""The HTTP surface of the proof of losslessness."""

from fastapi import APIRouter

from api.access.decisions import Administrator, RuntimeOf
from api.idempotency import IdempotentRoute
from api.lineage.schemas import VerifyIn, VerifyOut
from api.lineage.service import verify
from api.routing.parameters import PROBLEM

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)


@router.post("/v1/lineage/verify", tags=["compaction"])
def post_verify(body: VerifyIn, runtime: RuntimeOf, caller: Administrator) -> VerifyOut:
    """Prove on the live rows that compaction lost nothing; `repair` drops broken summaries, never turns."""
    return verify(runtime, caller, body)
