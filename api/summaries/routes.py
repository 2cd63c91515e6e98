"""The HTTP surface of summaries."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.access.decisions import Reader, RuntimeOf
from api.idempotency import IdempotentRoute
from api.routing.parameters import PROBLEM, Asked, Cursor
from api.summaries.schemas import ExpandOut, SummaryOut
from api.summaries.service import expand_summary, read_summary
from models.store.compaction.summaries import MAX_DEPTH

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)


@router.get("/v1/summaries/{summary_id}", tags=["history"])
def get_summary(summary_id: UUID, runtime: RuntimeOf, caller: Reader, asked: Asked) -> SummaryOut:
    """One summary: its text, its sources, its quality."""
    return read_summary(runtime, caller, summary_id, asked=asked)


@router.get("/v1/summaries/{summary_id}/expand", tags=["history"])
def get_expansion(
    summary_id: UUID,
    runtime: RuntimeOf,
    caller: Reader,
    asked: Asked,
    depth: Annotated[int, Query(ge=1, le=MAX_DEPTH)] = MAX_DEPTH,
    cursor: Cursor = None,
    limit: Annotated[int, Query(gt=0, le=10_000)] = 10_000,
) -> ExpandOut:
    """What a summary covers: the raw turns, and the summaries in between, down to `depth` edges."""
    return expand_summary(runtime, caller, summary_id, depth=depth, cursor=cursor, limit=limit, asked=asked)
