"""Authored documents and their nodes, as they were partitioned when they were loaded."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, text

from models.domain.rules.tiers import Partition, Tier


def bindings_of(*, user_id: str | None, agent_id: str | None) -> list[str]:
    """Whose documents apply: the tenant's always, then the agent's, then the user's."""
    return ["tenant", *([f"agent:{agent_id}"] if agent_id else []), *([f"user:{user_id}"] if user_id else [])]


def authored_namespace(binding: str) -> str:
    """Where a document's searchable nodes live."""
    return f"authored:{binding}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """An authored node that wants to be in the prompt."""

    id: UUID
    tier: Tier
    kind: str  # "front_matter" says what the document is; the others say what to do
    body: str
    heading_path: tuple[str, ...]
    document: str
    binding: str


_REPLACE = text("""
INSERT INTO documents (tenant_id, name, binding, body, body_sha256, rules_version, hard_tokens)
VALUES (:tenant_id, :name, :binding, :body, :digest, :rules_version, :hard_tokens)
ON CONFLICT (tenant_id, binding, name) DO UPDATE SET body = excluded.body, body_sha256 = excluded.body_sha256,
    rules_version = excluded.rules_version, hard_tokens = excluded.hard_tokens, loaded_at = now()
RETURNING id
""")

_CLEAR = (
    text(
        "DELETE FROM work USING document_nodes WHERE document_nodes.document_id = :id AND item_id = document_nodes.id"
    ),
    text(
        "DELETE FROM items USING document_nodes WHERE document_nodes.document_id = :id AND items.id = document_nodes.id"
    ),
    text("DELETE FROM document_nodes WHERE document_id = :id"),
)

_ADD_NODE = text("""
INSERT INTO document_nodes (tenant_id, document_id, position, kind, tier, start_byte, end_byte, body,
                            heading_path, modalities, links)
VALUES (:tenant_id, :document_id, :position, :kind, :tier, :start, :end, :body, :heading_path, :modalities,
        CAST(:links AS jsonb))
RETURNING id
""")


def replace_document(
    connection: Connection, *, tenant_id: UUID, name: str, binding: str, body: str, partition: Partition
) -> UUID:
    """Load a document in place of its former version: its nodes, all but the hard ones to be indexed."""
    document_id: UUID = connection.execute(
        _REPLACE,
        {
            "tenant_id": tenant_id,
            "name": name,
            "binding": binding,
            "body": body,
            "digest": hashlib.sha256(body.encode()).digest(),
            "rules_version": partition.rules_version,
            "hard_tokens": partition.hard_tokens,
        },
    ).scalar_one()
    clear_nodes(connection, document_id=document_id)
    searchable: list[UUID] = []
    for node in partition.nodes:
        node_id: UUID = connection.execute(
            _ADD_NODE,
            {
                "tenant_id": tenant_id,
                "document_id": document_id,
                "position": node.position,
                "kind": node.kind,
                "tier": int(node.tier),
                "start": node.start,
                "end": node.end,
                "body": node.text,
                "heading_path": list(node.heading_path),
                "modalities": sorted(node.reading.modalities),
                "links": json.dumps(
                    [
                        {"target": link.target, "fragment": link.fragment, "style": link.style}
                        for link in node.links
                    ]
                ),
            },
        ).scalar_one()
        if node.tier is not Tier.HARD and node.text.strip():
            searchable.append(node_id)
    if searchable:
        connection.execute(
            text(
                "INSERT INTO work (item_id, tenant_id, kind, namespace) VALUES (:id, :tenant_id, 'node', :namespace)"
            ),
            [
                {"id": node_id, "tenant_id": tenant_id, "namespace": authored_namespace(binding)}
                for node_id in searchable
            ],
        )
    return document_id


def load_bodies(
    connection: Connection, *, tenant_id: UUID, bindings: Sequence[str], names: Collection[str] | None
) -> dict[tuple[str, str], str]:
    """The texts of documents by binding and name; all of these bindings, or the named ones."""
    rows = connection.execute(
        text(
            "SELECT binding, name, body FROM documents WHERE tenant_id = :tenant_id AND binding = ANY(:bindings) "
            "AND (CAST(:names AS text[]) IS NULL OR name = ANY(:names)) ORDER BY binding, name"
        ),
        {
            "tenant_id": tenant_id,
            "bindings": list(bindings),
            "names": None if names is None else sorted(names),
        },
    )
    return {(row.binding, row.name): row.body for row in rows}


def clear_nodes(connection: Connection, *, document_id: UUID) -> None:
    """Remove a document's nodes and everything indexed of them; nobody indexes them meanwhile."""
    connection.execute(_LOCK, {"key": f"document:{document_id}"})
    for statement in _CLEAR:
        connection.execute(statement, {"id": document_id})


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An authored node that recall may find."""

    id: UUID
    document: str
    namespace: str
    tier: Tier
    body: str
    modalities: tuple[str, ...]
    loaded_at: datetime


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")
_LOCK_SHARED = text("SELECT pg_advisory_xact_lock_shared(hashtextextended(:key, 0))")


def hold_nodes(connection: Connection, *, tenant_id: UUID, ids: Sequence[UUID]) -> list[Node]:
    """The nodes with these ids, which nobody replaces until the transaction ends; replaced ones are gone."""
    documents = connection.execute(
        text(
            "SELECT DISTINCT document_id FROM document_nodes WHERE tenant_id = :tenant_id AND id = ANY(:ids) "
            "ORDER BY document_id"
        ),
        {"tenant_id": tenant_id, "ids": list(ids)},
    ).scalars()
    for document_id in documents.all():
        connection.execute(_LOCK_SHARED, {"key": f"document:{document_id}"})
    rows = connection.execute(
        text(
            "SELECT document_nodes.id, documents.name, documents.binding, document_nodes.tier, document_nodes.body, "
            "document_nodes.modalities, documents.loaded_at "
            "FROM document_nodes JOIN documents ON documents.id = document_nodes.document_id "
            "WHERE document_nodes.tenant_id = :tenant_id AND document_nodes.id = ANY(:ids)"
        ),
        {"tenant_id": tenant_id, "ids": list(ids)},
    )
    return [
        Node(
            id=row.id,
            document=row.name,
            namespace=authored_namespace(row.binding),
            tier=Tier(row.tier),
            body=row.body,
            modalities=tuple(row.modalities),
            loaded_at=row.loaded_at,
        )
        for row in rows
    ]


def sum_hard_tokens(connection: Connection, *, tenant_id: UUID, binding: str, but_not: str) -> int:
    """Hard tokens of the other documents that would share a prompt with this one."""
    found: int = connection.execute(
        text(
            "SELECT coalesce(sum(hard_tokens), 0) FROM documents WHERE tenant_id = :tenant_id "
            "AND binding IN ('tenant', :binding) AND NOT (binding = :binding AND name = :name)"
        ),
        {"tenant_id": tenant_id, "binding": binding, "name": but_not},
    ).scalar_one()
    return found


_RULES = text("""
SELECT document_nodes.id, document_nodes.tier, document_nodes.kind, document_nodes.body, document_nodes.heading_path,
       documents.name AS document, documents.binding
FROM document_nodes JOIN documents ON documents.id = document_nodes.document_id
WHERE documents.tenant_id = :tenant_id AND documents.binding = ANY(:bindings) AND document_nodes.tier > 0
ORDER BY array_position(CAST(:bindings AS text[]), documents.binding), documents.name, document_nodes.position
""")


def load_rules(connection: Connection, *, tenant_id: UUID, bindings: Sequence[str]) -> list[Rule]:
    """Hard and soft rules of these bindings: the tenant's first, documents by name, nodes in source order."""
    rows = connection.execute(_RULES, {"tenant_id": tenant_id, "bindings": list(bindings)})
    return [
        Rule(**{**row._mapping, "tier": Tier(row.tier), "heading_path": tuple(row.heading_path)})
        for row in rows
    ]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedNode:
    """A node of a document as it was loaded, in its tier."""

    id: UUID
    position: int
    kind: str
    tier: Tier
    body: str
    heading_path: tuple[str, ...]
    modalities: tuple[str, ...]


def list_nodes(connection: Connection, *, tenant_id: UUID, document_id: UUID) -> list[LoadedNode]:
    """Every node of a document in source order."""
    rows = connection.execute(
        text(
            "SELECT id, position, kind, tier, body, heading_path, modalities FROM document_nodes "
            "WHERE tenant_id = :tenant_id AND document_id = :id ORDER BY position"
        ),
        {"tenant_id": tenant_id, "id": document_id},
    )
    return [
        LoadedNode(
            id=row.id,
            position=row.position,
            kind=row.kind,
            tier=Tier(row.tier),
            body=row.body,
            heading_path=tuple(row.heading_path),
            modalities=tuple(row.modalities),
        )
        for row in rows
    ]


def load_node_texts(connection: Connection, *, tenant_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    """The words of these authored nodes; hard ones are in no index."""
    rows = connection.execute(
        text("SELECT id, body FROM document_nodes WHERE tenant_id = :tenant_id AND id = ANY(:ids)"),
        {"tenant_id": tenant_id, "ids": list(ids)},
    )
    return {row.id: row.body for row in rows}


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
