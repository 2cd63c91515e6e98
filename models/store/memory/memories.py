"""Durable memory: what was promoted, what was reinforced, what it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, Row, text


def lock_namespace(connection: Connection, *, tenant_id: UUID, namespace: str) -> None:
    """One gate at a time for a namespace: two near-duplicates must not both find the other missing."""
    connection.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": f"{tenant_id}:{namespace}"}
    )


def add_memory(
    connection: Connection,
    *,
    tenant_id: UUID,
    namespace: str,
    turn_id: UUID,
    body: str,
    gate_score: float,
    seen_at: datetime,
) -> UUID:
    """A new durable memory with its lineage; the same turn gives the same memory however often it is asked.

    One that is there keeps its words: they may have been corrected.
    """
    memory_id: UUID = connection.execute(
        text(
            "INSERT INTO memories (tenant_id, namespace, turn_id, body, gate_score, first_seen_at, last_seen_at) "
            "VALUES (:tenant_id, :namespace, :turn_id, :body, :gate_score, :seen_at, :seen_at) "
            "ON CONFLICT (turn_id) DO UPDATE SET body = memories.body RETURNING id"
        ),
        {
            "tenant_id": tenant_id,
            "namespace": namespace,
            "turn_id": turn_id,
            "body": body,
            "gate_score": gate_score,
            "seen_at": seen_at,
        },
    ).scalar_one()
    link_source(connection, tenant_id=tenant_id, memory_id=memory_id, turn_id=turn_id, similarity=1.0)
    return memory_id


def load_memory_text(connection: Connection, *, tenant_id: UUID, memory_id: UUID) -> str:
    """What a memory says."""
    body: str = connection.execute(
        text("SELECT body FROM memories WHERE tenant_id = :tenant_id AND id = :id"),
        {"tenant_id": tenant_id, "id": memory_id},
    ).scalar_one()
    return body


def reinforce_memory(
    connection: Connection,
    *,
    tenant_id: UUID,
    memory_id: UUID,
    turn_id: UUID,
    similarity: float,
    seen_at: datetime,
) -> None:
    """The memory was said again: one more mention, seen last now, and lineage to the new turn."""
    if link_source(
        connection, tenant_id=tenant_id, memory_id=memory_id, turn_id=turn_id, similarity=similarity
    ):
        connection.execute(
            text(
                "UPDATE memories SET mention_count = mention_count + 1, "
                "last_seen_at = greatest(last_seen_at, :seen_at) WHERE id = :id"
            ),
            {"id": memory_id, "seen_at": seen_at},
        )


def link_source(
    connection: Connection, *, tenant_id: UUID, memory_id: UUID, turn_id: UUID, similarity: float
) -> bool:
    """Lineage from a memory to a turn; False when it was there already."""
    inserted = connection.execute(
        text(
            "INSERT INTO memory_sources (tenant_id, memory_id, turn_id, similarity) "
            "VALUES (:tenant_id, :memory_id, :turn_id, :similarity) "
            "ON CONFLICT (memory_id, turn_id) DO NOTHING RETURNING 1"
        ),
        {"tenant_id": tenant_id, "memory_id": memory_id, "turn_id": turn_id, "similarity": similarity},
    ).first()
    return inserted is not None


LAST_ID: Final = UUID(int=2**128 - 1)  # pages go downward from here


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A durable memory as it stands now."""

    id: UUID
    namespace: str
    turn_id: UUID
    session_id: str
    body: str
    gate_score: float
    mention_count: int
    first_seen_at: datetime
    last_seen_at: datetime
    corrected_at: datetime | None
    forgotten_at: datetime | None


_MEMORY: Final = (
    "SELECT memories.id, memories.namespace, memories.turn_id, turns.session_id, memories.body, memories.gate_score, "
    "memories.mention_count, memories.first_seen_at, memories.last_seen_at, memories.corrected_at, "
    "memories.forgotten_at FROM memories JOIN turns ON turns.id = memories.turn_id "
    "WHERE memories.tenant_id = :tenant_id "
)


def _to_memory(row: Row[Any]) -> Memory:
    return Memory(**row._mapping)


def find_memory(connection: Connection, *, tenant_id: UUID, memory_id: UUID) -> Memory | None:
    """The memory with this id, forgotten or not."""
    row = connection.execute(
        text(f"{_MEMORY} AND memories.id = :id"), {"tenant_id": tenant_id, "id": memory_id}
    ).one_or_none()
    return _to_memory(row) if row is not None else None


def find_memories_of(
    connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]
) -> dict[UUID, UUID]:
    """For each of these turns that became a memory which is not forgotten, that memory."""
    rows = connection.execute(
        text(
            "SELECT turn_id, id FROM memories WHERE tenant_id = :tenant_id AND turn_id = ANY(:ids) AND forgotten_at IS NULL"
        ),
        {"tenant_id": tenant_id, "ids": list(turn_ids)},
    )
    return {row.turn_id: row.id for row in rows}


def list_memories(
    connection: Connection,
    *,
    tenant_id: UUID,
    namespace: str | None = None,
    session_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    min_score: float = 0.0,
    with_forgotten: bool = False,
    before_id: UUID = LAST_ID,
    count: int = 100,
) -> list[Memory]:
    """A page of memories, those made last first; `since` and `until` are about when it was last said."""
    rows = connection.execute(
        text(
            f"{_MEMORY} AND memories.id < :before_id AND memories.gate_score >= :min_score "
            "AND (CAST(:namespace AS text) IS NULL OR memories.namespace = :namespace) "
            "AND (CAST(:session_id AS text) IS NULL OR turns.session_id = :session_id) "
            "AND (CAST(:since AS timestamptz) IS NULL OR memories.last_seen_at >= :since) "
            "AND (CAST(:until AS timestamptz) IS NULL OR memories.last_seen_at < :until) "
            "AND (:with_forgotten OR memories.forgotten_at IS NULL) ORDER BY memories.id DESC LIMIT :count"
        ),
        {
            "tenant_id": tenant_id,
            "before_id": before_id,
            "min_score": min_score,
            "namespace": namespace,
            "session_id": session_id,
            "since": since,
            "until": until,
            "with_forgotten": with_forgotten,
            "count": count,
        },
    )
    return [_to_memory(row) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySource:
    """A turn that made or confirmed a memory."""

    turn_id: UUID
    session_id: str
    position: int
    ts: datetime
    content: str
    similarity: float


def load_memory_sources(connection: Connection, *, tenant_id: UUID, memory_id: UUID) -> list[MemorySource]:
    """The turns a memory rests on, oldest first."""
    rows = connection.execute(
        text(
            "SELECT turns.id AS turn_id, turns.session_id, turns.position, turns.ts, turns.content, "
            "source.similarity FROM memory_sources AS source JOIN turns ON turns.id = source.turn_id "
            "WHERE source.tenant_id = :tenant_id AND source.memory_id = :id ORDER BY turns.seq"
        ),
        {"tenant_id": tenant_id, "id": memory_id},
    )
    return [MemorySource(**row._mapping) for row in rows]
