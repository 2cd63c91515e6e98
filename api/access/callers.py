"""Who sends a body is known before it is read: a stranger's bytes are not worth parsing."""

from collections.abc import Callable
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from api.access.decisions import read_bearer
from api.middleware.bodies import declared_bytes, has_body
from api.routing.problems import show_error
from api.runtime import Runtime
from models.errors import DatabaseUnavailable, ServiceError, TooLarge

PAGES: Final = "/inspector"  # whose forms carry a cookie, or the token to be checked
MOST_LOGIN_BYTES: Final = 16 * 1024  # of a form from whoever is not logged in: a token, and where to go then


class KnownCallers:
    """Answers a body without a token that PostgreSQL knows with 401; what the token may do is the route's question.

    A page's form comes with a login instead; without one it may be as long as what a login takes.
    """

    def __init__(self, app: ASGIApp, is_visitor: Callable[[Scope], bool]) -> None:
        self.app = app
        self._is_visitor = is_visitor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and has_body(scope):
            try:
                if scope["path"].startswith(PAGES):
                    self._check_form(scope)
                else:
                    await self._check(scope)
            except ServiceError as error:
                refusal = show_error(error)
                refusal.headers["Connection"] = "close"  # the rest of the body stays unread
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check_form(self, scope: Scope) -> None:
        size = declared_bytes(scope)
        if (size is None or size > MOST_LOGIN_BYTES) and not self._is_visitor(scope):
            raise TooLarge(
                f"a form of somebody who is not logged in may have {MOST_LOGIN_BYTES} bytes",
                code="body_too_large",
                remedy="log in first",
            )

    async def _check(self, scope: Scope) -> None:
        runtime: Runtime = scope["app"].state.runtime
        token = read_bearer(scope)
        if runtime.known_caller(token) is not None:
            return
        try:
            if not runtime.outage.is_on:
                await run_in_threadpool(runtime.identify, token)
                return
        except DatabaseUnavailable:
            runtime.outage.note()
        if runtime.recall_caller(token) is None and not runtime.is_default_token(token):
            raise DatabaseUnavailable(
                "PostgreSQL does not answer, and this token was not seen before",
                remedy="the call may be repeated",
            )
