"""What the proxy asks of memory and what it leaves there; both fail open, and neither makes the model wait for long.

Turns go through the spool of `api.host`: kept on disk first, sent by a thread, in order, once each. A program sends its
whole history with every call, so a turn is known by role, words and how often the same was said before.
"""

import asyncio
import hashlib
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx
import structlog

from api.host.configuration import Configuration
from api.host.delivery import deliver
from api.host.loopback import Client, quote
from api.host.spool import Spool
from api.host.turns import build_turns, clean_text
from api.proxy.dialects import Message

log = structlog.get_logger(__name__)
PAUSE_AFTER_FAILURE_SECONDS: Final = 5.0  # that no call waits for a memory that was away a moment ago
SEND_SECONDS: Final = 10.0
RETRY_SECONDS: Final = 5.0
MOST_KNOWN: Final = (
    50_000  # turns and prompts remembered in the process; more only cost a repeated, harmless send
)
MOST_SHOWN: Final = 500  # newest messages that memory is told the model sees
MOST_SHOWN_CHARS: Final = 4000  # of one of them: it is known by its id
MOST_QUERY_CHARS: Final = 200_000  # as many the API reads
# Of one call: the API takes 1000 turns and 16 MiB, and in the spool two bytes of UTF-8 may be six of JSON.
MOST_CALL_TURNS: Final = 500
MOST_CALL_BYTES: Final = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """What goes into a request; both empty when memory has nothing, or is away."""

    stable: str = ""
    volatile: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Whose words these are, and in which session."""

    session_id: str
    user_id: str | None


def name_turns(messages: Sequence[Message]) -> list[tuple[str, Message]]:
    """An id for each message: the same for the same role, words and number of earlier messages like it.

    >>> first, second = name_turns([Message(role="user", text="ok"), Message(role="user", text="ok")])
    >>> first[0] == second[0]
    False
    """
    seen: Counter[tuple[str, str]] = Counter()
    named = []
    for message in messages:
        key = (message.role, message.text)
        digest = hashlib.sha256(f"{message.role}\x1f{seen[key]}\x1f{message.text}".encode("utf-8", "replace"))
        seen[key] += 1
        named.append((digest.hexdigest()[:32], message))
    return named


def make_turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages as the API takes them: cleaned, a long one in several turns, one without words left out.

    >>> [turn["content"] for turn in make_turns([Message(role="user", text="a\\ud800"), Message(role="tool", text=" ")])]
    ['a\ufffd']
    """
    return [
        turn
        for key, message in name_turns(messages)
        for turn in build_turns(role=message.role, text=message.text, id=key, name=message.name)
    ]


def split_calls(turns: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Turns in groups that one call may hold, in order."""
    calls: list[list[dict[str, Any]]] = []
    size = 0
    for turn in turns:
        cost = len(turn["content"].encode())
        if not calls or len(calls[-1]) >= MOST_CALL_TURNS or size + cost > MOST_CALL_BYTES:
            calls.append([])
            size = 0
        calls[-1].append(turn)
        size += cost
    return calls


class Memory:
    """One per proxy: a connection to the API, a spool, and the thread that empties it."""

    def __init__(self, configuration: Configuration, *, budget_tokens: int, deadline_ms: int) -> None:
        self._configuration = configuration
        self._budget_tokens = budget_tokens
        self._deadline_ms = deadline_ms
        self._spool = Spool(configuration.home, max_bytes=configuration.spool_max_bytes)
        self._http = httpx.AsyncClient(trust_env=False, timeout=deadline_ms / 1000)
        self._away_until = 0.0
        self._prompts: OrderedDict[tuple[str, str], Injection] = OrderedDict()
        self._sent: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._bell = threading.Event()
        self._closing = threading.Event()
        self._sender = threading.Thread(target=self._send, name="send-turns", daemon=True)
        self._sender.start()

    async def recall(self, conversation: Conversation, messages: Sequence[Message]) -> Injection:
        """What memory adds to this request. The calls of one turn (tools) get the same words, so that caches hold."""
        turns = make_turns(messages)
        newest = next((turn for turn in reversed(turns) if turn["role"] == "user"), None)
        if newest is None or time.monotonic() < self._away_until:
            return Injection()
        place = (conversation.session_id, newest["id"])
        if place not in self._prompts:
            asked = (one.text for one in reversed(messages) if one.role == "user" and one.text.strip())
            query = clean_text(next(asked))
            try:
                async with asyncio.timeout(self._deadline_ms / 1000):
                    self._prompts[place] = await self._assemble(conversation, query, turns)
            except httpx.HTTPStatusError as error:
                if error.response.is_server_error:
                    self._away_until = time.monotonic() + PAUSE_AFTER_FAILURE_SECONDS
                # what one caller sent cannot be taken: nobody else has to do without memory for it
                log.warning("proxy.memory_refused", status=error.response.status_code)
                return Injection()
            except (httpx.HTTPError, TimeoutError, ValueError, KeyError) as error:
                self._away_until = time.monotonic() + PAUSE_AFTER_FAILURE_SECONDS
                log.warning("proxy.memory_away", error=type(error).__name__)
                return Injection()
            _trim(self._prompts)
        return self._prompts[place]

    async def _assemble(
        self, conversation: Conversation, query: str, turns: Sequence[dict[str, Any]]
    ) -> Injection:
        request = {
            "session_id": conversation.session_id,
            "user_id": conversation.user_id,
            "query": query[:MOST_QUERY_CHARS],
            "budget_tokens": self._budget_tokens,
            "deadline_ms": self._deadline_ms,
            "messages": [
                {"id": turn["id"], "role": turn["role"], "content": turn["content"][:MOST_SHOWN_CHARS]}
                for turn in turns[-MOST_SHOWN:]
            ],
        }
        answer = await self._http.post(
            f"{self._configuration.api_url()}/v1/assemble",
            json={key: value for key, value in request.items() if value is not None},
            headers={"Authorization": f"Bearer {self._configuration.token() or ''}"},
        )
        answer.raise_for_status()
        found = answer.json()
        return Injection(stable=found["stable"]["text"], volatile=found["volatile"]["text"])

    def keep(self, conversation: Conversation, messages: Sequence[Message], answer: str) -> None:
        """Leave what was said, and the model's answer, to be remembered; returns when it is on disk."""
        said = [*messages, Message(role="assistant", text=answer)] if answer else list(messages)
        turns = [turn for turn in make_turns(said) if (conversation.session_id, turn["id"]) not in self._sent]
        self._sent.update(dict.fromkeys((conversation.session_id, turn["id"]) for turn in turns))
        _trim(self._sent)
        path = f"/v1/sessions/{quote(conversation.session_id)}/turns"
        whose = {"user_id": conversation.user_id} if conversation.user_id else {}
        for part in split_calls(turns):
            try:
                if not self._spool.append({"path": path, "body": {"turns": part, **whose}}):
                    log.error("proxy.spool_full", bytes=self._spool.max_bytes)
            except OSError as error:
                log.error("proxy.spool_failed", error=type(error).__name__)
        if turns:
            self._bell.set()

    def _send(self) -> None:
        client = Client(self._configuration)
        while not self._closing.is_set():
            try:
                delivery = deliver(self._spool, client, seconds=SEND_SECONDS)
                wait = RETRY_SECONDS if delivery.stopped else None
            except OSError as error:
                log.warning("proxy.send_failed", error=type(error).__name__)
                wait = RETRY_SECONDS
            self._bell.wait(wait)
            self._bell.clear()

    async def close(self) -> None:
        """Stop; what is not sent stays in the spool for the next start, a hook or `longtail spool flush`."""
        self._closing.set()
        self._bell.set()
        self._sender.join(timeout=SEND_SECONDS)
        await self._http.aclose()


def _trim(table: "OrderedDict[Any, Any]") -> None:
    while len(table) > MOST_KNOWN:
        table.popitem(last=False)
