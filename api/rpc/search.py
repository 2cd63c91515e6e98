"""Finding and listing what a collection holds; scores are cosines, as the clients of these methods expect."""

import json
from collections.abc import Collection as AnyOf
from collections.abc import Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import Connection

from api.rpc.dispatcher import Call
from models.errors import TransientError
from models.store.collections import (
    Entry,
    Scope,
    find_entries,
    find_nearest_entries,
    list_unencoded_entries,
    load_entries,
)
from models.store.embeddings import Vector
from models.store.engine import tenant_transaction
from models.store.history import LAST_SEQ
from models.store.nearest import choose_way, find_neighbours, measure_sizes

MOST_UNENCODED = (
    64  # rows that came a moment ago are encoded on the spot: a client finds what it has just put in
)
MOST_RESULTS = 1000
SEARCHED_PER_RESULT = 6
ENCODING_TIMEOUT_SECONDS = 10.0


def encode(call: Call, texts: Sequence[str]) -> Vector:
    """A unit row for each text, or a TransientError while there is no encoder."""
    encoding = call.runtime.start_encoding(texts)
    if encoding is None:
        reason = call.runtime.encoder_problem or "there is nothing to encode"
        raise TransientError(f"the text cannot be compared: {reason}", code="encoder_unavailable")
    try:
        return encoding.result(timeout=ENCODING_TIMEOUT_SECONDS)
    except FutureTimeout as error:
        raise TransientError("the text was not encoded in time", code="encoder_unavailable") from error


def search(call: Call, scope: Scope, vector: Vector, *, k: int, exclude: AnyOf[str]) -> list[Entry]:
    """The `k` entries nearest to a vector, nearest first, without those the client has already."""
    tenant_id, encoder = call.caller.tenant_id, call.runtime.settings.encoder
    count = min(k, MOST_RESULTS) + len(exclude)
    with tenant_transaction(call.runtime.engine, call.caller, timeout_ms=call.timeout_ms) as connection:
        # What waits for its vector is read first: one that gets it in between is found twice, never missed.
        waiting = list_unencoded_entries(
            connection, tenant_id=tenant_id, scope=scope, encoder=encoder, count=MOST_UNENCODED
        )
        if scope.view in ("turns", "memories"):
            assert scope.namespace is not None
            sizes = measure_sizes(
                connection, tenant_id=tenant_id, encoder=encoder, namespaces=[scope.namespace]
            )
            near = find_neighbours(
                connection,
                tenant_id=tenant_id,
                encoder=encoder,
                namespace=scope.namespace,
                vectors=[vector],
                befores=[LAST_SEQ],
                count=count,
                only_durable=scope.view == "memories",
                way=choose_way(sizes, wanted=count * SEARCHED_PER_RESULT),
            )[0]
            similarity = {one.item_id: one.similarity for one in near}
            found = _load(connection, call, scope, similarity)
        else:
            found = find_nearest_entries(
                connection, tenant_id=tenant_id, scope=scope, encoder=encoder, vector=vector, count=count
            )
    known = {entry.key for entry in found}
    fresh = [entry for entry in waiting if entry.key not in known]
    if fresh:
        found = [*found, *_compare(call, fresh, vector)]
    wanted = [entry for entry in found if entry.id not in exclude and entry.key not in exclude]
    return sorted(wanted, key=lambda entry: (-entry.similarity, entry.id))[:k]


def _load(connection: Connection, call: Call, scope: Scope, similarity: Mapping[UUID, float]) -> list[Entry]:
    """The entries of neighbours: turns by their own id, memories by the memory's."""
    tenant_id = call.caller.tenant_id
    if scope.view == "memories":
        keys = {str(item_id): value for item_id, value in similarity.items()}
        found = find_entries(connection, tenant_id=tenant_id, scope=scope, ids=list(keys))
        return [replace(entry, similarity=keys[entry.key]) for entry in found if entry.key in keys]
    found = load_entries(connection, tenant_id=tenant_id, scope=scope, item_ids=list(similarity))
    return [replace(entry, similarity=similarity[entry.item_id]) for entry in found if entry.item_id]


def _compare(call: Call, entries: Sequence[Entry], vector: Vector) -> list[Entry]:
    """Entries without a vector of their own, compared by their beginning."""
    rows = encode(call, [entry.body for entry in entries])
    similarities = np.asarray(rows @ vector, dtype=float)
    return [
        replace(entry, similarity=float(value)) for entry, value in zip(entries, similarities, strict=True)
    ]


def show(entry: Entry, scope: Scope) -> dict[str, Any]:
    """An entry as clients read it. Whatever it says was said by somebody: only what an author wrote is a rule."""
    trust = "authored" if scope.view == "authored" else "untrusted"
    return {
        "id": entry.id,
        "score": round(entry.similarity, 6),
        "text": entry.body,
        "metadata": {**entry.metadata, "collection": scope.collection, "trust": trust},
    }


def has_meta(entry: Mapping[str, Any], key: str, value: str) -> bool:
    """Whether a shown entry has a value in its metadata, compared as it would be printed.

    >>> has_meta({"metadata": {"tier": 1.0, "authored": True}}, "tier", "1")
    True
    """
    metadata = entry["metadata"]
    return key in metadata and _print(metadata[key]) == value


def _print(value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return json.dumps(value)
