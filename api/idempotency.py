"""Idempotency keys: a write sent again under the same `Idempotency-Key` is answered, not done again.

Accepting turns and importing have no use for a stored answer: a turn is one by its host id or its call's key, an
imported record by its own id. They are left alone here, and cost nothing more.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from api.runtime import Runtime
from models.errors import Conflict, InvalidInput, ServiceError
from models.store.engine import tenant_transaction
from models.store.idempotency import KeptAnswer, begin_call, give_up_call, keep_answer
from models.store.tenancy.tokens import Caller

HEADER: Final = "Idempotency-Key"
MOST_KEY_CHARS: Final = 255
KEY: Final = re.compile(rf"[!-~]{{1,{MOST_KEY_CHARS}}}")
MOST_ANSWER_BYTES: Final = 256 * 1024
RUNNING_SECONDS: Final = 120.0  # longer than any call; after that its process must have died
READS_AND_DEDUPLICATED: Final = frozenset(
    {"post_assemble", "post_search", "post_grep", "post_turns", "post_import"}
)
Handler = Callable[[Request], Awaitable[Response]]


def takes_key(route: APIRoute) -> bool:
    """Whether a route is a write whose answer is kept."""
    return (
        isinstance(route, IdempotentRoute)
        and bool((route.methods or set()) & {"POST", "PUT", "PATCH", "DELETE"})
        and route.name not in READS_AND_DEDUPLICATED
    )


class IdempotentRoute(APIRoute):
    """A route that answers a repeated write with what it answered first."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler: Handler = super().get_route_handler()
        if not takes_key(self):
            return handler

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            return await handler(request) if key is None else await _answer_once(request, key, handler)

        return once


async def _answer_once(request: Request, key: str, handler: Handler) -> Response:
    runtime: Runtime = request.app.state.runtime
    try:
        caller = await _identify(runtime, request)
    except ServiceError:
        return await handler(request)  # which refuses it in its own words
    if not KEY.fullmatch(key):
        raise InvalidInput(
            f"the idempotency key has {len(key)} characters; it may have 1 to {MOST_KEY_CHARS} visible ASCII ones",
            code="invalid_idempotency_key",
            field=HEADER,
            remedy="send a random word, as a UUID",
        )
    key = f"{caller.token_id}:{key}"  # a key is its token's own
    known = await run_in_threadpool(
        _begin, runtime, caller, key, _digest(request, caller, await request.body())
    )
    if known is not None:
        return _replay(known)
    try:
        response = await handler(request)
    except BaseException:
        await run_in_threadpool(_give_up, runtime, caller, key)
        raise
    body = bytes(getattr(response, "body", b""))
    if response.status_code < 300 and len(body) <= MOST_ANSWER_BYTES:
        await run_in_threadpool(_keep, runtime, caller, key, response, body)
    else:
        await run_in_threadpool(_give_up, runtime, caller, key)
    return response


async def _identify(runtime: Runtime, request: Request) -> Caller:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidInput("no bearer token")
    known = runtime.known_caller(token)
    return known if known is not None else await run_in_threadpool(runtime.identify, token)


def _digest(request: Request, caller: Caller, body: bytes) -> bytes:
    """What makes two calls the same one: who calls, what, with which words."""
    parts = (str(caller.token_id), request.method, request.url.path, request.url.query)
    head = "\n".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(head + b"\n\n" + body).digest()


def _begin(runtime: Runtime, caller: Caller, key: str, digest: bytes) -> KeptAnswer | None:
    settings = runtime.settings
    with tenant_transaction(runtime.engine, caller, timeout_ms=settings.statement_timeout_ms) as connection:
        return begin_call(
            connection,
            tenant_id=caller.tenant_id,
            key=key,
            digest=digest,
            kept_seconds=settings.idempotency_hours * 3600,
            running_seconds=RUNNING_SECONDS,
        )


def _replay(known: KeptAnswer) -> Response:
    if not known.is_same_request:
        raise Conflict(
            "the idempotency key was used for another request",
            code="idempotency_key_reused",
            field=HEADER,
            remedy="send a new key with a new request",
        )
    if known.status is None:
        raise Conflict(
            "the first request with this idempotency key is still running",
            code="idempotency_key_in_use",
            field=HEADER,
            remedy="wait a moment and send it again",
        )
    headers = {"Idempotency-Replayed": "true"}
    return Response(known.body, status_code=known.status, media_type=known.content_type, headers=headers)


def _keep(runtime: Runtime, caller: Caller, key: str, response: Response, body: bytes) -> None:
    with tenant_transaction(runtime.engine, caller) as connection:
        keep_answer(
            connection,
            tenant_id=caller.tenant_id,
            key=key,
            status=response.status_code,
            content_type=response.headers.get("content-type"),
            body=body,
        )


def _give_up(runtime: Runtime, caller: Caller, key: str) -> None:
    with tenant_transaction(runtime.engine, caller) as connection:
        give_up_call(connection, tenant_id=caller.tenant_id, key=key)
