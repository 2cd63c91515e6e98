"""What user turns state, and which turn replaces which: added by workers, read by whoever shows an older one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from pgvector import HalfVector
from sqlalchemy import Connection, text

from models.store.index.embeddings import Vector

NEAREST_STATEMENTS: Final = 16  # of others, that a statement is compared with
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

    The newest statements of the namespace are read whole: no index is as exact, and there are fewer than turns.
    """
    rows = connection.execute(
        text(
            "SELECT mine.turn_id, mine.body, said.ts AS said_at, near.turn_id AS other_turn_id, near.body AS other_body, "
            "near.ts AS other_said_at, near.similarity FROM statements AS mine JOIN items AS said ON said.id = mine.turn_id "
            "CROSS JOIN LATERAL ("
            "  SELECT close.turn_id, close.body, items.ts, 1 - close.distance AS similarity FROM ("
            "    SELECT recent.turn_id, recent.body, recent.embedding <=> mine.embedding AS distance FROM ("
            "      SELECT turn_id, body, embedding FROM statements AS other WHERE other.tenant_id = :tenant_id "
            "        AND other.namespace = :namespace AND other.encoder = :encoder "
            f"     ORDER BY other.turn_id DESC LIMIT {MOST_STATEMENTS}) AS recent "
            f"    WHERE recent.turn_id <> mine.turn_id ORDER BY distance LIMIT {NEAREST_STATEMENTS * 3}) AS close "
            "  JOIN items ON items.id = close.turn_id AND items.ts <> said.ts AND items.name IS NOT DISTINCT FROM said.name "
            f" ORDER BY close.distance LIMIT {NEAREST_STATEMENTS}) AS near "
            "WHERE mine.tenant_id = :tenant_id AND mine.turn_id = ANY(:turn_ids) AND mine.encoder = :encoder "
            "  AND near.similarity >= :least ORDER BY mine.turn_id, mine.ordinal, near.similarity DESC"
        ),
        {
            "tenant_id": tenant_id,
            "namespace": namespace,
            "encoder": encoder,
            "turn_ids": list(turn_ids),
            "least": least_similarity,
        },
    )
    return [Near(*row) for row in rows]


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
