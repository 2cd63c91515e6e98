"""The lifecycle journal: hints hosts gave about a session. Advisory, bounded, never recalled (section 10)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One hint, as it was given."""

    id: UUID
    event: str
    session_id: str
    reason: str | None
    metadata: Mapping[str, Any]
    recorded_at: datetime


_APPEND = text("""
WITH added AS (
    INSERT INTO journal (tenant_id, session_id, namespace, event, reason, metadata)
    VALUES (:tenant_id, :session_id, :namespace, :event, :reason, CAST(:metadata AS jsonb)) RETURNING id
), pruned AS (
    DELETE FROM journal WHERE id IN (
        SELECT id FROM journal WHERE tenant_id = :tenant_id ORDER BY recorded_at DESC, id DESC OFFSET :kept - 1
    )
)
SELECT id FROM added
""")  # kept - 1: the row added here is not in the snapshot that is pruned


def append_entry(
    connection: Connection,
    *,
    tenant_id: UUID,
    session_id: str,
    namespace: str,
    event: str,
    reason: str | None,
    metadata: Mapping[str, Any],
    kept: int,
) -> UUID:
    """Record a hint and drop the tenant's oldest beyond `kept`."""
    added: UUID = connection.execute(
        _APPEND,
        {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "namespace": namespace,
            "event": event,
            "reason": reason,
            "metadata": json.dumps(dict(metadata)),
            "kept": kept,
        },
    ).scalar_one()
    return added


def list_entries(
    connection: Connection,
    *,
    tenant_id: UUID,
    namespace: str | None,
    session_id: str | None,
    count: int,
    event: str | None = None,
    before_id: UUID | None = None,
) -> list[JournalEntry]:
    """The newest hints, newest first; behind the one with `before_id`, if it is still there."""
    rows = connection.execute(
        text(
            "SELECT id, event, session_id, reason, metadata, recorded_at FROM journal "
            "WHERE tenant_id = :tenant_id AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace) "
            "AND (CAST(:session_id AS text) IS NULL OR session_id = :session_id) "
            "AND (CAST(:event AS text) IS NULL OR event = :event) "
            "AND (CAST(:before_id AS uuid) IS NULL OR (recorded_at, id) < ("
            "  SELECT recorded_at, id FROM journal WHERE tenant_id = :tenant_id AND id = :before_id)) "
            "ORDER BY recorded_at DESC, id DESC LIMIT :count"
        ),
        {
            "tenant_id": tenant_id,
            "namespace": namespace,
            "session_id": session_id,
            "event": event,
            "before_id": before_id,
            "count": count,
        },
    )
    return [
        JournalEntry(
            id=row.id,
            event=row.event,
            session_id=row.session_id,
            reason=row.reason,
            metadata=row.metadata,
            recorded_at=row.recorded_at,
        )
        for row in rows
    ]


def prune_journals(connection: Connection, *, kept: int) -> int:
    """Keep the newest entries of every tenant; returns how many rows went."""
    return int(connection.execute(text("SELECT longtail.prune_journals(:kept)"), {"kept": kept}).scalar_one())
