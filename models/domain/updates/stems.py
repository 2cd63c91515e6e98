"""Words without their endings, as claims are compared: no stemmer, both sides lose the same."""

from typing import Final

from models.domain.updates.patterns import ENDINGS

DOUBLING: Final = ("ing", "ed")  # "run", "running"
DOUBLED: Final = frozenset("bdgmnprt")


def strip_ending(word: str) -> str:
    """A word without its ending, so that "coins" is "coin".

    >>> strip_ending("coins"), strip_ending("running"), strip_ending("calls"), strip_ending("is")
    ('coin', 'run', 'call', 'is')
    """
    word = word.removesuffix("'s")
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word.removesuffix(ending)
            is_doubled = ending in DOUBLING and stem[-1] == stem[-2] and stem[-1] in DOUBLED
            return stem[:-1] if is_doubled and len(stem) > 3 else stem
    return word
