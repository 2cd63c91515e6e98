"""Tenants: made, listed and erased by the owner of the database alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from models.tables import erasures, metadata, tenants


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A tenant, and how much it holds."""

    id: UUID
    name: str
    created_at: datetime
    tokens: int  # that still open something
    sessions: int
    turns: int


def ensure_tenant(connection: Connection, *, name: str) -> UUID:
    """The tenant of that name, made where it is new."""
    tenant_id: UUID = connection.execute(
        text(
            "INSERT INTO longtail.tenants (name) VALUES (:name) "
            "ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id"
        ),
        {"name": name},
    ).scalar_one()
    return tenant_id


def list_tenants(connection: Connection, *, name: str | None = None) -> list[Tenant]:
    """Tenants by name, with counts; `name` for one of them."""
    rows = connection.execute(
        text(
            "SELECT id, name, created_at, (SELECT count(*) FROM longtail.tokens WHERE tenant_id = tenants.id "
            "AND revoked_at IS NULL AND coalesce(expires_at > now(), true)) AS tokens, "
            "(SELECT count(*) FROM longtail.sessions WHERE tenant_id = tenants.id) AS sessions, "
            "(SELECT count(*) FROM longtail.turns WHERE tenant_id = tenants.id) AS turns "
            "FROM longtail.tenants WHERE CAST(:name AS text) IS NULL OR name = :name ORDER BY name"
        ),
        {"name": name},
    )
    return [Tenant(**row._mapping) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedTenant:
    """What is left of a tenant: that it was erased."""

    name: str
    reason: str | None
    counts: Mapping[str, int]
    erased_at: datetime


def list_erased_tenants(connection: Connection) -> list[ErasedTenant]:
    """Tenants that were erased, newest first."""
    rows = connection.execute(
        text(
            "SELECT target AS name, reason, counts, erased_at FROM longtail.erasures WHERE kind = 'tenant' "
            "ORDER BY erased_at DESC, id DESC"
        )
    )
    return [ErasedTenant(**row._mapping) for row in rows]


def erase_tenant(
    connection: Connection, *, tenant_id: UUID, name: str, reason: str | None = None
) -> dict[str, int]:
    """Remove a tenant and every row of it, raw turns and tokens included; returns how many of each table.

    One row stays in `erasures`: the tenant's name, when, the reason, how many rows of each table; no words.
    """
    # The trigger that keeps raw turns lets through what this names, and it ends with the transaction.
    connection.execute(text("SELECT set_config('longtail.erasing', :what, true)"), {"what": f"{tenant_id}:*"})
    counts: dict[str, int] = {}
    for table in reversed(metadata.sorted_tables):  # what rests on a table goes before it
        if "tenant_id" in table.c:
            gone = connection.execute(table.delete().where(table.c.tenant_id == tenant_id)).rowcount
            counts[table.name] = gone
    connection.execute(tenants.delete().where(tenants.c.id == tenant_id))
    counts = {table: gone for table, gone in counts.items() if gone}
    connection.execute(
        erasures.insert().values(
            tenant_id=tenant_id, namespace="*", kind="tenant", target=name, reason=reason, counts=counts
        )
    )
    return counts
