"""Taking back what was exported, ids and all, so that lineage holds; a record that is there already is left as it is."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, text

from models.domain.prompt.tokens import CharsCounter
from models.errors import Conflict, InvalidInput
from models.store.memory.feedback import count_usefulness

COUNTER = CharsCounter()
Records = Sequence[Mapping[str, Any]]


def import_records(connection: Connection, *, tenant_id: UUID, kind: str, records: Records) -> int:
    """Insert records of one kind, in the order given; returns how many were new. What they rest on must be there."""
    return _IMPORTS[kind](connection, tenant_id, records)


def _insert(connection: Connection, tenant_id: UUID, table: str, rows: Records, conflict: str) -> list[UUID]:
    """Rows as the table's own columns; unknown keys were refused before. Returns the keys of the new ones."""
    given = [{**row, "tenant_id": str(tenant_id)} for row in rows]
    found = connection.execute(
        text(
            f"INSERT INTO {table} SELECT * FROM jsonb_populate_recordset(NULL::longtail.{table}, CAST(:rows AS jsonb)) "
            f"ON CONFLICT ({conflict}) DO NOTHING RETURNING {conflict}"
        ),
        {"rows": json.dumps(given)},
    )
    return list(found.scalars())


def _check_visible(
    connection: Connection, tenant_id: UUID, table: str, rows: Records, key: str = "id"
) -> None:
    """An id that belongs to another tenant is not ours to take."""
    column = {"gate_decisions": "turn_id", "forgotten": "item_id"}.get(table, "id")
    ids = {UUID(str(row[key])) for row in rows}
    known = connection.execute(
        text(f"SELECT {column} FROM {table} WHERE tenant_id = :tenant_id AND {column} = ANY(:ids)"),
        {"tenant_id": tenant_id, "ids": list(ids)},
    ).scalars()
    if taken := ids - set(known):
        raise Conflict(
            f"id {min(map(str, taken))} is taken on this server, by another tenant",
            code="id_taken",
            field="id",
            remedy="import with ids=new: every id is made anew, and all references with it",
        )


def _check_turns(connection: Connection, tenant_id: UUID, ids: Sequence[str], *, field: str) -> None:
    """Everything rests on raw turns of this tenant."""
    wanted = {UUID(found) for found in ids}
    known = connection.execute(
        text("SELECT id FROM turns WHERE tenant_id = :tenant_id AND id = ANY(:ids)"),
        {"tenant_id": tenant_id, "ids": list(wanted)},
    ).scalars()
    if missing := wanted - set(known):
        raise InvalidInput(
            f"turn {min(map(str, missing))} is not in this tenant",
            code="unknown_turn",
            field=field,
            remedy="import an export as it came: turns stand before what rests on them",
        )


_SESSIONS = text("""
INSERT INTO sessions AS known (tenant_id, session_id, namespace, user_id, session_key, agent_id, next_position,
                               created_at, last_turn_at)
SELECT :tenant_id, session_id, namespace, user_id, session_key, agent_id, next_position, created_at, last_turn_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (session_id text, namespace text, user_id text,
     session_key text, agent_id text, next_position bigint, created_at timestamptz, last_turn_at timestamptz)
ON CONFLICT (tenant_id, session_id) DO UPDATE SET next_position = greatest(known.next_position, excluded.next_position)
RETURNING xmax = 0 AS is_new
""")


def _import_sessions(connection: Connection, tenant_id: UUID, rows: Records) -> int:
    found = connection.execute(_SESSIONS, {"tenant_id": tenant_id, "rows": json.dumps(list(rows))})
    return sum(row.is_new for row in found)


_TURNS = text("""
WITH given AS (
    SELECT * FROM ROWS FROM (jsonb_to_recordset(CAST(:rows AS jsonb)) AS (
        id uuid, session_id text, position bigint, namespace text, role text, content text, name text,
        host_message_id text, dedup_key text, ts timestamptz, accepted_at timestamptz, metadata jsonb,
        tokens integer)) WITH ORDINALITY
), added AS (
    INSERT INTO turns (id, tenant_id, session_id, position, namespace, role, content, name, host_message_id, dedup_key,
                       content_sha256, ts, accepted_at, metadata, tokens)
    SELECT id, :tenant_id, session_id, position, namespace, role, content, name, host_message_id, dedup_key,
           sha256(convert_to(content, 'UTF8')), ts, accepted_at, metadata, tokens
    FROM given ORDER BY ordinality
    ON CONFLICT (id) DO NOTHING RETURNING id, namespace, seq
), queued AS (
    INSERT INTO work (item_id, tenant_id, kind, namespace)
    SELECT id, :tenant_id, 'turn', namespace FROM added ORDER BY seq ON CONFLICT (item_id) DO NOTHING
)
SELECT count(*) FROM added
""")
_CHANGED_TURNS = text("""
SELECT given.id FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (id uuid, content text)
JOIN turns ON turns.id = given.id WHERE turns.content_sha256 <> sha256(convert_to(given.content, 'UTF8')) LIMIT 1
""")


def _import_turns(connection: Connection, tenant_id: UUID, rows: Records) -> int:
    counted = [{**row, "tokens": COUNTER.count(row["content"])} for row in rows]
    values = {"tenant_id": tenant_id, "rows": json.dumps(counted)}
    added: int = connection.execute(_TURNS, values).scalar_one()
    if added < len(rows):
        _check_visible(connection, tenant_id, "turns", rows)
        changed = connection.execute(_CHANGED_TURNS, values).scalar_one_or_none()
        if changed is not None:
            raise Conflict(
                f"turn {changed} is here already, with other words",
                code="import_conflict",
                field="content",
                remedy="a raw turn is never altered; import into a tenant of its own, or with ids=new",
            )
    return added


def _import_resting(table: str, key: str, turn_field: str) -> Callable[[Connection, UUID, Records], int]:
    """Rows that rest on one turn and hold nothing else."""

    def run(connection: Connection, tenant_id: UUID, rows: Records) -> int:
        _check_turns(connection, tenant_id, [row[turn_field] for row in rows], field=turn_field)
        added = _insert(connection, tenant_id, table, rows, key)
        if len(added) < len(rows):
            _check_visible(connection, tenant_id, table, rows, key)
        return len(added)

    return run


def _import_decisions(connection: Connection, tenant_id: UUID, rows: Records) -> int:
    """An export of before worth was measured names no score: G decided alone."""
    scored = [row if row["score"] is not None else {**row, "score": row["g"]} for row in rows]
    return _import_resting("gate_decisions", "turn_id", "turn_id")(connection, tenant_id, scored)


def _import_feedback(connection: Connection, tenant_id: UUID, rows: Records) -> int:
    added = _import_resting("feedback", "id", "turn_id")(connection, tenant_id, rows)
    count_usefulness(connection, tenant_id=tenant_id, turn_ids=[UUID(row["turn_id"]) for row in rows])
    return added


def _import_memories(connection: Connection, tenant_id: UUID, rows: Records) -> int:
    sources = [{**source, "memory_id": row["id"]} for row in rows for source in row["sources"]]
    turn_ids = [row["turn_id"] for row in rows] + [source["turn_id"] for source in sources]
    _check_turns(connection, tenant_id, turn_ids, field="turn_id")
    added = set(_insert(connection, tenant_id, "memories", rows, "id"))
    if len(added) < len(rows):
        _check_visible(connection, tenant_id, "memories", rows)
    fresh = [one for one in sources if UUID(one["memory_id"]) in added]
    _insert(connection, tenant_id, "memory_sources", fresh, "memory_id, turn_id")
    revisions = [{**one, "memory_id": row["id"]} for row in rows for one in row["revisions"]]
    _insert(
        connection,
        tenant_id,
        "memory_revisions",
        [one for one in revisions if UUID(one["memory_id"]) in added],
        "id",
    )
    return len(added)


_QUEUE = text(
    "INSERT INTO work (item_id, tenant_id, kind, namespace) SELECT id, :tenant_id, :kind, namespace "
    "FROM unnest(CAST(:ids AS uuid[]), CAST(:namespaces AS text[])) AS given (id, namespace) "
    "ON CONFLICT (item_id) DO NOTHING"
)
_COMPACTION = text("""
INSERT INTO compactions AS known (tenant_id, session_id, generation) VALUES (:tenant_id, :session_id, :generation)
ON CONFLICT (tenant_id, session_id) DO UPDATE SET generation = greatest(known.generation, excluded.generation)
""")
# What waits to be compacted is counted when the turns pass the gate; how far coverage reaches is known now.
_COVERED_THROUGH = text("""
WITH bare AS (
    SELECT min(position) AS first FROM turns LEFT JOIN summary_turns ON summary_turns.turn_id = turns.id
    WHERE turns.tenant_id = :tenant_id AND turns.session_id = :session_id AND summary_turns.turn_id IS NULL
)
UPDATE compactions SET covered_through = coalesce((SELECT first - 1 FROM bare), (
    SELECT max(position) FROM turns WHERE tenant_id = :tenant_id AND session_id = :session_id), -1)
WHERE tenant_id = :tenant_id AND session_id = :session_id
""")


def _import_summaries(connection: Connection, tenant_id: UUID, rows: Records) -> int:
    _check_turns(
        connection, tenant_id, [edge["turn_id"] for row in rows for edge in row["turns"]], field="turns"
    )
    added = set(_insert(connection, tenant_id, "summaries", rows, "id"))
    if len(added) < len(rows):
        _check_visible(connection, tenant_id, "summaries", rows)
    fresh = [row for row in rows if UUID(row["id"]) in added]
    if children := [{"id": child} for row in fresh for child in row["children"]]:
        _check_visible(connection, tenant_id, "summaries", children)
    edges = [
        {**edge, "summary_id": row["id"], "ordinal": ordinal}
        for row in fresh
        for ordinal, edge in enumerate(row["turns"])
    ]
    _insert_edges(connection, tenant_id, "summary_turns", edges, "turn_id")
    below = [
        {"parent_id": row["id"], "child_id": child, "ordinal": ordinal}
        for row in fresh
        for ordinal, child in enumerate(row["children"])
    ]
    _insert_edges(connection, tenant_id, "summary_children", below, "child_id")
    active = [row for row in fresh if row["is_active"]]
    connection.execute(
        _QUEUE,
        {
            "tenant_id": tenant_id,
            "kind": "summary",
            "ids": [row["id"] for row in active],
            "namespaces": [row["namespace"] for row in active],
        },
    )
    for session_id in sorted({row["session_id"] for row in fresh}):
        generation = max(row["generation"] for row in fresh if row["session_id"] == session_id)
        values = {"tenant_id": tenant_id, "session_id": session_id, "generation": generation}
        connection.execute(_COMPACTION, values)
        connection.execute(_COVERED_THROUGH, values)
    return len(added)


def _insert_edges(connection: Connection, tenant_id: UUID, table: str, edges: Records, key: str) -> None:
    """Edges of new summaries, every one: a summary that lost some would say more than it leads to."""
    if len(_insert(connection, tenant_id, table, edges, key)) < len(edges):
        raise Conflict(
            "a summary covers what another summary here covers already",
            code="import_conflict",
            field="turns" if table == "summary_turns" else "children",
            remedy="import into a tenant that does not hold this session yet",
        )


_DOCUMENTS = text("""
INSERT INTO documents (id, tenant_id, name, binding, body, body_sha256, rules_version, hard_tokens, loaded_at)
SELECT id, :tenant_id, name, binding, body, sha256(convert_to(body, 'UTF8')), rules_version, hard_tokens, loaded_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (id uuid, name text, binding text, body text,
     rules_version text, hard_tokens integer, loaded_at timestamptz)
ON CONFLICT (id) DO NOTHING RETURNING id
""")


def _import_documents(connection: Connection, tenant_id: UUID, rows: Records) -> int:
    found = connection.execute(_DOCUMENTS, {"tenant_id": tenant_id, "rows": json.dumps(list(rows))})
    added = set(found.scalars())
    if len(added) < len(rows):
        _check_visible(connection, tenant_id, "documents", rows)
    nodes = [
        ({**node, "document_id": row["id"]}, f"authored:{row['binding']}")
        for row in rows
        if UUID(row["id"]) in added
        for node in row["nodes"]
    ]
    _insert(connection, tenant_id, "document_nodes", [node for node, _ in nodes], "id")
    searchable = [(node, place) for node, place in nodes if node["tier"] != 1 and node["body"].strip()]
    connection.execute(
        _QUEUE,
        {
            "tenant_id": tenant_id,
            "kind": "node",
            "ids": [node["id"] for node, _ in searchable],
            "namespaces": [place for _, place in searchable],
        },
    )
    return len(added)


def _import_records(connection: Connection, tenant_id: UUID, rows: Records) -> int:
    """What JSON-RPC clients call things; one that is there keeps what it says."""
    named = [row["item_id"] for row in rows if row["item_id"] is not None]
    _check_turns(connection, tenant_id, named, field="item_id")
    return len(_insert(connection, tenant_id, "records", rows, "tenant_id, collection, id"))


_IMPORTS: Final[Mapping[str, Callable[[Connection, UUID, Records], int]]] = {
    "session": _import_sessions,
    "turn": _import_turns,
    "decision": _import_decisions,
    "memory": _import_memories,
    "guidance": _import_resting("guidance", "id", "turn_id"),
    "forgotten": _import_resting("forgotten", "item_id", "item_id"),
    "summary": _import_summaries,
    "document": _import_documents,
    "feedback": _import_feedback,
    "record": _import_records,
}
