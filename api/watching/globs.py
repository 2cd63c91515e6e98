"""Globs over paths relative to a folder, as `.gitignore` spells them."""

from collections.abc import Iterable
from functools import lru_cache

from pathspec import GitIgnoreSpec


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path fits the patterns: `*` within a name, `**` over folders, a name without `/` at any depth.

    >>> matches_any("notes/day.md", ["*.md"]), matches_any("notes/day.md", ["/*.md"])
    (True, False)
    >>> matches_any("docs/a/b/draft-1.md", ["docs/**/draft-?.md"])
    True
    """
    return _compile(tuple(patterns)).match_file(path)


@lru_cache(maxsize=512)
def _compile(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(patterns)
