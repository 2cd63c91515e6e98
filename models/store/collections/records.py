"""Records of named collections: a client's own id and metadata for a row of ours, or a text of its own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pgvector import HalfVector
from sqlalchemy import Connection, text

from models.store.index.embeddings import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """Something a client puts into a collection under an id of its own."""

    collection: str
    id: str
    metadata: Mapping[str, Any]
    namespace: str | None = None
    item_id: UUID | None = None  # the turn it names
    body: str | None = None  # or its own text
    encoder: str | None = None
    vector: Vector | None = None


_PUT = text("""
INSERT INTO records AS known (tenant_id, collection, id, namespace, item_id, body, metadata, encoder, embedding)
VALUES (:tenant_id, :collection, :id, :namespace, :item_id, :body, CAST(:metadata AS jsonb), :encoder,
        CAST(:vector AS halfvec))
ON CONFLICT (tenant_id, collection, id) DO UPDATE SET namespace = excluded.namespace, item_id = excluded.item_id,
    body = excluded.body, metadata = excluded.metadata, encoder = excluded.encoder, embedding = excluded.embedding,
    updated_at = now()
""")


def put_record(connection: Connection, *, tenant_id: UUID, record: NewRecord) -> None:
    """Keep a record; one of that id is replaced."""
    connection.execute(
        _PUT,
        {
            "tenant_id": tenant_id,
            "collection": record.collection,
            "id": record.id,
            "namespace": record.namespace,
            "item_id": record.item_id,
            "body": record.body,
            "metadata": json.dumps(dict(record.metadata)),
            "encoder": record.encoder,
            "vector": None if record.vector is None else HalfVector(record.vector).to_text(),
        },
    )


def find_named_turn(
    connection: Connection, *, tenant_id: UUID, collection: str, record_id: str, digest: bytes
) -> UUID | None:
    """The turn that a client's id stands for, if it said exactly this."""
    found: UUID | None = connection.execute(
        text(
            "SELECT turns.id FROM records JOIN turns ON turns.id = records.item_id "
            "WHERE records.tenant_id = :tenant_id AND records.collection = :collection AND records.id = :id "
            "AND turns.content_sha256 = :digest"
        ),
        {"tenant_id": tenant_id, "collection": collection, "id": record_id, "digest": digest},
    ).scalar_one_or_none()
    return found


def delete_records(connection: Connection, *, tenant_id: UUID, collection: str, ids: Sequence[str]) -> int:
    """Remove records by their ids; returns how many were there."""
    removed = connection.execute(
        text(
            "DELETE FROM records WHERE tenant_id = :tenant_id AND collection = :collection AND id = ANY(:ids) "
            "RETURNING 1"
        ),
        {"tenant_id": tenant_id, "collection": collection, "ids": list(ids)},
    )
    return len(removed.all())


def delete_records_by_meta(
    connection: Connection, *, tenant_id: UUID, collection: str, key: str, value: str
) -> int:
    """Remove the records whose metadata has this value; returns how many."""
    removed = connection.execute(
        text(
            "DELETE FROM records WHERE tenant_id = :tenant_id AND collection = :collection "
            "AND metadata ->> :key = :value RETURNING 1"
        ),
        {"tenant_id": tenant_id, "collection": collection, "key": key, "value": value},
    )
    return len(removed.all())


def list_named_items(
    connection: Connection, *, tenant_id: UUID, collection: str, key: str, value: str
) -> list[UUID]:
    """The turns that records with this value in their metadata rest on."""
    found = connection.execute(
        text(
            "SELECT DISTINCT item_id FROM records WHERE tenant_id = :tenant_id AND collection = :collection "
            "AND metadata ->> :key = :value AND item_id IS NOT NULL"
        ),
        {"tenant_id": tenant_id, "collection": collection, "key": key, "value": value},
    )
    return list(found.scalars())


def find_record_items(
    connection: Connection, *, tenant_id: UUID, collection: str, ids: Sequence[str]
) -> list[UUID]:
    """The turns that these records rest on."""
    found = connection.execute(
        text(
            "SELECT DISTINCT item_id FROM records WHERE tenant_id = :tenant_id AND collection = :collection "
            "AND id = ANY(:ids) AND item_id IS NOT NULL"
        ),
        {"tenant_id": tenant_id, "collection": collection, "ids": list(ids)},
    )
    return list(found.scalars())


def delete_collection(connection: Connection, *, tenant_id: UUID, collection: str) -> int:
    """Remove every record of a collection; returns how many there were."""
    removed = connection.execute(
        text("DELETE FROM records WHERE tenant_id = :tenant_id AND collection = :collection RETURNING 1"),
        {"tenant_id": tenant_id, "collection": collection},
    )
    return len(removed.all())


def add_record_reads(connection: Connection, *, tenant_id: UUID, collection: str, ids: Sequence[str]) -> None:
    """These texts of a client were used once more."""
    connection.execute(
        text(
            "UPDATE records SET access_count = access_count + 1 FROM ("
            "  SELECT id FROM records WHERE tenant_id = :tenant_id AND collection = :collection AND id = ANY(:ids) "
            "  ORDER BY id FOR UPDATE"
            ") AS read WHERE records.tenant_id = :tenant_id AND records.collection = :collection "
            "AND records.id = read.id"
        ),
        {"tenant_id": tenant_id, "collection": collection, "ids": list(ids)},
    )
