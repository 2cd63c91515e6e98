"""Memories, guidance and what they rest on, as people look at them: one, a page, and the reasons."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, Row, text

SIGNALS: Final = (
    *("g", "t", "h", "r", "d", "input_freq", "mem_saturation"),
    *("p", "a", "dtech", "gconv", "gtech"),
)
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
    linked_at: datetime


def load_memory_sources(connection: Connection, *, tenant_id: UUID, memory_id: UUID) -> list[MemorySource]:
    """The turns a memory rests on, oldest first."""
    rows = connection.execute(
        text(
            "SELECT turns.id AS turn_id, turns.session_id, turns.position, turns.ts, turns.content, "
            "source.similarity, source.linked_at FROM memory_sources AS source "
            "JOIN turns ON turns.id = source.turn_id "
            "WHERE source.tenant_id = :tenant_id AND source.memory_id = :id ORDER BY turns.seq"
        ),
        {"tenant_id": tenant_id, "id": memory_id},
    )
    return [MemorySource(**row._mapping) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why the gate kept a turn, or did not."""

    keep: bool
    threshold: float
    signals: Mapping[str, float]
    reasons: tuple[str, ...]
    is_reinforcement: bool
    decided_at: datetime


def find_decision(connection: Connection, *, tenant_id: UUID, turn_id: UUID) -> Decision | None:
    """What the gate decided on a turn, every term of it."""
    row = connection.execute(
        text("SELECT * FROM gate_decisions WHERE tenant_id = :tenant_id AND turn_id = :turn_id"),
        {"tenant_id": tenant_id, "turn_id": turn_id},
    ).one_or_none()
    if row is None:
        return None
    return Decision(
        keep=row.keep,
        threshold=row.threshold,
        signals={name: float(row._mapping[name]) for name in SIGNALS},
        reasons=tuple(row.reasons),
        is_reinforcement=row.is_reinforcement,
        decided_at=row.decided_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenRule:
    """A rule or standing wish spoken in conversation, as it stands now."""

    id: UUID
    collection: str
    turn_id: UUID
    namespace: str
    session_id: str
    body: str
    modalities: tuple[str, ...]
    stability_weight: float
    stated_at: datetime
    superseded_by: UUID | None
    forgotten_at: datetime | None


_SPOKEN: Final = (
    "SELECT guidance.id, guidance.collection, guidance.turn_id, turns.namespace, turns.session_id, guidance.body, "
    "guidance.modalities, guidance.stability_weight, guidance.stated_at, guidance.superseded_by, "
    "guidance.forgotten_at FROM guidance JOIN turns ON turns.id = guidance.turn_id "
    "WHERE guidance.tenant_id = :tenant_id "
)


def find_spoken_rule(connection: Connection, *, tenant_id: UUID, guidance_id: UUID) -> SpokenRule | None:
    """The guidance record with this id."""
    row = connection.execute(
        text(f"{_SPOKEN} AND guidance.id = :id"), {"tenant_id": tenant_id, "id": guidance_id}
    ).one_or_none()
    return _to_spoken(row) if row is not None else None


def _to_spoken(row: Row[Any]) -> SpokenRule:
    return SpokenRule(**{**row._mapping, "modalities": tuple(row.modalities)})


def list_spoken_rules(
    connection: Connection,
    *,
    tenant_id: UUID,
    namespace: str | None = None,
    collection: str | None = None,
    only_standing: bool = True,
    before_id: UUID = LAST_ID,
    count: int = 100,
) -> list[SpokenRule]:
    """A page of guidance, those noted last first; `only_standing` leaves out what was superseded or forgotten."""
    rows = connection.execute(
        text(
            f"{_SPOKEN} AND guidance.id < :before_id "
            "AND (CAST(:namespace AS text) IS NULL OR turns.namespace = :namespace) "
            "AND (CAST(:collection AS text) IS NULL OR guidance.collection = :collection) "
            "AND (NOT :only_standing OR (guidance.superseded_by IS NULL AND guidance.forgotten_at IS NULL)) "
            "ORDER BY guidance.id DESC LIMIT :count"
        ),
        {
            "tenant_id": tenant_id,
            "before_id": before_id,
            "namespace": namespace,
            "collection": collection,
            "only_standing": only_standing,
            "count": count,
        },
    )
    return [_to_spoken(row) for row in rows]
