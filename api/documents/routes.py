"""The HTTP surface of authored documents."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request

from api.access.decisions import Reader, RuntimeOf, Writer, writer
from api.documents.diaries import load_diary, remove_document_or_diary
from api.documents.schemas import DocumentOut, DocumentPageOut, LoadedDocumentOut
from api.documents.service import load_document, page_documents, read_document
from api.idempotency import IdempotentRoute
from api.routing.parameters import PROBLEM, Limit, TextCursor
from api.routing.schemas import Name, UserId
from models.domain.rules.tiers import DocumentKind
from models.messages import INGEST
from models.store.tenancy.tokens import Caller

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute)
DocumentName = Annotated[Name, Path()]
OfUser = Annotated[UserId | None, Query(description="A document bound to this user.")]
OfAgent = Annotated[Name | None, Query(description="A document bound to this agent.")]


@router.get("/v1/documents", tags=["authored"])
def get_documents(
    runtime: RuntimeOf,
    caller: Reader,
    user_id: OfUser = None,
    agent_id: OfAgent = None,
    cursor: TextCursor = None,
    limit: Limit = 100,
) -> DocumentPageOut:
    """Authored documents by binding and name, without their text."""
    return page_documents(runtime, caller, user_id=user_id, agent_id=agent_id, cursor=cursor, limit=limit)


@router.get("/v1/documents/{name:path}", tags=["authored"])
def get_document(
    name: DocumentName, runtime: RuntimeOf, caller: Reader, user_id: OfUser = None, agent_id: OfAgent = None
) -> LoadedDocumentOut:
    """One authored document, word for word."""
    return read_document(runtime, caller, name, user_id=user_id, agent_id=agent_id)


@router.delete("/v1/documents/{name:path}", status_code=204, tags=["authored"])
def delete_document(
    name: DocumentName, runtime: RuntimeOf, caller: Writer, user_id: OfUser = None, agent_id: OfAgent = None
) -> None:
    """Take a document away: its rules leave every prompt, its lore leaves recall."""
    remove_document_or_diary(runtime, caller, name, user_id=user_id, agent_id=agent_id)


async def read_body(request: Request) -> bytes:
    """The raw body."""
    return await request.body()


@router.put(
    "/v1/documents/{name:path}",
    responses=PROBLEM,
    tags=["authored"],
    openapi_extra={
        "requestBody": {"required": True, "content": {"text/markdown": {"schema": {"type": "string"}}}}
    },
)
def put_document(
    name: Annotated[Name, Path()],
    body: Annotated[bytes, Depends(read_body)],
    runtime: RuntimeOf,
    caller: Annotated[Caller, Depends(writer)],
    user_id: Annotated[UserId | None, Query()] = None,
    agent_id: Annotated[Name | None, Query()] = None,
    policy: Annotated[Literal["refuse", "demote"], Query()] = "refuse",
    kind: Annotated[
        DocumentKind | Literal["dream"],
        Query(
            description="A note has no rules: recall finds it, no prompt must hold it. "
            "A dream is a diary, whose proved entries become memories of its user."
        ),
    ] = "authored",
) -> DocumentOut:
    """Load authored Markdown: rules for every prompt, lore for recall. Replaces the version before it."""
    if kind == "dream":
        return load_diary(runtime, caller, name=name, body=body, user_id=user_id, agent_id=agent_id)
    loaded = load_document(
        runtime, caller, name=name, body=body, user_id=user_id, agent_id=agent_id, policy=policy, kind=kind
    )
    runtime.doorbell.ring(INGEST)
    return loaded
