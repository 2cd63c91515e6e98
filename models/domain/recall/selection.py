"""Which ranked items only repeat a better one (memory-model.md section 7)."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Two texts this close say the same thing; the same bound merges durable memories (section 5).
DUPLICATE_COSINE = 0.95

_MARK = re.compile(
    r"\d[\d.,:/-]*(?<=\d)|\b(?:no|not|never|none|nobody|nothing|without|cannot|[a-z]{2,8}n't)\b"
)


def find_marks(text: str) -> frozenset[str]:
    """The numbers and the negations of a text: two texts that differ in these do not say the same.

    An encoder hardly sees the difference between 900 and 950, or between "do" and "do not".

    >>> find_marks("Rent is 950 now") == find_marks("Rent is 900 now")
    False
    >>> sorted(find_marks("I don't eat 2.5 eggs, and NOT 3"))
    ['2.5', '3', "don't", 'not']
    """
    return frozenset(_MARK.findall(text.replace("’", "'").lower()))


def unit_vector(vector: NDArray[np.floating[Any]] | None) -> NDArray[np.float64] | None:
    """The direction of a vector, of length 1; None when it has none (missing, zero, not finite).

    >>> unit_vector(np.array([0.0, -5.0])), unit_vector(np.zeros(2))
    (array([ 0., -1.]), None)
    """
    if vector is None:
        return None
    flat = np.asarray(vector, dtype=np.float64).ravel()
    if not flat.size or not np.isfinite(flat).all():
        return None
    largest = float(np.abs(flat).max())
    if largest == 0.0:
        return None
    scaled = flat / largest  # first, so that squaring can neither overflow nor vanish
    return scaled / float(np.linalg.norm(scaled))


def find_repeats(
    texts: Sequence[str],
    vectors: NDArray[np.floating[Any]] | None = None,
    *,
    duplicate_cosine: float = DUPLICATE_COSINE,
) -> dict[int, int]:
    """Which texts, best first, only repeat a better one: {its place: the place of the one that says it already}.

    `vectors` holds a unit row for each text; a row of zeros is like nothing.

    >>> find_repeats(["Tea.", "Milk.", " tea. "])
    {2: 0}
    >>> find_repeats(["Rent is 900", "The rent is 900", "Rent is 950"], np.array([[1.0, 0], [1, 0], [1, 0]]))
    {1: 0}
    """
    close: dict[int, list[int]] = {}
    if vectors is not None and len(vectors):
        for later, earlier in np.argwhere(np.tril(vectors @ vectors.T >= duplicate_cosine, k=-1)).tolist():
            close.setdefault(later, []).append(earlier)
    by_text: dict[str, int] = {}
    repeats: dict[int, int] = {}
    for place, text in enumerate(texts):
        original = by_text.setdefault(" ".join(text.split()).casefold(), place)
        if original == place and place in close:
            marks = find_marks(text)
            same = (
                other for other in close[place] if other not in repeats and find_marks(texts[other]) == marks
            )
            original = next(same, place)
        if original != place:
            repeats[place] = repeats.get(original, original)
    return repeats
