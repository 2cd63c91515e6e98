"""One assembly in the shape a host sends on: OpenAI messages, Anthropic system and messages, or single parts.

Whatever the shape, what we inject is the same text, in the same order, byte for byte: joined, it is `text`, and what
`text` costs is what the budget paid. The stable part goes where a prompt cache looks first (the system prompt), the
volatile part beside the newest message, with no more trust than a user has.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from api.assemble.schemas import AssembleIn, MessageIn, PartOut
from models.domain.prompt.assembly import Assembly
from models.domain.prompt.rendering import AUTHORED, Layout

Message = dict[str, Any]
CACHE_BREAKPOINT: Final = {"type": "ephemeral"}  # of at most four in a request; we set two
SEAM: Final = "\n"  # between a host's own system prompt and our block; it costs the host nothing but this


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the answer holds besides `text`."""

    system: list[Message] | None = None
    messages: list[Message] | None = None
    parts: list[PartOut] | None = None


def choose_layout(request: AssembleIn) -> Layout:
    """Two blocks, stable and volatile; with `parts`, a block for each section, because each may stand alone."""
    return "each" if request.format == "parts" else "two"


def shape_answer(assembly: Assembly, request: AssembleIn) -> Shape:
    """The assembly in the format that was asked for."""
    match request.format:
        case "messages":
            return Shape(messages=to_openai(assembly, request.messages or ()))
        case "anthropic":
            system, messages = to_anthropic(assembly, request.messages or ())
            return Shape(system=system, messages=messages)
        case "parts":
            return Shape(parts=to_parts(assembly))
        case _:
            return Shape()


def to_openai(assembly: Assembly, shown: Sequence[MessageIn]) -> list[Message]:
    """The host's messages with ours in them: one system message at the front, and words before the newest user message.

    One system message, because chat templates of many models refuse a second: a host's own comes first in it.
    """
    messages: list[Message] = [{"role": message.role, "content": message.content} for message in shown]
    if assembly.stable:
        if messages and messages[0]["role"] in {"system", "developer"}:
            own = messages[0]["content"]
            messages[0]["content"] = _join(own, assembly.stable)
        else:
            messages.insert(0, {"role": "system", "content": assembly.stable})
    if assembly.volatile:
        newest = _find_newest(messages)
        if newest is None:
            messages.append({"role": "user", "content": assembly.volatile})
        else:
            messages[newest]["content"] = assembly.volatile + messages[newest]["content"]
    return messages


def to_anthropic(assembly: Assembly, shown: Sequence[MessageIn]) -> tuple[list[Message], list[Message]]:
    """System blocks and messages. A cache looks for whole blocks, so what stays is a block for each piece of the tail.

    Breakpoints: after the authored rules, which hold for long, and after the newest turn of the tail, where the next
    prompt finds everything up to it. The closing tags stand behind it, because they move.
    """
    system = [_to_block(message.content) for message in shown if _is_system(message) and message.content]
    system += _cut_stable(assembly)
    messages: list[Message] = [
        {
            "role": "assistant" if message.role == "assistant" else "user",
            "content": [_to_block(message.content)],
        }
        for message in shown
        if not _is_system(message) and message.content
    ]
    if assembly.volatile:
        newest = _find_newest(messages)
        if newest is None:
            messages.append({"role": "user", "content": [_to_block(assembly.volatile)]})
        else:
            messages[newest]["content"].insert(0, _to_block(assembly.volatile))
    return system, messages


def to_parts(assembly: Assembly) -> list[PartOut]:
    """Each section as a block of its own, with how far to trust it and whether it stays from turn to turn."""
    return [
        PartOut(
            section=part.section.name,  # type: ignore[arg-type]  # one of the five by SECTIONS
            trust=part.section.trust,
            is_stable=part.section.is_stable,
            text=part.text,
            sha256=hash_text(part.text),
            chars=len(part.text),
        )
        for part in assembly.parts
    ]


def measure_stable_prefix(assembly: Assembly) -> int:
    """How many characters of the stable part stand before its closing tags: the next one begins with them, unless cut."""
    pieces = [piece for part in assembly.parts if part.section.is_stable for piece in part.pieces]
    return sum(map(len, pieces[:-1]))


def hash_text(text: str) -> str:
    """SHA-256 of the text in UTF-8, as hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def _cut_stable(assembly: Assembly) -> list[Message]:
    blocks: list[Message] = []
    for part in assembly.parts:
        if not part.section.is_stable:
            continue
        if part.section is AUTHORED:
            blocks.append(_to_block(part.text, is_breakpoint=True))
            continue
        opening, *turns, closing = part.pieces
        turns[0] = opening + turns[0]
        blocks += [_to_block(turn) for turn in turns[:-1]]
        blocks += [_to_block(turns[-1], is_breakpoint=True), _to_block(closing)]
    return blocks


def _to_block(text: str, *, is_breakpoint: bool = False) -> Message:
    block: Message = {"type": "text", "text": text}
    return {**block, "cache_control": CACHE_BREAKPOINT} if is_breakpoint else block


def _is_system(message: MessageIn) -> bool:
    return message.role in {"system", "developer"}


def _find_newest(messages: Sequence[Message]) -> int | None:
    """The newest message of the user."""
    return max((index for index, message in enumerate(messages) if message["role"] == "user"), default=None)


def _join(own: str, ours: str) -> str:
    return own + ours if not own or own.endswith("\n") else own + SEAM + ours
