"""ChatGPT's export: `conversations.json`, the folder it lies in, or the archive as it was sent.

A conversation is a tree, because messages can be edited and answers made again. What counts is the branch that was shown
last: from `current_node` up to the root. The other branches, hidden messages, tools and thinking are counted and left out.
"""

import json
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from api.importers.reading import keep_said, parse_json, text_of
from api.importers.records import Dropped, Finding, Source, Unit
from models.errors import InvalidInput

HOST: Final = "chatgpt"
SPOKEN: Final = frozenset({"text", "multimodal_text", "code"})
THINKING: Final = frozenset({"thoughts", "reasoning_recap"})


def find_units(path: Path) -> list[Unit]:
    """Each conversation is a unit of its own."""
    units = []
    for name, data in _read_files(path):
        found = parse_json(data, name)
        if isinstance(found, dict):
            found = found.get("conversations") or [found]
        if not isinstance(found, list):
            raise InvalidInput(f"{name} holds no list of conversations", remedy="name conversations.json")
        for number, conversation in enumerate(found, start=1):
            data = json.dumps(conversation).encode()
            units.append(
                Unit(
                    name=f"{name}:{_id_of(conversation) or number}",
                    size=len(data),
                    changed=zlib.crc32(data),
                    read=partial(read_conversation, conversation, f"{name}, conversation {number}"),
                )
            )
    return units


SOURCE: Final = Source(kind=HOST, find_units=find_units, agent_id=HOST)


def _read_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """`conversations.json`, or the several that a large export has."""
    if path.is_dir():
        files = sorted(path.glob("conversations*.json"))
        if not files:
            raise InvalidInput(f"{path} holds no conversations.json", remedy="name the unpacked export")
        yield from ((file.name, file.read_bytes()) for file in files)
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if Path(name).match("conversations*.json"):
                    yield name, archive.read(name)
    else:
        yield path.name, path.read_bytes()


def _id_of(conversation: object) -> str | None:
    if not isinstance(conversation, dict):
        return None
    return text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))


def read_conversation(conversation: object, where: str) -> Iterator[Finding]:
    """The branch that was shown last, in order, and how much stands beside it."""
    if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
        yield Dropped("conversation without a mapping", where)
        return
    mapping: dict[str, Any] = conversation["mapping"]
    shown = _follow(mapping, conversation.get("current_node"))
    if not shown and mapping:
        yield Dropped("conversation without a current node", where)
    session_id = f"{HOST}/{_id_of(conversation) or zlib.crc32(where.encode())}"
    title = text_of(conversation.get("title"))
    for node_id in shown:
        message = mapping[node_id].get("message")
        if isinstance(message, dict):
            yield from _read_message(message, node_id, session_id, title, conversation)
    for node_id in mapping.keys() - set(shown):
        node = mapping[node_id]
        if isinstance(node, dict) and isinstance(node.get("message"), dict):
            yield Dropped("branch that was not taken" if shown else "message outside of any branch")


def _follow(mapping: dict[str, Any], node_id: object) -> list[str]:
    """The ids from the root to the node; a tree with a cycle is followed once."""
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(node_id, str) and node_id not in seen and isinstance(mapping.get(node_id), dict):
        seen.add(node_id)
        path.append(node_id)
        node_id = mapping[node_id].get("parent")
    return path[::-1]


def _read_message(
    message: dict[str, Any], node_id: str, session_id: str, title: str | None, conversation: dict[str, Any]
) -> Iterator[Finding]:
    author, facts, content = (_part(message, key) for key in ("author", "metadata", "content"))
    role, kind = author.get("role"), content.get("content_type")
    texts, others = _read_parts(content)
    if facts.get("is_visually_hidden_from_conversation"):
        yield Dropped("hidden message")
    elif role == "system":
        yield Dropped("system message")
    elif role == "tool":
        yield Dropped("answer of a tool")
    elif kind in THINKING:
        yield Dropped("thinking")
    elif role not in {"user", "assistant"} or kind not in SPOKEN:
        yield Dropped("content of no known type", f"{session_id}, message {node_id}")
    elif role == "assistant" and message.get("recipient") not in {None, "all"}:
        yield Dropped("call of a tool")
    else:
        yield from (Dropped(other) for other in others)
        yield from keep_said(
            session_id=session_id,
            role=role,
            text="\n".join(texts),
            id=f"chatgpt:{text_of(message.get('id')) or node_id}",
            time=message.get("create_time") or conversation.get("create_time"),
            metadata={"host": HOST, **({"title": title[:500]} if title else {})},
        )


def _part(message: dict[str, Any], key: str) -> dict[str, Any]:
    found = message.get(key)
    return found if isinstance(found, dict) else {}


def _read_parts(content: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The words of a message, and what in it is none."""
    texts, others = [], []
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else [content.get("text")]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and text_of(part.get("text")):
            texts.append(part["text"])  # what was spoken, as it was transcribed
        elif isinstance(part, dict):
            others.append("image" if "image" in str(part.get("content_type")) else "attachment")
    return [text for text in texts if text], others
