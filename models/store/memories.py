"""Durable memory: gate decisions, what they promoted, what they reinforced, and spoken guidance."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, text

from models.domain.gating import GateDecision


def lock_namespace(connection: Connection, *, tenant_id: UUID, namespace: str) -> None:
    """One gate at a time for a namespace: two near-duplicates must not both find the other missing."""
    connection.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": f"{tenant_id}:{namespace}"}
    )


def gate_threshold(connection: Connection, *, tenant_id: UUID) -> float | None:
    """The tenant's own calibrated threshold, or None."""
    return connection.execute(
        text("SELECT gate_threshold FROM tenants WHERE id = :tenant_id"), {"tenant_id": tenant_id}
    ).scalar_one_or_none()


def record_decision(
    connection: Connection,
    *,
    tenant_id: UUID,
    turn_id: UUID,
    namespace: str,
    decision: GateDecision,
    memory_id: UUID | None,
    is_reinforcement: bool,
) -> bool:
    """Keep every term of a decision; False when this turn was decided before (a repeated message)."""
    signals = asdict(decision.signals)
    columns = ", ".join(signals)
    values = ", ".join(f":{name}" for name in signals)
    inserted = connection.execute(
        text(
            f"INSERT INTO gate_decisions (turn_id, tenant_id, namespace, keep, threshold, {columns}, reasons, "
            "memory_id, is_reinforcement) VALUES (:turn_id, :tenant_id, :namespace, :keep, :threshold, "
            f"{values}, :reasons, :memory_id, :is_reinforcement) ON CONFLICT (turn_id) DO NOTHING RETURNING 1"
        ),
        {
            **signals,
            "turn_id": turn_id,
            "tenant_id": tenant_id,
            "namespace": namespace,
            "keep": decision.keep,
            "threshold": decision.threshold,
            "reasons": list(decision.reasons),
            "memory_id": memory_id,
            "is_reinforcement": is_reinforcement,
        },
    ).first()
    return inserted is not None


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


def find_decided(connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]) -> set[UUID]:
    """Of these turns, those the gate has decided on before."""
    rows = connection.execute(
        text("SELECT turn_id FROM gate_decisions WHERE tenant_id = :tenant_id AND turn_id = ANY(:ids)"),
        {"tenant_id": tenant_id, "ids": list(turn_ids)},
    )
    return set(rows.scalars())


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


def add_guidance(
    connection: Connection,
    *,
    tenant_id: UUID,
    collection: str,
    turn_id: UUID,
    body: str,
    modalities: Sequence[str],
    stability_weight: float,
    stated_at: datetime,
    is_correction: bool = False,
) -> None:
    """A rule or standing wish spoken in conversation, verbatim, from now on in every prompt it may fit.

    A turn states one once: what was forgotten stays forgotten, unless its words were corrected.
    """
    known = (
        "DO UPDATE SET body = excluded.body, modalities = excluded.modalities, forgotten_at = NULL"
        if is_correction
        else "DO NOTHING"
    )
    connection.execute(
        text(
            "INSERT INTO guidance (tenant_id, collection, turn_id, body, modalities, stability_weight, stated_at) "
            "SELECT :tenant_id, :collection, :turn_id, :body, :modalities, :stability_weight, :stated_at "
            "WHERE NOT EXISTS (SELECT FROM forgotten WHERE item_id = :turn_id) "
            f"ON CONFLICT (turn_id) {known}"
        ),
        {
            "tenant_id": tenant_id,
            "collection": collection,
            "turn_id": turn_id,
            "body": body,
            "modalities": list(modalities),
            "stability_weight": stability_weight,
            "stated_at": stated_at,
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A standing wish as it was spoken."""

    id: UUID
    body: str
    stated_at: datetime


def load_spoken(connection: Connection, *, tenant_id: UUID, collection: str, count: int) -> list[Spoken]:
    """The newest guidance of a collection that still stands."""
    rows = connection.execute(
        text(
            "SELECT id, body, stated_at FROM guidance WHERE tenant_id = :tenant_id AND collection = :collection "
            "AND superseded_by IS NULL AND forgotten_at IS NULL ORDER BY stated_at DESC LIMIT :count"
        ),
        {"tenant_id": tenant_id, "collection": collection, "count": count},
    )
    return [Spoken(id=row.id, body=row.body, stated_at=row.stated_at) for row in rows]


def supersede_guidance(connection: Connection, *, guidance_id: UUID, by_id: UUID) -> None:
    """Mark a wish that a newer one contradicts; both are kept."""
    connection.execute(
        text("UPDATE guidance SET superseded_by = :by WHERE id = :id AND superseded_by IS NULL"),
        {"id": guidance_id, "by": by_id},
    )


class Guidance(NamedTuple):
    """A standing wish as it is stored."""

    id: UUID
    turn_id: UUID
    body: str
    modalities: Sequence[str]
    stability_weight: float
    stated_at: datetime
    similarity: float | None  # to the query; None when its vector or the query's is not there
