"""The HTTP surface of sessions, namespaces and documents."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.convertors import PathConvertor, register_url_convertor

from api import place_schemas as schemas
from api import places
from api.callers import Administrator, Reader, RuntimeOf, Writer
from api.idempotency import IdempotentRoute
from api.memory_routes import Limit, Namespace, Since, Until, Why
from api.routes import PROBLEM, SessionId
from api.schemas import Name, Text, UserId


class SessionConvertor(PathConvertor):
    """A session's name, slashes and all, but not the paths below a session."""

    regex = r".*(?<!/turns)(?<!/compact)"


register_url_convertor("session", SessionConvertor())
router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)
TextCursor = Annotated[
    Text | None, Query(min_length=1, max_length=4096, description="`next_cursor` of the page before.")
]
DocumentName = Annotated[Name, Path()]
OfUser = Annotated[UserId | None, Query(description="A document bound to this user.")]
OfAgent = Annotated[Name | None, Query(description="A document bound to this agent.")]


@router.get("/v1/sessions", tags=["history"])
def get_sessions(
    runtime: RuntimeOf,
    caller: Reader,
    namespace: Namespace = None,
    since: Since = None,
    until: Until = None,
    cursor: TextCursor = None,
    limit: Limit = 100,
) -> schemas.SessionPageOut:
    """Sessions by name; `since` and `until` are about the newest turn."""
    return places.page_sessions(
        runtime, caller, namespace=namespace, since=since, until=until, cursor=cursor, limit=limit
    )


@router.get("/v1/sessions/{session_id:session}", tags=["history"])
def get_session(session_id: SessionId, runtime: RuntimeOf, caller: Reader) -> schemas.SessionOut:
    """One session: counts, tokens, and how far its compaction came."""
    return places.read_session(runtime, caller, session_id)


@router.get("/v1/namespaces", tags=["operations"])
def get_namespaces(
    runtime: RuntimeOf, caller: Reader, cursor: TextCursor = None, limit: Limit = 100
) -> schemas.NamespacePageOut:
    """Namespaces by name, and how much each holds."""
    return places.page_namespaces(runtime, caller, cursor=cursor, limit=limit)


@router.delete("/v1/namespaces/{namespace:path}", tags=["operations"])
def delete_namespace(
    namespace: Annotated[Name, Path()],
    runtime: RuntimeOf,
    caller: Administrator,
    confirm: Annotated[
        Name | None, Query(description="The namespace again; without it nothing is erased.")
    ] = None,
    reason: Why = None,
) -> schemas.ErasedOut:
    """Erase a namespace for good, raw turns included. The erasure is written down; what was erased is not."""
    return places.erase(runtime, caller, namespace, confirm=confirm, reason=reason)


@router.get("/v1/erasures", tags=["operations"])
def get_erasures(runtime: RuntimeOf, caller: Administrator, limit: Limit = 100) -> schemas.ErasuresOut:
    """What was erased, when, and by which token; newest first."""
    return places.read_erasures(runtime, caller, limit=limit)


@router.get("/v1/documents", tags=["authored"])
def get_documents(
    runtime: RuntimeOf,
    caller: Reader,
    user_id: OfUser = None,
    agent_id: OfAgent = None,
    cursor: TextCursor = None,
    limit: Limit = 100,
) -> schemas.DocumentPageOut:
    """Authored documents by binding and name, without their text."""
    return places.page_documents(
        runtime, caller, user_id=user_id, agent_id=agent_id, cursor=cursor, limit=limit
    )


@router.get("/v1/documents/{name:path}", tags=["authored"])
def get_document(
    name: DocumentName, runtime: RuntimeOf, caller: Reader, user_id: OfUser = None, agent_id: OfAgent = None
) -> schemas.LoadedDocumentOut:
    """One authored document, word for word."""
    return places.read_document(runtime, caller, name, user_id=user_id, agent_id=agent_id)


@router.delete("/v1/documents/{name:path}", status_code=204, tags=["authored"])
def delete_document(
    name: DocumentName, runtime: RuntimeOf, caller: Writer, user_id: OfUser = None, agent_id: OfAgent = None
) -> None:
    """Take a document away: its rules leave every prompt, its lore leaves recall."""
    places.delete_document(runtime, caller, name, user_id=user_id, agent_id=agent_id)
