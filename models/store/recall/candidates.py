"""Candidates for a query: by words and names while the query is encoded, then by meaning."""

from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from pgvector import HalfVector

from models.domain.recall.time.temporal import MAX_RECOVERED, RECOVERY_SIMILARITY
from models.store.engine import Cursors, to_uuid_array
from models.store.index.embeddings import Vector, table_of
from models.store.recall.context import Origin
from models.store.recall.nearest import Way, order_by_distance

if TYPE_CHECKING:
    from psycopg import Cursor

REACH = 2  # turns before and after a good hit that are weighed with it
SESSION_SUMMARIES = 8  # the newest active ones of the session that asks
MOST_NODES_A_LINK = 3  # of the section a link names
MOST_COVERED = 12  # raw turns under summaries that are looked at where nothing matched: the reserve holds few
MOST_POSTINGS = 2000  # of one term: the lexical leg reads no more, whatever the namespace holds
MOST_QUERY_TERMS = 200  # a longer query says more than a search can use


class Breadth(NamedTuple):
    """How much a search brings: candidates of each leg, and how many turns, the best, bring those around them."""

    candidates: int
    reaching: int


class Candidate(NamedTuple):
    """An item that may answer the query, or stands beside one that may: the columns of `_ROWS`, then how it was found."""

    id: str
    item_id: str  # its row in the index: for a memory, its turn's
    kind: str
    namespace: str
    session_id: str | None
    position: int | None  # of a turn, within its session
    role: str | None
    name: str | None
    text: str
    said_at: float  # seconds since 1970
    seen_at: float  # when it was last said, in these words or nearly
    authority: float
    confidence: float | None  # of a summary
    load: float  # Dnl of the gate, for user turns
    anchor_density: float
    useful_count: int
    source_turn_ids: Sequence[str]
    superseded_by: str | None  # the turn that says what is so now instead
    superseded_at: float | None  # when that was said
    superseded_by_words: str | None  # the sentence of that turn that says it
    windows: bytes | None  # its vectors, as PostgreSQL sends them (`decode_windows`)
    lexical_weight: float | None = None  # BM25, if it holds words of the query
    vector_rank: int | None = None
    lexical_rank: int | None = None
    similarity: float | None = None


CandidateRow = tuple[Any, ...]  # the columns of `_ROWS` alone
ITEM_ID = Candidate._fields.index("item_id")
KIND = Candidate._fields.index("kind")
WINDOWS = Candidate._fields.index("windows")
LEXICAL_WEIGHT = Candidate._fields.index("lexical_weight")

# What holds words of the query, and what the session was about before its tail, whatever is asked.
_NAMED = """
found AS MATERIALIZED (
    (SELECT item_id, weight, row_number() OVER () AS place FROM longtail.find_by_words(
        %(terms)s,
        (SELECT places FROM longtail.find_places(
            %(session_id)s, %(namespace)s, %(user_id)s, %(session_key)s, %(agent_id)s)),
        {count}, {postings}) LIMIT {count})
    UNION ALL (SELECT id, NULL, NULL FROM summaries
           WHERE tenant_id = %(tenant_id)s AND session_id = %(session_id)s AND is_active
           ORDER BY first_position DESC LIMIT {summaries})
)"""
_GIVEN = """
found AS (SELECT unnest(CAST(%(ids)s AS uuid[])) AS item_id, NULL::float8 AS weight, 1 AS place)"""
# The nearest windows, as items. For questions about time, the dated ones among half as many more join them.
_NEAR = """
nearest AS (
    SELECT item_id, embedding <=> %(vector)s AS distance FROM {table}
    WHERE tenant_id = %(tenant_id)s AND namespace = ANY(%(namespaces)s)
    ORDER BY {order} LIMIT {windows}
), distances AS (
    SELECT item_id, min(distance) AS distance FROM nearest GROUP BY item_id
), near AS (
    SELECT item_id, row_number() OVER (ORDER BY distance, item_id) AS place FROM distances
    WHERE distance <= 1 - %(similarity_floor)s ORDER BY distance, item_id LIMIT {count}
), dated AS (
    SELECT item_id, 0 AS place FROM distances CROSS JOIN LATERAL (
        SELECT anchor_density FROM items WHERE items.id = distances.item_id AND {dated} OFFSET 0
    ) AS items
    WHERE anchor_density > 0 AND distance <= 1 - %(dated_floor)s
    ORDER BY anchor_density DESC, distance LIMIT {dated_count}
), found AS (
    SELECT item_id, NULL::float8 AS weight, min(place) AS place
    FROM (SELECT * FROM near UNION ALL SELECT * FROM dated) AS either GROUP BY item_id
)"""

# The nearest raw turns that summaries stand for, however far: where nothing else matched.
_COVERED = """
nearest AS (
    SELECT item_id, embedding <=> %(vector)s AS distance FROM {table} AS stored
    WHERE tenant_id = %(tenant_id)s AND namespace = ANY(%(namespaces)s) AND kind = 'turn'
      AND EXISTS (SELECT FROM summary_turns WHERE summary_turns.turn_id = stored.item_id)
    ORDER BY {order} LIMIT {windows}
), found AS (
    SELECT item_id, NULL::float8 AS weight, 1 AS place FROM nearest GROUP BY item_id
    ORDER BY min(distance), item_id LIMIT {count}
)"""

# What was found and the turns around the best turns of it, each with what its score is made of.
# OFFSET 0 is a fence: a few rows by their key, whatever the planner thinks of the table.
_ROWS = """
WITH {found}, around AS (
    SELECT item_id, max(weight) AS weight FROM (
        SELECT item_id, weight FROM found
        UNION ALL SELECT beside.id, NULL FROM (
            SELECT hit.session_id, hit.position FROM found CROSS JOIN LATERAL (
                SELECT session_id, position FROM turns WHERE turns.id = found.item_id OFFSET 0
            ) AS hit ORDER BY found.place LIMIT {reaching}
        ) AS hit CROSS JOIN LATERAL (
            SELECT turns.id FROM turns
            WHERE turns.tenant_id = %(tenant_id)s AND turns.session_id = hit.session_id
              AND turns.position BETWEEN hit.position - {reach} AND hit.position + {reach} OFFSET 0
        ) AS beside
    ) AS either
    WHERE item_id <> ALL (CAST(%(known_ids)s AS uuid[]))
    GROUP BY item_id
)
SELECT coalesce(memories.id, items.id)::text, items.id::text,
       CASE WHEN memories.id IS NULL THEN items.kind ELSE 'memory' END,
       items.namespace, items.session_id, turns.position, items.role, items.name,
       coalesce(items.body, turns.content),
       extract(epoch FROM items.ts)::float8,
       extract(epoch FROM coalesce(memories.last_seen_at, items.ts))::float8,
       coalesce(memories.gate_score, items.authority),
       CASE WHEN items.kind = 'summary' THEN (SELECT confidence FROM summaries WHERE summaries.id = items.id) END,
       coalesce(gate.d, 0), items.anchor_density, items.useful_count,
       CASE WHEN memories.id IS NULL THEN items.source_turn_ids
            ELSE ARRAY(SELECT turn_id FROM memory_sources WHERE memory_id = memories.id ORDER BY linked_at, turn_id)
       END::text[],
       newer.newer_turn_id::text, extract(epoch FROM newer.changed_at)::float8, newer.newer_statement,
       (SELECT string_agg(halfvec_send(embedding), '' ORDER BY window_no) FROM {table} AS stored
        WHERE stored.item_id = items.id),
       around.weight
FROM around
CROSS JOIN LATERAL (
    SELECT * FROM items WHERE items.id = around.item_id AND items.is_active AND items.tenant_id = %(tenant_id)s OFFSET 0
) AS items
LEFT JOIN LATERAL (SELECT content, position FROM turns WHERE turns.id = items.id OFFSET 0) AS turns
       ON items.kind = 'turn'
LEFT JOIN LATERAL (
    SELECT d FROM gate_decisions WHERE gate_decisions.turn_id = items.id OFFSET 0
) AS gate ON items.role = 'user'
LEFT JOIN LATERAL (
    SELECT id, gate_score, last_seen_at FROM memories WHERE memories.turn_id = items.id OFFSET 0
) AS memories ON items.kind = 'turn'
LEFT JOIN LATERAL (
    SELECT newer_turn_id, changed_at, newer_statement FROM supersessions WHERE supersessions.older_turn_id = items.id
    ORDER BY changed_at DESC, newer_turn_id LIMIT 1
) AS newer ON items.role = 'user'
"""


@cache
def _named_rows(encoder: str, breadth: Breadth) -> str:
    found = _NAMED.format(count=breadth.candidates, postings=MOST_POSTINGS, summaries=SESSION_SUMMARIES)
    return _ROWS.format(found=found, table=table_of(encoder), reach=REACH, reaching=breadth.reaching)


@cache
def _given_rows(encoder: str) -> str:
    return _ROWS.format(found=_GIVEN, table=table_of(encoder), reach=0, reaching=0)


@cache
def _near_rows(encoder: str, way: Way, breadth: Breadth, wants_dated: bool) -> str:
    """The statement for one way to search; limits are written out, because the planner must know them."""
    found = _NEAR.format(
        table=table_of(encoder),
        order=order_by_distance(way, "%(vector)s"),
        windows=breadth.candidates * (3 if wants_dated else 2),
        count=breadth.candidates,
        dated=str(wants_dated).lower(),
        dated_count=MAX_RECOVERED,
    )
    reaching = breadth.reaching + (MAX_RECOVERED if wants_dated else 0)
    return _ROWS.format(found=found, table=table_of(encoder), reach=REACH, reaching=reaching)


@cache
def _covered_rows(encoder: str, way: Way) -> str:
    found = _COVERED.format(
        table=table_of(encoder),
        order=order_by_distance(way, "%(vector)s"),
        windows=MOST_COVERED * 2,
        count=MOST_COVERED,
    )
    return _ROWS.format(found=found, table=table_of(encoder), reach=0, reaching=0)


def send_named(
    cursors: Cursors, *, origin: Origin, encoder: str, terms: Collection[str], breadth: Breadth
) -> "Cursor[CandidateRow]":
    """Ask for what holds these words, the newest summaries of the session, and the turns around each. Needs no vector."""
    return cursors.send(
        _named_rows(encoder, breadth),
        {**origin.values(), "terms": list(terms)[:MOST_QUERY_TERMS], "known_ids": "{}"},
    )


def send_given(
    cursors: Cursors, *, tenant_id: UUID, encoder: str, ids: Sequence[str]
) -> "Cursor[CandidateRow]":
    """Ask for these items alone."""
    return cursors.send(
        _given_rows(encoder), {"tenant_id": tenant_id, "ids": to_uuid_array(ids), "known_ids": "{}"}
    )


def send_near(
    cursors: Cursors,
    *,
    tenant_id: UUID,
    encoder: str,
    namespaces: Sequence[str],
    query_vector: Vector,
    way: Way,
    known: Sequence[str],
    breadth: Breadth,
    similarity_floor: float,
    wants_dated: bool = False,
) -> "Cursor[CandidateRow]":
    """Ask for what is nearest to the query and the turns around it, without what is `known` already.

    `wants_dated` adds turns rich in dates and times, for questions about when.
    """
    return cursors.send(
        _near_rows(encoder, way, breadth, wants_dated),
        {
            "vector": HalfVector(query_vector),
            "dated_floor": RECOVERY_SIMILARITY,
            "similarity_floor": similarity_floor,
            "tenant_id": tenant_id,
            "namespaces": list(namespaces),
            "known_ids": to_uuid_array(known),
        },
    )


def send_covered(
    cursors: Cursors,
    *,
    tenant_id: UUID,
    encoder: str,
    namespaces: Sequence[str],
    query_vector: Vector,
    way: Way,
    known: Sequence[str],
) -> "Cursor[CandidateRow]":
    """Ask for the raw turns under summaries that are nearest to the query, without what is `known` already."""
    return cursors.send(
        _covered_rows(encoder, way),
        {
            "vector": HalfVector(query_vector),
            "tenant_id": tenant_id,
            "namespaces": list(namespaces),
            "known_ids": to_uuid_array(known),
        },
    )


# Where the links of an authored node lead: the section they name, else the beginning of the document.
_LINKED = """
SELECT nodes.id::text, target.id::text
FROM document_nodes AS nodes
JOIN documents AS home ON home.id = nodes.document_id
CROSS JOIN LATERAL jsonb_to_recordset(nodes.links) AS link (target text, fragment text)
JOIN documents AS other ON other.tenant_id = %(tenant_id)s AND other.binding = ANY(%(bindings)s)
 AND CASE WHEN link.target = '' THEN other.id = home.id
          ELSE lower(other.name) IN (lower(link.target), lower(link.target) || '.md',
                                     lower(regexp_replace(link.target, '^.*/', '')))
     END
CROSS JOIN LATERAL (
    SELECT id FROM document_nodes AS candidate
    WHERE candidate.document_id = other.id AND candidate.tier <> 1
      AND (coalesce(link.fragment, '') = '' OR EXISTS (
          SELECT FROM unnest(candidate.heading_path) AS heading
          WHERE replace(lower(regexp_replace(heading, '[^[:alnum:] _-]', '', 'g')), ' ', '-')
              = replace(lower(link.fragment), ' ', '-')))
    ORDER BY candidate.position LIMIT {most}
) AS target
WHERE nodes.tenant_id = %(tenant_id)s AND nodes.id = ANY(CAST(%(ids)s AS uuid[])) AND target.id <> nodes.id
"""


def find_linked(
    cursors: Cursors, *, tenant_id: UUID, bindings: Sequence[str], ids: Sequence[str]
) -> dict[str, list[str]]:
    """For each authored node, the searchable nodes one link away."""
    linked: dict[str, list[str]] = {}
    rows = cursors.send(
        _LINKED.format(most=MOST_NODES_A_LINK),
        {"tenant_id": tenant_id, "bindings": list(bindings), "ids": list(ids)},
    )
    for node_id, target_id in rows:
        linked.setdefault(node_id, []).append(target_id)
    return linked
