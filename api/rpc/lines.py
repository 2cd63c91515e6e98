"""Newline-delimited JSON-RPC on local sockets, inside the API's process.

A connection's messages are answered one after the other, in order, so that a search sees the insert before it.
Connections do not wait for each other: each is a task of its own, and methods run in threads of their own. Who came over
TCP and has not said who it is has few places, little time and short lines, so that it takes nobody else's.
"""

import asyncio
import contextlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import structlog

from api.rpc.dispatcher import Dispatcher, Session
from api.rpc.framing import LineFramer, TooLong
from api.rpc.protocol import TOO_LARGE, TRY_AGAIN, UNAUTHORIZED, RpcError, show_error, write_json
from api.stack.sockets.doors import keep_socket, take_socket
from api.stack.sockets.endpoints import ENDPOINTS_FILE, Endpoint, open_socket, read_endpoints, remove_socket
from models.settings import Settings

log = structlog.get_logger(__name__)
READ_BYTES = 64 * 1024
THREADS = 8
DRAIN_SECONDS = 5.0  # what a stopping server gives calls that are being answered
UNREAD_SECONDS = 60.0  # how long an answer may wait for a client that does not read
READY_SECONDS = 30.0  # after that `health` says what is missing
READY_POLL_SECONDS = 0.05
JSON_BEGINS = (b"{", b"[")
STRANGER_SECONDS = 10.0  # in which a caller over TCP says who it is
STRANGERS_SHARE = 4  # one in so many connections may be a stranger's
STRANGER_LINE_BYTES = 16 * 1024


@dataclass(slots=True, kw_only=True)
class Door:
    """A socket that listens; `server` is there once somebody answers on it."""

    endpoint: Endpoint
    listening: socket.socket
    inode: int
    is_kept: bool  # the supervisor has a copy: the next process goes on with it
    server: asyncio.Server | None = None


class LineServer:
    """Listens where the settings say, from `start` to `stop`; answers as soon as the service is ready."""

    def __init__(self, settings: Settings, dispatcher: Dispatcher, *, is_ready: Callable[[], bool]) -> None:
        self._settings = settings
        self._dispatcher = dispatcher
        self._is_ready = is_ready
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="rpc")
        self._doors: list[Door] = []
        self._opening: asyncio.Task[None] | None = None
        self._connections: dict[asyncio.Task[None], tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self._strangers: set[asyncio.Task[None]] = (
            set()
        )  # those of the connections that nobody vouches for yet
        self._is_closing = False
        self._written: str | None = None  # what the home was told

    @property
    def endpoints(self) -> list[str]:
        """Where it listens, as clients spell it."""
        return [str(door.endpoint) for door in self._doors]

    async def start(self) -> None:
        """Listen on every endpoint that can be had; one that cannot is logged, and HTTP works without it.

        Whoever connects before the service is ready waits: a client that is told "not yet" does not ask again.
        """
        is_first = True
        for endpoint in read_endpoints(self._settings.rpc_listen, home=self._settings.home):
            try:
                self._doors.append(_open_door(endpoint))
            except OSError as error:
                log.error("rpc.not_listening", endpoint=str(endpoint), error=str(error))
                is_first = False
        if is_first:
            self._write_endpoints()
        log.info("rpc.listening", endpoints=self.endpoints)
        self._opening = asyncio.create_task(self._open_when_ready())

    async def _open_when_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_ready() and time.monotonic() < deadline:
            await asyncio.sleep(READY_POLL_SECONDS)
        for door in self._doors:
            await self._answer_at(door)
        log.info("rpc.open", endpoints=self.endpoints)

    async def _answer_at(self, door: Door) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(door.endpoint, reader, writer)

        door.listening.setblocking(False)
        if door.listening.family == socket.AF_UNIX:
            door.server = await asyncio.start_unix_server(serve, sock=door.listening, limit=READ_BYTES)
        else:
            door.server = await asyncio.start_server(serve, sock=door.listening, limit=READ_BYTES)

    async def stop(self) -> None:
        """Take no more; answer what has arrived, for a while; then go."""
        self._is_closing = True
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        for door in self._doors:
            if door.server is not None:
                door.server.close()
            else:
                door.listening.close()
            if not door.is_kept:
                remove_socket(door.endpoint, door.inode)
        for reader, writer in self._connections.values():
            with contextlib.suppress(RuntimeError):  # it is closing by itself
                writer.transport.pause_reading()  # type: ignore[attr-defined]  # every stream has it
            reader.feed_eof()
        if self._connections:
            await asyncio.wait(self._connections, timeout=DRAIN_SECONDS)
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._doors.clear()
        self._write_endpoints()

    def _write_endpoints(self) -> None:
        """Where to find this server, for whoever shares its home: a port may have been chosen by the kernel.

        A second server of the same home, which found an endpoint taken, leaves the first one's word as it is.
        """
        file = self._settings.home / "run" / ENDPOINTS_FILE
        try:
            if self._doors:
                self._written = json.dumps({"endpoints": self.endpoints}) + "\n"
                file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                file.write_text(self._written)
            elif self._written is not None and file.exists() and file.read_text() == self._written:
                file.unlink(missing_ok=True)
        except OSError as error:
            log.warning("rpc.endpoints_not_written", error=str(error))

    async def _serve(
        self, endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            if self._is_closing or self._is_full(endpoint):
                busy = RpcError(TRY_AGAIN, "too many connections", {"code": "too_many_connections"})
                await self._write(writer, write_json(show_error(None, busy)))
                return
            self._connections[task] = (reader, writer)
            if not endpoint.vouches:
                self._strangers.add(task)
            await self._converse(endpoint, reader, writer)
        except (ConnectionError, TimeoutError) as error:
            log.debug("rpc.connection_lost", error=type(error).__name__)
        finally:
            self._connections.pop(task, None)
            self._strangers.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, TimeoutError):
                await writer.wait_closed()

    def _is_full(self, endpoint: Endpoint) -> bool:
        most = self._settings.rpc_max_connections
        if len(self._connections) >= most:
            return True
        return not endpoint.vouches and len(self._strangers) >= max(most // STRANGERS_SHARE, 1)

    def _greet(self, endpoint: Endpoint) -> Session:
        """Who may use the unix socket may read the token file beside it; over TCP, everybody on the machine may try."""
        return Session(
            token=self._settings.client_token() if endpoint.vouches else None,
            can_authenticate=True,
            hint="first call 'authenticate' with {\"token\": …}, the token from $LONGTAIL_HOME/token; a client that "
            "cannot needs the unix socket, or open-tcp: in LONGTAIL_RPC_LISTEN (docs/rpc.md)",
        )

    async def _converse(
        self, endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        session = self._greet(endpoint)
        task = asyncio.current_task()
        is_stranger = task in self._strangers
        framer = LineFramer(max_bytes=STRANGER_LINE_BYTES if is_stranger else self._settings.max_body_bytes)
        until = asyncio.get_running_loop().time() + STRANGER_SECONDS if is_stranger else None
        is_first = True
        while data := await self._read(reader, writer, until if task in self._strangers else None):
            if is_first and endpoint.is_open and data.lstrip()[:1] not in JSON_BEGINS:
                return  # a browser that was sent here: the body of its request would be read as lines
            is_first = False
            await self._answer_all(framer, framer.feed(data), session, writer)
        if not self._is_closing:  # half a line that we did not wait for is nobody's request
            await self._answer_all(framer, framer.finish(), session, writer)

    async def _read(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, until: float | None
    ) -> bytes:
        """What came next; nothing at the end, and where a stranger did not say in time who it is."""
        try:
            async with asyncio.timeout_at(until):
                return await reader.read(READ_BYTES)
        except TimeoutError:
            late = RpcError(
                UNAUTHORIZED, f"nobody authenticated in {STRANGER_SECONDS:g} s", {"code": "unauthorized"}
            )
            await self._write(writer, write_json(show_error(None, late)))
            return b""

    async def _answer_all(
        self,
        framer: LineFramer,
        lines: Iterator[bytes | TooLong],
        session: Session,
        writer: asyncio.StreamWriter,
    ) -> None:
        task = asyncio.current_task()
        for line in lines:
            if isinstance(line, TooLong):
                answer: bytes | None = write_json(show_error(None, self._refuse(line, framer.max_bytes)))
            else:
                loop = asyncio.get_running_loop()
                answer = await loop.run_in_executor(self._threads, self._dispatcher.answer, line, session)
                if session.token is not None and task in self._strangers:
                    self._strangers.discard(task)
                    framer.max_bytes = self._settings.max_body_bytes
            if answer is not None:
                await self._write(writer, answer)

    def _refuse(self, line: TooLong, limit: int) -> RpcError:
        return RpcError(
            TOO_LARGE,
            f"the line has {line.size_bytes} bytes; it may have {limit}",
            {
                "code": "body_too_large",
                "remedy": "send it in several calls, or raise LONGTAIL_MAX_BODY_BYTES",
            },
        )

    async def _write(self, writer: asyncio.StreamWriter, answer: bytes) -> None:
        writer.write(answer + b"\n")
        async with asyncio.timeout(UNREAD_SECONDS):
            await writer.drain()


def _open_door(endpoint: Endpoint) -> Door:
    """The socket that a former process of this stack left with the supervisor, or a new one. Raises OSError."""
    name = str(endpoint)
    listening = take_socket(name)
    if listening is not None and endpoint.path is not None and not endpoint.path.is_socket():
        listening.close()  # somebody took its file away: nobody finds it any more
        listening = None
    is_kept = listening is not None
    if listening is None:
        listening = open_socket(endpoint)
        is_kept = keep_socket(name, listening, path=endpoint.path)
    inode = os.stat(endpoint.path).st_ino if endpoint.path else 0
    if endpoint.path is None:
        host, port = listening.getsockname()[:2]
        endpoint = replace(endpoint, host=host, port=port)
    return Door(endpoint=endpoint, listening=listening, inode=inode, is_kept=is_kept)
