"""Tenants and tokens: only the hash of a token is kept."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, create_engine, text

from models.settings import sqlalchemy_url
from models.store.engine import ALL_OF_TENANT, to_text_array, translated_errors

SCOPES = ("read", "write", "admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who holds a token, and what it opens."""

    token_id: UUID
    tenant_id: UUID
    scopes: frozenset[str]
    namespaces: frozenset[str] | None  # that it opens; None: all of the tenant's
    marker: str = ""  # what marks the tenant's injected blocks
    expires_at: datetime | None = None

    @property
    def namespace(self) -> str | None:
        """The only namespace it opens; None where it opens several, or all."""
        return next(iter(self.namespaces)) if self.namespaces and len(self.namespaces) == 1 else None

    @property
    def opens(self) -> str:
        """What it opens, as row security is told."""
        if self.namespaces is None:
            return ALL_OF_TENANT
        return to_text_array(sorted(self.namespaces))


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
        namespaces=_namespaces_of(row.namespaces, row.agents),
        marker=row.marker,
        expires_at=row.expires_at,
    )


def _namespaces_of(namespaces: Sequence[str] | None, agents: Sequence[str] | None) -> frozenset[str] | None:
    """A bound token opens what it names: namespaces, and the memory of agents."""
    if namespaces is None and agents is None:
        return None
    return frozenset(namespaces or ()) | {f"agent-id:{agent}" for agent in agents or ()}


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
    namespaces: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
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
            "INSERT INTO longtail.tokens (tenant_id, token_sha256, scopes, namespaces, agents) "
            "VALUES (:tenant_id, :digest, :scopes, :namespaces, :agents) "
            "ON CONFLICT (token_sha256) DO UPDATE SET scopes = excluded.scopes, revoked_at = NULL "
            "RETURNING id"
        ),
        {
            "tenant_id": tenant_id,
            "digest": token_digest(token),
            "scopes": list(scopes),
            "namespaces": None if namespaces is None else list(namespaces),
            "agents": None if agents is None else list(agents),
        },
    ).scalar_one()
    return token_id


def ensure_token(
    owner_url: str,
    *,
    tenant: str,
    token: str,
    scopes: Sequence[str] = SCOPES,
    namespaces: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
) -> UUID:
    """`add_token` in a transaction of its own, for start-up and the command line."""
    engine = create_engine(
        sqlalchemy_url(owner_url), connect_args={"connect_timeout": 5}, hide_parameters=True
    )
    try:
        with translated_errors(), engine.begin() as connection:
            return add_token(
                connection, tenant=tenant, token=token, scopes=scopes, namespaces=namespaces, agents=agents
            )
    finally:
        engine.dispose()
