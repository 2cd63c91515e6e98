"""How long each request took, by its route and the class of its status; paths with names in them are never labels."""

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models.meters import Tally

UNKNOWN_ROUTE = "none"  # nothing of ours has that path


class Timing:
    """Observes every HTTP request from its first byte to the end of its answer."""

    def __init__(self, app: ASGIApp, tally: Tally) -> None:
        self.app = app
        self.tally = tally

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watch)
        finally:
            route = getattr(scope.get("route"), "path_format", UNKNOWN_ROUTE)
            seconds = time.perf_counter() - start
            self.tally.observe("request_seconds", seconds, route=route, code=f"{status // 100}xx")
