"""Candidates for a query: found by meaning, by words or by name, in one round trip."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgvector import HalfVector
from sqlalchemy import Connection, TextClause, text

from models.store.embeddings import Vector, table_of
from models.store.memories import Guidance

MOST_STANDING = 256  # of the newest standing wishes, how many are compared with a query
MOST_RANKED_ROWS = 1000  # how many rows the lexical leg is expected to rank at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An item that may answer the query, with its rank in each leg that found it."""

    id: UUID
    kind: str
    namespace: str
    session_id: str | None
    role: str | None
    name: str | None
    text: str
    ts: datetime
    authority: float
    anchor_density: float
    access_count: int
    source_turn_ids: tuple[UUID, ...]
    matched: frozenset[str]  # keywords of the query that it holds
    similarity: float | None
    vector_rank: int | None
    lexical_rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedItem:
    """An item that holds words or names of the query."""

    item_id: UUID
    weight: float


_BY_WORDS = text(
    "SELECT item_id, weight FROM longtail.find_by_words(:query, :names, :namespaces, :count, :most_ranked)"
)


def find_by_words(
    connection: Connection, *, namespaces: Sequence[str], query: str, identifiers: Sequence[str], count: int
) -> list[NamedItem]:
    """The lexical leg: it needs no vector, so it runs while the query is being encoded."""
    rows = connection.execute(
        _BY_WORDS,
        {
            "query": query[:20_000],
            "names": list(identifiers),
            "namespaces": list(namespaces),
            "count": count,
            "most_ranked": MOST_RANKED_ROWS,
        },
    )
    return [NamedItem(item_id=row.item_id, weight=row.weight) for row in rows]


def _candidates(table: str) -> TextClause:
    return text(f"""
WITH asked AS MATERIALIZED (
    SELECT CAST(:vector AS halfvec) AS vector
), distances AS (
    -- OFFSET 0 is a fence: each distance is computed once, and no approximate index is used
    SELECT item_id, embedding <=> (SELECT vector FROM asked) AS distance FROM {table}
    WHERE tenant_id = :tenant_id AND namespace = ANY(:namespaces) AND :has_vector OFFSET 0
), near AS (
    SELECT item_id, min(distance) AS distance FROM (
        SELECT item_id, distance FROM distances ORDER BY distance LIMIT :count * 2
    ) AS windows WHERE distance <= 1 - :similarity_floor GROUP BY item_id ORDER BY 2 LIMIT :count
), by_meaning AS (
    SELECT item_id, distance, row_number() OVER (ORDER BY distance, item_id) AS rank FROM near
), named AS (
    SELECT given.item_id, given.weight
    FROM unnest(CAST(:named_ids AS uuid[]), CAST(:named_weights AS real[])) AS given (item_id, weight)
), by_words AS (
    SELECT item_id, row_number() OVER (ORDER BY weight DESC, item_id) AS rank FROM named
), dated AS (
    SELECT items.id AS item_id FROM items JOIN {table} AS stored ON stored.item_id = items.id
    WHERE items.tenant_id = :tenant_id AND items.namespace = ANY(:namespaces) AND items.is_active
      AND items.anchor_density > 0 AND :wants_dated AND :has_vector
    GROUP BY items.id
    ORDER BY items.anchor_density DESC, min(stored.embedding <=> (SELECT vector FROM asked)) LIMIT :count
), found AS (
    SELECT item_id FROM near UNION SELECT item_id FROM named UNION SELECT item_id FROM dated
)
SELECT items.id, items.kind, items.namespace, items.session_id, items.role, items.name,
       coalesce(items.body, turns.content) AS text, items.ts, items.authority, items.anchor_density,
       ARRAY(SELECT unnest(items.terms) INTERSECT SELECT unnest(CAST(:keywords AS text[]))) AS matched,
       items.access_count, items.source_turn_ids, by_meaning.rank AS vector_rank, by_words.rank AS lexical_rank,
       coalesce(by_meaning.distance, CASE WHEN :has_vector THEN
           (SELECT min(embedding <=> (SELECT vector FROM asked)) FROM {table} AS stored WHERE stored.item_id = items.id)
       END) AS distance
FROM found LEFT JOIN by_meaning USING (item_id) LEFT JOIN by_words USING (item_id)
CROSS JOIN LATERAL (  -- with a fence: a few rows by their key, whatever the planner thinks of the table
    SELECT * FROM items WHERE items.id = found.item_id AND items.is_active AND items.tenant_id = :tenant_id OFFSET 0
) AS items
LEFT JOIN turns ON turns.id = items.id AND items.kind = 'turn'
""")


_STATEMENTS: dict[str, TextClause] = {}


def find_candidates(
    connection: Connection,
    *,
    tenant_id: UUID,
    encoder: str,
    namespaces: Sequence[str],
    query_vector: Vector | None,
    named: Sequence[NamedItem],
    keywords: Collection[str],
    count: int,
    similarity_floor: float,
    wants_dated: bool = False,
) -> list[Candidate]:
    """The union of the vector leg and what was found by words; without a vector, words and names alone.

    `wants_dated` adds turns rich in dates and times, for questions about when; they may have no rank.
    """
    if encoder not in _STATEMENTS:
        _STATEMENTS[encoder] = _candidates(table_of(encoder))
    rows = connection.execute(
        _STATEMENTS[encoder],
        {
            "tenant_id": tenant_id,
            "namespaces": list(namespaces),
            "vector": None if query_vector is None else HalfVector(query_vector),
            "has_vector": query_vector is not None,
            "named_ids": [one.item_id for one in named],
            "named_weights": [one.weight for one in named],
            "keywords": list(keywords),
            "count": count,
            "similarity_floor": similarity_floor,
            "wants_dated": wants_dated,
        },
    )
    return [
        Candidate(
            id=row.id,
            kind=row.kind,
            namespace=row.namespace,
            session_id=row.session_id,
            role=row.role,
            name=row.name,
            text=row.text,
            ts=row.ts,
            authority=row.authority,
            anchor_density=row.anchor_density,
            access_count=row.access_count,
            source_turn_ids=tuple(row.source_turn_ids) or ((row.id,) if row.kind == "turn" else ()),
            matched=frozenset(row.matched),
            similarity=None if row.distance is None else 1.0 - float(row.distance),
            vector_rank=row.vector_rank,
            lexical_rank=row.lexical_rank,
        )
        for row in rows
    ]


def load_guidance(
    connection: Connection,
    *,
    tenant_id: UUID,
    encoder: str,
    collections: Sequence[str],
    query_vector: Vector | None,
    count: int,
) -> list[Guidance]:
    """Standing guidance of these collections: the likest to the query and the newest, `count` of each."""
    rows = connection.execute(
        text(f"""
WITH standing AS (
    SELECT guidance.*,
           (SELECT max(1 - (embedding <=> CAST(:vector AS halfvec))) FROM {table_of(encoder)} AS stored
            WHERE stored.item_id = guidance.turn_id AND stored.tenant_id = :tenant_id) AS similarity
    FROM guidance
    WHERE tenant_id = :tenant_id AND collection = ANY(:collections) AND superseded_by IS NULL
    ORDER BY stated_at DESC LIMIT :most
)
(SELECT * FROM standing ORDER BY similarity DESC NULLS LAST LIMIT :count)
UNION (SELECT * FROM standing ORDER BY stated_at DESC LIMIT :count)
"""),
        {
            "tenant_id": tenant_id,
            "collections": list(collections),
            "vector": None if query_vector is None else HalfVector(query_vector),
            "count": count,
            "most": MOST_STANDING,
        },
    )
    return [
        Guidance(
            id=row.id,
            turn_id=row.turn_id,
            body=row.body,
            modalities=tuple(row.modalities),
            stability_weight=row.stability_weight,
            stated_at=row.stated_at,
            similarity=row.similarity,
        )
        for row in rows
    ]
