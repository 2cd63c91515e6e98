"""Markdown into ordered leaf blocks with exact byte offsets, by way of a CommonMark parser with tables.

The parser says which lines belong to what; everything else here is bookkeeping over whole lines, so the blocks
and the gaps between them always add up to the file. Blocks, in source order:

- a list item is its own lines, nested items left out; text after a nested list is a further block. Code, quotes
  and headings inside an item stay with it. The indentation of its first line belongs to it, so that joined
  blocks still show the nesting;
- a block quote is one block whatever it holds; a fence, a table and an HTML block stay whole;
- a heading is no block: it is in the heading path of what it heads. One that heads nothing is a block;
- a sentence that introduces the list right below it is among the introductions of the list's items, and of nested
  items where each list between has an introduction of its own. It stays a block too.

Gaps hold blank lines, headings that head something, and a byte order mark; never anything else.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, list_block
from markdown_it.token import Token

from models.documents.cache import PartitionCache
from models.documents.lines import LineTable, count_front_matter_lines, split_lines
from models.documents.links import find_links, normalize_label
from models.domain.rules.introductions import find_introduction
from models.domain.rules.tiers import Block, Link, Partition, partition_blocks, partition_key

# A hostile file pays per line for every level, and the parser recurses. Deeper list items stay, verbatim, in the
# item at the limit; deeper quotes are text of the quote they are in.
MAX_LIST_DEPTH: Final = 16
MAX_QUOTE_DEPTH: Final = 3
_PARSER_LEVELS: Final = 2 * MAX_LIST_DEPTH + MAX_QUOTE_DEPTH + 1  # a list counts twice; this is never reached

CACHE_MAX_DOCUMENTS: Final = 64
CACHE_MAX_CHARACTERS: Final = 4_000_000

BlockRule = Callable[[StateBlock, int, int, bool], bool]

_KIND_OF_TOKEN: Final = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "blockquote_open": "block_quote",
    "fence": "code_fence",
    "code_block": "code_block",
    "html_block": "html",
    "table_open": "table",
    "hr": "thematic_break",
    "definition": "link_definition",
}
_LIST_OPENINGS: Final = frozenset({"bullet_list_open", "ordered_list_open"})
_LIST_CLOSINGS: Final = frozenset({"bullet_list_close", "ordered_list_close"})
_VERBATIM_TOKENS: Final = frozenset({"fence", "code_block", "html_block"})  # a link inside them is not a link
_LINKLESS_KINDS: Final = frozenset({"front_matter", "code_fence", "code_block", "html", "thematic_break"})
_UNCLAIMED: Final = 0


@dataclass(slots=True)
class _Heading:
    level: int
    title: str


@dataclass(slots=True)
class _Claims:
    """Which block each line belongs to. Owner 0 is nobody: blank lines, and whatever the parser passed over."""

    owner_of_line: list[int]
    is_verbatim: bytearray  # per line: code or HTML
    kinds: list[str] = field(default_factory=lambda: ["other"])
    headings: dict[int, _Heading] = field(default_factory=dict)  # by owner
    introductions: dict[int, tuple[str, ...]] = field(default_factory=dict)  # by owner, list items only
    introducers: set[int] = field(default_factory=set)  # owners that are nothing but an introduction

    def claim(self, kind: str, first: int, last: int) -> int:
        """Give lines first to last - 1 to a new owner; inner blocks come later and take theirs back."""
        owner = len(self.kinds)
        self.kinds.append(kind)
        self.owner_of_line[first:last] = [owner] * (last - first)
        return owner


def parse_markdown(text: str) -> tuple[Block, ...]:
    """Return the leaf blocks of a document in source order, without overlap.

    >>> [(b.kind, b.text, b.heading_path) for b in parse_markdown("# Style\\n\\n- Use tabs.\\n  - Always.\\n")]
    [('list_item', '- Use tabs.', ('Style',)), ('list_item', '  - Always.', ('Style',))]
    """
    lines = split_lines(text)
    claims = _Claims(owner_of_line=[_UNCLAIMED] * len(lines), is_verbatim=bytearray(len(lines)))
    body_line = count_front_matter_lines(lines)
    if body_line:
        claims.claim("front_matter", 0, body_line)
    references: dict[str, str] = {}
    if body_line < len(lines):
        env: dict[str, Any] = {}
        tokens = _PARSER.parse(text[lines.starts[body_line] :], env)
        _claim_lines(tokens, body_line, claims)
        for label, reference in env.get("references", {}).items():
            references[normalize_label(label)] = reference["href"]
    return _build_blocks(lines, claims, references)


def parse_tokens(text: str) -> list[Token]:
    """The block tokens of a Markdown text without front matter; inline text is left as it is."""
    return _PARSER.parse(text, {})


def partition_document(text: str, *, count_tokens: Callable[[str], int], tokenizer_id: str) -> Partition:
    """Return the tiers of a document, from the cache when this text was counted by this tokenizer before.

    `tokenizer_id` must name `count_tokens`: it stands for it in the cache key.
    """
    key = partition_key(text, tokenizer_id)
    partition = _CACHE.get(key)
    if partition is None:
        partition = partition_blocks(
            parse_markdown(text), count_tokens=count_tokens, tokenizer_id=tokenizer_id
        )
        _CACHE.put(key, partition, characters=len(text))
    return partition


def _claim_lines(tokens: list[Token], body_line: int, claims: _Claims) -> None:
    """Give every line to the outermost block it is in, and in lists to the innermost item."""
    quote_depth = 0
    open_lists: list[tuple[str, ...]] = []  # what introduces each, outermost first
    for index, token in enumerate(tokens):
        if token.type == "blockquote_close":
            quote_depth -= 1
        elif token.type in _LIST_CLOSINGS:
            open_lists.pop()
        elif token.type in _LIST_OPENINGS:
            introduction = _find_introduction(tokens, index)
            outer = open_lists[-1] if open_lists else ()
            open_lists.append((*outer, introduction) if introduction else ())
        if token.map is None:
            continue
        first, last = token.map[0] + body_line, token.map[1] + body_line
        if token.type in _VERBATIM_TOKENS:
            claims.is_verbatim[first:last] = b"\1" * (last - first)
        if token.type == "list_item_open" and not quote_depth:
            owner = claims.claim("list_item", first, last)
            claims.introductions[owner] = open_lists[-1]
        elif token.level == 0 and token.type in _KIND_OF_TOKEN:
            owner = claims.claim(_KIND_OF_TOKEN[token.type], first, last)
            if token.type == "heading_open":
                title = _join_lines(tokens[index + 1])
                claims.headings[owner] = _Heading(level=int(token.tag[1:]), title=title)
            elif token.type == "paragraph_open" and _is_introduction(tokens, index):
                claims.introducers.add(owner)
        if token.type == "blockquote_open":
            quote_depth += 1


def _find_introduction(tokens: list[Token], list_index: int) -> str | None:
    """Return the sentence that introduces the list opened at an index: the end of the paragraph right above it."""
    above = tokens[list_index - 1] if list_index else None
    if above is None or above.type != "paragraph_close" or above.level != tokens[list_index].level:
        return None
    return find_introduction(tokens[list_index - 2].content)


def _is_introduction(tokens: list[Token], paragraph_index: int) -> bool:
    """Say whether the paragraph opened at an index is nothing but the introduction of the list right below it."""
    below = paragraph_index + 3  # behind its text and its end
    if below >= len(tokens) or tokens[below].type not in _LIST_OPENINGS:
        return False
    return find_introduction(tokens[paragraph_index + 1].content) == _join_lines(tokens[paragraph_index + 1])


def _join_lines(inline: Token) -> str:
    return " ".join(inline.content.split())


def _build_blocks(lines: LineTable, claims: _Claims, references: dict[str, str]) -> tuple[Block, ...]:
    """Cut the lines at every change of owner and hang each block under its headings."""
    runs = list(_iter_runs(lines, claims.owner_of_line))
    idle = _find_idle_headings([owner for owner, _, _ in runs], claims)
    blocks: list[Block] = []
    path: list[_Heading] = []
    for owner, first, last in runs:
        kind = claims.kinds[owner]
        heading = claims.headings.get(owner)
        if heading is not None:
            while path and path[-1].level >= heading.level:
                path.pop()
        if heading is None or owner in idle:
            blocks.append(
                Block(
                    kind=kind,
                    start=lines.byte_starts[first],
                    end=lines.byte_ends[last - 1],
                    text=lines.text[lines.starts[first] : lines.ends[last - 1]],
                    heading_path=tuple(above.title for above in path if above.title),
                    links=()
                    if kind in _LINKLESS_KINDS
                    else _find_links(lines, first, last, claims, references),
                    introductions=claims.introductions.get(owner, ()),
                    is_introduction=owner in claims.introducers,
                )
            )
        if heading is not None:
            path.append(heading)
    return tuple(blocks)


def _iter_runs(lines: LineTable, owner_of_line: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (owner, first line, line after the last) for each run of one owner, blank lines at its ends cut off."""
    first = 0
    for owner, group in itertools.groupby(owner_of_line):
        end = first + sum(1 for _ in group)
        written = [first, end]
        while written[0] < written[1] and lines.is_blank(written[0]):
            written[0] += 1
        while written[0] < written[1] and lines.is_blank(written[1] - 1):
            written[1] -= 1
        if written[0] < written[1]:
            yield owner, written[0], written[1]
        first = end


def _find_idle_headings(owners: list[int], claims: _Claims) -> set[int]:
    """Return the headings that head nothing: a heading of equal or higher rank follows at once, or the end.

    A thematic break between sections is nothing to head.
    """
    idle: set[int] = set()
    waiting: int | None = None
    for owner in owners:
        heading = claims.headings.get(owner)
        if heading is not None:
            if waiting is not None and claims.headings[waiting].level >= heading.level:
                idle.add(waiting)
            waiting = owner
        elif claims.kinds[owner] != "thematic_break":
            waiting = None
    if waiting is not None:
        idle.add(waiting)
    return idle


def _find_links(
    lines: LineTable, first: int, last: int, claims: _Claims, references: dict[str, str]
) -> tuple[Link, ...]:
    prose = "\n".join(lines.line(index) for index in range(first, last) if not claims.is_verbatim[index])
    return find_links(prose, references) if "]" in prose else ()


def _limit_depth(rule: BlockRule, max_depth: int) -> BlockRule:
    """Return the rule of a container that declines to open one more level: what is deeper is text of its parent.

    The parser's own nesting limit would instead give the rest of the file to the container at the limit.
    """
    key = f"depth of {rule.__name__}"

    def limited_rule(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        if silent:  # a question whether a paragraph ends here; nothing is opened
            return rule(state, start_line, end_line, silent)
        depth: int = state.env.get(key, 0)
        if depth >= max_depth:
            return False
        state.env[key] = depth + 1
        try:
            return rule(state, start_line, end_line, silent)
        finally:
            state.env[key] = depth

    return limited_rule


def _make_parser() -> MarkdownIt:
    """Return a block parser: inline text is not parsed, for nothing here needs it and its worst case is slow."""
    parser = MarkdownIt("commonmark", {"maxNesting": _PARSER_LEVELS, "inline_definitions": True})
    parser.enable("table").disable(["inline", "text_join"])
    ruler = parser.block.ruler
    ruler.at(
        "list", _limit_depth(list_block, MAX_LIST_DEPTH), {"alt": ["paragraph", "reference", "blockquote"]}
    )
    ruler.at(
        "blockquote",
        _limit_depth(blockquote, MAX_QUOTE_DEPTH),
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    return parser


_PARSER: Final = _make_parser()
_CACHE: Final = PartitionCache(max_documents=CACHE_MAX_DOCUMENTS, max_characters=CACHE_MAX_CHARACTERS)
