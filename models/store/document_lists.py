"""Authored documents as people look at them: which there are, what one says, and taking one away."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, text

from models.store.documents import clear_nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredDocument:
    """A document as it was loaded, with its partition in numbers."""

    id: UUID
    name: str
    binding: str
    body: str | None  # left out of lists
    body_bytes: int
    hard_tokens: int
    nodes: int
    hard: int
    soft: int
    lore: int
    loaded_at: datetime


_DOCUMENT: Final = """
SELECT documents.id, documents.name, documents.binding, {body} AS body, octet_length(documents.body) AS body_bytes,
       documents.hard_tokens, documents.loaded_at, counted.*
FROM documents CROSS JOIN LATERAL (
    SELECT count(*) AS nodes, count(*) FILTER (WHERE tier = 1) AS hard, count(*) FILTER (WHERE tier = 2) AS soft,
           count(*) FILTER (WHERE tier = 0) AS lore
    FROM document_nodes WHERE document_nodes.document_id = documents.id
) AS counted
WHERE documents.tenant_id = :tenant_id
"""


def list_documents(
    connection: Connection,
    *,
    tenant_id: UUID,
    binding: str | None = None,
    after: tuple[str, str] = ("", ""),
    count: int = 100,
) -> list[AuthoredDocument]:
    """A page of documents by binding and name, without their text; `after` is a binding and a name."""
    rows = connection.execute(
        text(
            _DOCUMENT.format(body="NULL::text")
            + "AND (documents.binding, documents.name) > (:after_binding, :after_name) "
            "AND (CAST(:binding AS text) IS NULL OR documents.binding = :binding) "
            "ORDER BY documents.binding, documents.name LIMIT :count"
        ),
        {
            "tenant_id": tenant_id,
            "binding": binding,
            "after_binding": after[0],
            "after_name": after[1],
            "count": count,
        },
    )
    return [AuthoredDocument(**row._mapping) for row in rows]


def find_document(
    connection: Connection, *, tenant_id: UUID, binding: str, name: str
) -> AuthoredDocument | None:
    """The document of that name with that binding, text and all."""
    row = connection.execute(
        text(
            _DOCUMENT.format(body="documents.body")
            + "AND documents.binding = :binding AND documents.name = :name"
        ),
        {"tenant_id": tenant_id, "binding": binding, "name": name},
    ).one_or_none()
    return AuthoredDocument(**row._mapping) if row is not None else None


def delete_document(connection: Connection, *, tenant_id: UUID, binding: str, name: str) -> bool:
    """Take a document away, its rules and everything indexed of it; False when there is none."""
    document_id = connection.execute(
        text(
            "SELECT id FROM documents WHERE tenant_id = :tenant_id AND binding = :binding AND name = :name FOR UPDATE"
        ),
        {"tenant_id": tenant_id, "binding": binding, "name": name},
    ).scalar_one_or_none()
    if document_id is None:
        return False
    clear_nodes(connection, document_id=document_id)
    connection.execute(text("DELETE FROM documents WHERE id = :id"), {"id": document_id})
    return True
