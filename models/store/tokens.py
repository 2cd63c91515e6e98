"""Tenants and tokens: only the hash of a token is kept."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection, create_engine, text

from models.settings import sqlalchemy_url
from models.store.engine import translated_errors

SCOPES = ("read", "write", "admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who holds a token, and what it opens."""

    token_id: UUID
    tenant_id: UUID
    scopes: frozenset[str]
    namespace: str | None  # the only one it opens, or None for all of the tenant's
    marker: str = ""  # what marks the tenant's injected blocks


def token_digest(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def find_caller(connection: Connection, *, token: str) -> Caller | None:
    """The caller a token belongs to, or None when nobody issued it or it was revoked."""
    row = connection.execute(
        text("SELECT * FROM longtail.authenticate(:digest)"), {"digest": token_digest(token)}
    ).one_or_none()
    if row is None:
        return None
    return Caller(
        token_id=row.token_id,
        tenant_id=row.tenant_id,
        scopes=frozenset(row.scopes),
        namespace=row.namespace,
        marker=row.marker,
    )


def load_marker(connection: Connection, *, tenant_id: UUID) -> str:
    """What marks the injected blocks of the transaction's tenant."""
    found: str = connection.execute(
        text("SELECT marker FROM tenants WHERE id = :tenant_id"), {"tenant_id": tenant_id}
    ).scalar_one()
    return found


def add_token(
    connection: Connection,
    *,
    tenant: str,
    token: str,
    scopes: Sequence[str] = ("read", "write"),
    namespace: str | None = None,
) -> UUID:
    """Issue a token (as the owner), creating its tenant if it is new; returns the token's id."""
    tenant_id = connection.execute(
        text(
            "INSERT INTO longtail.tenants (name) VALUES (:name) "
            "ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id"
        ),
        {"name": tenant},
    ).scalar_one()
    token_id: UUID = connection.execute(
        text(
            "INSERT INTO longtail.tokens (tenant_id, token_sha256, scopes, namespace) "
            "VALUES (:tenant_id, :digest, :scopes, :namespace) "
            "ON CONFLICT (token_sha256) DO UPDATE SET scopes = excluded.scopes, revoked_at = NULL "
            "RETURNING id"
        ),
        {
            "tenant_id": tenant_id,
            "digest": token_digest(token),
            "scopes": list(scopes),
            "namespace": namespace,
        },
    ).scalar_one()
    return token_id


def ensure_token(
    owner_url: str,
    *,
    tenant: str,
    token: str,
    scopes: Sequence[str] = SCOPES,
    namespace: str | None = None,
) -> UUID:
    """`add_token` in a transaction of its own, for start-up and the command line."""
    engine = create_engine(sqlalchemy_url(owner_url), connect_args={"connect_timeout": 5})
    try:
        with translated_errors(), engine.begin() as connection:
            return add_token(connection, tenant=tenant, token=token, scopes=scopes, namespace=namespace)
    finally:
        engine.dispose()
