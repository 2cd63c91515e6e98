"""Who sends a body is known before it is read: a stranger's bytes are not worth parsing."""

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from api.access.decisions import read_bearer
from api.middleware.bodies import has_body
from api.routing.problems import show_error
from api.runtime import Runtime
from models.errors import DatabaseUnavailable, ServiceError

PAGES = "/inspector"  # whose forms carry a cookie, or the token to be checked, and are bounded there


class KnownCallers:
    """Answers a body without a token that PostgreSQL knows with 401; what the token may do is the route's question."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope.get("path", "").startswith(PAGES)
        if scope["type"] == "http" and has_body(scope) and not is_page:
            try:
                await self._check(scope)
            except ServiceError as error:
                refusal = show_error(error)
                refusal.headers["Connection"] = "close"  # the rest of the body stays unread
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)

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
