"""Vectors: one table per encoder, one row per window of an item, searched by cosine."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy import Connection, text

from models.errors import Misconfigured
from models.tables import EMBEDDING_TABLES

Vector = npt.NDArray[np.float32]
WINDOWS_PER_ITEM = 3  # how many windows of one long item may stand before its next rival in a search


def table_of(encoder: str) -> str:
    """The table that holds an encoder's vectors; only known names ever reach a statement."""
    if encoder not in EMBEDDING_TABLES:
        known = ", ".join(EMBEDDING_TABLES)
        raise Misconfigured(f"no embeddings table for encoder '{encoder}'", remedy=f"use one of: {known}")
    return EMBEDDING_TABLES[encoder].name


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemVectors:
    """The windows of one item: every part of a long text has a row of its own."""

    item_id: UUID
    kind: str
    namespace: str
    role: str | None
    seq: int
    windows: Vector


def add_vectors(
    connection: Connection, *, tenant_id: UUID, encoder: str, items: Sequence[ItemVectors]
) -> None:
    """Store windows; those already there are left as they are, so a repeated batch changes nothing."""
    rows = [
        {
            "tenant_id": tenant_id,
            "item_id": item.item_id,
            "window_no": number,
            "kind": item.kind,
            "namespace": item.namespace,
            "role": item.role,
            "seq": item.seq,
            "embedding": HalfVector(window),
        }
        for item in items
        for number, window in enumerate(item.windows)
    ]
    if rows:
        connection.execute(
            text(
                f"INSERT INTO {table_of(encoder)} "
                "(tenant_id, item_id, window_no, kind, namespace, role, seq, embedding) VALUES "
                "(:tenant_id, :item_id, :window_no, :kind, :namespace, :role, :seq, :embedding) "
                "ON CONFLICT (item_id, window_no) DO NOTHING"
            ),
            rows,
        )


def copy_vectors(connection: Connection, *, encoder: str, from_id: UUID, to_id: UUID, to_kind: str) -> None:
    """Give an item the vectors of the turn whose words it holds."""
    table = table_of(encoder)
    connection.execute(
        text(
            f"INSERT INTO {table} (tenant_id, item_id, window_no, kind, namespace, role, seq, embedding) "
            f"SELECT tenant_id, :to_id, window_no, :to_kind, namespace, role, seq, embedding FROM {table} "
            "WHERE item_id = :from_id ON CONFLICT (item_id, window_no) DO NOTHING"
        ),
        {"from_id": from_id, "to_id": to_id, "to_kind": to_kind},
    )


def load_vectors(
    connection: Connection, *, tenant_id: UUID, encoder: str, ids: Sequence[UUID]
) -> dict[UUID, Vector]:
    """The windows of these items, in order."""
    rows = connection.execute(
        text(
            f"SELECT item_id, embedding FROM {table_of(encoder)} "
            "WHERE tenant_id = :tenant_id AND item_id = ANY(:ids) ORDER BY item_id, window_no"
        ),
        {"tenant_id": tenant_id, "ids": list(ids)},
    )
    found: dict[UUID, list[Vector]] = {}
    for row in rows:
        found.setdefault(row.item_id, []).append(row.embedding.to_numpy().astype(np.float32))
    return {item_id: np.vstack(windows) for item_id, windows in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An item near a vector."""

    item_id: UUID
    similarity: float


def find_neighbours(
    connection: Connection,
    *,
    tenant_id: UUID,
    encoder: str,
    namespace: str,
    kind: str,
    vectors: Sequence[Vector],
    befores: Sequence[int],
    count: int,
    role: str | None = None,
) -> list[list[Neighbour]]:
    """For each vector, its nearest items of a kind that arrived before it; one search for all of them.

    `+ 0` keeps the planner from an approximate index: a namespace is small enough to be read exactly.
    """
    table = table_of(encoder)
    rows = connection.execute(
        text(
            "SELECT asked.number, near.item_id, near.distance "
            "FROM unnest(CAST(:vectors AS halfvec[]), CAST(:befores AS bigint[])) "
            "     WITH ORDINALITY AS asked (embedding, before, number) "
            "CROSS JOIN LATERAL ("
            "  SELECT item_id, min(distance) AS distance FROM ("
            f"    SELECT item_id, embedding <=> asked.embedding AS distance FROM {table} AS stored "
            "     WHERE stored.tenant_id = :tenant_id AND stored.namespace = :namespace AND stored.kind = :kind "
            "       AND stored.seq < asked.before AND (CAST(:role AS text) IS NULL OR stored.role = :role) "
            "     ORDER BY (embedding <=> asked.embedding) + 0 LIMIT :count * :windows"
            "  ) AS windows GROUP BY item_id ORDER BY 2 LIMIT :count"
            ") AS near ORDER BY asked.number, near.distance"
        ),
        {
            "vectors": [HalfVector(vector).to_text() for vector in vectors],
            "befores": list(befores),
            "tenant_id": tenant_id,
            "namespace": namespace,
            "kind": kind,
            "role": role,
            "count": count,
            "windows": WINDOWS_PER_ITEM,
        },
    )
    found: list[list[Neighbour]] = [[] for _ in vectors]
    for row in rows:
        found[row.number - 1].append(Neighbour(item_id=row.item_id, similarity=1.0 - float(row.distance)))
    return found
