"""Usefulness labels, and the gate decisions they judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection, text


def find_judged_turns(
    connection: Connection, *, tenant_id: UUID, item_ids: list[UUID], namespace: str | None = None
) -> dict[UUID, UUID]:
    """For each memory or turn that the gate decided on (in one namespace), the turn of that decision."""
    rows = connection.execute(
        text(
            "SELECT memories.id AS item_id, memories.turn_id FROM memories "
            "WHERE tenant_id = :tenant_id AND id = ANY(:ids) "
            "AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace) "
            "UNION ALL SELECT turn_id, turn_id FROM gate_decisions "
            "WHERE tenant_id = :tenant_id AND turn_id = ANY(:ids) "
            "AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace)"
        ),
        {"tenant_id": tenant_id, "ids": item_ids, "namespace": namespace},
    )
    return {row.item_id: row.turn_id for row in rows}


def add_feedback(
    connection: Connection,
    *,
    tenant_id: UUID,
    item_id: UUID,
    turn_id: UUID,
    assembly_id: str,
    is_useful: bool,
) -> None:
    """One label; a later word on the same item in the same assembly replaces the earlier one."""
    connection.execute(
        text(
            "INSERT INTO feedback (tenant_id, turn_id, item_id, assembly_id, is_useful) "
            "VALUES (:tenant_id, :turn_id, :item_id, :assembly_id, :is_useful) "
            "ON CONFLICT (tenant_id, item_id, assembly_id) "
            "DO UPDATE SET is_useful = excluded.is_useful, given_at = now()"
        ),
        {
            "tenant_id": tenant_id,
            "turn_id": turn_id,
            "item_id": item_id,
            "assembly_id": assembly_id,
            "is_useful": is_useful,
        },
    )


def count_usefulness(connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]) -> None:
    """Write to the items of these turns how often they were called useful, less how often useless: recall ranks by it."""
    connection.execute(
        text(
            "UPDATE items SET useful_count = longtail.count_useful(items.id) FROM ("
            "  SELECT id FROM items WHERE tenant_id = :tenant_id AND id = ANY(:turn_ids) ORDER BY id FOR UPDATE"
            ") AS locked WHERE items.id = locked.id"
        ),
        {"tenant_id": tenant_id, "turn_ids": list(turn_ids)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Gate scores with what hosts said of them."""

    scores: tuple[float, ...]
    useful: tuple[bool, ...]


def load_labels(connection: Connection, *, tenant_id: UUID) -> Labels:
    """Every label beside the score it judges; decisions made before worth was measured are on another scale."""
    rows = connection.execute(
        text(
            "SELECT gate_decisions.score, feedback.is_useful FROM feedback JOIN gate_decisions USING (turn_id) "
            "WHERE feedback.tenant_id = :tenant_id AND gate_decisions.worth IS NOT NULL ORDER BY feedback.id"
        ),
        {"tenant_id": tenant_id},
    ).all()
    return Labels(
        scores=tuple(float(row.score) for row in rows), useful=tuple(bool(row.is_useful) for row in rows)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What another threshold would have decided differently so far."""

    decided: int
    would_be_promoted: int
    would_be_rejected: int


def count_changes(connection: Connection, *, tenant_id: UUID, threshold: float) -> Change:
    """How many past decisions a threshold would turn."""
    row = connection.execute(
        text(
            "SELECT count(*) AS decided, count(*) FILTER (WHERE NOT keep AND score >= :threshold) AS promoted, "
            "count(*) FILTER (WHERE keep AND score < :threshold) AS rejected "
            "FROM gate_decisions WHERE tenant_id = :tenant_id"
        ),
        {"tenant_id": tenant_id, "threshold": threshold},
    ).one()
    return Change(decided=row.decided, would_be_promoted=row.promoted, would_be_rejected=row.rejected)


def set_gate_threshold(connection: Connection, *, tenant_id: UUID, threshold: float | None) -> None:
    """The tenant's own threshold from now on; None goes back to the configured one."""
    connection.execute(
        text("UPDATE tenants SET gate_threshold = :threshold WHERE id = :tenant_id"),
        {"tenant_id": tenant_id, "threshold": threshold},
    )
