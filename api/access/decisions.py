"""Who calls, and what they may see: the token, whose it is, and every decision on namespaces, sessions and documents."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.types import Scope

from api.runtime import Runtime
from models.domain.records import Identity, durable_namespace
from models.errors import DatabaseUnavailable, Forbidden, InvalidInput, NotFound, Unauthorized
from models.store.conversation import sessions
from models.store.tenancy.tokens import Caller

bearer = HTTPBearer(auto_error=False, description="The token of $LONGTAIL_HOME/token, or one you created.")


async def runtime_of(request: Request) -> Runtime:
    """The process's runtime."""
    found: Runtime = request.app.state.runtime
    return found


Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
RuntimeOf = Annotated[Runtime, Depends(runtime_of)]


async def _identify(runtime: Runtime, credentials: HTTPAuthorizationCredentials | None, scope: str) -> Caller:
    return await identify_token(runtime, token_of(credentials), scope)


async def identify_token(runtime: Runtime, token: str, scope: str) -> Caller:
    """Whose token it is, if it has the scope: from memory at once, from PostgreSQL in a thread of its own."""
    caller = runtime.known_caller(token)
    if caller is None:
        caller = await run_in_threadpool(runtime.identify, token)
    return _allowed(caller, scope)


def token_of(credentials: HTTPAuthorizationCredentials | None) -> str:
    if credentials is None:
        raise _no_token()
    return credentials.credentials


def read_bearer(scope: Scope) -> str:
    """The token of a request that no route has seen yet."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            if scheme.lower() == "bearer" and token.strip():
                return str(token.strip())
    raise _no_token()


def _no_token() -> Unauthorized:
    return Unauthorized(
        "the request has no bearer token",
        remedy="send 'Authorization: Bearer <token>' with the token from $LONGTAIL_HOME/token",
    )


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
    """A caller who may read; None for this machine's own token, unseen while PostgreSQL is away: assemble still answers.

    Any other token that this process has not seen may be anybody's: it waits until PostgreSQL can be asked.
    """
    if not runtime.outage.is_on:
        try:
            return await _identify(runtime, credentials, "read")
        except DatabaseUnavailable:
            runtime.outage.note()
    token = token_of(credentials)
    known = runtime.recall_caller(token)
    if known is None and not runtime.is_default_token(token):
        raise DatabaseUnavailable(
            "PostgreSQL does not answer, and this token was not seen before",
            remedy="the call may be repeated",
        )
    return _allowed(known, "read") if known else None


Reader = Annotated[Caller, Depends(reader)]
Writer = Annotated[Caller, Depends(writer)]
Administrator = Annotated[Caller, Depends(administrator)]


def check_namespace(caller: Caller, namespace: str) -> str:
    """The namespace, if the caller's token opens it."""
    if caller.namespaces is not None and namespace not in caller.namespaces:
        raise _refusal(caller, "name that identity in the request, or use a token of the whole tenant")
    return namespace


def check_whole_tenant(caller: Caller, *, remedy: str = "use a token of the whole tenant") -> None:
    """For what belongs to the tenant as a whole: a bound token does not open it."""
    if caller.namespaces is not None:
        raise _refusal(caller, remedy)


def _refusal(caller: Caller, remedy: str) -> Forbidden:
    opened = ", ".join(f"'{name}'" for name in sorted(caller.namespaces or ()))
    return Forbidden(f"the token opens namespace {opened} only", remedy=remedy)


def choose_namespace(caller: Caller, asked: Identity | str | None) -> str | None:
    """The namespace a list is about: the one asked for, else the only one the token opens, else all it opens."""
    if isinstance(asked, Identity):
        asked = None if asked.is_empty else durable_namespace(asked, "")
    return check_namespace(caller, asked) if asked is not None else caller.namespace


def choose_binding(caller: Caller, *, user_id: str | None, agent_id: str | None) -> str:
    """What a document is bound to: a user, an agent, or the whole tenant; a bound token has its own ones only."""
    if user_id and agent_id:
        raise InvalidInput(
            "a document is bound to a user or to an agent, not to both",
            field="agent_id",
            remedy="send one of them",
        )
    namespace = user_id or (f"agent-id:{agent_id}" if agent_id else None)
    if caller.namespaces is not None and namespace not in caller.namespaces:
        raise _refusal(caller, "bind the document to that user or agent")
    if user_id:
        return f"user:{user_id}"
    return f"agent:{agent_id}" if agent_id else "tenant"


NOBODY = Identity()


def check_session(
    runtime: Runtime, caller: Caller, session_id: str, identity: Identity = NOBODY
) -> sessions.Home:
    """Whose memory a session is, if the caller may see it; one without turns is not found."""
    with runtime.transaction(caller) as connection:
        home = sessions.find_home(connection, session_id=session_id, identity=identity)
    if not home.is_known:
        raise NotFound(f"session '{session_id}' has no turns", remedy="GET /v1/sessions lists them")
    return home


def check_owner(caller: Caller, namespace: str, identity: Identity, *, missing: NotFound) -> None:
    """For one thing of a namespace: the token opens it, and whoever is named is whose it is. Else it is not there."""
    check_namespace(caller, namespace)
    if not identity.is_empty and durable_namespace(identity, "") != namespace:
        raise missing
