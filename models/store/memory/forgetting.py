"""Forgetting and correcting: what leaves recall, what stays in the raw record, and what a memory said before.

A raw turn is never touched. What is forgotten has a row in `forgotten`; the index takes no such item in again, so a turn
that is processed once more stays forgotten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, text

from models.store.compaction.lineage import dissolve_summary
from models.store.compaction.progress import recount_session, request_compaction

_LOCK_INDEX = text("""
SELECT pg_advisory_xact_lock(hashtextextended('index:' || CAST(:tenant_id AS text) || ':' || place.namespace, 0))
FROM (SELECT DISTINCT namespace FROM turns WHERE tenant_id = :tenant_id AND id = ANY(:ids) ORDER BY 1) AS place
""")
_BURY = text("""
INSERT INTO forgotten (item_id, tenant_id, namespace, reason)
SELECT id, tenant_id, namespace, :reason FROM turns WHERE tenant_id = :tenant_id AND id = ANY(:ids)
ON CONFLICT (item_id) DO NOTHING RETURNING item_id
""")


def forget_turns(
    connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID], reason: str | None
) -> int:
    """Turns leave recall for good: their index rows, what they stated as guidance, and summaries that may quote them.

    Returns how many were not forgotten before. The turns stay in the raw record, and in the tail of their session.
    """
    values = {"tenant_id": tenant_id, "ids": list(turn_ids), "reason": reason}
    connection.execute(_LOCK_INDEX, values)
    buried = len(connection.execute(_BURY, values).all())
    connection.execute(text("DELETE FROM items WHERE tenant_id = :tenant_id AND id = ANY(:ids)"), values)
    connection.execute(
        text(
            "UPDATE guidance SET forgotten_at = now() "
            "WHERE tenant_id = :tenant_id AND turn_id = ANY(:ids) AND forgotten_at IS NULL"
        ),
        values,
    )
    dissolve_quotes(connection, tenant_id=tenant_id, turn_ids=turn_ids)
    return buried


def dissolve_quotes(connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]) -> int:
    """Drop summaries that may quote these turns, and ask for new ones; the turns below stand for themselves."""
    quoting = connection.execute(
        text(
            "SELECT DISTINCT summaries.id, summaries.session_id FROM summary_turns AS edge "
            "JOIN summaries ON summaries.id = edge.summary_id "
            "WHERE edge.tenant_id = :tenant_id AND edge.turn_id = ANY(:ids) AND NOT edge.is_protected"
        ),
        {"tenant_id": tenant_id, "ids": list(turn_ids)},
    ).all()
    dropped = sum(dissolve_summary(connection, tenant_id=tenant_id, summary_id=row.id) for row in quoting)
    for session_id in sorted({row.session_id for row in quoting}):
        recount_session(connection, tenant_id=tenant_id, session_id=session_id)
        request_compaction(connection, tenant_id=tenant_id, session_id=session_id)
    return dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """A turn that says what a memory says, and was not what made it."""

    turn_id: UUID
    role: str
    content: str
    similarity: float


ECHO_SIMILARITY: Final = 0.6  # cosine: repetitions of one fact by others lie above it, other talk below
MOST_ECHOES: Final = 50


def find_echoes(connection: Connection, *, tenant_id: UUID, memory_id: UUID, table: str) -> list[Echo]:
    """Turns of the memory's namespace that say the same, likest first: an assistant's repetition, a tool's output,
    another turn of the user. What is forgotten already is none."""
    rows = connection.execute(
        text(
            "WITH said AS (SELECT memories.namespace, sources.turn_id FROM memories "
            "LEFT JOIN memory_sources AS sources ON sources.memory_id = memories.id "
            "WHERE memories.tenant_id = :tenant_id AND memories.id = :id "
            "UNION SELECT namespace, turn_id FROM memories WHERE tenant_id = :tenant_id AND id = :id) "
            "SELECT turns.id AS turn_id, turns.role, turns.content, "
            "max(1 - (other.embedding <=> own.embedding)) AS similarity "
            f"FROM said JOIN longtail.{table} AS own ON own.item_id = said.turn_id "
            f"JOIN longtail.{table} AS other ON other.tenant_id = :tenant_id AND other.namespace = said.namespace "
            "JOIN turns ON turns.id = other.item_id AND turns.tenant_id = :tenant_id "
            "WHERE other.item_id NOT IN (SELECT turn_id FROM said WHERE turn_id IS NOT NULL) "
            "AND NOT EXISTS (SELECT FROM forgotten WHERE forgotten.item_id = turns.id) "
            "GROUP BY turns.id, turns.role, turns.content "
            "HAVING max(1 - (other.embedding <=> own.embedding)) >= :least ORDER BY similarity DESC LIMIT :most"
        ),
        {"tenant_id": tenant_id, "id": memory_id, "least": ECHO_SIMILARITY, "most": MOST_ECHOES},
    )
    return [
        Echo(
            turn_id=row.turn_id,
            role=row.role,
            content=row.content,
            similarity=min(float(row.similarity), 1.0),
        )
        for row in rows
    ]


def find_turns_of(
    connection: Connection, *, tenant_id: UUID, namespace: str, ids: Sequence[UUID]
) -> list[UUID]:
    """Of these turns, those of the namespace."""
    rows = connection.execute(
        text(
            "SELECT id FROM turns WHERE tenant_id = :tenant_id AND namespace = :namespace AND id = ANY(:ids)"
        ),
        {"tenant_id": tenant_id, "namespace": namespace, "ids": list(ids)},
    )
    return list(rows.scalars())


def forget_memory(
    connection: Connection, *, tenant_id: UUID, memory_id: UUID, reason: str | None
) -> datetime | None:
    """The memory and every turn that said it leave recall; returns since when, or None where there is no such memory."""
    row = connection.execute(
        text(
            "UPDATE memories SET forgotten_at = coalesce(forgotten_at, now()) "
            "WHERE tenant_id = :tenant_id AND id = :id RETURNING turn_id, forgotten_at"
        ),
        {"tenant_id": tenant_id, "id": memory_id},
    ).one_or_none()
    if row is None:
        return None
    sources = connection.execute(
        text("SELECT turn_id FROM memory_sources WHERE tenant_id = :tenant_id AND memory_id = :id"),
        {"tenant_id": tenant_id, "id": memory_id},
    ).scalars()
    ids = sorted({row.turn_id, *sources})
    forget_turns(connection, tenant_id=tenant_id, turn_ids=ids, reason=reason)
    forgotten_at: datetime = row.forgotten_at
    return forgotten_at


def forget_guidance(
    connection: Connection, *, tenant_id: UUID, guidance_id: UUID, reason: str | None
) -> datetime | None:
    """A spoken rule stands no more, and the turn that spoke it, with its memory, is recalled no more."""
    row = connection.execute(
        text(
            "UPDATE guidance SET forgotten_at = coalesce(forgotten_at, now()) "
            "WHERE tenant_id = :tenant_id AND id = :id RETURNING turn_id, forgotten_at"
        ),
        {"tenant_id": tenant_id, "id": guidance_id},
    ).one_or_none()
    if row is None:
        return None
    memory_id = connection.execute(
        text("SELECT id FROM memories WHERE tenant_id = :tenant_id AND turn_id = :turn_id"),
        {"tenant_id": tenant_id, "turn_id": row.turn_id},
    ).scalar_one_or_none()
    if memory_id is not None:
        forget_memory(connection, tenant_id=tenant_id, memory_id=memory_id, reason=reason)
    else:
        forget_turns(connection, tenant_id=tenant_id, turn_ids=[row.turn_id], reason=reason)
    forgotten_at: datetime = row.forgotten_at
    return forgotten_at


def correct_memory(
    connection: Connection, *, tenant_id: UUID, memory_id: UUID, body: str, reason: str | None
) -> bool:
    """Give a memory other words: the old ones go to its history, the new ones are indexed soon.

    Other turns that confirmed the old words leave recall; summaries that may quote them are made anew. Returns
    whether anything changed.
    """
    row = connection.execute(
        text(
            "SELECT turn_id, namespace, body FROM memories WHERE tenant_id = :tenant_id AND id = :id FOR UPDATE"
        ),
        {"tenant_id": tenant_id, "id": memory_id},
    ).one()
    if row.body == body:
        return False
    connection.execute(_LOCK_INDEX, {"tenant_id": tenant_id, "ids": [row.turn_id]})
    values = {
        "tenant_id": tenant_id,
        "id": memory_id,
        "old": row.body,
        "body": body,
        "reason": reason,
        "turn_id": row.turn_id,
        "namespace": row.namespace,
    }
    others = connection.execute(
        text("SELECT turn_id FROM memory_sources WHERE memory_id = :id AND turn_id <> :turn_id"), values
    ).scalars()
    forget_turns(
        connection,
        tenant_id=tenant_id,
        turn_ids=list(others),
        reason=f"it confirmed memory {memory_id}, which was corrected",
    )
    for statement in (
        "INSERT INTO memory_revisions (tenant_id, memory_id, body, reason) VALUES (:tenant_id, :id, :old, :reason)",
        "UPDATE memories SET body = :body, corrected_at = now() WHERE id = :id",
        "UPDATE guidance SET forgotten_at = now() WHERE turn_id = :turn_id AND forgotten_at IS NULL",
        "DELETE FROM items WHERE tenant_id = :tenant_id AND id = :turn_id",
        "DELETE FROM work WHERE tenant_id = :tenant_id AND item_id = :turn_id",
        "INSERT INTO work (item_id, tenant_id, kind, namespace) VALUES (:turn_id, :tenant_id, 'turn', :namespace)",
    ):
        connection.execute(text(statement), values)
    dissolve_quotes(connection, tenant_id=tenant_id, turn_ids=[row.turn_id])
    return True


def load_corrections(connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]) -> dict[UUID, str]:
    """What to read instead of these turns, where their memory was corrected."""
    rows = connection.execute(
        text(
            "SELECT turn_id, body FROM memories "
            "WHERE tenant_id = :tenant_id AND turn_id = ANY(:ids) AND corrected_at IS NOT NULL"
        ),
        {"tenant_id": tenant_id, "ids": list(turn_ids)},
    )
    return {row.turn_id: row.body for row in rows}


def find_silenced(connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]) -> set[UUID]:
    """Of these turns, those whose words no summary may repeat: forgotten, or corrected since."""
    rows = connection.execute(
        text(
            "SELECT item_id FROM forgotten WHERE tenant_id = :tenant_id AND item_id = ANY(:ids) "
            "UNION SELECT turn_id FROM memories WHERE tenant_id = :tenant_id AND turn_id = ANY(:ids) "
            "AND corrected_at IS NOT NULL"
        ),
        {"tenant_id": tenant_id, "ids": list(turn_ids)},
    )
    return set(rows.scalars())


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What a memory said until it was corrected."""

    body: str
    reason: str | None
    replaced_at: datetime


def load_revisions(connection: Connection, *, tenant_id: UUID, memory_id: UUID) -> list[Revision]:
    """The former words of a memory, newest first."""
    rows = connection.execute(
        text(
            "SELECT body, reason, replaced_at FROM memory_revisions "
            "WHERE tenant_id = :tenant_id AND memory_id = :id ORDER BY replaced_at DESC, id DESC"
        ),
        {"tenant_id": tenant_id, "id": memory_id},
    )
    return [Revision(body=row.body, reason=row.reason, replaced_at=row.replaced_at) for row in rows]
