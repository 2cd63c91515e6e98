"""Statements of many turns compared with each other, and the order in which the newer and the older are shown."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.domain.updates.claims import Claim, read_claims
from models.domain.updates.decision import decide

MOST_COMPARED: Final = 16  # older claims that one is compared with: those that share most with it
Encode = Callable[[Sequence[str]], NDArray[np.floating[Any]]]


class Statement(NamedTuple):
    """Something said: by whom, when (seconds since 1970), in which words."""

    speaker: str
    said_at: float
    text: str


def find_superseded(statements: Sequence[Statement], encode: Encode | None = None) -> dict[int, int]:
    """Which statements a newer one of the same speaker replaces: {place of the older: place of the newest such}.

    Without an encoder, two sentences are as alike as the share of their words.

    >>> said = ["My rent for the flat is 900 euros", "My rent for the flat is 950 euros", "I went to Rome"]
    >>> find_superseded([Statement("ann", day, text) for day, text in enumerate(said)])
    {0: 1}
    """
    order = sorted(range(len(statements)), key=lambda place: statements[place].said_at)
    claims = [(place, claim) for place in order for claim in read_claims(statements[place].text)]
    vectors = encode([claim.text for _, claim in claims]) if encode is not None and claims else None
    replaced: dict[int, int] = {}
    for earlier, later in _pair_claims(claims, statements):
        (older, was), (newer, now) = claims[earlier], claims[later]
        alike = _share_words(was, now) if vectors is None else float(vectors[earlier] @ vectors[later])
        if decide(was, now, alike) is not None:
            replaced[older] = newer  # in the order of time: the newest is the last
    return dict(sorted(replaced.items()))


def _pair_claims(
    claims: Sequence[tuple[int, Claim]], statements: Sequence[Statement]
) -> Iterator[tuple[int, int]]:
    """Places of claims that share words or attributes, the earlier first."""
    holding: dict[tuple[str, str], list[int]] = {}
    for later, (place, claim) in enumerate(claims):
        keys = [
            (statements[place].speaker, word) for word in (*claim.words, *claim.attributes, *claim.subjects)
        ]
        found = Counter(earlier for key in keys for earlier in holding.get(key, ()))
        for earlier, _ in found.most_common(MOST_COMPARED):
            if statements[claims[earlier][0]].said_at < statements[place].said_at:
                yield earlier, later
        for key in keys:
            holding.setdefault(key, []).append(later)


def _share_words(one: Claim, other: Claim) -> float:
    fewer = min(len(one.words), len(other.words))
    return len(one.words & other.words) / fewer if fewer else 0.0


def put_newer_first(order: Sequence[str], superseded: Mapping[str, str]) -> tuple[str, ...]:
    """The ranked ids, each newer statement before the older one it replaces: it takes the better of the two places.

    >>> put_newer_first(("old", "other", "new"), {"old": "new"})
    ('new', 'old', 'other')
    """
    placed: dict[str, None] = {}
    for key in order:
        chain = [key]
        while chain[-1] in superseded and superseded[chain[-1]] not in chain:
            chain.append(superseded[chain[-1]])
        for one in reversed(chain):
            placed.setdefault(one)
    return tuple(placed)
