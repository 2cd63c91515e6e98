"""The search index: one row for everything recall can find, derived from the truth it points to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from models.domain.records import name_speaker
from models.domain.text.terms import count_terms


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedItem:
    """Something recall can find, with its words."""

    id: UUID  # the memory's, where a turn became one
    item_id: UUID
    kind: str
    namespace: str
    session_id: str | None
    role: str | None
    name: str | None
    text: str
    ts: datetime
    authority: float
    access_count: int
    source_turn_ids: tuple[UUID, ...]


_ITEMS = """
SELECT coalesce(memories.id, items.id) AS id, items.id AS item_id,
       CASE WHEN memories.id IS NULL THEN items.kind ELSE 'memory' END AS kind,
       items.namespace, items.session_id, items.role, items.name, coalesce(items.body, turns.content) AS text,
       items.ts, coalesce(memories.gate_score, items.authority) AS authority, items.access_count,
       CASE WHEN memories.id IS NULL THEN items.source_turn_ids
            ELSE ARRAY(SELECT turn_id FROM memory_sources WHERE memory_id = memories.id ORDER BY linked_at, turn_id)
       END AS source_turn_ids
FROM items LEFT JOIN turns ON turns.id = items.id AND items.kind = 'turn'
LEFT JOIN memories ON memories.turn_id = items.id
WHERE items.tenant_id = :tenant_id AND items.is_active
"""


def load_items(
    connection: Connection, *, tenant_id: UUID, namespaces: Sequence[str], ids: Sequence[UUID]
) -> dict[UUID, IndexedItem]:
    """Items by the id of their index row, as far as they are in these namespaces."""
    rows = connection.execute(
        text(f"{_ITEMS} AND items.namespace = ANY(:namespaces) AND items.id = ANY(:ids)"),
        {"tenant_id": tenant_id, "namespaces": list(namespaces), "ids": list(ids)},
    )
    return {row.item_id: _to_item(row) for row in rows}


def _to_item(row: Any) -> IndexedItem:
    return IndexedItem(**{**row._mapping, "source_turn_ids": tuple(row.source_turn_ids)})


MAX_INDEXED_CHARS = 200_000  # of one item
MAX_TERMS = 2000  # of one item; a longer text has more words than anybody asks for
MAX_TERM_CHARS = 200  # a longer one is no word, and an index row has a limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What the index keeps of a turn, a summary or an authored node."""

    id: UUID
    kind: str
    namespace: str
    text: str  # indexed always; stored only where `turns` does not hold it already
    is_verbatim: bool = True  # of a turn: the text is its content, word for word
    ts: datetime
    token_estimate: int
    provenance_class: str
    stability_weight: float
    authority: float = 0.0
    anchor_density: float = 0.0
    session_id: str | None = None
    role: str | None = None
    name: str | None = None
    modalities: Sequence[str] = field(default_factory=tuple)
    identifiers: Sequence[str] = field(default_factory=tuple)
    source_turn_ids: Sequence[UUID] = field(default_factory=tuple)


def add_items(connection: Connection, *, items: Sequence[Item]) -> None:
    """Index items of the transaction's tenant; one that is indexed already is left as it is."""
    rows = [
        {
            "id": str(item.id),
            "kind": item.kind,
            "namespace": item.namespace,
            "session_id": item.session_id,
            "role": item.role,
            "name": item.name,
            "body": None if item.kind == "turn" and item.is_verbatim else item.text,
            "ts": item.ts.isoformat(),
            "token_estimate": item.token_estimate,
            "provenance_class": item.provenance_class,
            "stability_weight": item.stability_weight,
            "authority": item.authority,
            "anchor_density": item.anchor_density,
            "modalities": list(item.modalities),
            "identifiers": list(item.identifiers),
            "source_turn_ids": [str(turn_id) for turn_id in item.source_turn_ids],
            "words": _count_words(item),
        }
        for item in items
    ]
    if rows:
        connection.execute(
            text("SELECT longtail.index_items(CAST(:rows AS jsonb))"), {"rows": json.dumps(rows)}
        )


def _count_words(item: Item) -> dict[str, int]:
    """What the lexical index keeps: the terms of the text and of who said it, the first ones of a very long text."""
    counted = count_terms(item.text[:MAX_INDEXED_CHARS])
    if item.name:
        counted.update(count_terms(item.name))
    return {term: count for term, count in islice(counted.items(), MAX_TERMS) if len(term) <= MAX_TERM_CHARS}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemText:
    """What an encoder reads of an item."""

    id: UUID
    kind: str
    namespace: str
    role: str | None
    seq: int
    text: str
    said: str  # without the name of the speaker


_TEXTS = text("""
SELECT items.id, items.kind, items.namespace, items.role, coalesce(turns.seq, 0) AS seq,
       CASE WHEN items.kind = 'turn' THEN items.name END AS speaker, coalesce(items.body, turns.content) AS said
FROM items LEFT JOIN turns ON turns.id = items.id AND items.kind = 'turn'
WHERE items.tenant_id = :tenant_id AND items.id = ANY(:ids)
""")


def load_item_texts(connection: Connection, *, tenant_id: UUID, ids: Sequence[UUID]) -> list[ItemText]:
    """The texts of these items."""
    rows = connection.execute(_TEXTS, {"tenant_id": tenant_id, "ids": list(ids)})
    return [
        ItemText(
            id=row.id,
            kind=row.kind,
            namespace=row.namespace,
            role=row.role,
            seq=row.seq,
            text=name_speaker(row.speaker, row.said),
            said=row.said,
        )
        for row in rows
    ]


def add_reads(connection: Connection, *, tenant_id: UUID, reads: Mapping[str, int]) -> None:
    """These items were recalled into prompts, so many times each; in the order of ids, so that writers never circle."""
    connection.execute(
        text(
            "UPDATE items SET access_count = access_count + counted.reads FROM ("
            "  SELECT items.id, given.reads FROM unnest(CAST(:ids AS uuid[]), CAST(:counts AS integer[])) "
            "         AS given (id, reads) JOIN items ON items.id = given.id "
            "  WHERE items.tenant_id = :tenant_id ORDER BY items.id FOR UPDATE OF items"
            ") AS counted WHERE items.id = counted.id"
        ),
        {"tenant_id": tenant_id, "ids": list(reads), "counts": list(reads.values())},
    )
