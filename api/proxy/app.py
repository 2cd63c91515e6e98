"""The proxy itself: every request goes on to the model's API and every answer comes back as it is.

In the calls that a dialect knows, memory is put into the request, and what was said is kept when the answer has ended.
Whatever goes wrong with memory, the request goes on unchanged.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import httpx
import structlog
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from api.proxy.dialects import SHAPELESS, Dialect, Message, find_dialect, inject, read_events
from api.proxy.memory import Conversation, Memory
from api.proxy.pages import find_foreign

log = structlog.get_logger(__name__)
SESSION_HEADER: Final = "x-longtail-session"
USER_HEADER: Final = "x-longtail-user"
# Of one connection, not of a message: RFC 9110 7.6.1. Our own headers are for us.
HOP_HEADERS: Final = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
        *(
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "host",
            "content-length",
            SESSION_HEADER,
            USER_HEADER,
        ),
    }
)
METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]
MOST_COLLECTED_BYTES: Final = 16 * 1024 * 1024  # of an answer; a longer one passes by and is not remembered
MOST_ANSWERS: Final = 10_000  # whose conversation is known by their id


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One call that memory listens to, while it runs."""

    dialect: Dialect
    conversation: Conversation
    messages: list[Message]
    is_stream: bool = False
    is_whole: bool = False  # the answer came to its end
    collected: bytearray = field(default_factory=bytearray)

    def collect(self, piece: bytes) -> None:
        if len(self.collected) <= MOST_COLLECTED_BYTES:
            self.collected += piece

    def read_answer(self) -> tuple[str, str | None]:
        """The answer's words and its id, as far as they can be read; nothing of an answer that was broken off.

        The caller sends the words it has with its next request; ours might end elsewhere, and be another turn.
        """
        if not self.is_whole or len(self.collected) > MOST_COLLECTED_BYTES:
            return "", None
        if self.is_stream:
            return self.dialect.read_stream(read_events(bytes(self.collected))), None
        answer = json.loads(bytes(self.collected))
        return self.dialect.read_answer(answer), answer.get("id")


class PassedOn(StreamingResponse):
    """An answer on its way to the caller; `finish` runs when it is over, also where the caller hung up."""

    def __init__(
        self, pieces: AsyncIterator[bytes], *, status_code: int, finish: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(pieces, status_code=status_code)
        self._finish = finish

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with anyio.CancelScope(shield=True):
                await self._finish()


class Proxy:
    """Passes requests on to one upstream, with memory beside it."""

    def __init__(self, *, upstream: str, memory: Memory, user_id: str | None, is_public: bool) -> None:
        self._upstream = upstream.rstrip("/")
        self._is_public = is_public
        self._memory = memory
        self._user_id = user_id
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()  # by the id of an answer
        # The model's own speed: no time limit but the caller's.
        self._http = httpx.AsyncClient(
            trust_env=False, timeout=httpx.Timeout(None, connect=30.0), http2=False
        )

    async def close(self) -> None:
        await self._http.aclose()
        await self._memory.close()

    async def handle(self, request: Request) -> Response:
        """One request, there and back."""
        foreign = find_foreign(
            request.headers.get("host", ""), request.headers.get("origin"), is_public=self._is_public
        )
        if foreign is not None:
            text = f"longtail proxy: refused, because {foreign}"
            return JSONResponse({"error": {"message": text, "type": "foreign_page"}}, status_code=403)
        body = await request.body()
        exchange, body = await self._prepare(request, body)
        headers = [(k, v) for k, v in request.headers.raw if k.decode("latin-1").lower() not in HOP_HEADERS]
        if exchange is not None:  # memory reads the answer, so it must come uncompressed
            headers = [(k, v) for k, v in headers if k.lower() != b"accept-encoding"]
            headers.append((b"accept-encoding", b"identity"))
        outgoing = self._http.build_request(
            request.method, self._target(request), headers=headers, content=body
        )
        try:
            answer = await self._http.send(outgoing, stream=True)
        except httpx.HTTPError as error:
            text = f"longtail proxy: no answer from {self._upstream}: {error or type(error).__name__}"
            return JSONResponse({"error": {"message": text, "type": "upstream_unreachable"}}, status_code=502)
        response = PassedOn(
            self._pass_on(answer, exchange),
            status_code=answer.status_code,
            finish=lambda: self._finish(answer, exchange),
        )
        response.raw_headers = [
            (k.lower(), v) for k, v in answer.headers.raw if k.decode("latin-1").lower() not in HOP_HEADERS
        ]
        if length := answer.headers.get("content-length"):
            response.raw_headers.append((b"content-length", length.encode()))
        return response

    def _target(self, request: Request) -> str:
        raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
        path = raw.decode("latin-1").partition("?")[0]
        base = self._upstream
        if base.endswith("/v1") and path.startswith("/v1/"):
            base = base.removesuffix("/v1")
        return base + path + (f"?{request.url.query}" if request.url.query else "")

    async def _prepare(self, request: Request, body: bytes) -> tuple[Exchange | None, bytes]:
        """The exchange memory listens to, and the body with memory in it; the body as it came where it is not for us."""
        dialect = find_dialect(request.method, request.url.path)
        if dialect is None:
            return None, body
        try:
            asked = json.loads(body)
            messages = dialect.read_messages(asked)
            conversation = self._name_conversation(request, asked, messages)
        except SHAPELESS:
            return None, body  # the upstream says what is wrong with it
        if conversation is None:
            return None, body
        exchange = Exchange(
            dialect=dialect, conversation=conversation, messages=messages, is_stream=bool(asked.get("stream"))
        )
        found = await self._memory.recall(conversation, messages)
        if found.stable or found.volatile:
            changed = inject(dialect, asked, stable=found.stable, volatile=found.volatile)
            if changed is None:
                return None, body
            body = json.dumps(changed).encode()  # in ASCII: half characters stay as the caller wrote them
        return exchange, body

    def _name_conversation(
        self, request: Request, asked: dict[str, Any], messages: list[Message]
    ) -> Conversation | None:
        """By the caller's headers; else the one an earlier answer belongs to; else by its first user message."""
        user_id = request.headers.get(USER_HEADER) or self._user_id
        if session_id := request.headers.get(SESSION_HEADER):
            return Conversation(session_id=session_id, user_id=user_id)
        earlier = asked.get("previous_response_id")
        if isinstance(earlier, str) and earlier in self._conversations:
            return self._conversations[earlier]
        first = next((message.text for message in messages if message.role == "user"), None)
        if first is None:
            return None
        digest = hashlib.sha256(f"{user_id or ''}\x1f{first}".encode("utf-8", "replace")).hexdigest()
        return Conversation(session_id=f"proxy:{digest[:24]}", user_id=user_id)

    @staticmethod
    async def _pass_on(answer: httpx.Response, exchange: Exchange | None) -> AsyncIterator[bytes]:
        async for piece in answer.aiter_raw():
            if exchange is not None:
                exchange.collect(piece)
            yield piece
        if exchange is not None:
            exchange.is_whole = True

    async def _finish(self, answer: httpx.Response, exchange: Exchange | None) -> None:
        await answer.aclose()
        if exchange is not None and answer.is_success:
            await run_in_threadpool(self._keep, exchange)

    def _keep(self, exchange: Exchange) -> None:
        try:
            words, answer_id = exchange.read_answer()
        except SHAPELESS:
            words, answer_id = "", None  # the question is kept; an answer nobody can read is not
        if answer_id:
            self._conversations[answer_id] = exchange.conversation
            if len(self._conversations) > MOST_ANSWERS:
                self._conversations.popitem(last=False)
        self._memory.keep(exchange.conversation, exchange.messages, words)


def create_proxy(
    *, upstream: str, memory: Memory, user_id: str | None = None, is_public: bool = False
) -> Starlette:
    """The proxy as an application; `is_public` where it is reached by other names than this machine's own."""
    proxy = Proxy(upstream=upstream, memory=memory, user_id=user_id, is_public=is_public)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await proxy.close()

    return Starlette(routes=[Route("/{path:path}", proxy.handle, methods=METHODS)], lifespan=lifespan)
