"""The HTTP surface of history: compaction, summaries and their expansion, raw turns, search, hints, proof."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api import history_schemas as schemas
from api.callers import Administrator, Reader, RuntimeOf, Writer
from api.compacting import compact, read_journal, take_hint
from api.history import expand_summary, grep, page_turns, read_summary
from api.idempotency import IdempotentRoute
from api.proving import verify
from api.routes import PROBLEM, SessionId
from api.schemas import Name
from models.store.summaries import MAX_DEPTH

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)
Cursor = Annotated[int | None, Query(ge=-1, le=2**62)]


@router.post("/v1/sessions/{session_id:path}/compact", tags=["compaction"])
def post_compact(
    session_id: SessionId, runtime: RuntimeOf, caller: Writer, body: schemas.CompactIn | None = None
) -> schemas.CompactOut:
    """Cover older turns of a session with summaries; no raw turn is changed."""
    return compact(runtime, caller, session_id, body or schemas.CompactIn())


@router.get("/v1/sessions/{session_id:path}/turns", tags=["history"])
def get_turns(
    session_id: SessionId,
    runtime: RuntimeOf,
    caller: Reader,
    cursor: Cursor = None,
    limit: Annotated[int, Query(gt=0, le=1000)] = 100,
) -> schemas.TurnPageOut:
    """The raw record of a session, oldest first, word for word."""
    return page_turns(runtime, caller, session_id, cursor=cursor, limit=limit)


@router.get("/v1/summaries/{summary_id}", tags=["history"])
def get_summary(summary_id: UUID, runtime: RuntimeOf, caller: Reader) -> schemas.SummaryOut:
    """One summary: its text, its sources, its quality."""
    return read_summary(runtime, caller, summary_id)


@router.get("/v1/summaries/{summary_id}/expand", tags=["history"])
def get_expansion(
    summary_id: UUID,
    runtime: RuntimeOf,
    caller: Reader,
    depth: Annotated[int, Query(ge=1, le=MAX_DEPTH)] = MAX_DEPTH,
    cursor: Cursor = None,
    limit: Annotated[int, Query(gt=0, le=10_000)] = 10_000,
) -> schemas.ExpandOut:
    """What a summary covers: the raw turns, and the summaries in between, down to `depth` edges."""
    return expand_summary(runtime, caller, summary_id, depth=depth, cursor=cursor, limit=limit)


@router.post("/v1/grep", tags=["history"])
def post_grep(body: schemas.GrepIn, runtime: RuntimeOf, caller: Reader) -> schemas.GrepOut:
    """Search every raw turn, covered or not, for a text or a regular expression."""
    return grep(runtime, caller, body)


@router.post("/v1/lifecycle", status_code=202, tags=["compaction"])
def post_lifecycle(body: schemas.LifecycleIn, runtime: RuntimeOf, caller: Writer) -> schemas.LifecycleOut:
    """A hint that a session ends or is about to be reset."""
    return take_hint(runtime, caller, body)


@router.get("/v1/journal", tags=["compaction"])
def get_journal(
    runtime: RuntimeOf,
    caller: Reader,
    session_id: Annotated[Name | None, Query()] = None,
    event: Annotated[schemas.Event | None, Query()] = None,
    cursor: Annotated[UUID | None, Query(description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(gt=0, le=500)] = 100,
) -> schemas.JournalOut:
    """The newest hints, newest first."""
    return read_journal(runtime, caller, session_id=session_id, event=event, cursor=cursor, limit=limit)


@router.post("/v1/lineage/verify", tags=["compaction"])
def post_verify(body: schemas.VerifyIn, runtime: RuntimeOf, caller: Administrator) -> schemas.VerifyOut:
    """Prove on the live rows that compaction lost nothing; `repair` drops broken summaries, never turns."""
    return verify(runtime, caller, body)
