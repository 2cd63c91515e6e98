"""The HTTP surface of sessions."""

from fastapi import APIRouter

from api.access.decisions import Reader, RuntimeOf
from api.idempotency import IdempotentRoute
from api.routing.parameters import PROBLEM, Asked, Limit, SessionId, Since, TextCursor, Until
from api.sessions.schemas import SessionOut, SessionPageOut
from api.sessions.service import page_sessions, read_session

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)


@router.get("/v1/sessions", tags=["history"])
def get_sessions(
    runtime: RuntimeOf,
    caller: Reader,
    asked: Asked,
    since: Since = None,
    until: Until = None,
    cursor: TextCursor = None,
    limit: Limit = 100,
) -> SessionPageOut:
    """Sessions by name; `since` and `until` are about the newest turn."""
    return page_sessions(runtime, caller, asked=asked, since=since, until=until, cursor=cursor, limit=limit)


@router.get("/v1/sessions/{session_id:session}", tags=["history"])
def get_session(session_id: SessionId, runtime: RuntimeOf, caller: Reader, asked: Asked) -> SessionOut:
    """One session: counts, tokens, and how far its compaction came."""
    return read_session(runtime, caller, session_id, asked=asked)
