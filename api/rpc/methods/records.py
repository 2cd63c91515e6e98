"""What is in collections: insert_text, search_text, search_text_collections, list_collection, list_by_meta, delete,
delete_batch, bump_access_counts."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field
from sqlalchemy import Connection

from api.routing.schemas import Name, Text
from api.rpc import inserts as writing
from api.rpc import search as finding
from api.rpc.access import open_for_reading, open_for_writing, to_scope
from api.rpc.authored import find_authored, present
from api.rpc.collections import Collection, Place
from api.rpc.dispatcher import Call, Method, Params
from api.turns.schemas import Content, check_metadata
from models.errors import InvalidInput
from models.store.collections.records import add_record_reads, delete_records, find_record_items
from models.store.collections.views import Entry, find_entries, find_memory_of_turn, list_entries
from models.store.memory.forgetting import forget_guidance, forget_memory, forget_turns

MOST_IDS = 10_000
Metadata = Annotated[dict[str, Any], AfterValidator(check_metadata)]
Ids = Annotated[list[Text], Field(max_length=MOST_IDS)]
Query = Annotated[Text, Field(max_length=200_000)]
Count = Annotated[int, Field(ge=-(2**31), lt=2**31)]


class InsertParams(Params):
    collection: Collection
    id: Name
    text: Content
    metadata: Metadata = Field(default_factory=dict)


class SearchParams(Params):
    collection: Collection
    text: Query
    k: Count = 0
    exclude_ids: Ids = Field(default_factory=list, alias="excludeIds")


class SearchCollectionsParams(Params):
    collections: list[Collection] = Field(max_length=100)
    text: Query
    k: Count = 0
    exclude_by_collection: dict[Text, Ids] = Field(default_factory=dict, alias="excludeByCollection")


class ListParams(Params):
    collection: Collection


class ListByMetaParams(Params):
    collection: Collection
    key: Text
    value: Text


class DeleteParams(Params):
    collection: Collection
    id: Name


class DeleteBatchParams(Params):
    collection: Collection
    ids: Ids


class ReadsOfCollection(Params):
    collection: Collection
    ids: Ids


class BumpParams(Params):
    updates: list[ReadsOfCollection] = Field(max_length=1000)


def insert_text(call: Call, params: InsertParams) -> Mapping[str, Any]:
    """Put a text into a collection under an id."""
    is_kept = writing.insert_text(
        call, collection=params.collection, record_id=params.id, text=params.text, metadata=params.metadata
    )
    return {"ok": True} if is_kept else {"ok": True, "skipped": True}


def search_text(call: Call, params: SearchParams) -> Mapping[str, Any]:
    """The entries of a collection that are nearest to a text."""
    return search_collections(
        call, [params.collection], params.text, params.k, {params.collection: params.exclude_ids}
    )


def search_text_collections(call: Call, params: SearchCollectionsParams) -> Mapping[str, Any]:
    """The nearest entries of several collections together, best first."""
    return search_collections(call, params.collections, params.text, params.k, params.exclude_by_collection)


def search_collections(
    call: Call, collections: Sequence[str], text: str, k: int, excluded: Mapping[str, Sequence[str]]
) -> Mapping[str, Any]:
    """The `k` nearest entries of these collections; k of 0 or less is as many as an answer may hold."""
    k = min(k, finding.MOST_RESULTS) if k > 0 else finding.MOST_RESULTS
    with call.runtime.transaction(call.caller) as connection:
        scopes = [open_for_reading(connection, call, name) for name in dict.fromkeys(collections)]
    if not text.strip():
        return {"results": []}
    question = finding.ask(call, text)
    results: list[dict[str, Any]] = []
    by_words = 0
    for scope in scopes:
        excluded_here = frozenset(excluded.get(scope.collection, ()))
        found = finding.search(call, scope, question, k=k, exclude=excluded_here)
        results += [finding.show(entry, scope) for entry in found.entries]
        by_words += found.by_words
    answer: dict[str, Any] = {"results": sorted(results, key=lambda one: (-one["score"], one["id"]))[:k]}
    if question.vector is None:
        reason = call.runtime.encoder_problem or "it was not encoded in time"
        answer["missing"] = (
            f"the question has no vector ({reason}): the newest entries were compared by words"
        )
    elif by_words:
        answer["missing"] = f"{by_words} new entries were not encoded in time and were compared by words"
    return answer


def list_collection(call: Call, params: ListParams) -> Mapping[str, Any]:
    """Every entry of a collection, oldest first; the newest ones where there are too many for one answer."""
    return show_all(call, params.collection)


def show_all(call: Call, collection: str) -> dict[str, Any]:
    """Every entry of a collection, and whether some were left out."""
    most = call.runtime.settings.rpc_max_records
    with call.runtime.transaction(call.caller) as connection:
        scope = open_for_reading(connection, call, collection)
        found = list_entries(connection, tenant_id=call.caller.tenant_id, scope=scope, count=most + 1)
        if scope.view == "authored":
            found = present(
                connection, tenant_id=call.caller.tenant_id, scope=scope, entries=found, with_headings=True
            )
    shown = [finding.show(entry, scope) for entry in found[-most:]]
    return {"results": shown} | ({"truncated": True} if len(found) > most else {})


def list_by_meta(call: Call, params: ListByMetaParams) -> Mapping[str, Any]:
    """The entries of a collection with a value in their metadata."""
    found = show_all(call, params.collection)
    kept = [one for one in found["results"] if finding.has_meta(one, params.key, params.value)]
    return {**found, "results": kept}


def delete(call: Call, params: DeleteParams) -> Mapping[str, Any]:
    """Take one entry out of a collection; one that is not there is gone already."""
    return _delete(call, params.collection, [params.id])


def delete_batch(call: Call, params: DeleteBatchParams) -> Mapping[str, Any]:
    """Take entries out of a collection."""
    return _delete(call, params.collection, params.ids)


def _delete(call: Call, collection: str, ids: Sequence[str]) -> Mapping[str, Any]:
    tenant_id = call.caller.tenant_id
    with call.runtime.transaction(call.caller) as connection:
        place = open_for_writing(connection, call, collection)
        if place.is_derived:
            raise InvalidInput(
                f"nothing is deleted from '{collection}': the raw record is kept, summaries and rules follow from it",
                field="collection",
                remedy="use delete_authored_document for documents; a namespace is erased by DELETE /v1/namespaces",
            )
        if place.view == "own":  # a dream is a memory, too
            for turn_id in find_record_items(connection, tenant_id=tenant_id, collection=collection, ids=ids):
                memory_id = find_memory_of_turn(connection, tenant_id=tenant_id, turn_id=turn_id)
                if memory_id is not None:
                    reason = f"deleted from {collection}"
                    forget_memory(connection, tenant_id=tenant_id, memory_id=memory_id, reason=reason)
        else:
            scope = to_scope(place, user_id=call.caller.namespace)
            found = find_entries(connection, tenant_id=tenant_id, scope=scope, ids=ids)
            _forget(connection, tenant_id, place, found)
        delete_records(connection, tenant_id=tenant_id, collection=collection, ids=ids)
    return {"ok": True}


def _forget(connection: Connection, tenant_id: UUID, place: Place, entries: Sequence[Entry]) -> None:
    """What a client deletes leaves recall; the turns that said it stay in the raw record."""
    reason = f"deleted from {place.collection}"
    if place.view == "memories":
        for entry in entries:
            forget_memory(connection, tenant_id=tenant_id, memory_id=UUID(entry.key), reason=reason)
    elif place.view == "guidance":
        for entry in entries:
            forget_guidance(connection, tenant_id=tenant_id, guidance_id=UUID(entry.key), reason=reason)
    else:
        turns = [entry.item_id for entry in entries if entry.item_id and entry.metadata["type"] == "turn"]
        if turns:
            forget_turns(connection, tenant_id=tenant_id, turn_ids=turns, reason=reason)


def bump_access_counts(call: Call, params: BumpParams) -> Mapping[str, Any]:
    """These entries went into a prompt: recall counts it."""
    tenant_id = call.caller.tenant_id
    read: list[str] = []
    with call.runtime.transaction(call.caller) as connection:
        for update in params.updates:
            scope = open_for_reading(connection, call, update.collection)
            if scope.view == "own":
                add_record_reads(
                    connection, tenant_id=tenant_id, collection=update.collection, ids=update.ids
                )
                continue
            find = find_authored if scope.view == "authored" else find_entries
            found = find(connection, tenant_id=tenant_id, scope=scope, ids=update.ids)
            read += [str(entry.item_id) for entry in found if entry.item_id]
    call.runtime.reads.count(tenant_id, read)
    return {"ok": True}


METHODS = (
    Method(name="insert_text", params=InsertParams, scope="write", run=insert_text),
    Method(name="search_text", params=SearchParams, scope="read", run=search_text),
    Method(
        name="search_text_collections",
        params=SearchCollectionsParams,
        scope="read",
        run=search_text_collections,
    ),
    Method(name="list_collection", params=ListParams, scope="read", run=list_collection),
    Method(name="list_by_meta", params=ListByMetaParams, scope="read", run=list_by_meta),
    Method(name="delete", params=DeleteParams, scope="write", run=delete),
    Method(name="delete_batch", params=DeleteBatchParams, scope="write", run=delete_batch),
    Method(name="bump_access_counts", params=BumpParams, scope="read", run=bump_access_counts),
)
