"""OpenClaw's transcript events as turns, the same from its database and from its older files.

Ids, words and sessions are those of our plugin, so what it sent already is known: a message is named by its role and its
time, a tool call is told in the words of the message that makes it, and a reset begins another session.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from api.importers.reading import keep_said, text_of
from api.importers.records import Dropped, Finding
from api.importers.sources.openclaw_noise import identify_key, is_heartbeat, name_errand, name_noise

ROLES: Final = {
    "user": "user",
    "assistant": "assistant",
    "toolResult": "tool",
    "tool": "tool",
    "system": "system",
}
MAX_ARGUMENT_CHARS: Final = 2000
Event = tuple[str, dict[str, Any] | Dropped]  # a place and what stands there
Message = tuple[str, str, dict[str, Any], dict[str, Any]]  # role, words, message, event


class EventReader:
    """One session's events, an exchange at a time: whether it is a heartbeat shows only at its end."""

    def __init__(self, session_id: str, *, session_key: str | None, agent_id: str | None) -> None:
        self._session_id = session_id
        self._key = session_key
        self._identity = identify_key(session_key) or ({"agent_id": agent_id} if agent_id else {})
        self._resets = 0
        self._ids: Counter[str] = Counter()
        self._exchange: list[Message] = []

    def read(self, events: Iterable[Event]) -> Iterator[Finding]:
        """What the events hold, in their order."""
        errand = name_errand(self._key)
        for where, event in events:
            if isinstance(event, Dropped):
                yield event
                continue
            kind = event.get("type")
            if kind == "session":
                self._session_id = text_of(event.get("id")) or self._session_id
            elif kind == "reset":
                yield from self._close()
                self._resets += 1
                self._ids.clear()
            elif kind in ("compaction", "branch_summary"):  # it may be a list, which no set holds
                yield Dropped("the host's own summary")
            elif kind != "message":
                yield (
                    Dropped("bookkeeping of the host")
                    if text_of(kind)
                    else Dropped("of no known type", where)
                )
            elif errand:
                yield Dropped(f"{errand} session")
            else:
                yield from self._read_message(event, where)
        yield from self._close()

    def _read_message(self, event: dict[str, Any], where: str) -> Iterator[Finding]:
        message = event.get("message")
        if not isinstance(message, dict):
            yield Dropped("without a message", where)
            return
        role = ROLES.get(str(message.get("role")))
        if role is None:
            is_custom = message.get("role") == "custom"
            yield (
                Dropped("put in by the host or a plugin") if is_custom else Dropped("of no known role", where)
            )
            return
        if role == "user":
            yield from self._close()
        texts, dropped = _read_content(message.get("content"))
        yield from dropped
        self._exchange.append((role, "\n".join(texts), message, event))

    def _close(self) -> Iterator[Finding]:
        exchange, self._exchange = self._exchange, []
        if is_heartbeat([(role, text) for role, text, _, _ in exchange]):
            yield from (Dropped("heartbeat") for _ in exchange)
            return
        for role, text, message, event in exchange:
            noise = name_noise(role, text, message)
            if noise:
                yield Dropped(noise)
                continue
            facts = {"tool_call_id": call} if (call := text_of(message.get("toolCallId"))) else {}
            yield from keep_said(
                session_id=f"{self._session_id}.{self._resets}" if self._resets else self._session_id,
                role=role,
                text=text,
                id=self._name(role, message, event),
                time=message.get("timestamp") or event.get("timestamp"),
                name=text_of(message.get("toolName")),
                metadata={"host": "openclaw", **facts},
                identity=self._identity,
            )

    def _name(self, role: str, message: dict[str, Any], event: dict[str, Any]) -> str:
        """The id that our plugin gives the message; two of one millisecond are two."""
        found = text_of(message.get("id"))
        if found is None:
            call = f":{message['toolCallId']}" if message.get("toolCallId") else ""
            time = message.get("timestamp")
            found = f"{role}:{time}{call}" if isinstance(time, int) else f"entry:{event.get('id')}"
        self._ids[found] += 1
        return found if self._ids[found] == 1 else f"{found}#{self._ids[found]}"


def _read_content(content: object) -> tuple[list[str], list[Finding]]:
    """The words of a message, and what in it is none."""
    if isinstance(content, str):
        return [content], []
    texts: list[str] = []
    dropped: list[Finding] = []
    for block in content if isinstance(content, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str):
            texts.append(block)
        elif kind == "text":
            texts.append(str(block.get("text") or ""))
        elif kind == "toolCall":
            given = json.dumps(block.get("arguments") or {}, ensure_ascii=False, separators=(",", ":"))
            texts.append(f"[calls {block.get('name')}: {given[:MAX_ARGUMENT_CHARS]}]")
        elif kind == "image":
            texts.append("[image]")
        else:
            dropped.append(Dropped("thinking" if kind == "thinking" else "content of no known type"))
    return [text for text in texts if text], dropped
