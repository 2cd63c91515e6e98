"""Notes kept as Markdown: each paragraph and each item of a list is one note, under the headings it stands below."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
ITEM: Final = re.compile(r"(?:[-*+]|\d+[.)])\s+")
FENCE: Final = re.compile(r"\s*(?:```|~~~)")


class Note(NamedTuple):
    """One note: the line it begins in, the headings above it, its words."""

    line: int
    headings: tuple[str, ...]
    text: str


def split_notes(markdown: str) -> Iterator[Note]:
    """The notes of a page, in order; code stays with what it belongs to.

    >>> [note.text for note in split_notes("# Home\\n- Tea, no sugar\\n- Cat: Miso\\n\\nRent is due on the 1st.")]
    ['- Tea, no sugar', '- Cat: Miso', 'Rent is due on the 1st.']
    """
    headings: list[tuple[int, str]] = []
    lines: list[str] = []
    began = 1
    is_code = False

    def close() -> Iterator[Note]:
        text = "\n".join(lines).strip("\n")
        lines.clear()
        if text.strip():
            yield Note(began, tuple(words for _, words in headings), text)

    for number, line in enumerate(markdown.splitlines(), start=1):
        heading = None if is_code else HEADING.match(line)
        if heading:
            yield from close()
            depth = len(heading[1])
            headings[:] = [
                *((level, words) for level, words in headings if level < depth),
                (depth, heading[2]),
            ]
            continue
        if not is_code and (not line.strip() or ITEM.match(line)):
            yield from close()
        if FENCE.match(line):
            is_code = not is_code
        if not lines:
            began = number
        lines.append(line)
    yield from close()
