"""Bounds on what one request may send, enforced before anything is parsed: bytes, the time they take, JSON values."""

import asyncio

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.routing.problems import problem

READ_SECONDS = 60.0  # for a whole body; one that comes more slowly is not worth its connection
SMALLEST_VALUE_BYTES = 2  # `1,`: a body of fewer bytes than this many times the limit cannot be over it


def count_values(body: bytes, *, enough: int) -> int:
    """How many values, keys and brackets a JSON text has, about; no further than to `enough` strings.

    All of it in a few passes over the bytes, because a parser holds every thread of the process while it works.

    >>> count_values(b'{"a": [1, 2, {"b,": "c: \\\\", [d"}]}', enough=100)
    7
    """
    if b"\0" in body:  # UTF-16 or UTF-32, where a string's end is not told as simply: every mark counts
        return sum(body.count(mark) for mark in (b'"', b",", b":", b"[", b"{"))
    plain = body.replace(b"\\\\", b"").replace(
        b'\\"', b""
    )  # every quotation mark left begins or ends a string
    strings = plain.count(b'"') // 2
    if strings > enough:
        return strings
    outside = b"".join(plain.split(b'"')[::2])
    return sum(outside.count(mark) for mark in (b",", b":", b"[", b"{"))


class BodyLimit:
    """Reads a body whole, and answers 413 or 408 as soon as it is known to be too large, too slow or too finely cut."""

    def __init__(
        self, app: ASGIApp, max_bytes: int, max_values: int, streamed: frozenset[str] = frozenset()
    ) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.max_values = max_values
        self.streamed = streamed  # paths that read a body piece by piece, and bound the pieces themselves

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self.streamed or not has_body(scope):
            await self.app(scope, receive, send)
            return
        if (declared_bytes(scope) or 0) > self.max_bytes:
            await self._too_large()(scope, receive, send)
            return
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await self._read(receive)
        except TimeoutError:
            body = None
        refusal = self._too_late() if body is None else await self._judge(body)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, replayed, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The body, or as much of it as is too much; None where the client left."""
        pieces: list[bytes] = []
        seen = 0
        while seen <= self.max_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            pieces.append(message.get("body", b""))
            seen += len(pieces[-1])
            if not message.get("more_body", False):
                break
        return b"".join(pieces)

    async def _judge(self, body: bytes) -> Response | None:
        if len(body) > self.max_bytes:
            return self._too_large()
        if len(body) <= self.max_values * SMALLEST_VALUE_BYTES:
            return None
        found = await run_in_threadpool(count_values, body, enough=self.max_values)
        return self._too_many() if found > self.max_values else None

    def _too_large(self) -> Response:
        return problem(
            status=413,
            code="body_too_large",
            detail=f"the request is larger than {self.max_bytes} bytes",
            remedy="send it in several calls, or raise LONGTAIL_MAX_BODY_BYTES",
            headers={"Connection": "close"},
        )

    def _too_many(self) -> Response:
        return problem(
            status=413,
            code="too_many_values",
            detail=f"the request has more than {self.max_values} JSON values and keys",
            remedy="send it in several calls, or raise LONGTAIL_MAX_BODY_VALUES",
        )

    def _too_late(self) -> Response:
        return problem(
            status=408,
            code="client_gone",
            detail="the request ended before all of it had come; nothing was changed",
            remedy="send it again",
            headers={"Connection": "close"},
        )


def has_body(scope: Scope) -> bool:
    """Whether a request announces a body."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )


def declared_bytes(scope: Scope) -> int | None:
    """How long the body is by the request's own word; None where it does not say."""
    declared = dict(scope["headers"]).get(b"content-length", b"")
    return int(declared) if declared.isdigit() else None
