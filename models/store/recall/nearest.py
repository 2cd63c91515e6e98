"""Nearest vectors: a small namespace is read whole, a large one through the graph index (HNSW).

The graph covers all tenants, and what it returns is filtered: where a namespace is a small share of the table, most
of what the graph visits is thrown away. So the choice is made by cost, from sizes that are counted anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from pgvector import HalfVector
from sqlalchemy import Connection, text

from models.store.index.embeddings import Vector, table_of

Way = Literal["exact", "graph"]
WINDOWS_PER_ITEM: Final = 3  # how many windows of one long item may stand before its next rival in a search
# Measured on the benchmark's machine (docs/benchmarks.md); only their ratio matters.
EXACT_MICROSECONDS_PER_ROW: Final = 1.1
GRAPH_MICROSECONDS: Final = 1000.0
GRAPH_MICROSECONDS_PER_VISIT: Final = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much there is to search: rows of the namespaces asked, and rows of everybody."""

    asked: int
    everybody: int


_SIZES = text("""
SELECT (SELECT coalesce(sum(item_count), 0) FROM namespaces
        WHERE tenant_id = :tenant_id AND namespace = ANY(:namespaces)) AS asked,
       (SELECT reltuples FROM pg_class WHERE oid = CAST(:table AS regclass)) AS everybody
""")


def measure_sizes(
    connection: Connection, *, tenant_id: UUID, encoder: str, namespaces: Sequence[str]
) -> Sizes:
    """The sizes that decide how to search; the whole table's is the planner's estimate."""
    row = connection.execute(
        _SIZES,
        {"tenant_id": tenant_id, "namespaces": list(namespaces), "table": f"longtail.{table_of(encoder)}"},
    ).one()
    return Sizes(asked=int(row.asked), everybody=max(int(row.everybody), int(row.asked)))


def choose_way(sizes: Sizes, *, wanted: int) -> Way:
    """The cheaper way to the `wanted` nearest rows.

    >>> choose_way(Sizes(asked=500, everybody=500), wanted=60)
    'exact'
    >>> choose_way(Sizes(asked=100_000, everybody=120_000), wanted=60)
    'graph'
    >>> choose_way(Sizes(asked=10_000, everybody=1_000_000), wanted=60)
    'exact'
    """
    exact = sizes.asked * EXACT_MICROSECONDS_PER_ROW
    visits = wanted * sizes.everybody / max(sizes.asked, 1)
    return "graph" if GRAPH_MICROSECONDS + visits * GRAPH_MICROSECONDS_PER_VISIT < exact else "exact"


def order_by_distance(way: Way, vector: str) -> str:
    """The ORDER BY of a search. `+ 0` hides the distance from the graph index, so that every row is compared."""
    return f"embedding <=> {vector}" if way == "graph" else f"(embedding <=> {vector}) + 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An item near a vector."""

    item_id: UUID
    similarity: float


def find_neighbours(
    connection: Connection,
    *,
    tenant_id: UUID,
    encoder: str,
    namespace: str,
    vectors: Sequence[Vector],
    befores: Sequence[int],
    count: int,
    only_durable: bool,
    way: Way,
    said_by_users: bool = True,
) -> list[list[Neighbour]]:
    """For each vector, the nearest user turns that arrived before it; one search for all of them.

    With `only_durable`, the nearest durable memories among them, by the memory's id; those that no user said, as
    dreams, only where `said_by_users` is false: what a user says confirms no dream.
    """
    memory_id = (
        "(SELECT memories.id FROM memories "
        "WHERE memories.turn_id = stored.item_id AND memories.forgotten_at IS NULL)"
    )
    users_alone = "AND stored.role = 'user'" if said_by_users else ""
    rows = connection.execute(
        text(
            "SELECT asked.number, near.item_id, near.distance "
            "FROM unnest(CAST(:vectors AS halfvec[]), CAST(:befores AS bigint[])) "
            "     WITH ORDINALITY AS asked (embedding, before, number) "
            "CROSS JOIN LATERAL ("
            "  SELECT item_id, min(distance) AS distance FROM ("
            f"    SELECT {memory_id if only_durable else 'stored.item_id'} AS item_id, "
            f"          stored.embedding <=> asked.embedding AS distance FROM {table_of(encoder)} AS stored "
            "     WHERE stored.tenant_id = :tenant_id AND stored.namespace = :namespace AND stored.kind = 'turn' "
            f"      AND stored.seq < asked.before {users_alone} "
            f"      {f'AND {memory_id} IS NOT NULL' if only_durable else ''} "
            f"    ORDER BY {order_by_distance(way, 'asked.embedding')} LIMIT {count * WINDOWS_PER_ITEM}"
            "  ) AS windows GROUP BY item_id ORDER BY 2 LIMIT :count"
            ") AS near ORDER BY asked.number, near.distance"
        ),
        {
            "vectors": [HalfVector(vector).to_text() for vector in vectors],
            "befores": list(befores),
            "tenant_id": tenant_id,
            "namespace": namespace,
            "count": count,
        },
    )
    found: list[list[Neighbour]] = [[] for _ in vectors]
    for row in rows:
        found[row.number - 1].append(Neighbour(item_id=row.item_id, similarity=1.0 - float(row.distance)))
    return found
