"""A document as clients of an older daemon count it: every block that says something has a number, headings too.

That daemon's parser made one block of a list item with all that is nested in it, and kept no marks of Markdown in texts.
Ours cuts finer (`markdown.py`); this says which of its blocks each of ours lies in.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from markdown_it.token import Token

from models.documents.lines import count_front_matter_lines, split_lines
from models.documents.markdown import parse_tokens

KIND_OF_NODE: Final = {
    "front_matter": "YAMLFrontmatter",
    "list_item": "List",
    "block_quote": "Blockquote",
    "heading": "Heading",
    "code_fence": "CodeBlock",
    "code_block": "CodeBlock",
    "html": "HTMLBlock",
}
OTHER_KIND: Final = "Paragraph"
_KIND_OF_TOKEN: Final = {
    "heading_open": "Heading",
    "paragraph_open": OTHER_KIND,
    "table_open": OTHER_KIND,
    "blockquote_open": "Blockquote",
    "fence": "CodeBlock",
    "code_block": "CodeBlock",
    "html_block": "HTMLBlock",
}
_VERBATIM: Final = frozenset({"fence", "code_block", "html_block"})
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_STARS: Final = re.compile(r"(?<![\w*])\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?![\w*])")
_LINES_BELOW: Final = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")
_FENCE: Final = re.compile(r"^(?:---|\.\.\.)\s*$", re.MULTILINE)
_HOP_TARGETS: Final = re.compile(
    r"^hop_targets:[ \t]*(?P<inline>.*)\n?(?P<below>(?:[ \t]*-[ \t]+.*\n?|[ \t]*\n)*)", re.M
)
MAX_CACHED: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineBlock:
    """One numbered block and where it begins."""

    ordinal: int
    kind: str
    start: int  # the first byte of its first line
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The numbered blocks of a document, and where its front matter says recall may hop to."""

    blocks: tuple[OutlineBlock, ...]
    hop_targets: tuple[str, ...]

    def find(self, start: int) -> OutlineBlock | None:
        """The block that a byte lies in."""
        index = bisect_right([block.start for block in self.blocks], start)
        return self.blocks[index - 1] if index else None


@lru_cache(maxsize=MAX_CACHED)
def read_outline(text: str) -> Outline:
    """The outline of a document.

    >>> [(b.ordinal, b.kind, b.text) for b in read_outline("# A\\n\\n- *one*\\n  - two\\n\\n> said\\n").blocks]
    [(0, 'Heading', 'A'), (1, 'List', 'one two'), (2, 'Blockquote', 'said')]
    """
    lines = split_lines(text)
    body_line = count_front_matter_lines(lines)
    found: list[tuple[str, int, str]] = []
    targets: tuple[str, ...] = ()
    if body_line:
        front = text[: lines.ends[body_line - 1]]
        found.append(("YAMLFrontmatter", 0, make_plain("front_matter", front)))
        targets = read_hop_targets(front)
    if body_line < len(lines):
        tokens = parse_tokens(text[lines.starts[body_line] :])
        for index, token in enumerate(tokens):
            kind = _KIND_OF_TOKEN.get(token.type) if token.level == 0 else None
            if token.type == "list_item_open" and token.level == 1:
                kind = "List"
            if kind is not None and token.map is not None:
                words = _join(_inner(tokens, index))
                found.append((kind, lines.byte_starts[token.map[0] + body_line], words))
    said = [one for one in found if one[2]]
    blocks = tuple(
        OutlineBlock(ordinal=ordinal, kind=kind, start=start, text=words)
        for ordinal, (kind, start, words) in enumerate(said)
    )
    return Outline(blocks=blocks, hop_targets=targets)


def make_plain(kind: str, body: str) -> str:
    """The words of one of our blocks, without the marks of Markdown.

    >>> make_plain("list_item", "  - Use **tabs**, see [style](style.md)."), make_plain("thematic_break", "---")
    ('Use tabs, see style.', '')
    """
    if kind == "front_matter":
        return _FENCE.sub("", body.removeprefix("\ufeff")).strip()
    return _join(parse_tokens(body.lstrip(" \t") if kind == "list_item" else body))


def read_hop_targets(front_matter: str) -> tuple[str, ...]:
    """The targets that front matter names: one, a list in brackets, or a list below.

    >>> read_hop_targets('---\\nhop_targets: [a.md#000001, "b"]\\n---'), read_hop_targets("hop_targets:\\n  - a\\n")
    (('a.md#000001', 'b'), ('a',))
    """
    found = _HOP_TARGETS.search(front_matter)
    if found is None:
        return ()
    inline = found["inline"].strip()
    parts = inline[1:-1].split(",") if inline.startswith("[") and inline.endswith("]") else [inline]
    parts += [line.strip()[1:] for line in found["below"].splitlines() if line.strip()]
    return tuple(dict.fromkeys(cleaned for part in parts if (cleaned := part.strip().strip("\"'"))))


def _inner(tokens: list[Token], index: int) -> list[Token]:
    """A block's own tokens, from its opening to its end."""
    opening = tokens[index]
    if opening.nesting != 1:
        return [opening]
    end = index + 1
    while tokens[end].level > opening.level:
        end += 1
    return tokens[index:end]


def _join(tokens: list[Token]) -> str:
    if len(tokens) == 1 and tokens[0].type in _VERBATIM:
        return tokens[0].content.strip()
    parts = [
        token.content if token.type in _VERBATIM else _strip_inline(token.content)
        for token in tokens
        if token.type == "inline" or token.type in _VERBATIM
    ]
    return " ".join(" ".join(parts).split())


def _strip_inline(text: str) -> str:
    text = _LINK.sub(r"\1", text).replace("`", "")
    return _LINES_BELOW.sub("", _STARS.sub("", text))
