"""Namespaces and how much each holds."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceCounts:
    """A namespace and how much it holds."""

    namespace: str
    sessions: int
    turns: int
    memories: int
    guidance: int
    indexed: int
    last_turn_at: datetime | None


# One pass over the turns, whatever the number of namespaces.
_NAMESPACES = text("""
WITH known AS (
    SELECT namespace FROM sessions WHERE tenant_id = :tenant_id
    UNION SELECT namespace FROM namespaces WHERE tenant_id = :tenant_id AND item_count > 0
    UNION SELECT 'authored:' || binding FROM documents WHERE tenant_id = :tenant_id
    UNION SELECT namespace FROM records WHERE tenant_id = :tenant_id AND namespace IS NOT NULL
), page AS MATERIALIZED (
    SELECT namespace FROM known
    WHERE namespace > :after AND (CAST(:only AS text) IS NULL OR namespace = :only) ORDER BY namespace LIMIT :count
), said AS (
    SELECT turns.namespace, count(*) AS turns, count(guidance.id) AS guidance
    FROM turns LEFT JOIN guidance ON guidance.turn_id = turns.id AND guidance.superseded_by IS NULL
                                 AND guidance.forgotten_at IS NULL
    WHERE turns.tenant_id = :tenant_id AND turns.namespace IN (SELECT namespace FROM page) GROUP BY turns.namespace
), held AS (
    SELECT namespace, count(*) AS sessions, max(last_turn_at) AS last_turn_at FROM sessions
    WHERE tenant_id = :tenant_id GROUP BY namespace
), kept AS (
    SELECT namespace, count(*) AS memories FROM memories
    WHERE tenant_id = :tenant_id AND forgotten_at IS NULL GROUP BY namespace
)
SELECT page.namespace, coalesce(held.sessions, 0) AS sessions, coalesce(said.turns, 0) AS turns,
       coalesce(kept.memories, 0) AS memories, coalesce(said.guidance, 0) AS guidance,
       coalesce(indexed.item_count, 0) AS indexed, held.last_turn_at
FROM page LEFT JOIN said USING (namespace) LEFT JOIN held USING (namespace) LEFT JOIN kept USING (namespace)
LEFT JOIN namespaces AS indexed ON indexed.tenant_id = :tenant_id AND indexed.namespace = page.namespace
ORDER BY page.namespace
""")


def list_namespaces(
    connection: Connection, *, tenant_id: UUID, only: str | None = None, after: str = "", count: int = 100
) -> list[NamespaceCounts]:
    """Namespaces by name, with counts; `only` one of them, if it exists."""
    rows = connection.execute(
        _NAMESPACES, {"tenant_id": tenant_id, "only": only, "after": after, "count": count}
    )
    return [NamespaceCounts(**row._mapping) for row in rows]
