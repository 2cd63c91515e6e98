"""Vectors: one table per encoder, one row per window of an item, searched by cosine."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy import Connection, text

from models.errors import Misconfigured

NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
Vector = npt.NDArray[np.float32]


def table_of(encoder: str) -> str:
    """The table that holds an encoder's vectors; nothing but a name ever reaches a statement.

    >>> table_of("minilm")
    'embeddings_minilm'
    """
    if not NAME.fullmatch(encoder):
        raise Misconfigured(
            f"'{encoder}' is no name of an encoder", remedy="use small letters, digits and _, a letter first"
        )
    return f"embeddings_{encoder}"


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


HEADER_HALVES = (
    2  # what PostgreSQL sends of a half vector: dimensions, an unused number, then the halves, big-endian
)


def decode_windows(sent: Sequence[bytes | None]) -> tuple[Vector, npt.NDArray[np.intp]]:
    """Unit rows of all windows, and for each row which of `sent` it belongs to; each of `sent` is any number of windows.

    >>> one = HalfVector([3.0, 4.0]).to_binary()
    >>> rows, owners = decode_windows([one, None, one + one])
    >>> owners.tolist(), rows.round(1).tolist()[0]
    ([0, 2, 2], [0.6000000238418579, 0.800000011920929])
    """
    together = b"".join(windows for windows in sent if windows)
    halves_per_window = HEADER_HALVES + int.from_bytes(together[:2], "big")
    halves = np.frombuffer(together, dtype=">f2").reshape(-1, halves_per_window)
    rows = halves[:, HEADER_HALVES:].astype(np.float32)
    rows /= np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), np.finfo(np.float32).tiny)[:, np.newaxis]
    counts = [len(windows) // (2 * halves_per_window) if windows else 0 for windows in sent]
    return rows, np.repeat(np.arange(len(sent)), counts)
