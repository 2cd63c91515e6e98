"""Tokens: who calls and what is opened; only the hash of a token is kept."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, create_engine, text

from models.settings import sqlalchemy_url
from models.store.engine import ALL_OF_TENANT, keep_pass, to_text_array, translated_errors
from models.store.tenancy.tenants import ensure_tenant

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
    keep_pass(row.tenant_id, row._mapping["pass"])
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What is known of a token; the token itself is nowhere."""

    id: UUID
    scopes: tuple[str, ...]
    namespaces: tuple[str, ...] | None  # None, and no agents either: the whole tenant
    agents: tuple[str, ...] | None
    label: str | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What a new token may do, where, and until when."""

    scopes: Sequence[str] = ("read", "write")
    namespaces: Sequence[str] | None = None
    agents: Sequence[str] | None = None
    label: str | None = None
    expires_at: datetime | None = None


def make_token() -> str:
    """A new token: 256 bits of chance."""
    return f"lt_{secrets.token_urlsafe(32)}"


def issue_token(connection: Connection, *, token: str, rights: Rights) -> UUID:
    """Keep the hash of a new token of the transaction's tenant; returns its id."""
    token_id: UUID = connection.execute(
        text("SELECT longtail.issue_token(:digest, :scopes, :namespaces, :agents, :label, :expires_at)"),
        {
            "digest": token_digest(token),
            "scopes": list(rights.scopes),
            "namespaces": None if rights.namespaces is None else list(rights.namespaces),
            "agents": None if rights.agents is None else list(rights.agents),
            "label": rights.label,
            "expires_at": rights.expires_at,
        },
    ).scalar_one()
    return token_id


def list_tokens(connection: Connection) -> list[Token]:
    """Tokens of the transaction's tenant, oldest first, revoked ones too."""
    rows = connection.execute(text("SELECT * FROM longtail.list_tokens()"))
    return [
        Token(
            **{
                **row._mapping,
                "scopes": tuple(row.scopes),
                "namespaces": None if row.namespaces is None else tuple(row.namespaces),
                "agents": None if row.agents is None else tuple(row.agents),
            }
        )
        for row in rows
    ]


def revoke_token(connection: Connection, *, token_id: UUID) -> datetime | None:
    """When the token was revoked, now or before; None where the tenant has no such token."""
    found: datetime | None = connection.execute(
        text("SELECT longtail.revoke_token(:id)"), {"id": token_id}
    ).scalar_one()
    return found


def rotate_token(connection: Connection, *, token_id: UUID, token: str) -> UUID | None:
    """A new token with the rights of an old one, which is revoked; None where no such token opens anything."""
    found = next((one for one in list_tokens(connection) if one.id == token_id), None)
    if found is None or found.revoked_at is not None:
        return None
    revoke_token(connection, token_id=token_id)
    rights = Rights(
        scopes=found.scopes,
        namespaces=found.namespaces,
        agents=found.agents,
        label=found.label,
        expires_at=found.expires_at,
    )
    return issue_token(connection, token=token, rights=rights)


def find_living(connection: Connection, *, digests: Sequence[bytes]) -> set[bytes]:
    """Of these hashes, those of tokens that still open something."""
    rows = connection.execute(text("SELECT longtail.living_tokens(:digests)"), {"digests": list(digests)})
    return {bytes(found) for found in rows.scalars()}


def find_tenant_of(connection: Connection, *, token_id: UUID) -> UUID | None:
    """Whose token it is (as the owner)."""
    found: UUID | None = connection.execute(
        text("SELECT tenant_id FROM longtail.tokens WHERE id = :id"), {"id": token_id}
    ).scalar_one_or_none()
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
    """Make a given token known (as the owner), and its tenant if it is new; returns the token's id.

    One that is known is left as it is: who revoked it meant it.
    """
    known: UUID | None = connection.execute(
        text("SELECT id FROM longtail.tokens WHERE token_sha256 = :digest"), {"digest": token_digest(token)}
    ).scalar_one_or_none()
    if known is not None:
        return known
    tenant_id = ensure_tenant(connection, name=tenant)
    connection.execute(
        text(
            "SELECT set_config('longtail.tenant_id', :tenant, true), set_config('longtail.opens', '*', true)"
        ),
        {"tenant": str(tenant_id)},
    )
    rights = Rights(scopes=scopes, namespaces=namespaces, agents=agents)
    return issue_token(connection, token=token, rights=rights)


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
