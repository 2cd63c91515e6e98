"""The HTTP surface of compaction."""

from fastapi import APIRouter

from api.access.decisions import RuntimeOf, Writer
from api.compaction.schemas import CompactIn, CompactOut
from api.compaction.service import compact
from api.idempotency import IdempotentRoute
from api.routing.parameters import PROBLEM, SessionId

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)


@router.post("/v1/sessions/{session_id:path}/compact", tags=["compaction"])
def post_compact(
    session_id: SessionId, runtime: RuntimeOf, caller: Writer, body: CompactIn | None = None
) -> CompactOut:
    """Cover older turns of a session with summaries; no raw turn is changed."""
    return compact(runtime, caller, session_id, body or CompactIn())
