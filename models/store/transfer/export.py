"""Everything a tenant keeps, row by row, in an order in which it can be taken back (decision 0016).

Derived rows are left out: the search index and vectors are made again from what is here.
"""

from collections.abc import Iterator
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, text

ROWS_AT_ONCE: Final = 200  # what the process holds of an export, whatever it exports

# Each statement gives one JSON object a row. `chosen` holds the turns that the filters let through; what rests on
# turns is exported when its turn is, a summary when its session is.
_TURN_FILTER: Final = """
    turns.tenant_id = :tenant_id
    AND (CAST(:namespace AS text) IS NULL OR turns.namespace = :namespace)
    AND (CAST(:session_id AS text) IS NULL OR turns.session_id = :session_id)
"""
_SESSION_FILTER: Final = """
    sessions.tenant_id = :tenant_id
    AND (CAST(:namespace AS text) IS NULL OR sessions.namespace = :namespace
         OR EXISTS (SELECT FROM turns WHERE turns.tenant_id = :tenant_id
                    AND turns.session_id = sessions.session_id AND turns.namespace = :namespace))
    AND (CAST(:session_id AS text) IS NULL OR sessions.session_id = :session_id)
"""
STATEMENTS: Final[tuple[tuple[str, str], ...]] = (
    (
        "session",
        f"""
SELECT jsonb_build_object('session_id', session_id, 'namespace', namespace, 'user_id', user_id,
    'session_key', session_key, 'agent_id', agent_id, 'next_position', next_position, 'created_at', created_at,
    'last_turn_at', last_turn_at)
FROM sessions WHERE {_SESSION_FILTER} ORDER BY created_at, session_id""",
    ),
    (
        "turn",
        f"""
SELECT jsonb_build_object('id', id, 'session_id', session_id, 'position', position, 'namespace', namespace,
    'role', role, 'content', content, 'name', name, 'host_message_id', host_message_id, 'dedup_key', dedup_key,
    'ts', ts, 'accepted_at', accepted_at, 'metadata', metadata)
FROM turns WHERE {_TURN_FILTER} ORDER BY seq""",
    ),
    (
        "decision",
        f"""
SELECT to_jsonb(gate) - 'tenant_id'
FROM gate_decisions AS gate JOIN turns ON turns.id = gate.turn_id WHERE {_TURN_FILTER} ORDER BY turns.seq""",
    ),
    (
        "memory",
        f"""
SELECT to_jsonb(memories) - 'tenant_id' || jsonb_build_object(
    'sources', (SELECT jsonb_agg(jsonb_build_object('turn_id', source.turn_id, 'similarity', source.similarity,
                                                    'linked_at', source.linked_at) ORDER BY source.linked_at, source.turn_id)
                FROM memory_sources AS source WHERE source.memory_id = memories.id),
    'revisions', coalesce((
        SELECT jsonb_agg(to_jsonb(revision) - 'tenant_id' - 'memory_id' ORDER BY revision.replaced_at, revision.id)
        FROM memory_revisions AS revision WHERE revision.memory_id = memories.id), '[]'))
FROM memories JOIN turns ON turns.id = memories.turn_id WHERE {_TURN_FILTER} ORDER BY turns.seq""",
    ),
    (
        "guidance",
        f"""
SELECT to_jsonb(guidance) - 'tenant_id' - 'claims'
FROM guidance JOIN turns ON turns.id = guidance.turn_id WHERE {_TURN_FILTER} ORDER BY turns.seq""",
    ),
    (
        "forgotten",
        f"""
SELECT to_jsonb(forgotten) - 'tenant_id'
FROM forgotten JOIN turns ON turns.id = forgotten.item_id WHERE {_TURN_FILTER} ORDER BY turns.seq""",
    ),
    (
        "summary",
        f"""
SELECT to_jsonb(summaries) - 'tenant_id' || jsonb_build_object(
    'turns', coalesce((SELECT jsonb_agg(jsonb_build_object('turn_id', edge.turn_id, 'tokens', edge.tokens,
                                                           'is_protected', edge.is_protected) ORDER BY edge.ordinal)
                       FROM summary_turns AS edge WHERE edge.summary_id = summaries.id), '[]'),
    'children', coalesce((SELECT jsonb_agg(edge.child_id ORDER BY edge.ordinal)
                          FROM summary_children AS edge WHERE edge.parent_id = summaries.id), '[]'))
FROM summaries JOIN sessions USING (tenant_id, session_id)
WHERE {_SESSION_FILTER} AND (CAST(:namespace AS text) IS NULL OR summaries.namespace = :namespace)
ORDER BY level, session_id, first_position""",
    ),
    (
        "document",
        """
SELECT jsonb_build_object('id', id, 'name', name, 'binding', binding, 'body', body, 'rules_version', rules_version,
    'hard_tokens', hard_tokens, 'loaded_at', loaded_at, 'nodes', (
        SELECT jsonb_agg(to_jsonb(node) - 'tenant_id' - 'document_id' ORDER BY node.position)
        FROM document_nodes AS node WHERE node.document_id = documents.id))
FROM documents WHERE tenant_id = :tenant_id AND CAST(:session_id AS text) IS NULL
    AND (CAST(:namespace AS text) IS NULL OR binding = 'user:' || :namespace
         OR 'agent-id:' || substr(binding, 7) = :namespace AND binding LIKE 'agent:%')
ORDER BY binding, name""",
    ),
    (
        "feedback",
        f"""
SELECT to_jsonb(feedback) - 'tenant_id'
FROM feedback JOIN turns ON turns.id = feedback.turn_id WHERE {_TURN_FILTER} ORDER BY feedback.given_at, feedback.id""",
    ),
    (
        "record",
        """
SELECT to_jsonb(records) - 'tenant_id' - 'embedding' || jsonb_build_object('embedding', records.embedding::text)
FROM records LEFT JOIN turns ON turns.id = records.item_id
WHERE records.tenant_id = :tenant_id
    AND (CAST(:namespace AS text) IS NULL OR coalesce(turns.namespace, records.namespace) = :namespace)
    AND (CAST(:session_id AS text) IS NULL OR turns.session_id = :session_id)
ORDER BY records.collection, records.id""",
    ),
)


def stream_export(
    connection: Connection, *, tenant_id: UUID, namespace: str | None, session_id: str | None
) -> Iterator[tuple[str, str]]:
    """Kind and JSON text of every record, through a cursor on the server; the transaction must be a snapshot."""
    values = {"tenant_id": tenant_id, "namespace": namespace, "session_id": session_id}
    connection.execute(text("SET LOCAL TIME ZONE 'UTC'"))
    streamed = connection.execution_options(yield_per=ROWS_AT_ONCE)
    for kind, statement in STATEMENTS:
        for row in streamed.execute(
            text(f"SELECT record::text FROM ({statement}) AS exported (record)"), values
        ):
            yield kind, row[0]
