"""Sessions: a page of them, or one."""

from dataclasses import asdict
from datetime import datetime

from api.access.decisions import check_session, choose_namespace
from api.routing.cursors import read_cursor, write_cursor
from api.runtime import Runtime
from api.sessions.schemas import SessionOut, SessionPageOut
from models.domain.records import Identity
from models.errors import NotFound
from models.store.conversation.sessions import describe_session, list_sessions
from models.store.tenancy.tokens import Caller


def page_sessions(
    runtime: Runtime,
    caller: Caller,
    *,
    asked: Identity,
    since: datetime | None,
    until: datetime | None,
    cursor: str | None,
    limit: int,
) -> SessionPageOut:
    """A page of sessions by name, with counts."""
    wanted = choose_namespace(caller, asked)
    after = read_cursor(cursor, parts=1)[0] if cursor else ""
    with runtime.transaction(caller) as connection:
        found = list_sessions(
            connection,
            tenant_id=caller.tenant_id,
            namespace=wanted,
            since=since,
            until=until,
            after=after,
            count=limit + 1,
        )
    return SessionPageOut(
        sessions=[SessionOut(**asdict(one)) for one in found[:limit]],
        next_cursor=write_cursor(found[limit - 1].session_id) if len(found) > limit else None,
    )


def read_session(runtime: Runtime, caller: Caller, session_id: str, *, asked: Identity) -> SessionOut:
    """One session: its counts, its tokens, and how far its compaction came."""
    check_session(runtime, caller, session_id, asked)
    with runtime.transaction(caller) as connection:
        found = describe_session(connection, tenant_id=caller.tenant_id, session_id=session_id)
    if found is None:
        raise NotFound(f"session '{session_id}' has no turns", remedy="GET /v1/sessions lists them")
    return SessionOut(**asdict(found))
