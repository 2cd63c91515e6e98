"""Two clients over one set of calls: `Client` blocks, `AsyncClient` is awaited. Everything else they share."""

import asyncio
import functools
import json
import random
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

from longtail_client import calls
from longtail_client.config import Config, find_config
from longtail_client.errors import LongtailError, Unavailable, UnexpectedAnswer, read_problem
from longtail_client.request import Request

P = ParamSpec("P")
T = TypeVar("T")
DEFAULT_TIMEOUT_SECONDS = 5.0
CONNECT_TIMEOUT_SECONDS = 1.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 1.0


class _Base:
    """What does not depend on how bytes travel: where, for how long, how an answer is read, whether to ask again."""

    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        retries: int = 2,
    ) -> None:
        self.config: Config = find_config(url=url, token=token)
        self.timeout_seconds = timeout_seconds
        self.retries = retries
        headers = {"Authorization": f"Bearer {self.config.token}"} if self.config.token else {}
        # trust_env: a proxy set for the internet must not see what is said to a service on this machine
        self._options: dict[str, Any] = {"base_url": self.config.url, "headers": headers, "trust_env": False}

    @property
    def url(self) -> str:
        """Where the service is looked for."""
        return self.config.url

    def _deadline(self, request: Request[Any]) -> float:
        return time.monotonic() + (request.timeout_seconds or self.timeout_seconds)

    def _arguments(self, request: Request[Any], deadline: float) -> dict[str, Any]:
        left = max(deadline - time.monotonic(), 0.001)
        return {
            "method": request.method,
            "url": request.path,
            "content": request.content,
            "params": dict(request.params) or None,
            "headers": dict(request.headers),
            "timeout": httpx.Timeout(left, connect=min(left, CONNECT_TIMEOUT_SECONDS)),
        }

    def _read(self, request: Request[T], response: httpx.Response) -> T:
        try:
            data = response.json() if response.content else {}
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            if response.is_success:
                raise UnexpectedAnswer(
                    f"what answers at {self.url} sent no JSON",
                    code="unexpected_answer",
                    remedy="check LONGTAIL_API_URL",
                ) from error
            data = None
        if response.is_success:
            return request.read(data)
        raise read_problem(response.status_code, data)

    def _unreachable(self, error: Exception) -> Unavailable:
        where = (
            f"at {self.url}: {error or type(error).__name__}"
            if self.url
            else f"from {self.config.home}, and LONGTAIL_PORT=0 names no port"
        )
        return Unavailable(
            f"no Longtail answers {where}",
            code="unreachable",
            remedy="start it with 'longtail up', or set LONGTAIL_API_URL",
        )

    def _pause(
        self, request: Request[Any], error: LongtailError, attempt: int, deadline: float
    ) -> float | None:
        """How long to wait before asking again; None where it would be of no use, or unsafe."""
        if not (error.is_transient and request.is_idempotent and attempt < self.retries):
            return None
        pause = min(FIRST_PAUSE_SECONDS * 2**attempt, LONGEST_PAUSE_SECONDS) * random.uniform(0.5, 1.0)  # noqa: S311
        return pause if time.monotonic() + pause < deadline else None


def _blocking(build: Callable[P, Request[T]]) -> "Callable[Concatenate[Client, P], T]":
    @functools.wraps(build)
    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.send(build(*args, **kwargs))

    return method


def _awaited(build: Callable[P, Request[T]]) -> "Callable[Concatenate[AsyncClient, P], Awaitable[T]]":
    @functools.wraps(build)
    async def method(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(build(*args, **kwargs))

    return method


class Client(_Base):
    """Speaks to one service as one token, and waits for the answer.

    >>> with Client() as memory:                                                     # doctest: +SKIP
    ...     memory.post_turns("s1", [{"role": "user", "content": "I moved to Lisbon."}], user_id="ann")
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        retries: int = 2,
    ) -> None:
        super().__init__(url=url, token=token, timeout_seconds=timeout_seconds, retries=retries)
        self._http = httpx.Client(**self._options)

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, request: Request[T]) -> T:
        """Send a call and read its answer; asks again where that is safe and may help."""
        deadline = self._deadline(request)
        attempt = 0
        while True:
            try:
                try:
                    response = self._http.request(**self._arguments(request, deadline))
                except httpx.HTTPError as error:
                    raise self._unreachable(error) from error
                return self._read(request, response)
            except LongtailError as error:
                pause = self._pause(request, error, attempt, deadline)
                if pause is None:
                    raise
            time.sleep(pause)
            attempt += 1

    post_turns = _blocking(calls.post_turns)
    assemble = _blocking(calls.assemble)
    search = _blocking(calls.search)
    grep = _blocking(calls.grep)
    list_turns = _blocking(calls.list_turns)
    get_session = _blocking(calls.get_session)
    compact = _blocking(calls.compact)
    get_summary = _blocking(calls.get_summary)
    expand = _blocking(calls.expand)
    get_assembly = _blocking(calls.get_assembly)
    list_memories = _blocking(calls.list_memories)
    get_memory = _blocking(calls.get_memory)
    correct_memory = _blocking(calls.correct_memory)
    forget_memory = _blocking(calls.forget_memory)
    put_document = _blocking(calls.put_document)
    delete_document = _blocking(calls.delete_document)
    post_feedback = _blocking(calls.post_feedback)
    post_lifecycle = _blocking(calls.post_lifecycle)
    erase_namespace = _blocking(calls.erase_namespace)
    get_status = _blocking(calls.get_status)
    call_rpc = _blocking(calls.call_rpc)


class AsyncClient(_Base):
    """The same, for programs with an event loop."""

    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        retries: int = 2,
    ) -> None:
        super().__init__(url=url, token=token, timeout_seconds=timeout_seconds, retries=retries)
        self._http = httpx.AsyncClient(**self._options)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, request: Request[T]) -> T:
        """Send a call and read its answer; asks again where that is safe and may help."""
        deadline = self._deadline(request)
        attempt = 0
        while True:
            try:
                try:
                    response = await self._http.request(**self._arguments(request, deadline))
                except httpx.HTTPError as error:
                    raise self._unreachable(error) from error
                return self._read(request, response)
            except LongtailError as error:
                pause = self._pause(request, error, attempt, deadline)
                if pause is None:
                    raise
            await asyncio.sleep(pause)
            attempt += 1

    post_turns = _awaited(calls.post_turns)
    assemble = _awaited(calls.assemble)
    search = _awaited(calls.search)
    grep = _awaited(calls.grep)
    list_turns = _awaited(calls.list_turns)
    get_session = _awaited(calls.get_session)
    compact = _awaited(calls.compact)
    get_summary = _awaited(calls.get_summary)
    expand = _awaited(calls.expand)
    get_assembly = _awaited(calls.get_assembly)
    list_memories = _awaited(calls.list_memories)
    get_memory = _awaited(calls.get_memory)
    correct_memory = _awaited(calls.correct_memory)
    forget_memory = _awaited(calls.forget_memory)
    put_document = _awaited(calls.put_document)
    delete_document = _awaited(calls.delete_document)
    post_feedback = _awaited(calls.post_feedback)
    post_lifecycle = _awaited(calls.post_lifecycle)
    erase_namespace = _awaited(calls.erase_namespace)
    get_status = _awaited(calls.get_status)
    call_rpc = _awaited(calls.call_rpc)
