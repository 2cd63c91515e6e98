"""The search index: one row for everything recall can find, derived from the truth it points to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from models.domain.terms import extract_terms

MAX_TERMS = 2000  # of one item; a longer text has more words than anybody asks for


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What the index keeps of a turn, a memory or an authored node."""

    id: UUID
    kind: str
    namespace: str
    text: str  # indexed always; stored only where `turns` does not hold it already
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


# 512 kB: PostgreSQL refuses a text-search vector over 1 MB, and a longer text is indexed by its windows' vectors.
_ADD = text("""
INSERT INTO items (id, tenant_id, kind, namespace, session_id, role, name, body, ts, token_estimate,
                   provenance_class, stability_weight, authority, anchor_density, modalities, identifiers,
                   terms, lexemes, source_turn_ids)
VALUES (:id, :tenant_id, :kind, :namespace, :session_id, :role, :name, :body, :ts, :token_estimate,
        :provenance_class, :stability_weight, :authority, :anchor_density, :modalities, :identifiers,
        :terms, to_tsvector('english', left(:indexed, 200000)), :source_turn_ids)
ON CONFLICT (id) DO NOTHING
""")


def add_items(connection: Connection, *, tenant_id: UUID, items: Sequence[Item]) -> None:
    """Index items; one that is indexed already is left as it is."""
    rows = [
        {
            "id": item.id,
            "tenant_id": tenant_id,
            "kind": item.kind,
            "namespace": item.namespace,
            "session_id": item.session_id,
            "role": item.role,
            "name": item.name,
            "body": None if item.kind == "turn" else item.text,
            "indexed": f"{item.name}: {item.text}" if item.name else item.text,
            "ts": item.ts,
            "token_estimate": item.token_estimate,
            "provenance_class": item.provenance_class,
            "stability_weight": item.stability_weight,
            "authority": item.authority,
            "anchor_density": item.anchor_density,
            "modalities": list(item.modalities),
            "identifiers": list(item.identifiers),
            "terms": sorted(extract_terms(item.text))[:MAX_TERMS],
            "source_turn_ids": list(item.source_turn_ids),
        }
        for item in items
    ]
    if rows:
        connection.execute(_ADD, rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemText:
    """What an encoder reads of an item."""

    id: UUID
    kind: str
    namespace: str
    role: str | None
    seq: int
    text: str


_TEXTS = text("""
SELECT items.id, items.kind, items.namespace, items.role, coalesce(turns.seq, 0) AS seq,
       coalesce(items.body, turns.content) AS text
FROM items LEFT JOIN turns ON turns.id = items.id AND items.kind = 'turn'
WHERE items.tenant_id = :tenant_id AND items.id = ANY(:ids)
""")


def load_item_texts(connection: Connection, *, tenant_id: UUID, ids: Sequence[UUID]) -> list[ItemText]:
    """The texts of these items."""
    rows = connection.execute(_TEXTS, {"tenant_id": tenant_id, "ids": list(ids)})
    return [
        ItemText(id=row.id, kind=row.kind, namespace=row.namespace, role=row.role, seq=row.seq, text=row.text)
        for row in rows
    ]
