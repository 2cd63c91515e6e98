"""Erasing a namespace: the one way a raw turn ever leaves, on request, in one function of the owner's, written down."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text


def erase_namespace(
    connection: Connection, *, namespace: str, token_id: UUID | None, reason: str | None
) -> dict[str, int]:
    """Remove everything of a namespace of the transaction's tenant; returns how many rows of each kind went."""
    found: dict[str, int] = connection.execute(
        text("SELECT longtail.erase_namespace(:namespace, :token_id, :reason)"),
        {"namespace": namespace, "token_id": token_id, "reason": reason},
    ).scalar_one()
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What is left of an erasure: that it happened."""

    id: UUID
    namespace: str
    token_id: UUID | None
    reason: str | None
    counts: Mapping[str, int]
    erased_at: datetime


def list_erasures(connection: Connection, *, tenant_id: UUID, count: int = 100) -> list[Erasure]:
    """The newest erasures of a tenant, newest first."""
    rows = connection.execute(
        text(
            "SELECT id, namespace, token_id, reason, counts, erased_at FROM erasures "
            "WHERE tenant_id = :tenant_id ORDER BY erased_at DESC, id DESC LIMIT :count"
        ),
        {"tenant_id": tenant_id, "count": count},
    )
    return [Erasure(**row._mapping) for row in rows]
