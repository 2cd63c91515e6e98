"""Who calls: the bearer token, whose it is, and what it may do."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.runtime import Runtime
from models.errors import DatabaseUnavailable, Forbidden, Unauthorized
from models.store.tokens import Caller

bearer = HTTPBearer(auto_error=False, description="The token of $LONGTAIL_HOME/token, or one you created.")


async def runtime_of(request: Request) -> Runtime:
    """The process's runtime."""
    found: Runtime = request.app.state.runtime
    return found


Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
RuntimeOf = Annotated[Runtime, Depends(runtime_of)]


async def _identify(runtime: Runtime, credentials: HTTPAuthorizationCredentials | None, scope: str) -> Caller:
    """Whose token it is: from memory at once, from PostgreSQL in a thread of its own."""
    token = token_of(credentials)
    caller = runtime.known_caller(token)
    if caller is None:
        caller = await run_in_threadpool(runtime.identify, token)
    return _allowed(caller, scope)


def token_of(credentials: HTTPAuthorizationCredentials | None) -> str:
    if credentials is None:
        raise Unauthorized(
            "the request has no bearer token",
            remedy="send 'Authorization: Bearer <token>' with the token from $LONGTAIL_HOME/token",
        )
    return credentials.credentials


def _allowed(caller: Caller, scope: str) -> Caller:
    if scope not in caller.scopes:
        raise Forbidden(f"the token has no '{scope}' scope", remedy="use a token created with that scope")
    return caller


async def reader(runtime: RuntimeOf, credentials: Credentials) -> Caller:
    """A caller who may read."""
    return await _identify(runtime, credentials, "read")


async def writer(runtime: RuntimeOf, credentials: Credentials) -> Caller:
    """A caller who may write."""
    return await _identify(runtime, credentials, "write")


async def administrator(runtime: RuntimeOf, credentials: Credentials) -> Caller:
    """A caller who may change how the tenant's memory works."""
    return await _identify(runtime, credentials, "admin")


async def reader_if_known(runtime: RuntimeOf, credentials: Credentials) -> Caller | None:
    """A caller who may read; None when PostgreSQL is away and the token was never seen: assemble still answers."""
    if not runtime.outage.is_on:
        try:
            return await _identify(runtime, credentials, "read")
        except DatabaseUnavailable:
            runtime.outage.note()
    known = runtime.recall_caller(token_of(credentials))
    return _allowed(known, "read") if known else None


Reader = Annotated[Caller, Depends(reader)]
Writer = Annotated[Caller, Depends(writer)]
Administrator = Annotated[Caller, Depends(administrator)]
