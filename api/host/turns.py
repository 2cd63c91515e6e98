"""Turns as hosts hand them over: ids that make a second sending harmless, and words the API can take."""

from __future__ import annotations

import time
from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_TURN_BYTES = 900_000  # below LONGTAIL_MAX_TURN_BYTES (1 MiB): a longer text becomes several turns


def name_user_turn(prompt_id: str) -> str:
    """The id of a user's prompt, the same from a hook and from an imported transcript."""
    return f"{prompt_id}:user"


def name_assistant_turn(prompt_id: str, text: str) -> str:
    """The id of one of the answers to a prompt; a prompt may have several.

    >>> name_assistant_turn("p1", "Done.")
    'p1:assistant:5-8e019ac6'
    """
    data = text.encode("utf-8", "replace")
    return f"{prompt_id}:assistant:{len(data)}-{crc32(data):08x}"


def name_agent_session(session_id: str, agent_id: str) -> str:
    """The session of a sub-agent: its own, below its parent's."""
    return f"{session_id}/agent-{agent_id}"


def clean_text(text: str) -> str:
    """The text without what PostgreSQL and UTF-8 cannot hold; each such character becomes U+FFFD.

    >>> clean_text("a\\ud800b\\x00")
    'a\\ufffdb\\ufffd'
    """
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    return text


def cut_text(text: str, *, most_bytes: int = MAX_TURN_BYTES) -> list[str]:
    """The text in pieces of at most so many bytes, cut at a line end where one is near; joined they are the text.

    >>> cut_text("one\\ntwo\\n", most_bytes=5)
    ['one\\n', 'two\\n']
    """
    pieces = []
    while len(text.encode()) > most_bytes:
        piece = text.encode()[:most_bytes].decode("utf-8", "ignore")
        line_end = piece.rfind("\n") + 1
        if line_end > len(piece) // 2:
            piece = piece[:line_end]
        pieces.append(piece)
        text = text[len(piece) :]
    return [*pieces, text] if text or not pieces else pieces


def build_turns(
    *,
    role: str,
    text: str,
    id: str,
    ts: str | None = None,
    name: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """The turn, or several where the text is too long for one; none for a text without words."""
    text = clean_text(text)
    if not text.strip():
        return []
    pieces = [piece for piece in cut_text(text) if piece.strip()]
    turns = []
    for number, piece in enumerate(pieces, start=1):
        turn: dict[str, Any] = {"role": role, "content": piece, "id": id if number == 1 else f"{id}:{number}"}
        if ts:
            turn["ts"] = ts
        if name:
            turn["name"] = clean_text(name)[:512]
        if metadata or len(pieces) > 1:
            part = {"part": number, "parts": len(pieces)} if len(pieces) > 1 else {}
            turn["metadata"] = {**(metadata or {}), **part}
        turns.append(turn)
    return turns


def format_now() -> str:
    """This moment, as RFC 3339 in UTC with milliseconds."""
    now = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
