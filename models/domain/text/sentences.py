"""Cuts a text into sentences: what an extractive summary may quote (memory-model.md section 8).

A line is a border: list items, code and log lines stand alone, and in chat a new line starts a new sentence.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Final

_SPACE: Final = re.compile(r"\s+")
_MARKUP: Final = re.compile(r"^(?:[-*+•>#|]{1,6}|\d{1,3}[.)])\s+")
_FENCE: Final = re.compile(r"^(?:```|~~~)")
# An end: a mark and closing quotes, then a blank; the marks of unspaced scripts need none.
# It is looked for where a run of marks begins: from every mark of a long run, it would be read again and again.
_END: Final = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+[」』”）]*")
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\"“])(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|fig|mr|mrs|ms|dr|prof|st|jr|sr|inc|ltd|dept"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[a-z])\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION: Final = 10


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text in order, on one line each, without list marks; nothing but blanks is lost.

    >>> split_sentences("We met Dr. Chen at 3.30. It went well!\\n- fix src/app.py")
    ('We met Dr. Chen at 3.30.', 'It went well!', 'fix src/app.py')
    """
    found: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or _FENCE.match(stripped):
            continue
        found.extend(_split_line(_MARKUP.sub("", stripped)))
    return tuple(found)


def locate_sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end, list marks and fences among them: every word is in one.

    >>> text = "Be brief, e.g. in mails. Why?\\n- use tabs"
    >>> [text[start:end] for start, end in locate_sentences(text)]
    ['Be brief, e.g. in mails.', 'Why?', '- use tabs']
    """
    found: list[tuple[int, int]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        first = 0
        mark = _MARKUP.match(line.lstrip())
        marked = len(line) - len(line.lstrip()) + len(mark[0]) if mark else 0
        for end in (*_list_ends(line, marked), len(line)):
            said = line[first:end].strip()
            if said:
                begin = start + line.index(said, first)
                found.append((begin, begin + len(said)))
            first = end
        start += len(line)
    return found


def clip_words(text: str, *, max_chars: int) -> str:
    """The beginning of a text, cut between words, with an ellipsis where something is missing.

    >>> clip_words("one two three", max_chars=9), clip_words("one two", max_chars=9)
    ('one two…', 'one two')
    """
    if len(text) <= max_chars:
        return text
    if max_chars < 2:
        return ""
    head = text[: max_chars - 1]
    if not text[max_chars - 1].isspace():
        head = head.rpartition(" ")[0] or head
    return head.rstrip(" ,;:-–—") + "…"


def _split_line(line: str) -> list[str]:
    ends = [0, *_list_ends(line), len(line)]
    pieces = (line[start:end] for start, end in itertools.pairwise(ends))
    return [plain for piece in pieces if (plain := _SPACE.sub(" ", piece).strip())]


def _list_ends(line: str, start: int = 0) -> Iterator[int]:
    """Where sentences end in a line that begins at `start`, its own end left out."""
    for match in _END.finditer(line, start):
        if match.group() == "." and _ABBREVIATION.search(
            line, max(start, match.start() - _LONGEST_ABBREVIATION), match.end()
        ):
            continue
        start = match.end()
        yield start
