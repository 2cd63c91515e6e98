"""What a text costs in tokens: the counter, and the estimate that needs no files (memory-model section 3)."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final, Protocol


class TokenCounter(Protocol):
    """Says what a text costs; every cache key over a count holds the counter's id."""

    @property
    def id(self) -> str:
        """Name of this way of counting: two counters with one id agree on every text."""

    def count(self, text: str) -> int:
        """Tokens that the text costs, 0 for the empty text."""


class Script(IntEnum):
    """How densely a text packs meaning into code points; a larger member costs more per code point."""

    PLAIN = 0
    CYRILLIC_ARABIC_HEBREW = 1
    CJK = 2


# χ, code points per token, as exact fractions (code points, tokens): 4.0, 2.5 and 1.6 of memory-model
# section 3. Integers, because 1.6 has no exact binary form and a count must not depend on rounding.
CODE_POINTS_PER_TOKENS: Final[dict[Script, tuple[int, int]]] = {
    Script.PLAIN: (4, 1),
    Script.CYRILLIC_ARABIC_HEBREW: (5, 2),
    Script.CJK: (8, 5),
}

# Whole Unicode blocks where a block is one script; single code points where it is mixed.
_CJK: Final = (
    "\u1100-\u11ff\u3131-\u318e\u3200-\u321e\u3260-\u327e\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"  # Hangul
    "\u3041-\u309f\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357\uff66-\uff9f"  # kana
    "\U0001aff0-\U0001afff\U0001b000-\U0001b16f"  # kana of the supplementary plane
    "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00016ff0-\U00016ff1\U00020000-\U0003fffd"  # Han: reading marks, and all of planes 2 and 3
)
_CYRILLIC_ARABIC_HEBREW: Final = (
    "\u0400-\u052f\u1c80-\u1c8f\u1d2b\u1d78\u2de0-\u2dff\ua640-\ua69f\ufe2e-\ufe2f\U0001e030-\U0001e08f"
    # Arabic ends at FEFC: FEFF is the byte order mark, which says nothing about the script.
    "\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010e60-\U00010e7f\U00010ec0-\U00010eff\U0001ee00-\U0001eeff"
    "\u0590-\u05ff\ufb1d-\ufb4f"
)
# One character class each, no repetition: a search reads every code point at most once.
_FIND_CJK: Final = re.compile(f"[{_CJK}]")
_FIND_COSTLIER_THAN_PLAIN: Final = re.compile(f"[{_CJK}{_CYRILLIC_ARABIC_HEBREW}]")
_ASCII: Final = bytes(range(128))


def detect_script(text: str) -> Script:
    """Returns the costliest script with at least one code point in the text.

    >>> detect_script("plan"), detect_script("план"), detect_script("план 計画")
    (<Script.PLAIN: 0>, <Script.CYRILLIC_ARABIC_HEBREW: 1>, <Script.CJK: 2>)
    """
    if text.isascii():
        return Script.PLAIN
    # Most of a text is ASCII and says nothing here; bytes lose it ten times as fast as a pattern passes over it.
    telling = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    first = _FIND_COSTLIER_THAN_PLAIN.search(telling)
    if first is None:
        return Script.PLAIN
    # Nothing before the first hit can be CJK, so the second search starts there.
    if _FIND_CJK.search(telling, first.start()) is None:
        return Script.CYRILLIC_ARABIC_HEBREW
    return Script.CJK


def estimate_tokens(code_points: int, script: Script) -> int:
    """Returns ⌈code points / χ⌉ for the χ of the script.

    >>> [estimate_tokens(10, script) for script in Script]
    [3, 4, 7]
    """
    per_code_points, tokens = CODE_POINTS_PER_TOKENS[script]
    return -(-code_points * tokens // per_code_points)


class CharsCounter:
    """Estimates ⌈code points / χ⌉, χ chosen by the costliest script of the whole text; needs no files.

    One CJK character reprices the whole text, so counts do not add up over parts: use RunningCount.

    >>> CharsCounter().count("hello world"), CharsCounter().count("hello 世界"), CharsCounter().count("")
    (3, 5, 0)
    """

    __slots__ = ()

    @property
    def id(self) -> str:
        return "chars"

    def count(self, text: str) -> int:
        return estimate_tokens(len(text), detect_script(text))


class RunningCount:
    """Counts a growing text exactly as CharsCounter would count all of it, reading each part once.

    >>> running = RunningCount()
    >>> running.add("hello ")
    >>> running.total, running.would_be("世界"), running.total
    (2, 5, 2)
    """

    __slots__ = ("_code_points", "_script", "total")

    def __init__(self) -> None:
        self._code_points = 0
        self._script = Script.PLAIN
        self.total = 0  # cost of everything added so far, as one text

    def would_be(self, text: str) -> int:
        """Returns what `total` would be after adding the text, and adds nothing."""
        return estimate_tokens(self._code_points + len(text), max(self._script, detect_script(text)))

    def add(self, text: str) -> None:
        """Appends the text."""
        self._script = max(self._script, detect_script(text))
        self._code_points += len(text)
        self.total = estimate_tokens(self._code_points, self._script)


class SummedCount:
    """Sums what a counter says of each part: exact where no token of the whole crosses a seam.

    A tokenizer that merges or splits across a seam makes the whole a little cheaper or dearer than
    the sum, so whoever promises a bound counts the joined text once at the end.
    """

    __slots__ = ("_counter", "_total")

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._total = 0

    @property
    def total(self) -> int:
        """Sum over the parts added so far."""
        return self._total

    def would_be(self, text: str) -> int:
        """Returns what `total` would be after adding the text, and adds nothing."""
        return self._total + self._counter.count(text)

    def add(self, text: str) -> None:
        """Appends the text."""
        self._total += self._counter.count(text)


def start_count(counter: TokenCounter) -> RunningCount | SummedCount:
    """Returns an empty count to grow under this counter: exact for `chars`, a sum of parts for the others.

    >>> type(start_count(CharsCounter())).__name__
    'RunningCount'
    """
    return RunningCount() if isinstance(counter, CharsCounter) else SummedCount(counter)
