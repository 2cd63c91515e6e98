"""What user turns state, and which turn replaces which: added by workers, read by whoever shows an older one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from sqlalchemy import Connection, text

from models.domain.updates.claims import MAX_CLAIMS
from models.domain.vectors import find_nearest
from models.store.index.embeddings import Vector, decode_windows

NEAREST_STATEMENTS: Final = 16  # of others, that a statement is compared with
FEW_STATEMENTS: Final = 8  # so many are compared sooner in PostgreSQL than the others' vectors are read
MOST_STATEMENTS: Final = 20_000  # of a namespace, the newest: what one comparison may read


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStatement:
    """A sentence that states something, with its vector."""

    turn_id: UUID
    ordinal: int
    namespace: str
    body: str
    vector: Vector


def add_statements(
    connection: Connection, *, tenant_id: UUID, encoder: str, statements: Sequence[NewStatement]
) -> None:
    """Keep what turns state; what is there already stays, so that a repeated batch changes nothing."""
    if statements:
        connection.execute(
            text(
                "INSERT INTO statements (turn_id, ordinal, tenant_id, namespace, encoder, body, embedding) "
                "SELECT :turn_id, :ordinal, :tenant_id, :namespace, :encoder, :body, :embedding "
                "WHERE EXISTS (SELECT FROM items WHERE items.id = :turn_id) "
                "ON CONFLICT (turn_id, ordinal, encoder) DO NOTHING"
            ),
            [
                {
                    "turn_id": one.turn_id,
                    "ordinal": one.ordinal,
                    "tenant_id": tenant_id,
                    "namespace": one.namespace,
                    "encoder": encoder,
                    "body": one.body,
                    "embedding": HalfVector(one.vector),
                }
                for one in statements
            ],
        )


class Near(NamedTuple):
    """Two statements of one speaker, and how alike they are."""

    turn_id: UUID
    body: str
    said_at: datetime
    other_turn_id: UUID
    other_body: str
    other_said_at: datetime
    similarity: float


class _Said(NamedTuple):
    """A statement, when it was said and by whom."""

    turn_id: UUID
    ordinal: int
    body: str
    said_at: datetime
    name: str | None
    vector: bytes | None = None


_SAID: Final = "statements.turn_id, statements.ordinal, statements.body, items.ts, items.name"


_NEAR_FEW: Final = text(f"""
SELECT mine.turn_id, mine.body, said.ts, near.turn_id, near.body, near.ts, near.similarity
FROM statements AS mine JOIN items AS said ON said.id = mine.turn_id
CROSS JOIN LATERAL (
    SELECT close.turn_id, close.body, items.ts, 1 - close.distance AS similarity FROM (
        SELECT recent.turn_id, recent.body, recent.embedding <=> mine.embedding AS distance FROM (
            SELECT turn_id, body, embedding FROM statements AS other
            WHERE other.tenant_id = :tenant_id AND other.namespace = :namespace AND other.encoder = :encoder
            ORDER BY other.turn_id DESC LIMIT {MOST_STATEMENTS}) AS recent
        WHERE recent.turn_id <> mine.turn_id ORDER BY distance LIMIT {NEAREST_STATEMENTS * 3}) AS close
    JOIN items ON items.id = close.turn_id AND items.ts <> said.ts AND items.name IS NOT DISTINCT FROM said.name
    ORDER BY close.distance LIMIT {NEAREST_STATEMENTS}) AS near
WHERE mine.tenant_id = :tenant_id AND mine.turn_id = ANY(:turn_ids) AND mine.encoder = :encoder
  AND near.similarity >= :least ORDER BY mine.turn_id, mine.ordinal, near.similarity DESC
""")


def find_near_statements(
    connection: Connection,
    *,
    tenant_id: UUID,
    namespace: str,
    encoder: str,
    turn_ids: Sequence[UUID],
    least_similarity: float,
) -> list[Near]:
    """For each statement of these turns, the nearest of other turns of the same speaker, whenever they were said.

    The newest statements of the namespace are compared whole: no index is as exact. Those of a batch are compared here, in
    one product: beside 20,000 others 128 take 0.26 s, and 1.4 s in PostgreSQL; two take 0.02 s there, and 0.13 s here.
    """
    rows = connection.execute(
        text(
            f"SELECT {_SAID}, halfvec_send(statements.embedding) FROM statements "
            "JOIN items ON items.id = statements.turn_id WHERE statements.tenant_id = :tenant_id "
            "AND statements.turn_id = ANY(:turn_ids) AND statements.encoder = :encoder ORDER BY 1, 2"
        ),
        {"tenant_id": tenant_id, "turn_ids": list(turn_ids), "encoder": encoder},
    )
    mine = [_Said(*row) for row in rows]
    if not mine:  # most small talk states nothing: the others' vectors need not be read
        return []
    if len(mine) <= FEW_STATEMENTS:
        few = {"tenant_id": tenant_id, "namespace": namespace, "encoder": encoder, "least": least_similarity}
        return [Near(*row) for row in connection.execute(_NEAR_FEW, {**few, "turn_ids": list(turn_ids)})]
    keys, vectors = _load_newest(connection, tenant_id=tenant_id, namespace=namespace, encoder=encoder)
    if not keys:
        return []
    asked, _ = decode_windows([one.vector for one in mine])
    # Others' words and the turn's own are among the nearest too, and counted out below.
    near = find_nearest(asked, vectors, count=NEAREST_STATEMENTS * 3 + MAX_CLAIMS)
    others = _load_said(
        connection,
        tenant_id=tenant_id,
        encoder=encoder,
        keys={keys[place] for places, _ in near for place in places},
    )
    found: list[Near] = []
    for one, (places, similarities) in zip(mine, near, strict=True):
        kept = 0
        for place, similarity in zip(places, similarities, strict=True):
            other = others.get(keys[place])
            if similarity < least_similarity or kept == NEAREST_STATEMENTS:
                break
            if other is None or other.turn_id == one.turn_id:
                continue
            if other.said_at != one.said_at and other.name == one.name:
                kept += 1
                said = (other.turn_id, other.body, other.said_at)
                found.append(Near(one.turn_id, one.body, one.said_at, *said, similarity))
    return found


def _load_newest(
    connection: Connection, *, tenant_id: UUID, namespace: str, encoder: str
) -> tuple[list[tuple[UUID, int]], Vector]:
    """The keys and the vectors of a namespace's newest statements."""
    row = connection.execute(
        text(
            "SELECT array_agg(turn_id) AS turn_ids, array_agg(ordinal) AS ordinals, "
            "string_agg(halfvec_send(embedding), '') AS vectors FROM ("
            "  SELECT turn_id, ordinal, embedding FROM statements "
            "  WHERE tenant_id = :tenant_id AND namespace = :namespace AND encoder = :encoder "
            f" ORDER BY turn_id DESC LIMIT {MOST_STATEMENTS}) AS recent"
        ),
        {"tenant_id": tenant_id, "namespace": namespace, "encoder": encoder},
    ).one()
    if row.turn_ids is None:
        return [], np.empty((0, 0), dtype=np.float32)
    vectors, _ = decode_windows([row.vectors])
    return list(zip(row.turn_ids, row.ordinals, strict=True)), vectors


def _load_said(
    connection: Connection, *, tenant_id: UUID, encoder: str, keys: Collection[tuple[UUID, int]]
) -> dict[tuple[UUID, int], _Said]:
    """These statements as they were said, by their keys."""
    rows = connection.execute(
        text(
            f"SELECT {_SAID} FROM unnest(CAST(:turn_ids AS uuid[]), CAST(:ordinals AS int[])) AS wanted (turn_id, ordinal) "
            "JOIN statements USING (turn_id, ordinal) JOIN items ON items.id = statements.turn_id "
            "WHERE statements.tenant_id = :tenant_id AND statements.encoder = :encoder"
        ),
        {
            "turn_ids": [turn_id for turn_id, _ in keys],
            "ordinals": [ordinal for _, ordinal in keys],
            "tenant_id": tenant_id,
            "encoder": encoder,
        },
    )
    return {(one.turn_id, one.ordinal): one for one in (_Said(*row) for row in rows)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """What was said is not so any more: which turn says what is so now, since when, and why that is believed."""

    older_turn_id: UUID
    newer_turn_id: UUID
    older_statement: str
    newer_statement: str
    reason: str  # denied, number, value, revoked, changed or renamed
    about: str  # on what the two disagree
    similarity: float | None  # of the two sentences; None: decided by what two rules ask
    changed_at: datetime


def add_supersessions(
    connection: Connection, *, tenant_id: UUID, namespace: str, marks: Sequence[Supersession]
) -> None:
    """Store which turns are replaced by which; `guidance.superseded_by` follows by a trigger."""
    if marks:
        connection.execute(
            text(
                "INSERT INTO supersessions (older_turn_id, newer_turn_id, tenant_id, namespace, older_statement, "
                "newer_statement, reason, about, similarity, changed_at) "
                "VALUES (:older_turn_id, :newer_turn_id, :tenant_id, :namespace, "
                " :older_statement, :newer_statement, :reason, :about, :similarity, :changed_at) "
                "ON CONFLICT (older_turn_id, newer_turn_id) DO NOTHING"
            ),
            [
                {
                    "older_turn_id": mark.older_turn_id,
                    "newer_turn_id": mark.newer_turn_id,
                    "tenant_id": tenant_id,
                    "namespace": namespace,
                    "older_statement": mark.older_statement,
                    "newer_statement": mark.newer_statement,
                    "reason": mark.reason,
                    "about": mark.about,
                    "similarity": mark.similarity,
                    "changed_at": mark.changed_at,
                }
                for mark in marks
            ],
        )


def load_supersessions(
    connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]
) -> dict[UUID, Supersession]:
    """For each of these turns that a newer one replaces, the newest that does."""
    rows = connection.execute(
        text(
            "SELECT DISTINCT ON (older_turn_id) older_turn_id, newer_turn_id, older_statement, newer_statement, reason, "
            "about, similarity, changed_at FROM supersessions WHERE tenant_id = :tenant_id AND older_turn_id = ANY(:ids) "
            "ORDER BY older_turn_id, changed_at DESC, newer_turn_id"
        ),
        {"tenant_id": tenant_id, "ids": list(turn_ids)},
    )
    return {row.older_turn_id: Supersession(**row._mapping) for row in rows}
