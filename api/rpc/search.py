"""Finding and listing what a collection holds; scores are cosines, as the clients of these methods expect."""

import json
import math
import time
from collections.abc import Collection as AnyOf
from collections.abc import Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.rpc.authored import present
from api.rpc.dispatcher import Call
from api.runtime import Serving
from models.domain.text.terms import extract_terms
from models.errors import TransientError
from models.store.collections.views import (
    Entry,
    Scope,
    find_entries,
    find_nearest_entries,
    list_entries,
    list_unencoded_entries,
    load_entries,
)
from models.store.conversation.history import LAST_SEQ
from models.store.index.embeddings import Vector
from models.store.recall.nearest import choose_way, find_neighbours, measure_sizes

# Rows that came a moment ago are encoded on the spot: a client finds what it has just put in.
MOST_UNENCODED = 64
MOST_RESULTS = 1000
SEARCHED_PER_RESULT = 6
ENCODING_TIMEOUT_SECONDS = 10.0  # where nothing can be said without a vector
SEARCH_ENCODING_SECONDS = 3.0  # what one search may spend on encoding; the rest is compared by its words
COMPARED_BY_WORDS = 500  # the newest entries of a collection, where the question itself has no vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is searched for: its vector, where it was had in time, its words in any case."""

    terms: frozenset[str]
    vector: Vector | None
    serving: Serving  # the encoder it is compared by
    deadline: float  # of encoding, on the monotonic clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Entries, nearest first, and how many of all compared had only their words to go by."""

    entries: list[Entry]
    by_words: int = 0


def encode(
    call: Call,
    texts: Sequence[str],
    serving: Serving,
    *,
    as_passages: bool = False,
    seconds: float = ENCODING_TIMEOUT_SECONDS,
) -> Vector:
    """A unit row for each text, or a TransientError while there is no encoder."""
    encoding = call.runtime.start_encoding(texts, serving, as_passages=as_passages)
    if encoding is None:
        reason = call.runtime.encoder_problem or "there is nothing to encode"
        raise TransientError(f"the text cannot be compared: {reason}", code="encoder_unavailable")
    try:
        return encoding.result(timeout=max(seconds, 0.0))
    except FutureTimeout as error:
        encoding.cancel()
        raise TransientError("the text was not encoded in time", code="encoder_unavailable") from error


def ask(call: Call, text: str, *, seconds: float = SEARCH_ENCODING_SECONDS) -> Question:
    """A question ready to be compared; without a vector where the encoder is away or too busy."""
    deadline = time.monotonic() + seconds
    serving = call.runtime.serving
    try:
        vector = encode(call, [text], serving, seconds=seconds)[0]
    except TransientError:
        vector = None
    return Question(terms=extract_terms(text), vector=vector, serving=serving, deadline=deadline)


def search(call: Call, scope: Scope, question: Question, *, k: int, exclude: AnyOf[str]) -> Found:
    """The `k` entries nearest to a question, nearest first, without those the client has already."""
    tenant_id, encoder = call.caller.tenant_id, question.serving.name
    count = min(k, MOST_RESULTS) + len(exclude)
    found: list[Entry] = []
    with call.runtime.transaction(call.caller) as connection:
        if question.vector is None:
            waiting = list_entries(connection, tenant_id=tenant_id, scope=scope, count=COMPARED_BY_WORDS)
        else:
            # What waits for its vector is read first: one that gets it in between is found twice, never missed.
            waiting = list_unencoded_entries(
                connection, tenant_id=tenant_id, scope=scope, encoder=encoder, count=MOST_UNENCODED
            )
            found = _find_nearest(connection, call, scope, question.vector, count, encoder=encoder)
    known = {entry.key for entry in found}
    compared = compare(call, [entry for entry in waiting if entry.key not in known], question)
    found = [*found, *compared.entries]
    if scope.view == "authored":
        with call.runtime.transaction(call.caller) as connection:
            found = present(connection, tenant_id=tenant_id, scope=scope, entries=found)
    wanted = [entry for entry in found if entry.id not in exclude and entry.key not in exclude]
    wanted.sort(key=lambda entry: (-entry.similarity, entry.id))
    return Found(entries=wanted[:k], by_words=compared.by_words)


def _find_nearest(
    connection: Connection, call: Call, scope: Scope, vector: Vector, count: int, *, encoder: str
) -> list[Entry]:
    """The entries whose stored vectors are nearest."""
    tenant_id = call.caller.tenant_id
    if scope.view not in ("turns", "memories"):
        return find_nearest_entries(
            connection, tenant_id=tenant_id, scope=scope, encoder=encoder, vector=vector, count=count
        )
    assert scope.namespace is not None
    sizes = measure_sizes(connection, tenant_id=tenant_id, encoder=encoder, namespaces=[scope.namespace])
    near = find_neighbours(
        connection,
        tenant_id=tenant_id,
        encoder=encoder,
        namespace=scope.namespace,
        vectors=[vector],
        befores=[LAST_SEQ],
        count=count,
        only_durable=scope.view == "memories",
        said_by_users=scope.view == "turns",
        way=choose_way(sizes, wanted=count * SEARCHED_PER_RESULT),
    )[0]
    return _load(connection, call, scope, {one.item_id: one.similarity for one in near})


def _load(connection: Connection, call: Call, scope: Scope, similarity: Mapping[UUID, float]) -> list[Entry]:
    """The entries of neighbours: turns by their own id, memories by the memory's."""
    tenant_id = call.caller.tenant_id
    if scope.view == "memories":
        keys = {str(item_id): value for item_id, value in similarity.items()}
        found = find_entries(connection, tenant_id=tenant_id, scope=scope, ids=list(keys))
        return [replace(entry, similarity=keys[entry.key]) for entry in found if entry.key in keys]
    found = load_entries(connection, tenant_id=tenant_id, scope=scope, item_ids=list(similarity))
    return [replace(entry, similarity=similarity[entry.item_id]) for entry in found if entry.item_id]


def compare(call: Call, entries: Sequence[Entry], question: Question) -> Found:
    """Entries without a vector of their own, newest first: encoded while there is time, by their words after that.

    One text at a time, so that nobody else's question waits behind all of them, and one encoded once is known next time.
    """
    compared: list[Entry] = []
    by_words = 0
    for entry in entries:
        row = None
        left = question.deadline - time.monotonic()
        if question.vector is not None and left > 0 and entry.body.strip():
            try:
                row = encode(call, [entry.body], question.serving, as_passages=True, seconds=left)[0]
            except TransientError:
                row = None
        if row is None or question.vector is None:
            by_words += 1
            similarity = compare_words(question.terms, extract_terms(entry.body))
            if similarity > 0:
                compared.append(replace(entry, similarity=similarity))
        else:
            compared.append(replace(entry, similarity=float(row @ question.vector)))
    return Found(entries=compared, by_words=by_words)


def compare_words(left: AnyOf[str], right: AnyOf[str]) -> float:
    """The cosine of two sets of words.

    >>> compare_words({"blue", "door"}, {"blue", "wall"}), compare_words({"blue"}, set())
    (0.5, 0.0)
    """
    if not left or not right:
        return 0.0
    return len(set(left) & set(right)) / math.sqrt(len(left) * len(right))


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
