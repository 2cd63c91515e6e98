"""Links of a stretch of Markdown that lead to other documents or sections, found in linear time.

The full inline grammar is not needed to find an edge, and its worst case is not linear. This scanner knows
what changes the answer: escapes, code spans, bracket nesting, images and reference definitions.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import unquote

from models.domain.rules.tiers import Link

# What the scanner stops at: an escape, 1 backticks, 2 a wiki link, 3 an opening and 4 a closing bracket.
# "[[1]](notes.md)" is an ordinary link with brackets in its text, hence no "(" after a wiki link.
_STOP: Final = re.compile(r"\\.|(`+)|!?\[\[([^\[\]\n]+)\]\](?!\()|(!?\[)|(\])", re.DOTALL)
_TICKS: Final = re.compile(r"`+")
_DESTINATION: Final = re.compile(
    r"\(\s*(?!\s)(?:<([^<>\n]*)>|((?:[^\s()<>\\]|\\.|\([^\s()]*\))*))"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_LABEL: Final = re.compile(r"\[([^\[\]]*)\]")
_ELSEWHERE: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]+:|//"
)  # a URL scheme or host: not one of our documents
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


def normalize_label(label: str) -> str:
    """Return a reference label as CommonMark compares it: white space collapsed, case folded.

    >>> normalize_label(" Style  Guide")
    'style guide'
    """
    return " ".join(label.split()).casefold()


def find_links(text: str, references: Mapping[str, str]) -> tuple[Link, ...]:
    """Return the links to documents and sections in source order, each once; images and URLs are left out.

    `references` maps normalised labels to destinations, for `[text][label]` and `[label]`.

    >>> [link.target for link in find_links("[a](b.md#c), [[Page|alias]], [x](https://e.org)", {})]
    ['b.md', 'Page']
    """
    found: dict[Link, None] = {}
    runs = _group_tick_runs(text)
    brackets: list[
        tuple[int, bool]
    ] = []  # where the text of an open bracket starts, and whether it is an image
    newest_opening = 0
    position = 0
    while (stop := _STOP.search(text, position)) is not None:
        position = stop.end()
        link: Link | None = None
        match stop.lastindex:
            case 1:
                position = _skip_code_span(runs, position - stop.start(), position)
            case 2:
                link = _read_wiki(stop[2])
            case 3:
                newest_opening = position
                brackets.append((position, text[stop.start()] == "!"))
            case 4 if brackets:
                start, is_image = brackets.pop()
                # A label holds no brackets, so only the innermost pair can be one.
                inside = text[start : stop.start()] if start == newest_opening else ""
                destination, position = _read_destination(text, inside, position, references)
                if destination is not None and not is_image:
                    link = _read_markdown(destination)
        if link is not None:
            found.setdefault(link)
    return tuple(found)


def _group_tick_runs(text: str) -> dict[int, list[int]]:
    """Return where the backtick runs of each length end, so that a code span finds its end by bisection."""
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text):
        runs.setdefault(run.end() - run.start(), []).append(run.end())
    return runs


def _skip_code_span(runs: Mapping[int, list[int]], length: int, position: int) -> int:
    ends = runs.get(length, [])
    index = bisect_right(ends, position)
    return ends[index] if index < len(ends) else position  # unclosed backticks are plain text


def _read_destination(
    text: str, inside: str, position: int, references: Mapping[str, str]
) -> tuple[str | None, int]:
    """Return where the bracket that closed before `position` leads, and where to go on reading."""
    inline = _DESTINATION.match(text, position)
    if inline is not None:
        raw = inline[2] if inline[1] is None else inline[1]
        return _ESCAPE.sub(r"\1", raw), inline.end()
    if not references:
        return None, position
    label = _LABEL.match(text, position)
    if label is not None:  # `[text][label]`, or `[label][]`
        return references.get(normalize_label(label[1] or inside)), label.end()
    return references.get(normalize_label(inside)), position


def _read_markdown(destination: str) -> Link | None:
    if _ELSEWHERE.match(destination):
        return None
    target, _, fragment = destination.partition("#")  # first: an escaped %23 is part of a file name
    return _make_link(unquote(target), unquote(fragment), "markdown")


def _read_wiki(inside: str) -> Link | None:
    # In a table the alias bar is escaped, and that backslash is no part of the page name.
    target, _, fragment = inside.partition("|")[0].removesuffix("\\").partition("#")
    return _make_link(target, fragment, "wiki")


def _make_link(target: str, fragment: str, style: Literal["markdown", "wiki"]) -> Link | None:
    target, fragment = target.strip(), fragment.strip()
    if not target and not fragment:
        return None
    return Link(target=target, fragment=fragment or None, style=style)
