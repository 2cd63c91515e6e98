"""Globs over paths relative to a folder: `*` within a name, `**` over folders, a bare name at any depth."""

import re
from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=512)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression over a path with `/` between its parts.

    A pattern without `/` is compared with the last name; one that ends in `/` means everything below.

    >>> bool(compile_glob("*.md").fullmatch("notes/day.md")), bool(compile_glob("/*.md").fullmatch("notes/day.md"))
    (True, False)
    >>> bool(compile_glob("docs/**/draft-?.md").fullmatch("docs/a/b/draft-1.md"))
    True
    """
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        pattern = "**/" + pattern
    parts = pattern.removeprefix("/").split("/")
    expression = ""
    for position, part in enumerate(parts):
        is_last = position == len(parts) - 1
        if part == "**":
            expression += ".+" if is_last else "(?:[^/]+/)*"
        else:
            expression += _translate_name(part) + ("" if is_last else "/")
    return re.compile(expression, re.DOTALL)


def _translate_name(part: str) -> str:
    """One name of a pattern: `*`, `?` and `[…]` never reach over a `/`."""
    expression = ""
    position = 0
    while position < len(part):
        character = part[position]
        position += 1
        if character == "*":
            expression += "[^/]*"
        elif character == "?":
            expression += "[^/]"
        elif character == "[" and (end := part.find("]", position + 1)) > 0:
            inner = part[position:end].replace("\\", r"\\").replace("[", r"\[")
            inner = "^/" + inner[1:] if inner.startswith(("!", "^")) else inner
            expression += f"(?!/)[{inner}]"
            position = end + 1
        else:
            expression += re.escape(character)
    return expression


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path fits one of the patterns."""
    return any(compile_glob(pattern).fullmatch(path) for pattern in patterns)
