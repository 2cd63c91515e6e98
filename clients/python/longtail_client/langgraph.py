"""A LangGraph store kept by Longtail: items under a namespace and key, found by key, by filter or by meaning.

Each LangGraph namespace is a collection of its own in the service (docs/rpc.md), an item is a record in it, and one more
collection lists the namespaces. What is found by meaning is the text of the indexed fields; the service's own encoder
makes the vectors, so no embedding function is needed. While the service is away reads find nothing, and writes wait in
the outbox.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from itertools import pairwise
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)

from longtail_client.calls import MOST_RPC_MESSAGES, call_rpc
from longtail_client.client import Client
from longtail_client.filters import matches_filter
from longtail_client.guard import Guard
from longtail_client.request import Request, clean_text

MOST_METADATA_CHARS = 60_000  # the service keeps 65,536 characters of JSON beside a text
MOST_RESULTS = 1000  # of one search
MOST_COLLECTIONS = 100  # of one search
MOST_NAME_CHARS = 480  # of a collection or id; longer ones are told apart by their hash
NOT_INDEXED = "(not indexed)"  # the service keeps no empty text
Namespace = tuple[str, ...]
Record = Mapping[str, Any]


def name_owner(namespace: Namespace) -> str | None:
    """Whose items a namespace holds: what follows "users" or "user" in it; nobody's where neither is.

    >>> name_owner(("users", "ann", "food")), name_owner(("docs", "v1"))
    ('ann', None)
    """
    return next((owner for kind, owner in pairwise(namespace) if kind in ("users", "user") and owner), None)


class LongtailStore(BaseStore):
    """`graph.compile(store=LongtailStore())`. Stores of another `name` see nothing of each other.

    `owner` says whose items a namespace holds, for the day that user is erased.
    """

    __slots__ = ("_fields", "_guard", "_name", "_owner")

    def __init__(
        self,
        client: Client | None = None,
        *,
        name: str = "default",
        fields: Sequence[str] = ("$",),
        owner: Callable[[Namespace], str | None] = name_owner,
    ) -> None:
        self._guard = Guard(client)
        self._owner = owner
        self._name = name
        self._fields = tuple(fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads see what was there before the batch; of several writes to one key the last counts."""
        listed = list(ops)
        results = [self._read(op) for op in listed]
        writes = {(op.namespace, op.key): op for op in listed if isinstance(op, PutOp)}
        self._write(list(writes.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, off the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def close(self) -> None:
        """Close the connections."""
        self._guard.close()

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op.namespace, op.key)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._list_namespaces(op)
            case PutOp():
                return None
        raise ValueError(f"unknown operation {type(op).__name__}")

    # writing

    def _write(self, ops: Sequence[PutOp]) -> None:
        calls = [call for op in ops for call in self._to_calls(op)]
        self._guard.write(*_to_requests(calls))

    def _to_calls(self, op: PutOp) -> list[tuple[str, dict[str, Any]]]:
        collection = self._collection(op.namespace)
        if op.value is None:
            return [("delete", {"collection": collection, "id": _shorten(op.key)})]
        known = self._get(op.namespace, op.key)
        now = datetime.now(timezone.utc)
        text, item = self._encode(op, created_at=known.created_at if known else now, updated_at=now)
        owner = self._owner(op.namespace)
        owned = {"userId": clean_text(owner)} if owner else {}
        index = {
            "collection": self._index,
            "id": _shorten(json.dumps(op.namespace)),
            "text": "/".join(op.namespace),
            "metadata": {"namespace": list(op.namespace), **owned},
        }
        slot = _shorten(op.key)
        metadata = {"item": item, "slot": slot, **owned}
        put = {"collection": collection, "id": slot, "text": text, "metadata": metadata}
        return [("insert_text", index), ("insert_text", put)]

    def _encode(self, op: PutOp, *, created_at: datetime, updated_at: datetime) -> tuple[str, dict[str, Any]]:
        """The text that is searched, and everything needed to give the item back exactly."""
        # as ASCII text: half characters and NUL pass through unharmed
        value = json.dumps(dict(op.value or {}))
        item: dict[str, Any] = {
            "namespace": list(op.namespace),
            "key": json.dumps(op.key),
            "created_at": created_at.isoformat(),
            "updated_at": updated_at.isoformat(),
            "value": value,
        }
        text = clean_text("\n".join(self._texts(op)))
        if op.index is False or not text.strip():
            item["is_indexed"] = False
            text = NOT_INDEXED
        if len(json.dumps(item)) > MOST_METADATA_CHARS:
            item |= {"value": None}  # the text holds it instead, whole
            text = value
        return text, item

    def _texts(self, op: PutOp) -> list[str]:
        fields = self._fields if op.index is None else (op.index or ())
        value = dict(op.value or {})
        return [
            text
            for field in fields
            for text in get_text_at_path(value, field if field == "$" else tokenize_path(field))
        ]

    # reading

    def _get(self, namespace: Namespace, key: str) -> Item | None:
        asked = {"collection": self._collection(namespace), "key": "slot", "value": _shorten(key)}
        records = self._ask([("list_by_meta", asked)])[0]
        found = [_decode(record) for record in records]
        return next((Item(**_without_score(one)) for one in found if one.key == key), None)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        namespaces = [
            one for one in self._namespaces() if one[: len(op.namespace_prefix)] == op.namespace_prefix
        ]
        end = op.offset + op.limit
        if not op.query:
            found = [item for records in self._list(namespaces) for item in map(_decode, records)]
            return _filter(found, op)[op.offset : end]
        k = MOST_RESULTS if op.filter else min(end, MOST_RESULTS)
        ranked = self._rank(namespaces, op.query, k)
        if k < MOST_RESULTS and any(not _is_indexed(record) for record in ranked):
            ranked = self._rank(namespaces, op.query, MOST_RESULTS)
        scored = _filter([_decode(record) for record in ranked if _is_indexed(record)], op)
        if len(scored) < end:  # fill up with what has no text to be ranked by
            scored += _filter([_decode(record) for record in ranked if not _is_indexed(record)], op)
        return scored[op.offset : end]

    def _rank(self, namespaces: Sequence[Namespace], query: str, k: int) -> list[Record]:
        names = [self._collection(namespace) for namespace in namespaces]
        calls = [
            (
                "search_text_collections",
                {"collections": names[start : start + MOST_COLLECTIONS], "text": query, "k": k},
            )
            for start in range(0, len(names), MOST_COLLECTIONS)
        ]
        found = [record for records in self._ask(calls) for record in records]
        return sorted(found, key=lambda one: -float(one["score"]))[:k]

    def _list(self, namespaces: Sequence[Namespace]) -> list[list[Record]]:
        return self._ask([("list_collection", {"collection": self._collection(one)}) for one in namespaces])

    def _namespaces(self) -> list[Namespace]:
        records = self._ask([("list_collection", {"collection": self._index})])[0]
        return sorted(tuple(record["metadata"]["namespace"]) for record in records)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        wanted = [
            one for one in self._namespaces() if all(_does_match(condition, one) for condition in conditions)
        ]
        # one whose last item was deleted is still in the list of namespaces: ask each for anything at all
        probes = [
            ("search_text", {"collection": self._collection(one), "text": "anything", "k": 1})
            for one in wanted
        ]
        held = [one for one, records in zip(wanted, self._ask(probes), strict=True) if records]
        shown = sorted({one[: op.max_depth] for one in held})
        return shown[op.offset : op.offset + op.limit]

    def _ask(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[Record]]:
        """The records each call found; none where nobody answers."""
        found: list[list[Record]] = []
        for request, count in zip(_to_requests(calls), _sizes(len(calls)), strict=True):
            answers = self._guard.read(request, [{"results": []}] * count)
            found += [answer["results"] for answer in answers]
        return found

    @property
    def _index(self) -> str:
        return _shorten(f"langgraph-namespaces:{self._name}")

    def _collection(self, namespace: Namespace) -> str:
        return _shorten(f"langgraph:{self._name}:{json.dumps(namespace, separators=(',', ':'))}")


def _to_requests(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Request[list[dict[str, Any]]]]:
    return [
        call_rpc(calls[start : start + MOST_RPC_MESSAGES], is_idempotent=True)
        for start in range(0, len(calls), MOST_RPC_MESSAGES)
    ]


def _sizes(count: int) -> list[int]:
    return [min(MOST_RPC_MESSAGES, count - start) for start in range(0, count, MOST_RPC_MESSAGES)]


def _shorten(name: str) -> str:
    """A name as the service takes it: without half characters, and with a hash where it is too long."""
    ascii_name = name.encode("ascii", "backslashreplace").decode()
    if name == clean_text(name) and 0 < len(name) <= MOST_NAME_CHARS:
        return name
    return ascii_name[:400] + "#" + hashlib.sha256(ascii_name.encode()).hexdigest()[:32]


def _is_indexed(record: Record) -> bool:
    return bool(record["metadata"]["item"].get("is_indexed", True))


def _decode(record: Record) -> SearchItem:
    item = record["metadata"]["item"]
    value = record["text"] if item["value"] is None else item["value"]
    is_scored = _is_indexed(record) and record["score"] != 0
    return SearchItem(
        namespace=tuple(item["namespace"]),
        key=json.loads(item["key"]),
        value=json.loads(value),
        created_at=datetime.fromisoformat(item["created_at"]),
        updated_at=datetime.fromisoformat(item["updated_at"]),
        score=float(record["score"]) if is_scored else None,
    )


def _without_score(item: SearchItem) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ("namespace", "key", "value", "created_at", "updated_at")}


def _filter(items: Sequence[SearchItem], op: SearchOp) -> list[SearchItem]:
    return [item for item in items if matches_filter(item.value, op.filter or {})]


def _does_match(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
