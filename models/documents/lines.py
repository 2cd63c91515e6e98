"""The lines of a document with their places, in code points and in bytes; and its front matter."""

import re
from dataclasses import dataclass
from typing import Final

BYTE_ORDER_MARK: Final = "\ufeff"
_LINE: Final = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")  # the line endings of CommonMark, and no others
_BLANKS: Final = " \t"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTable:
    """A document cut at its line ends; line i is `text[starts[i]:ends[i]]`, its terminator left out.

    A byte order mark belongs to no line.
    """

    text: str
    starts: list[int]  # code points
    ends: list[int]
    byte_starts: list[int]
    byte_ends: list[int]

    def __len__(self) -> int:
        return len(self.starts)

    def line(self, index: int) -> str:
        """Return one line without its terminator."""
        return self.text[self.starts[index] : self.ends[index]]

    def is_blank(self, index: int) -> bool:
        """Say whether a line holds nothing but spaces and tabs."""
        return not self.line(index).strip(_BLANKS)


def split_lines(text: str) -> LineTable:
    """Return where each line starts and ends. A final line end opens no further line.

    Raises UnicodeEncodeError on lone surrogates: such a text has no byte offsets.

    >>> split_lines("é\\r\\nb").byte_starts
    [0, 4]
    """
    starts: list[int] = []
    ends: list[int] = []
    byte_starts: list[int] = []
    byte_ends: list[int] = []
    is_ascii = text.isascii()
    position = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    offset = len(text[:position].encode())
    while position < len(text):
        match = _LINE.match(text, position)
        assert match is not None  # every part of the pattern may be empty
        end = match.end(1)
        width = end - position if is_ascii else len(match[1].encode())
        starts.append(position)
        ends.append(end)
        byte_starts.append(offset)
        byte_ends.append(offset + width)
        offset += width + (match.end() - end)  # terminators are ASCII: one byte a character
        position = match.end()
    return LineTable(text=text, starts=starts, ends=ends, byte_starts=byte_starts, byte_ends=byte_ends)


def count_front_matter_lines(lines: LineTable) -> int:
    """Return how many leading lines are YAML front matter, its fences included; 0 when there is none.

    It opens with `---` on the first line, closes with `---` or `...`, and looks like a mapping: the first
    line inside is not blank and some line has a key. Otherwise `---` is a thematic break and hides no text.

    >>> count_front_matter_lines(split_lines("---\\ntitle: x\\n---\\nbody"))
    3
    """
    if not len(lines) or lines.line(0).rstrip(_BLANKS) != "---":
        return 0
    has_key = False
    for index in range(1, len(lines)):
        line = lines.line(index).rstrip(_BLANKS)
        if line in ("---", "..."):
            return index + 1 if has_key else 0
        if index == 1 and not line:
            return 0
        has_key = has_key or ": " in line or line.endswith(":")
    return 0
