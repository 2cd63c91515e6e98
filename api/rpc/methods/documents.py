"""ingest_markdown_document, delete_authored_document, promote_dream_entries: what comes from files."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from api.access.decisions import choose_binding
from api.documents.service import load_document, remove_document
from api.dreams.diary import DreamEntry
from api.dreams.service import promote
from api.routing.schemas import Name, Text
from api.rpc.collections import Namespace
from api.rpc.dispatcher import Call, Method, Params
from api.rpc.methods.records import Metadata
from api.screening import screen_notes
from models.errors import NotFound
from models.messages import INGEST
from models.store.collections.records import NewRecord, delete_records, put_record
from models.store.tenancy.tokens import Caller

MOST_DREAMS: Final = 1000


class SourceMeta(Params):
    source_root: Text | None = Field(default=None, alias="sourceRoot")
    source_path: Text | None = Field(default=None, alias="sourcePath")
    source_kind: Text | None = Field(default=None, alias="sourceKind")
    file_hash: Text | None = Field(default=None, alias="fileHash")
    source_size: int | None = Field(default=None, alias="sourceSize")
    source_mtime_ms: float | None = Field(default=None, alias="sourceMtimeMs")
    ingest_version: int | None = Field(default=None, alias="ingestVersion")
    hash_backend: Text | None = Field(default=None, alias="hashBackend")

    def facts(self) -> dict[str, Any]:
        """What is known about the file, as it stands in the metadata of its entries."""
        return self.model_dump(include=set(SourceMeta.model_fields), exclude_none=True)


class DocumentParams(Params):
    source_doc: Name = Field(alias="sourceDoc")
    text: Text
    core_doc: bool = Field(default=False, alias="coreDoc")
    source_meta: SourceMeta = Field(default_factory=SourceMeta, alias="sourceMeta")


class DeleteDocumentParams(Params):
    source_doc: Name = Field(alias="sourceDoc")


class Dream(Params):
    text: Text = ""
    score: float = 0.0
    recall_count: int = Field(default=0, alias="recallCount")
    unique_queries: int = Field(default=0, alias="uniqueQueries")
    section: Text = ""
    line: int = 0
    source_line: int = Field(default=0, alias="sourceLine")
    metadata: Metadata = Field(default_factory=dict)

    def to_entry(self) -> DreamEntry:
        return DreamEntry(
            text=self.text,
            score=self.score,
            recalls=self.recall_count,
            queries=self.unique_queries,
            section=self.section,
            line=self.line or self.source_line,
        )


class DreamsParams(SourceMeta):
    user_id: Namespace = Field(alias="userId")
    source_doc: Name = Field(alias="sourceDoc")
    entries: Annotated[list[Dream], Field(max_length=MOST_DREAMS)]


def own_of(caller: Caller) -> dict[str, str | None]:
    """Whose documents a client loads: those of the one user or agent its token opens, else the tenant's."""
    namespace = caller.namespace or ""
    is_agent = namespace.startswith("agent-id:")
    return {
        "user_id": None if is_agent else caller.namespace,
        "agent_id": namespace.removeprefix("agent-id:") if is_agent else None,
    }


def name_facts(caller: Caller) -> str:
    """Where a client's facts about its files are kept: apart for the tenant and for each user."""
    binding = choose_binding(caller, **own_of(caller))
    return "authored:documents:" + hashlib.md5(binding.encode(), usedforsecurity=False).hexdigest()


def ingest_markdown_document(call: Call, params: DocumentParams) -> Mapping[str, Any]:
    """Load a file: a core one gives rules to every prompt, any other is a note that recall finds."""
    loaded = load_document(
        call.runtime,
        call.caller,
        name=params.source_doc,
        body=params.text.encode(),
        **own_of(call.caller),
        policy="refuse",
        kind="authored" if params.core_doc else "note",
    )
    tenant_id = call.caller.tenant_id
    with call.runtime.transaction(call.caller) as connection:
        facts = NewRecord(
            collection=name_facts(call.caller),
            id=params.source_doc,
            metadata=screen_notes({**params.source_meta.facts(), "is_core_doc": params.core_doc}),
            namespace=call.caller.namespace,
        )
        put_record(connection, tenant_id=tenant_id, record=facts)
    call.runtime.doorbell.ring(INGEST)
    return {"ok": True, "hard": loaded.hard, "soft": loaded.soft, "variant": loaded.lore}


def delete_authored_document(call: Call, params: DeleteDocumentParams) -> Mapping[str, Any]:
    """Take a file's rules and lore out; one that is not there is gone already."""
    try:
        remove_document(call.runtime, call.caller, params.source_doc, **own_of(call.caller))
    except NotFound:
        return {"ok": True}
    tenant_id = call.caller.tenant_id
    with call.runtime.transaction(call.caller) as connection:
        collection = name_facts(call.caller)
        delete_records(connection, tenant_id=tenant_id, collection=collection, ids=[params.source_doc])
    return {"ok": True}


def promote_dream_entries(call: Call, params: DreamsParams) -> Mapping[str, Any]:
    """Keep the proved entries of a dream diary in place of its former ones."""
    outcome = promote(
        call.runtime,
        call.caller,
        namespace=params.user_id,
        source_doc=params.source_doc,
        entries=[(entry.to_entry(), entry.metadata) for entry in params.entries],
        facts=params.facts(),
    )
    return {"promoted": outcome.promoted, "rejected": outcome.rejected}


METHODS = (
    Method(
        name="ingest_markdown_document", params=DocumentParams, scope="write", run=ingest_markdown_document
    ),
    Method(
        name="delete_authored_document",
        params=DeleteDocumentParams,
        scope="write",
        run=delete_authored_document,
    ),
    Method(name="promote_dream_entries", params=DreamsParams, scope="write", run=promote_dream_entries),
)
