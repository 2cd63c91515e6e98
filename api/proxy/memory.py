"""What the proxy asks of memory and what it leaves there; both fail open, and neither makes the model wait for long.

Turns go through the spool of `api.host`: kept on disk first, sent by a thread, in order, once each. A program sends its
whole history with every call, so a turn is known by role, words and how often the same was said before.
"""

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
from api.proxy.dialects import Message

log = structlog.get_logger(__name__)
PAUSE_AFTER_FAILURE_SECONDS: Final = 5.0  # that no call waits for a memory that was away a moment ago
SEND_SECONDS: Final = 10.0
RETRY_SECONDS: Final = 5.0
MOST_KNOWN: Final = (
    50_000  # turns and prompts remembered in the process; more only cost a repeated, harmless send
)
MOST_SHOWN: Final = 500  # newest messages that memory is told the model sees


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
        named = [(key, message) for key, message in name_turns(messages) if message.text.strip()]
        newest = next(((key, one) for key, one in reversed(named) if one.role == "user"), None)
        if newest is None or time.monotonic() < self._away_until:
            return Injection()
        place = (conversation.session_id, newest[0])
        if place not in self._prompts:
            try:
                self._prompts[place] = await self._assemble(conversation, newest[1].text, named)
            except (httpx.HTTPError, ValueError, KeyError) as error:
                self._away_until = time.monotonic() + PAUSE_AFTER_FAILURE_SECONDS
                log.warning("proxy.memory_away", error=type(error).__name__)
                return Injection()
            _trim(self._prompts)
        return self._prompts[place]

    async def _assemble(
        self, conversation: Conversation, query: str, named: Sequence[tuple[str, Message]]
    ) -> Injection:
        request = {
            "session_id": conversation.session_id,
            "user_id": conversation.user_id,
            "query": query[:200_000],
            "budget_tokens": self._budget_tokens,
            "deadline_ms": self._deadline_ms,
            "messages": [
                {"id": key, "role": message.role, "content": message.text}
                for key, message in named[-MOST_SHOWN:]
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
        turns: list[dict[str, Any]] = []
        for key, message in name_turns(said):
            place = (conversation.session_id, key)
            if message.text.strip() and place not in self._sent:
                turn: dict[str, Any] = {"id": key, "role": message.role, "content": message.text}
                turns.append(turn | ({"name": message.name} if message.name else {}))
                self._sent[place] = None
        _trim(self._sent)
        if not turns:
            return
        body: dict[str, Any] = {"turns": turns}
        if conversation.user_id:
            body["user_id"] = conversation.user_id
        path = f"/v1/sessions/{quote(conversation.session_id)}/turns"
        try:
            if not self._spool.append({"path": path, "body": body}):
                log.error("proxy.spool_full", bytes=self._spool.max_bytes)
        except OSError as error:
            log.error("proxy.spool_failed", error=type(error).__name__)
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
