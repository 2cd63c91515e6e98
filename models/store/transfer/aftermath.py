"""What was taken away after a backup was made stays away after its restore; the memory that was put aside knows of it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Connection, text

from models.store.tenancy.erasure import Kind, erase
from models.store.tenancy.tenants import erase_tenant
from models.store.transfer.backup import ASIDE
from models.tables import SCHEMA


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """Something that was erased from the memory that a restore replaces, and that the backup may hold."""

    tenant_id: UUID
    kind: str  # `Kind`, or a whole tenant
    namespace: str
    target: str | None
    reason: str | None


def carry_revocations(connection: Connection) -> int:
    """Tokens that were revoked since stay revoked; returns how many the backup would have brought back."""
    return connection.execute(
        text(
            f"UPDATE {SCHEMA}.tokens AS kept SET revoked_at = there.revoked_at FROM {ASIDE}.tokens AS there "
            "WHERE there.id = kept.id AND there.token_sha256 = kept.token_sha256 "
            "AND there.revoked_at IS NOT NULL AND kept.revoked_at IS NULL"
        )
    ).rowcount


def carry_record(connection: Connection) -> list[Erased]:
    """The record of erasures since, and the marks of what was erased, are kept; returns what is to be erased again."""
    connection.execute(
        text(
            f"INSERT INTO {SCHEMA}.tombstone_salts (tenant_id, salt) SELECT tenant_id, salt FROM {ASIDE}.tombstone_salts "
            f"WHERE tenant_id IN (SELECT id FROM {SCHEMA}.tenants) ON CONFLICT DO NOTHING"
        )
    )
    connection.execute(  # a mark means nothing with another salt
        text(
            f"INSERT INTO {SCHEMA}.tombstones (tenant_id, mark, erased_at) "
            f"SELECT tenant_id, mark, erased_at FROM {ASIDE}.tombstones JOIN {ASIDE}.tombstone_salts USING (tenant_id) "
            f"JOIN {SCHEMA}.tombstone_salts AS kept USING (tenant_id) WHERE kept.salt = tombstone_salts.salt "
            "ON CONFLICT DO NOTHING"
        )
    )
    columns = "id, tenant_id, namespace, token_id, reason, counts, erased_at, kind, target"
    rows = connection.execute(
        text(
            f"INSERT INTO {SCHEMA}.erasures ({columns}) SELECT {columns} FROM {ASIDE}.erasures "
            f"WHERE kind = 'tenant' OR tenant_id IN (SELECT id FROM {SCHEMA}.tenants) ORDER BY erased_at "
            "ON CONFLICT (id) DO NOTHING RETURNING tenant_id, kind, namespace, target, reason"
        )
    ).all()
    return [Erased(**row._mapping) for row in rows]


def erase_again(connection: Connection, *, erased: Erased) -> int:
    """Erase it from what was restored; 0 where nothing of it was there. The transaction is its tenant's."""
    if erased.kind == "tenant":
        name = connection.execute(
            text(f"SELECT name FROM {SCHEMA}.tenants WHERE id = :id"), {"id": erased.tenant_id}
        ).scalar_one_or_none()
        if name is None:
            return 0
        erase_tenant(connection, tenant_id=erased.tenant_id, name=name, reason=_say_again(erased.reason))
        return 1
    point = connection.begin_nested()
    gone = 0
    for name in _find_names(connection, erased):
        kind: Any = erased.kind
        gone += _erase(connection, kind, name, erased.reason)
    point.commit() if gone else point.rollback()  # no record of an erasure that took nothing
    return gone


def _erase(connection: Connection, kind: Kind, name: str, reason: str | None) -> int:
    counts = erase(
        connection, kind=kind, name=name, token_id=None, reason=_say_again(reason), erasure_id=uuid4()
    )
    return sum((counts or {}).values())


def _say_again(reason: str | None) -> str:
    return f"erased again by a restore; first: {reason}" if reason else "erased again by a restore"


def _find_names(connection: Connection, erased: Erased) -> list[str]:
    """What is called so here: the record shows a blank where a name of several lines has a line break."""
    if erased.kind in {"namespace", "memory"}:
        return [erased.namespace if erased.target is None else erased.target]
    statement = {
        "session": "SELECT session_id FROM {}.sessions WHERE replace(session_id, E'\\n', ' ') = :target "
        "AND tenant_id = :tenant_id",
        "document": "SELECT binding || E'\\n' || name FROM {}.documents "
        "WHERE replace(binding || ' ' || name, E'\\n', ' ') = :target AND tenant_id = :tenant_id",
    }[erased.kind]
    values = {"target": erased.target, "tenant_id": erased.tenant_id}
    return list(connection.execute(text(statement.format(SCHEMA)), values).scalars())
