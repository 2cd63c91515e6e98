"""The rows behind the proof of losslessness, and the one repair there is: drop what is derived, keep turns."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from uuid import UUID

from sqlalchemy import Connection, text

from models.domain.compaction.lineage import Violation
from models.domain.compaction.verification import CheckedEdge, CheckedSummary, CheckedTurn, SessionLineage
from models.domain.prompt.tail import TailTurn
from models.domain.prompt.tokens import CharsCounter
from models.store.compaction.progress import recount_session
from models.store.engine import keep_pass
from models.store.index.embeddings import table_of


def list_compacted_tenants(connection: Connection) -> list[UUID]:
    """Every tenant that has a summary, for the scheduled check."""
    rows = connection.execute(text("SELECT * FROM longtail.compacted_tenants()")).all()
    for row in rows:
        keep_pass(row.tenant_id, row._mapping["pass"])
    return [row.tenant_id for row in rows]


def list_compacted_sessions(connection: Connection, *, tenant_id: UUID, after: str, count: int) -> list[str]:
    """Sessions that have a summary, by name, behind a name."""
    rows = connection.execute(
        text(
            "SELECT DISTINCT session_id FROM summaries WHERE tenant_id = :tenant_id AND session_id > :after "
            "ORDER BY session_id LIMIT :count"
        ),
        {"tenant_id": tenant_id, "after": after, "count": count},
    )
    return [row.session_id for row in rows]


_TURNS = text("""
SELECT turns.id, turns.position, turns.role, turns.metadata ->> 'host_turn' AS host_turn,
       CASE WHEN edge.turn_id IS NOT NULL THEN turns.content END AS content
FROM turns LEFT JOIN summary_turns AS edge ON edge.turn_id = turns.id
WHERE turns.tenant_id = :tenant_id AND turns.session_id = :session_id ORDER BY turns.position
""")
_EDGES = text("""
SELECT edge.summary_id, edge.turn_id, edge.tokens, edge.is_protected
FROM summary_turns AS edge JOIN summaries ON summaries.id = edge.summary_id
WHERE summaries.tenant_id = :tenant_id AND summaries.session_id = :session_id
ORDER BY edge.summary_id, edge.ordinal
""")
_CHILDREN = text("""
SELECT edge.parent_id, edge.child_id
FROM summary_children AS edge JOIN summaries ON summaries.id = edge.parent_id
WHERE summaries.tenant_id = :tenant_id AND summaries.session_id = :session_id
ORDER BY edge.parent_id, edge.ordinal
""")
_STATE = text(
    "SELECT covered_through FROM compactions WHERE tenant_id = :tenant_id AND session_id = :session_id"
)


def load_lineage(connection: Connection, *, tenant_id: UUID, session_id: str, encoder: str) -> SessionLineage:
    """Everything the proof reads of one session, in one snapshot if the transaction is one."""
    values = {"tenant_id": tenant_id, "session_id": session_id}
    count = CharsCounter().count
    turns = [
        CheckedTurn(
            turn=TailTurn(id=str(row.id), role=row.role, host_turn=row.host_turn),
            position=row.position,
            tokens=count(row.content) if row.content is not None else 0,
        )
        for row in connection.execute(_TURNS, values)
    ]
    edges: dict[str, list[CheckedEdge]] = {}
    for row in connection.execute(_EDGES, values):
        edges.setdefault(str(row.summary_id), []).append(
            CheckedEdge(turn_id=str(row.turn_id), tokens=row.tokens, is_protected=row.is_protected)
        )
    children: dict[str, list[str]] = {}
    for row in connection.execute(_CHILDREN, values):
        children.setdefault(str(row.parent_id), []).append(str(row.child_id))
    rows = connection.execute(
        text(
            "SELECT summaries.*, items.id IS NOT NULL AS is_indexed, "
            f"EXISTS (SELECT FROM {table_of(encoder)} AS stored WHERE stored.item_id = summaries.id) AS has_vectors "
            "FROM summaries LEFT JOIN items ON items.id = summaries.id "
            "WHERE summaries.tenant_id = :tenant_id AND summaries.session_id = :session_id"
        ),
        values,
    )
    covered_through = connection.execute(_STATE, values).scalar_one_or_none()
    return SessionLineage(
        session_id=session_id,
        turns=turns,
        summaries=[
            CheckedSummary(
                id=str(row.id),
                level=row.level,
                is_active=row.is_active,
                summary_tokens=row.summary_tokens,
                body_tokens=count(row.body),
                source_tokens=row.source_tokens,
                turn_count=row.turn_count,
                turn_tokens=row.turn_tokens,
                turns=edges.get(str(row.id), ()),
                children=children.get(str(row.id), ()),
                is_indexed=row.is_indexed,
                has_vectors=row.has_vectors,
            )
            for row in rows
        ],
        covered_through=-1 if covered_through is None else covered_through,
    )


def record_check(
    connection: Connection,
    *,
    tenant_id: UUID,
    sessions: int,
    summaries: int,
    turns: int,
    violations: Sequence[Violation],
    seconds: float,
) -> None:
    """Keep the numbers of a check, for reports."""
    connection.execute(
        text(
            "INSERT INTO lineage_checks (tenant_id, sessions, summaries, turns, violations, kinds, seconds) "
            "VALUES (:tenant_id, :sessions, :summaries, :turns, :violations, CAST(:kinds AS jsonb), :seconds)"
        ),
        {
            "tenant_id": tenant_id,
            "sessions": sessions,
            "summaries": summaries,
            "turns": turns,
            "violations": len(violations),
            "kinds": json.dumps(Counter(violation.kind for violation in violations)),
            "seconds": seconds,
        },
    )


def repair_session(
    connection: Connection, *, tenant_id: UUID, session_id: str, violations: Sequence[Violation]
) -> int:
    """Drop every broken summary with all that it covers or is covered by, then set the counters to the truth.

    Summaries are derived: the turns below are bare again, and the next compaction covers them. No edge is ever
    guessed. Returns how many summaries went.
    """
    dropped = 0
    for summary_id in _list_broken(connection, tenant_id, violations):
        dropped += dissolve_summary(connection, tenant_id=tenant_id, summary_id=summary_id)
    recount_session(connection, tenant_id=tenant_id, session_id=session_id)
    return dropped


def _list_broken(connection: Connection, tenant_id: UUID, violations: Sequence[Violation]) -> Iterator[UUID]:
    """The summaries that a list of violations condemns; a wrong counter condemns none."""
    for violation in violations:
        if violation.kind in {"tail_covered", "unreachable_turn"}:
            covering = connection.execute(
                text("SELECT summary_id FROM summary_turns WHERE tenant_id = :tenant_id AND turn_id = :id"),
                {"tenant_id": tenant_id, "id": violation.node},
            ).scalar_one_or_none()
            if covering is not None:
                yield covering
        elif violation.kind != "wrong_state":
            yield UUID(violation.node)


# Every summary joined to one by edges, up or down. UNION, not UNION ALL: a cycle ends the walk by itself.
_CONNECTED = text("""
WITH RECURSIVE connected (id) AS (
    SELECT id FROM summaries WHERE tenant_id = :tenant_id AND id = :id
    UNION
    SELECT CASE WHEN edge.parent_id = connected.id THEN edge.child_id ELSE edge.parent_id END
    FROM connected JOIN summary_children AS edge ON connected.id IN (edge.parent_id, edge.child_id)
)
SELECT id FROM connected
""")


def dissolve_summary(connection: Connection, *, tenant_id: UUID, summary_id: UUID) -> int:
    """Remove a summary and every one above or below it; the turns stand for themselves again. Returns how many."""
    rows = connection.execute(_CONNECTED, {"tenant_id": tenant_id, "id": summary_id})
    ids = [row.id for row in rows]
    for statement in (
        "DELETE FROM summary_turns WHERE tenant_id = :tenant_id AND summary_id = ANY(:ids)",
        "DELETE FROM summary_children WHERE tenant_id = :tenant_id AND parent_id = ANY(:ids)",
        "DELETE FROM items WHERE tenant_id = :tenant_id AND id = ANY(:ids)",  # words and vectors go with it
        "DELETE FROM summaries WHERE tenant_id = :tenant_id AND id = ANY(:ids)",
    ):
        connection.execute(text(statement), {"tenant_id": tenant_id, "ids": ids})
    return len(ids)
