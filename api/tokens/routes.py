"""The HTTP surface of tokens. Answers are never kept for repeated calls: one of them holds a token."""

from uuid import UUID

from fastapi import APIRouter

from api.access.decisions import Administrator, RuntimeOf
from api.routing.parameters import PROBLEM
from api.tokens.schemas import NewTokenOut, RevokedOut, TokenIn, TokensOut
from api.tokens.service import issue, revoke, rotate, show

router = APIRouter(responses=PROBLEM, tags=["tokens"])


@router.post("/v1/tokens", status_code=201)
def post_token(body: TokenIn, runtime: RuntimeOf, caller: Administrator) -> NewTokenOut:
    """Issue a token of this tenant."""
    return issue(runtime, caller, body)


@router.get("/v1/tokens")
def get_tokens(runtime: RuntimeOf, caller: Administrator) -> TokensOut:
    """Tokens of this tenant: what each opens, until when, and when it was last used."""
    return show(runtime, caller)


@router.delete("/v1/tokens/{token_id}")
def delete_token(token_id: UUID, runtime: RuntimeOf, caller: Administrator) -> RevokedOut:
    """Revoke a token."""
    return revoke(runtime, caller, token_id)


@router.post("/v1/tokens/{token_id}/rotate", status_code=201)
def post_rotation(token_id: UUID, runtime: RuntimeOf, caller: Administrator) -> NewTokenOut:
    """Put a new token in the place of an old one."""
    return rotate(runtime, caller, token_id)
