"""A transfer ends with its client: whoever leaves, or stops reading or sending, holds no connection to the database."""

from collections.abc import AsyncIterator, Generator

import anyio
import structlog
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

log = structlog.get_logger(__name__)


class ClosingStream(StreamingResponse):
    """Streams what a generator yields, and closes it whatever ends the stream: its end, an error, or its client.

    The framework would leave that to the garbage collector, which comes by when it likes.
    """

    def __init__(self, lines: Generator[bytes], *, media_type: str, stall_seconds: float) -> None:
        super().__init__(lines, media_type=media_type)
        self._lines = lines
        self._stall_seconds = stall_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def bounded(message: Message) -> None:
            with anyio.fail_after(self._stall_seconds):
                await send(message)

        try:
            await super().__call__(scope, receive, bounded)
        except TimeoutError:
            log.warning(
                "transfer.stalled", path=scope["path"]
            )  # the server closes what is left of the connection
        finally:
            with anyio.CancelScope(shield=True):
                await run_in_threadpool(self._lines.close)


async def receive_body(request: Request, *, stall_seconds: float) -> AsyncIterator[bytes]:
    """The body as it comes; a client that stops sending is taken for one that left."""
    chunks = request.stream()
    while True:
        try:
            with anyio.fail_after(stall_seconds):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        except TimeoutError:
            log.warning("transfer.stalled", path=request.url.path)
            raise ClientDisconnect from None
        yield chunk
