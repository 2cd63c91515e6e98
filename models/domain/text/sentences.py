"""Cuts a text into sentences: what an extractive summary may quote (memory-model.md section 8).

A line is a border: list items, code and log lines stand alone, and in chat a new line starts a new sentence.
"""

import re
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
    pieces: list[str] = []
    start = 0
    for match in _END.finditer(line):
        if match.group() == "." and _ABBREVIATION.search(
            line, max(start, match.start() - _LONGEST_ABBREVIATION), match.end()
        ):
            continue
        pieces.append(line[start : match.end()])
        start = match.end()
    pieces.append(line[start:])
    return [plain for piece in pieces if (plain := _SPACE.sub(" ", piece).strip())]
