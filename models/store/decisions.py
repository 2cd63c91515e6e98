"""Gate decisions, every signal of them, and the threshold in force."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, text

from models.domain.gate.gating import GateDecision


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


def find_decided(connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]) -> set[UUID]:
    """Of these turns, those the gate has decided on before."""
    rows = connection.execute(
        text("SELECT turn_id FROM gate_decisions WHERE tenant_id = :tenant_id AND turn_id = ANY(:ids)"),
        {"tenant_id": tenant_id, "ids": list(turn_ids)},
    )
    return set(rows.scalars())


SIGNALS: Final = (
    *("g", "t", "h", "r", "d", "input_freq", "mem_saturation"),
    *("p", "a", "dtech", "gconv", "gtech"),
)


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
