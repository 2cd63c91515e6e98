"""Receipts of assemblies: written after the answer, read by id, the newest kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReceipt:
    """A receipt to be kept, as JSON already."""

    id: UUID
    namespace: str
    session_id: str
    receipt: bytes
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReceipt:
    """A receipt as it was kept."""

    id: UUID
    namespace: str
    session_id: str
    receipt: Mapping[str, Any]
    made_at: datetime


def add_receipts(connection: Connection, *, tenant_id: UUID, receipts: Sequence[NewReceipt]) -> None:
    """Keep receipts of the transaction's tenant, in one statement."""
    connection.execute(
        text(
            "INSERT INTO assemblies (id, tenant_id, namespace, session_id, receipt, made_at) "
            "SELECT given.id, :tenant_id, given.namespace, given.session_id, given.receipt::jsonb, given.made_at "
            "FROM unnest(CAST(:ids AS uuid[]), CAST(:namespaces AS text[]), CAST(:sessions AS text[]), "
            "            CAST(:receipts AS text[]), CAST(:moments AS timestamptz[])) "
            "     AS given (id, namespace, session_id, receipt, made_at)"
        ),
        {
            "tenant_id": tenant_id,
            "ids": [one.id for one in receipts],
            "namespaces": [one.namespace for one in receipts],
            "sessions": [one.session_id for one in receipts],
            "receipts": [one.receipt.decode() for one in receipts],
            "moments": [one.made_at for one in receipts],
        },
    )


def find_receipt(connection: Connection, *, tenant_id: UUID, assembly_id: UUID) -> StoredReceipt | None:
    """The receipt of an assembly, if it was kept and is still here."""
    row = connection.execute(
        text(
            "SELECT id, namespace, session_id, receipt, made_at FROM assemblies "
            "WHERE tenant_id = :tenant_id AND id = :id"
        ),
        {"tenant_id": tenant_id, "id": assembly_id},
    ).one_or_none()
    if row is None:
        return None
    return StoredReceipt(
        id=row.id,
        namespace=row.namespace,
        session_id=row.session_id,
        receipt=row.receipt,
        made_at=row.made_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptLine:
    """A receipt in a list: what was asked, and how the budget was used."""

    id: UUID
    namespace: str
    session_id: str
    made_at: datetime
    query: str
    total: int
    used: int
    degraded: int
    milliseconds: float | None


_LIST = text("""
SELECT id, namespace, session_id, made_at, receipt #>> '{request,query}' AS query,
       (receipt #>> '{budget,total}')::integer AS total, (receipt #>> '{budget,used}')::integer AS used,
       jsonb_array_length(receipt -> 'degraded') AS degraded,
       (receipt #>> '{timings_ms,total}')::double precision AS milliseconds
FROM assemblies WHERE tenant_id = :tenant_id AND (CAST(:session_id AS text) IS NULL OR session_id = :session_id)
ORDER BY made_at DESC, id LIMIT :count
""")


def list_receipts(
    connection: Connection, *, tenant_id: UUID, session_id: str | None, count: int
) -> list[ReceiptLine]:
    """The newest receipts, of one session or of all."""
    rows = connection.execute(_LIST, {"tenant_id": tenant_id, "session_id": session_id, "count": count})
    return [ReceiptLine(**row._mapping) for row in rows]


_PRUNE_TENANT = text("""
DELETE FROM assemblies WHERE tenant_id = :tenant_id AND made_at < (
    SELECT made_at FROM assemblies WHERE tenant_id = :tenant_id ORDER BY made_at DESC OFFSET :kept - 1 LIMIT 1
)
""")


def prune_tenant(connection: Connection, *, tenant_id: UUID, kept: int) -> int:
    """Keep the newest receipts of one tenant; returns how many went."""
    return connection.execute(_PRUNE_TENANT, {"tenant_id": tenant_id, "kept": kept}).rowcount


def prune_receipts(connection: Connection, *, kept: int, oldest: datetime) -> int:
    """Of every tenant, keep the newest receipts and none older than `oldest`; returns how many rows went."""
    return int(
        connection.execute(
            text("SELECT longtail.prune_assemblies(:kept, :oldest)"), {"kept": kept, "oldest": oldest}
        ).scalar_one()
    )
