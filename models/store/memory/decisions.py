"""Gate decisions, every signal of them, and the threshold in force."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
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


# Columns of gate_decisions, and the words that reports and HTTP answers say for them (memory model, section 5).
WORDS: Final = {
    "g": "seed_score",
    "t": "technical_density",
    "h": "novelty",
    "r": "repetition",
    "d": "conversational_load",
    "input_freq": "input_frequency",
    "mem_saturation": "memory_saturation",
    "p": "specificity",
    "a": "actionability",
    "dtech": "technical_load",
    "gconv": "conversational_score",
    "gtech": "technical_score",
    "worth": "worth",
    "score": "score",
}
SIGNALS: Final = tuple(WORDS)


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
        signals=_read_signals(row),
        reasons=tuple(row.reasons),
        is_reinforcement=row.is_reinforcement,
        decided_at=row.decided_at,
    )


def _read_signals(row: Any) -> dict[str, float]:
    """By name; worth is missing where it was not measured yet."""
    values = {name: row._mapping[name] for name in SIGNALS}
    return {name: float(value) for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How one signal is spread over [0, 1]: of each bin, how many decisions kept the turn and how many did not.

    Where a signal found nothing it is 0, for most signals in most turns: those are counted apart.
    """

    kept: tuple[int, ...]
    passed: tuple[int, ...]
    zeros: int

    @property
    def total(self) -> int:
        """Of how many decisions."""
        return sum(self.kept) + sum(self.passed) + self.zeros


_SPREAD = f"""
WITH newest AS (
    SELECT keep, {", ".join(SIGNALS)} FROM gate_decisions WHERE tenant_id = :tenant_id
    ORDER BY decided_at DESC LIMIT :most
)
SELECT signal, CASE WHEN value > 0 THEN least(floor(value * :bins), :bins - 1)::integer END AS bin,
       count(*) FILTER (WHERE keep) AS kept, count(*) FILTER (WHERE NOT keep) AS passed
FROM newest CROSS JOIN LATERAL (VALUES {", ".join(f"('{name}', {name})" for name in SIGNALS)}) AS said (signal, value)
WHERE value IS NOT NULL GROUP BY 1, 2
"""


def spread_signals(connection: Connection, *, tenant_id: UUID, bins: int, most: int) -> dict[str, Spread]:
    """How the signals of the newest decisions are spread, by their names in the memory model."""
    kept = {name: [0] * bins for name in SIGNALS}
    passed = {name: [0] * bins for name in SIGNALS}
    zeros = dict.fromkeys(SIGNALS, 0)
    for row in connection.execute(text(_SPREAD), {"tenant_id": tenant_id, "bins": bins, "most": most}):
        if row.bin is None:
            zeros[row.signal] = row.kept + row.passed
        else:
            kept[row.signal][row.bin] = row.kept
            passed[row.signal][row.bin] = row.passed
    return {
        name: Spread(kept=tuple(kept[name]), passed=tuple(passed[name]), zeros=zeros[name])
        for name in SIGNALS
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A decision near the threshold, the words it was about, and what somebody said of it."""

    turn_id: UUID
    session_id: str
    content: str
    keep: bool
    is_reinforcement: bool
    signals: Mapping[str, float]
    reasons: tuple[str, ...]
    is_useful: bool | None  # the newest label; None: nobody judged it


_NEAR = """
SELECT decided.*, turns.session_id, turns.content, label.is_useful
FROM (SELECT * FROM gate_decisions WHERE tenant_id = :tenant_id AND score {side}
      ORDER BY score {order}, turn_id LIMIT :count)
     AS decided
JOIN turns ON turns.id = decided.turn_id
LEFT JOIN LATERAL (
    SELECT is_useful FROM feedback WHERE feedback.turn_id = decided.turn_id ORDER BY given_at DESC LIMIT 1
) AS label ON true
ORDER BY decided.score DESC, decided.turn_id
"""


def list_near(connection: Connection, *, tenant_id: UUID, threshold: float, count: int) -> list[Example]:
    """Decisions on both sides of a threshold, `count` of each, the highest score first."""
    found: list[Example] = []
    for side, order in ((">= :threshold", "ASC"), ("< :threshold", "DESC")):
        rows = connection.execute(
            text(_NEAR.format(side=side, order=order)),
            {"tenant_id": tenant_id, "threshold": threshold, "count": count},
        )
        found += [
            Example(
                turn_id=row.turn_id,
                session_id=row.session_id,
                content=row.content,
                keep=row.keep,
                is_reinforcement=row.is_reinforcement,
                signals=_read_signals(row),
                reasons=tuple(row.reasons),
                is_useful=row.is_useful,
            )
            for row in rows
        ]
    return found
