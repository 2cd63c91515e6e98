"""The three request formats a program may speak: what was said in one, where memory goes, and what the model answered.

Each dialect reads and changes plain JSON as it came; what it does not know stays as it is. A message's words are its text
parts; images and other parts pass by untouched.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

MOST_CACHE_MARKS: Final = 4  # Anthropic refuses a request with more
SEAM: Final = "\n\n"
TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})
ROLES: Final = frozenset({"user", "assistant", "tool"})
OLDER_ROLES: Final = {"function": "tool"}  # what tools were called before


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What somebody said: role and words."""

    role: str
    text: str
    name: str | None = None


class Dialect(Protocol):
    """One request format."""

    path: str

    def read_messages(self, body: Mapping[str, Any]) -> list[Message]: ...
    def inject(self, body: dict[str, Any], *, stable: str, volatile: str) -> dict[str, Any]: ...
    def read_answer(self, answer: Mapping[str, Any]) -> str: ...
    def read_stream(self, events: Iterator[Mapping[str, Any]]) -> str: ...


def words_of(content: object) -> str:
    """The text of a message's content, whether a string or a list of parts.

    >>> words_of([{"type": "text", "text": "Hi"}, {"type": "image_url"}])
    'Hi'
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part for part in content if isinstance(part, dict) and part.get("type") in TEXT_TYPES)
    return "\n".join(str(part.get("text") or "") for part in parts)


def _read_role(message: Mapping[str, Any]) -> str:
    role = message.get("role", "")
    return str(OLDER_ROLES.get(role, role))


def _call_line(name: object, arguments: object) -> str:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"[calls {name}({given})]"


def _put_before(message: dict[str, Any], text: str, *, part_type: str) -> None:
    """Put words before those of a message; parts that must come first (results of tools) stay first."""
    content = message.get("content")
    if isinstance(content, list):
        kinds = [part.get("type") if isinstance(part, dict) else None for part in content]
        place = next((i for i, kind in enumerate(kinds) if kind in TEXT_TYPES), len(content))
        content.insert(place, {"type": part_type, "text": text})
    else:
        message["content"] = text + SEAM + str(content or "")


def _find_newest(messages: list[Any]) -> dict[str, Any] | None:
    """The newest message in which a user says something."""
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == "user" and words_of(message.get("content")):
            return message
    return None


class ChatCompletions:
    """OpenAI's `POST /v1/chat/completions`."""

    path = "/chat/completions"

    def read_messages(self, body: Mapping[str, Any]) -> list[Message]:
        """What was said, oldest first; a call of a tool is a line of the assistant's."""
        return [
            Message(role=role, text=self._words(message), name=message.get("name"))
            for message in body.get("messages") or ()
            if isinstance(message, dict) and (role := _read_role(message)) in ROLES
        ]

    @staticmethod
    def _words(message: Mapping[str, Any]) -> str:
        calls = [
            call.get("function") or {} for call in message.get("tool_calls") or () if isinstance(call, dict)
        ]
        lines = [words_of(message.get("content"))]
        lines += [_call_line(call.get("name"), call.get("arguments")) for call in calls]
        return "\n".join(line for line in lines if line)

    def inject(self, body: dict[str, Any], *, stable: str, volatile: str) -> dict[str, Any]:
        """The request with memory in it: one system message at the front, and words before the newest user's."""
        changed = copy.deepcopy(body)
        messages = changed["messages"]
        if stable:
            first = messages[0] if messages else {}
            if first.get("role") in {"system", "developer"}:
                if isinstance(first.get("content"), list):
                    first["content"].append({"type": "text", "text": stable})
                else:
                    first["content"] = str(first.get("content") or "") + SEAM + stable
            else:
                messages.insert(0, {"role": "system", "content": stable})
        newest = _find_newest(messages)
        if volatile and newest is not None:
            _put_before(newest, volatile, part_type="text")
        return changed

    def read_answer(self, answer: Mapping[str, Any]) -> str:
        """The first choice's words."""
        choices: list[dict[str, Any]] = answer.get("choices") or [{}]
        return self._words(choices[0].get("message") or {})

    def read_stream(self, events: Iterator[Mapping[str, Any]]) -> str:
        """The first choice's words, put together from their pieces."""
        text: list[str] = []
        calls: dict[int, dict[str, str]] = {}
        for event in events:
            for choice in (event.get("choices") or ())[:1]:
                delta = choice.get("delta") or {}
                text.append(delta.get("content") or "")
                for piece in delta.get("tool_calls") or ():
                    call = calls.setdefault(piece.get("index", 0), {"name": "", "arguments": ""})
                    for key, value in (piece.get("function") or {}).items():
                        call[key] = call.get(key, "") + (value or "")
        lines = ["".join(text), *(_call_line(call["name"], call["arguments"]) for call in calls.values())]
        return "\n".join(line for line in lines if line)


class Responses:
    """OpenAI's `POST /v1/responses`."""

    path = "/responses"

    def read_messages(self, body: Mapping[str, Any]) -> list[Message]:
        """What was said, oldest first."""
        given = body.get("input")
        if isinstance(given, str):
            return [Message(role="user", text=given)]
        return [found for item in given or () if isinstance(item, dict) for found in self._read_item(item)]

    @staticmethod
    def _read_item(item: Mapping[str, Any]) -> Iterator[Message]:
        match item.get("type", "message"):
            case "message" if item.get("role") in ROLES:
                yield Message(role=item["role"], text=words_of(item.get("content")))
            case "function_call":
                yield Message(role="assistant", text=_call_line(item.get("name"), item.get("arguments")))
            case "function_call_output":
                output = item.get("output")
                text = output if isinstance(output, str) else words_of(output) or json.dumps(output)
                yield Message(role="tool", text=text)

    def inject(self, body: dict[str, Any], *, stable: str, volatile: str) -> dict[str, Any]:
        """The request with memory in it: `instructions` longer by what is stable, words before the newest user's."""
        changed = copy.deepcopy(body)
        if stable:
            own = changed.get("instructions")
            changed["instructions"] = f"{own}{SEAM}{stable}" if own else stable
        if volatile and isinstance(changed.get("input"), str):
            changed["input"] = volatile + SEAM + changed["input"]
        elif volatile:
            newest = _find_newest(changed.get("input") or [])
            if newest is not None:
                _put_before(newest, volatile, part_type="input_text")
        return changed

    def read_answer(self, answer: Mapping[str, Any]) -> str:
        """The words of the output's messages, and its calls of tools."""
        items = (item for item in answer.get("output") or () if isinstance(item, dict))
        return "\n".join(
            message.text
            for item in items
            for message in self._read_item({"role": "assistant", **item})
            if message.text
        )

    def read_stream(self, events: Iterator[Mapping[str, Any]]) -> str:
        """The finished answer that the last event holds; else its words, put together."""
        text: list[str] = []
        for event in events:
            if event.get("type") in {"response.completed", "response.incomplete"}:
                return self.read_answer(event.get("response") or {})
            if event.get("type") == "response.output_text.delta":
                text.append(str(event.get("delta") or ""))
        return "".join(text)


class AnthropicMessages:
    """Anthropic's `POST /v1/messages`."""

    path = "/messages"

    def read_messages(self, body: Mapping[str, Any]) -> list[Message]:
        """What was said, oldest first; results of tools are messages of their own."""
        found = []
        for message in body.get("messages") or ():
            if not isinstance(message, dict) or message.get("role") not in ROLES:
                continue
            found += [Message(role="tool", text=text) for text in self._read_results(message.get("content"))]
            if text := self._words(message.get("content")):
                found.append(Message(role=message["role"], text=text))
        return found

    @staticmethod
    def _read_results(content: object) -> list[str]:
        blocks = content if isinstance(content, list) else []
        results = (
            block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_result"
        )
        return [text for block in results if (text := words_of(block.get("content")))]

    @staticmethod
    def _words(content: object) -> str:
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        calls = [
            _call_line(block.get("name"), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        return "\n".join(line for line in (words_of(content), *calls) if line)

    def inject(self, body: dict[str, Any], *, stable: str, volatile: str) -> dict[str, Any]:
        """The request with memory in it: a system block behind the caller's, marked for the cache while a mark is left."""
        changed = copy.deepcopy(body)
        if stable:
            own = changed.get("system")
            blocks = own if isinstance(own, list) else [{"type": "text", "text": own}] if own else []
            block: dict[str, Any] = {"type": "text", "text": stable}
            if _count_marks(changed) < MOST_CACHE_MARKS:
                block["cache_control"] = {"type": "ephemeral"}
            changed["system"] = [*blocks, block]
        newest = _find_newest(changed.get("messages") or [])
        if volatile and newest is not None:
            _put_before(newest, volatile, part_type="text")
        return changed

    def read_answer(self, answer: Mapping[str, Any]) -> str:
        """The words of the answer's blocks, and its calls of tools."""
        return self._words(answer.get("content"))

    def read_stream(self, events: Iterator[Mapping[str, Any]]) -> str:
        """The same, put together from their pieces."""
        blocks: dict[int, dict[str, Any]] = {}
        for event in events:
            place = event.get("index", 0)
            if event.get("type") == "content_block_start":
                blocks[place] = {**(event.get("content_block") or {}), "pieces": []}
            elif event.get("type") == "content_block_delta" and place in blocks:
                delta = event.get("delta") or {}
                blocks[place]["pieces"].append(delta.get("text") or delta.get("partial_json") or "")
        lines = []
        for block in blocks.values():
            pieces = "".join(block["pieces"])
            if block.get("type") == "tool_use":
                lines.append(_call_line(block.get("name"), pieces))
            elif block.get("type") == "text":
                lines.append(str(block.get("text") or "") + pieces)
        return "\n".join(line for line in lines if line)


def _count_marks(value: object) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(_count_marks, value.values()))
    return sum(map(_count_marks, value)) if isinstance(value, list) else 0


DIALECTS: Final[tuple[Dialect, ...]] = (ChatCompletions(), Responses(), AnthropicMessages())


def find_dialect(method: str, path: str) -> Dialect | None:
    """The dialect of a call that memory has something to say to, by its path.

    >>> find_dialect("POST", "/v1/messages").path, find_dialect("POST", "/v1/messages/count_tokens")
    ('/messages', None)
    """
    if method != "POST":
        return None
    return next((dialect for dialect in DIALECTS if path.rstrip("/").endswith(dialect.path)), None)


# What reading a body of another shape than a dialect's own raises; such a call goes on as it came.
SHAPELESS: Final = (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError)


def inject(dialect: Dialect, body: dict[str, Any], *, stable: str, volatile: str) -> dict[str, Any] | None:
    """The request with memory in it; None where it has no shape that memory fits into."""
    try:
        return dialect.inject(body, stable=stable, volatile=volatile)
    except SHAPELESS:
        return None


def read_events(stream: bytes) -> Iterator[Mapping[str, Any]]:
    """The JSON events of a stream of server-sent events; what is no JSON (`[DONE]`) is passed over.

    >>> list(read_events(b'event: x\\ndata: {"a": 1}\\n\\ndata: [DONE]\\n\\n'))
    [{'a': 1}]
    """
    for line in stream.decode("utf-8", "replace").splitlines():
        if line.startswith("data:"):
            try:
                event = json.loads(line[5:])
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event
