"""Lanes: calls that may take seconds share a few places, so that those that must be quick always find one.

A process has so many threads and so many connections. Forty patterns that PostgreSQL chews on for seconds would take all
of them, and no turn could be accepted meanwhile. A place is for finding the answer: whoever reads theirs slowly, or never,
holds none.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.routing.problems import problem

PLACES: Final[Mapping[str, int]] = {"grep": 4, "compact": 8, "rpc": 8, "other": 8}
WAIT_SECONDS: Final = 10.0
# Accepting, assembling and searching are what an agent waits for; transfers have places of their own (`api/transfer/`).
OPEN_PATHS: Final = frozenset(
    {
        *("/healthz", "/readyz", "/metrics", "/v1/status"),
        *("/v1/assemble", "/v1/search", "/v1/lifecycle", "/v1/feedback"),
        *("/v1/export", "/v1/import"),
    }
)


def choose_lane(method: str, path: str) -> str | None:
    """The lane of a call; None for one that always goes on.

    >>> [choose_lane(method, "/v1/sessions/s/turns") for method in ("POST", "GET")], choose_lane("POST", "/v1/grep")
    ([None, 'other'], 'grep')
    """
    if path in OPEN_PATHS or (method == "POST" and path.endswith("/turns")):
        return None
    if path == "/v1/grep":
        return "grep"
    if path == "/rpc":
        return "rpc"
    return "compact" if path.endswith("/compact") else "other"


class Lanes:
    """Lets a call wait for a place in its lane, and answers 503 where none comes free in time."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._places = {lane: asyncio.Semaphore(count) for lane, count in PLACES.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        lane = choose_lane(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if lane is None:
            await self.app(scope, receive, send)
            return
        places = self._places[lane]
        try:
            await asyncio.wait_for(places.acquire(), WAIT_SECONDS)
        except TimeoutError:
            refusal = problem(
                status=503,
                code="too_busy",
                detail=f"{PLACES[lane]} calls of this kind are running, and none ended within {WAIT_SECONDS:g} s",
                remedy="the call may be repeated; send fewer of them at once",
                headers={"Retry-After": "1"},
            )
            await refusal(scope, receive, send)
            return
        has_place = True

        async def answered(message: Message) -> None:
            nonlocal has_place
            if has_place:  # the answer is known: what is left is its way to a client who may not read it
                has_place = False
                places.release()
            await send(message)

        try:
            await self.app(scope, receive, answered)
        finally:
            if has_place:
                places.release()
