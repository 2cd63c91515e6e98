"""Items of the OpenAI Agents SDK as raw turns, and back again exactly.

The words of an item are the content of a turn, so that memory reads what was said; whatever else the item holds travels
beside them as JSON in ASCII, in which half characters and NUL pass unharmed. What is too large for one turn is several.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longtail_client.answers import Turn
from longtail_client.request import clean_text

KEY = "openai_agents"  # in a turn's metadata
MOST_METADATA_CHARS = 60_000  # the service keeps 65,536 characters of JSON beside a turn
MOST_CONTENT_CHARS = 220_000  # at four bytes each still less than a turn may have
ROLE_OF = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
}
Item = dict[str, Any]


@dataclass(frozen=True)
class KeptItem:
    """An item as it was added, when, and the ids of the turns that hold it."""

    item: Item
    id: str
    stamp: int
    turn_ids: tuple[str, ...]


def to_turns(item: Mapping[str, Any], *, item_id: str, stamp: int) -> list[dict[str, Any]]:
    """The turns an item becomes: mostly one."""
    role, words, place = _read_words(item)
    clean = clean_text(words)
    pieces = _split(clean)
    rest = json.dumps({**item, place: None}) if place else ""
    whole = json.dumps(dict(item))
    first: dict[str, Any]
    if place and pieces and clean == words and all(piece.strip() for piece in pieces) and _fits(rest):
        parts = [(role, piece) for piece in pieces]
        first = {"json": rest, "words_in": place}
    else:
        shown = pieces[0] if pieces and pieces[0].strip() else f"[{item.get('type') or 'empty message'}]"
        parts = [(role, shown)]
        first = {"json": whole}
        if not _fits(whole):
            parts += [("tool", json.dumps(piece)) for piece in _split(whole)]
            first = {}
    return [
        {
            "id": f"{item_id}.{number}",
            "role": role,
            "content": content,
            "metadata": {
                KEY: {"item": item_id, "stamp": stamp, "part": number, "parts": len(parts)}
                | (first if number == 0 else {})
            },
        }
        for number, (role, content) in enumerate(parts)
    ]


def from_turns(turns: Iterable[Turn]) -> list[KeptItem]:
    """The items that turns hold, in the order they were added; an item that lacks a part is left out."""
    found: dict[str, dict[int, Turn]] = {}
    for turn in turns:
        if isinstance(about := turn.metadata.get(KEY), Mapping):
            found.setdefault(str(about["item"]), {})[int(about["part"])] = turn
    kept = (_join(item_id, parts) for item_id, parts in found.items())
    return [one for one in kept if one is not None]


def _join(item_id: str, parts: Mapping[int, Turn]) -> KeptItem | None:
    if 0 not in parts or len(parts) < int(parts[0].metadata[KEY]["parts"]):
        return None
    about = parts[0].metadata[KEY]
    contents = [parts[number].content for number in sorted(parts)]
    if about.get("json") is None:
        item = json.loads("".join(json.loads(content) for content in contents[1:]))
    else:
        item = json.loads(about["json"])
        if place := about.get("words_in"):
            item[place] = "".join(contents)
    ids = tuple(f"{item_id}.{number}" for number in sorted(parts))
    return KeptItem(item=item, id=item_id, stamp=int(about["stamp"]), turn_ids=ids)


def read_text(content: object) -> str:
    """The words of a message's content, whatever its shape.

    >>> read_text([{"type": "input_text", "text": "look at this"}, {"type": "input_image", "image_url": "…"}])
    'look at this'
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    texts = (one.get("text") for one in content if isinstance(one, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _read_words(item: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """Who speaks, the words, and the field that holds exactly them, if one does."""
    kind = item.get("type")
    if kind in (None, "message"):
        role = ROLE_OF.get(str(item.get("role")), "tool")  # an unknown speaker is trusted least
        content = item.get("content")
        return role, read_text(content), "content" if isinstance(content, str) else None
    if kind == "function_call":
        return "assistant", f"{item.get('name')}({item.get('arguments')})", None
    if kind == "function_call_output":
        output = item.get("output")
        return "tool", read_text(output), "output" if isinstance(output, str) else None
    return "tool", read_text(item.get("summary") or item.get("content")), None


def _fits(text: str) -> bool:
    return len(json.dumps(text)) <= MOST_METADATA_CHARS


def _split(text: str) -> list[str]:
    return [text[start : start + MOST_CONTENT_CHARS] for start in range(0, len(text), MOST_CONTENT_CHARS)]


def in_groups(
    turns: Sequence[dict[str, Any]], *, most: int = 900, most_chars: int = 2_000_000
) -> Iterator[list[Any]]:
    """Turns in groups that one call may hold."""
    group: list[Any] = []
    chars = 0
    for turn in turns:
        size = len(turn["content"]) + MOST_METADATA_CHARS
        if group and (len(group) >= most or chars + size > most_chars):
            yield group
            group, chars = [], 0
        group.append(turn)
        chars += size
    if group:
        yield group
