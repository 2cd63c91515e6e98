"""Tokens of the caller's tenant: an administrator of the whole tenant issues and revokes them."""

from dataclasses import asdict
from datetime import UTC, datetime
from uuid import UUID

from api.access.decisions import check_whole_tenant
from api.runtime import Runtime
from api.tokens.schemas import NewTokenOut, RevokedOut, TokenIn, TokenOut, TokensOut
from models.errors import InvalidInput, NotFound
from models.store.engine import tenant_transaction
from models.store.tenancy.tokens import (
    Caller,
    Rights,
    issue_token,
    list_tokens,
    make_token,
    revoke_token,
    rotate_token,
)

REMEDY = "tokens are the tenant's: use an admin token of the whole tenant"


def issue(runtime: Runtime, caller: Caller, request: TokenIn) -> NewTokenOut:
    """A new token of the caller's tenant; it is told once."""
    check_whole_tenant(caller, remedy=REMEDY)
    if request.expires_at is not None and request.expires_at <= datetime.now(UTC):
        raise InvalidInput(
            "the token would have expired already", field="expires_at", remedy="send a later time"
        )
    token = make_token()
    rights = Rights(
        scopes=sorted(set(request.scopes)),
        namespaces=request.namespaces,
        agents=request.agents,
        label=request.label,
        expires_at=request.expires_at,
    )
    with tenant_transaction(runtime.engine, caller) as connection:
        return NewTokenOut(token=token, id=str(issue_token(connection, token=token, rights=rights)))


def show(runtime: Runtime, caller: Caller) -> TokensOut:
    """Every token of the tenant, revoked ones too, without the tokens themselves."""
    check_whole_tenant(caller, remedy=REMEDY)
    with tenant_transaction(runtime.engine, caller) as connection:
        found = list_tokens(connection)
    return TokensOut(tokens=[TokenOut(**{**asdict(one), "id": str(one.id)}) for one in found])


def revoke(runtime: Runtime, caller: Caller, token_id: UUID) -> RevokedOut:
    """The token opens nothing from now on; processes that have seen it learn so within seconds."""
    check_whole_tenant(caller, remedy=REMEDY)
    with tenant_transaction(runtime.engine, caller) as connection:
        since = revoke_token(connection, token_id=token_id)
    if since is None:
        raise _missing(token_id)
    runtime.forget_callers()
    return RevokedOut(id=str(token_id), revoked_at=since)


def rotate(runtime: Runtime, caller: Caller, token_id: UUID) -> NewTokenOut:
    """A new token with the rights of an old one, which is revoked."""
    check_whole_tenant(caller, remedy=REMEDY)
    token = make_token()
    with tenant_transaction(runtime.engine, caller) as connection:
        new_id = rotate_token(connection, token_id=token_id, token=token)
    if new_id is None:
        raise _missing(token_id)
    runtime.forget_callers()
    return NewTokenOut(token=token, id=str(new_id))


def _missing(token_id: UUID) -> NotFound:
    return NotFound(f"no token {token_id} of this tenant opens anything", remedy="GET /v1/tokens lists them")
