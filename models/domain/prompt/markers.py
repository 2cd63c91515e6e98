"""The mark on everything we inject, and how a text is read without it: what was recalled never becomes memory.

A mark is a tenant's own random word in the tag that opens a block. Only a block that bears it is ours: one with
another word, or none, is what somebody said, and is kept and escaped as such.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from models.domain.records import Turn

SECTION_NAMES: Final = ("authored", "recent_turns", "found_rules", "guidance", "recalled")
CLOSE_BLOCK: Final = "</longtail-memory>\n"

# Hosts keep what was injected as it was, or escaped for HTML or JSON. How it opens says how it closes: inside of a block
# `&lt;/longtail-memory>` is somebody's words, escaped by us, and ends nothing.
_OPENING: Final = (
    r"(?P<plain><)\s{{0,8}}longtail-memory\s{{1,8}}id=\\?[\"']?{marker}\\?[\"']?\s{{0,8}}>"
    r"|&lt;longtail-memory\s{{1,8}}id=(?:&quot;|&#34;|&#x27;|[\"'])?{marker}(?:&quot;|&#34;|&#x27;|[\"'])?&gt;"
)
_SECTION: Final = re.compile(rf"(?:[\s>]|\\n){{0,16}}(?:<|&lt;)(?:{'|'.join(SECTION_NAMES)})(?:>|&gt;)")
_CLOSE_PLAIN, _CLOSE_ESCAPED = "</longtail-memory>", "&lt;/longtail-memory&gt;"


def open_block(marker: str) -> str:
    """What a block of ours begins with.

    >>> open_block("0123456789abcdef")
    '<longtail-memory id="0123456789abcdef">\\n'
    """
    return f'<longtail-memory id="{marker}">\n'


@lru_cache(maxsize=256)
def _find_openings(marker: str) -> re.Pattern[str]:
    return re.compile(_OPENING.format(marker=re.escape(marker)))


def strip_injected(text: str, marker: str) -> str:
    """The text without the blocks that bear the marker; one without any is returned as it is.

    A block that was cut off ends with the text. A tag with no section behind it is somebody's quotation: the tag goes,
    the words around it stay.

    >>> strip_injected('<longtail-memory id="m1">\\n<recalled>\\nold\\n</recalled>\\n</longtail-memory>\\nHello', "m1")
    'Hello'
    >>> strip_injected('<longtail-memory id="forged">\\n<recalled>\\nx', "m1")
    '<longtail-memory id="forged">\\n<recalled>\\nx'
    """
    if not marker or marker not in text:
        return text
    kept: list[str] = []
    done = 0
    for opening in _find_openings(marker).finditer(text):
        if opening.start() < done:
            continue  # within a block that is gone already
        kept.append(text[done : opening.start()])
        done = opening.end()
        if _SECTION.match(text, done):
            close = _CLOSE_PLAIN if opening["plain"] else _CLOSE_ESCAPED
            end = text.find(close, done)
            done = len(text) if end < 0 else _skip_line_end(text, end + len(close))
    return "".join((*kept, text[done:])).strip() if kept else text


def _skip_line_end(text: str, place: int) -> int:
    """A block ends with its line."""
    if text.startswith("\r\n", place):
        return place + 2
    return place + 1 if text.startswith("\n", place) else place


def keep_what_was_said(turns: Iterable[Turn], marker: str) -> list[Turn]:
    """The turns without our own blocks; a turn that is nothing else was not said by anybody and is left out."""
    said = []
    for turn in turns:
        content = strip_injected(turn.content, marker)
        if content is turn.content:
            said.append(turn)
        elif content:
            said.append(replace(turn, content=content))
    return said
