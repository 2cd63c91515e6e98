"""Our tables seen as named collections: rows with an id, a text and metadata, listed whole or by nearness.

Each view is a query with the same columns: `item_id` (whose vectors stand for it), `key` (its id where no client gave
it one), `body`, `given` (metadata a client sent), `facts` (what we know, which wins over it) and `at`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from pgvector import HalfVector
from sqlalchemy import Connection, Row, text

from models.store.index.embeddings import Vector, table_of

View = Literal["active", "raw", "summaries", "turns", "memories", "guidance", "authored", "own"]

NEWEST_OF_SESSION: Final = 200  # turns among which one said a moment ago is looked for
# Metadata that says how far a text can be trusted: nobody else's word counts, wherever we have none.
OURS: Final = (
    *("authored", "authority", "elevated_guidance", "tier", "provenance_class", "stability_weight"),
    *("memory_id", "access_count", "trust", "collection"),
)
_TURN_FACTS: Final = """jsonb_strip_nulls(jsonb_build_object(
    'type', 'turn', 'role', turns.role, 'sessionId', turns.session_id, 'userId', turns.namespace,
    'provenance_class', coalesce(items.provenance_class, 'session_turn'),
    'stability_weight', coalesce(items.stability_weight, CASE turns.role
        WHEN 'system' THEN 0.8 WHEN 'user' THEN 0.6 WHEN 'assistant' THEN 0.4 ELSE 0.2 END),
    'token_estimate', items.token_estimate, 'access_count', coalesce(items.access_count, 0)))"""
_TURN: Final = f"""
SELECT turns.id AS item_id, coalesce(turns.host_message_id, turns.id::text) AS key,
       coalesce(items.body, turns.content) AS body, turns.metadata AS given, {_TURN_FACTS} AS facts, turns.ts AS at
FROM turns LEFT JOIN items ON items.id = turns.id
WHERE turns.tenant_id = :tenant_id
"""
_NOT_FORGOTTEN: Final = "AND NOT EXISTS (SELECT FROM forgotten WHERE forgotten.item_id = turns.id)"
_SUMMARY: Final = """
SELECT summaries.id AS item_id, summaries.id::text AS key, summaries.body, '{}'::jsonb AS given,
       jsonb_build_object(
           'type', 'summary', 'sessionId', summaries.session_id, 'userId', summaries.namespace, 'role', 'system',
           'provenance_class', 'session_summary', 'confidence', summaries.confidence,
           'decay_rate', 1 - summaries.confidence, 'method', summaries.method, 'level', summaries.level,
           'source_count', summaries.turn_count, 'token_estimate', summaries.summary_tokens,
           'earliest_ts', floor(extract(epoch FROM summaries.earliest_at) * 1000),
           'latest_ts', floor(extract(epoch FROM summaries.latest_at) * 1000), 'active', summaries.is_active,
           'access_count', coalesce(items.access_count, 0)) AS facts,
       summaries.latest_at AS at
FROM summaries LEFT JOIN items ON items.id = summaries.id
WHERE summaries.tenant_id = :tenant_id AND summaries.session_id = :session_id
"""
_VIEWS: Final[Mapping[View, str]] = {
    "raw": f"{_TURN} AND turns.session_id = :session_id".replace(
        "coalesce(items.body, turns.content)", "turns.content"
    ),
    # what compaction covered is seen through its summary, as the active record of a session should be
    "active": f"""
{_TURN} AND turns.session_id = :session_id {_NOT_FORGOTTEN}
AND NOT EXISTS (SELECT FROM summary_turns AS edge WHERE edge.turn_id = turns.id)
UNION ALL {_SUMMARY} AND summaries.is_active""",
    "summaries": _SUMMARY,
    "turns": f"""
{_TURN} AND turns.namespace = :namespace AND turns.role = 'user' {_NOT_FORGOTTEN}
AND turns.session_id IN (SELECT session_id FROM sessions WHERE tenant_id = :tenant_id AND namespace = :namespace)""",
    "memories": f"""
SELECT turns.id AS item_id, memories.id::text AS key, memories.body, turns.metadata AS given,
       {_TURN_FACTS} || jsonb_strip_nulls(jsonb_build_object(
           'provenance_class', 'durable_user_memory', 'memory_id', memories.id, 'userId', memories.namespace,
           'mention_count', memories.mention_count, 'gating_score', memories.gate_score,
           'gating_t', decided.t, 'gating_h', decided.h, 'gating_r', decided.r, 'gating_d', decided.d,
           'gating_p', decided.p, 'gating_a', decided.a, 'gating_dtech', decided.dtech,
           'gating_gconv', decided.gconv, 'gating_gtech', decided.gtech)) AS facts,
       memories.last_seen_at AS at
FROM memories JOIN turns ON turns.id = memories.turn_id LEFT JOIN items ON items.id = turns.id
LEFT JOIN gate_decisions AS decided ON decided.turn_id = turns.id
WHERE memories.tenant_id = :tenant_id AND memories.forgotten_at IS NULL
  AND (CAST(:namespace AS text) IS NULL OR memories.namespace = :namespace)""",
    "guidance": """
SELECT guidance.turn_id AS item_id, guidance.id::text AS key, guidance.body, '{}'::jsonb AS given,
       jsonb_build_object(
           'type', 'guidance_shard', 'elevated_guidance', true, 'role', turns.role, 'sessionId', turns.session_id,
           'userId', turns.namespace, 'provenance_class', 'elevated_guidance', 'stability_weight',
           guidance.stability_weight, 'source_turn_id', coalesce(turns.host_message_id, turns.id::text),
           'source_turn_ts', floor(extract(epoch FROM turns.ts) * 1000), 'modalities', to_jsonb(guidance.modalities),
           'access_count', coalesce(items.access_count, 0)) AS facts,
       guidance.stated_at AS at
FROM guidance JOIN turns ON turns.id = guidance.turn_id LEFT JOIN items ON items.id = turns.id
WHERE guidance.tenant_id = :tenant_id AND guidance.collection = :collection
  AND guidance.superseded_by IS NULL AND guidance.forgotten_at IS NULL""",
    "authored": """
SELECT nodes.id AS item_id, documents.name || '#' || lpad(nodes.position::text, 6, '0') AS key, nodes.body,
       coalesce(source.metadata, '{}') AS given,
       jsonb_strip_nulls(jsonb_build_object(
           'type', 'authored', 'authored', true, 'source_doc', documents.name, 'tier', nodes.tier,
           'authority', CASE WHEN source.metadata ->> 'is_core_doc' = 'false' THEN 0 ELSE 1 END,
           'binding', documents.binding, 'promoted', nodes.tier = 2 AND nodes.kind = 'paragraph',
           'node_kind', nodes.kind, 'ordinal', nodes.position, 'position', nodes.start_byte,
           'heading_path', to_jsonb(nodes.heading_path), 'provenance_class', 'authored', 'stability_weight', 1,
           'hop_targets', (SELECT jsonb_agg(DISTINCT link ->> 'target') FROM jsonb_array_elements(nodes.links) AS link),
           'access_count', coalesce(items.access_count, 0))) AS facts,
       documents.loaded_at AS at
FROM documents JOIN document_nodes AS nodes ON nodes.document_id = documents.id
LEFT JOIN items ON items.id = nodes.id
LEFT JOIN records AS source ON source.tenant_id = documents.tenant_id
     AND source.collection = 'authored:documents:' || md5(documents.binding)
     AND source.id = documents.name
WHERE documents.tenant_id = :tenant_id AND documents.binding = ANY(:bindings) AND nodes.tier = :tier
  AND nodes.body <> ''""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which rows of a view: a session's, a namespace's, a tier's."""

    collection: str
    view: View
    session_id: str | None = None
    namespace: str | None = None
    tier: int | None = None
    bindings: Sequence[str] = ()

    def values(self) -> dict[str, Any]:
        return {
            "collection": self.collection,
            "session_id": self.session_id,
            "namespace": self.namespace,
            "tier": self.tier,
            "bindings": list(self.bindings),
            "ours": list(OURS),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of a collection; `id` is the client's own where it gave one."""

    id: str
    key: str  # ours
    item_id: UUID | None
    body: str
    metadata: Mapping[str, Any]
    similarity: float = 0.0


# A row may have been named by its client, more than once: the last name counts.
_NAMED = """
LEFT JOIN LATERAL (
    SELECT records.id, records.metadata FROM records
    WHERE records.tenant_id = :tenant_id AND records.collection = :collection AND records.item_id = found.item_id
    ORDER BY records.updated_at DESC LIMIT 1
) AS named ON true
"""
_COLUMNS = """
coalesce(named.id, found.key) AS id, found.key, found.item_id, found.body,
(found.given || coalesce(named.metadata, '{}')) - CAST(:ours AS text[]) || found.facts
|| jsonb_build_object('ts', floor(extract(epoch FROM found.at) * 1000)) AS metadata
"""
_OWN = """
SELECT id, id AS key, NULL::uuid AS item_id, body,
       metadata - CAST(:ours AS text[]) || jsonb_build_object('access_count', access_count) AS metadata
FROM records WHERE tenant_id = :tenant_id AND collection = :collection AND body IS NOT NULL
"""


def _to_entry(row: Row[Any]) -> Entry:
    return Entry(
        id=row.id,
        key=row.key,
        item_id=row.item_id,
        body=row.body,
        metadata=row.metadata,
        similarity=float(getattr(row, "similarity", 0.0)),
    )


def list_entries(connection: Connection, *, tenant_id: UUID, scope: Scope, count: int) -> list[Entry]:
    """The rows of a collection, oldest first, at most `count` of them: the newest."""
    values = {"tenant_id": tenant_id, "count": count, **scope.values()}
    if scope.view == "own":
        statement = (
            f"SELECT * FROM ({_OWN} ORDER BY created_at DESC, id DESC LIMIT :count) AS newest ORDER BY id"
        )
    else:
        statement = (
            f"SELECT {_COLUMNS} FROM ("
            f"  SELECT * FROM ({_VIEWS[scope.view]}) AS rows ORDER BY at DESC, key DESC LIMIT :count"
            f") AS found {_NAMED} ORDER BY found.at, found.key"
        )
    return [_to_entry(row) for row in connection.execute(text(statement), values)]


def find_nearest_entries(
    connection: Connection, *, tenant_id: UUID, scope: Scope, encoder: str, vector: Vector, count: int
) -> list[Entry]:
    """The rows whose vectors are nearest, nearest first; every row of the collection is compared."""
    values = {
        "tenant_id": tenant_id,
        "count": count,
        "vector": HalfVector(vector).to_text(),
        "encoder": encoder,
        **scope.values(),
    }
    if scope.view == "own":
        statement = (
            f"SELECT own.*, 1 - distance AS similarity FROM ("
            "  SELECT id, embedding <=> CAST(:vector AS halfvec) AS distance FROM records "
            "  WHERE tenant_id = :tenant_id AND collection = :collection AND encoder = :encoder "
            f" ORDER BY 2, id LIMIT :count) AS near JOIN ({_OWN}) AS own USING (id) ORDER BY distance, id"
        )
    else:
        statement = (
            f"WITH rows AS NOT MATERIALIZED ({_VIEWS[scope.view]}), near AS MATERIALIZED ("
            "   SELECT rows.item_id, min(stored.embedding <=> CAST(:vector AS halfvec)) AS distance FROM rows "
            f"  JOIN {table_of(encoder)} AS stored "
            "     ON stored.item_id = rows.item_id AND stored.tenant_id = :tenant_id "
            "   GROUP BY rows.item_id ORDER BY 2, 1 LIMIT :count) "
            f"SELECT {_COLUMNS}, 1 - near.distance AS similarity "
            f"FROM near JOIN rows AS found USING (item_id) {_NAMED} ORDER BY near.distance, found.item_id"
        ).replace("found.item_id, found.body", "near.item_id, found.body")
    return [_to_entry(row) for row in connection.execute(text(statement), values)]


def list_unencoded_entries(
    connection: Connection, *, tenant_id: UUID, scope: Scope, encoder: str, count: int
) -> list[Entry]:
    """The newest rows without a vector: they came a moment ago, or are never searched by ours."""
    values = {"tenant_id": tenant_id, "count": count, "encoder": encoder, **scope.values()}
    if scope.view == "own":
        statement = f"{_OWN} AND encoder IS DISTINCT FROM :encoder ORDER BY created_at DESC LIMIT :count"
    else:
        statement = (
            f"SELECT {_COLUMNS} FROM ({_VIEWS[scope.view]}) AS found {_NAMED} "
            f"WHERE {_waiting(scope)} "
            f"AND NOT EXISTS (SELECT FROM {table_of(encoder)} AS stored WHERE stored.item_id = found.item_id) "
            "ORDER BY found.at DESC, found.key DESC LIMIT :count"
        )
    return [_to_entry(row) for row in connection.execute(text(statement), values)]


def _waiting(scope: Scope) -> str:
    """Of a whole namespace only what is still queued is looked at: the rest has its vector."""
    if scope.view not in ("turns", "memories"):
        return "true"
    return (
        "found.item_id IN (SELECT item_id FROM work WHERE tenant_id = :tenant_id AND namespace = :namespace "
        "AND stage IN ('accepted', 'ingested', 'embedded'))"
    )


def load_entries(
    connection: Connection, *, tenant_id: UUID, scope: Scope, item_ids: Sequence[UUID]
) -> list[Entry]:
    """The rows of a collection that stand for these items."""
    statement = (
        f"SELECT {_COLUMNS} FROM ({_VIEWS[scope.view]}) AS found {_NAMED} WHERE found.item_id = ANY(:ids)"
    )
    values = {"tenant_id": tenant_id, "ids": list(item_ids), **scope.values()}
    return [_to_entry(row) for row in connection.execute(text(statement), values)]


def find_entries(connection: Connection, *, tenant_id: UUID, scope: Scope, ids: Sequence[str]) -> list[Entry]:
    """The rows with these ids, the client's or ours."""
    values = {"tenant_id": tenant_id, "ids": list(ids), **scope.values()}
    if scope.view == "own":
        statement = f"{_OWN} AND id = ANY(:ids)"
    else:
        statement = (
            f"SELECT {_COLUMNS} FROM ({_VIEWS[scope.view]}) AS found {_NAMED} "
            "WHERE found.key = ANY(:ids) OR found.item_id IN ("
            "  SELECT item_id FROM records WHERE tenant_id = :tenant_id AND collection = :collection "
            "  AND id = ANY(:ids))"
        )
    return [_to_entry(row) for row in connection.execute(text(statement), values)]


def find_said(
    connection: Connection, *, tenant_id: UUID, session_id: str, host_ids: Sequence[str], digest: bytes
) -> UUID | None:
    """The turn of a session that said exactly this under one of these ids."""
    found: UUID | None = connection.execute(
        text(
            "SELECT id FROM turns WHERE tenant_id = :tenant_id AND session_id = :session_id "
            "AND dedup_key = ANY(:keys) AND content_sha256 = :digest ORDER BY seq DESC LIMIT 1"
        ),
        {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "keys": [f"id:{host_id}" for host_id in host_ids],
            "digest": digest,
        },
    ).scalar_one_or_none()
    return found


def find_said_at(
    connection: Connection, *, tenant_id: UUID, session_id: str, moment: datetime, digest: bytes
) -> UUID | None:
    """The turn among a session's newest that said exactly this at exactly that time."""
    found: UUID | None = connection.execute(
        text(
            "SELECT id FROM (SELECT id, seq, ts, content_sha256 FROM turns "
            "WHERE tenant_id = :tenant_id AND session_id = :session_id ORDER BY seq DESC LIMIT :newest) AS recent "
            "WHERE ts = :moment AND content_sha256 = :digest ORDER BY seq DESC LIMIT 1"
        ),
        {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "moment": moment,
            "digest": digest,
            "newest": NEWEST_OF_SESSION,
        },
    ).scalar_one_or_none()
    return found


def find_memory_of_turn(connection: Connection, *, tenant_id: UUID, turn_id: UUID) -> UUID | None:
    """The memory that a turn became."""
    found: UUID | None = connection.execute(
        text("SELECT id FROM memories WHERE tenant_id = :tenant_id AND turn_id = :turn_id"),
        {"tenant_id": tenant_id, "turn_id": turn_id},
    ).scalar_one_or_none()
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much a tenant, or one namespace of it, holds."""

    turns: int
    memories: int
    hints: int


def count_entries(connection: Connection, *, tenant_id: UUID, namespace: str | None) -> Counts:
    """User turns, durable memories and lifecycle hints."""
    row = connection.execute(
        text(
            "SELECT (SELECT count(*) FROM turns WHERE tenant_id = :tenant_id AND role = 'user' "
            "        AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace)) AS turns, "
            "(SELECT count(*) FROM memories WHERE tenant_id = :tenant_id AND forgotten_at IS NULL "
            " AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace)) AS memories, "
            "(SELECT count(*) FROM journal WHERE tenant_id = :tenant_id "
            " AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace)) AS hints"
        ),
        {"tenant_id": tenant_id, "namespace": namespace},
    ).one()
    return Counts(turns=row.turns, memories=row.memories, hints=row.hints)
