"""What the best matches say in other words than the question's: a passage that says it too is about the same (section 7).

The words of the first few hits are taken as more words of the question, the rarer among the candidates the heavier. Facts
that belong together, and are asked for together, are often told in the same words on different days.
"""

import math
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.domain.text.terms import STOP_WORDS

BEST_HITS: Final = 8  # whose words are read as more words of the question
SHARED_WORDS: Final = 20  # of these words, the heaviest
MIN_HOLDING: Final = 2  # candidates that hold such a word: one alone shares it with nobody
MIN_WORD_CHARS: Final = 3
READ_CHARS: Final = 300  # of a passage: its beginning says what it is about, and long ones are slow to read

# Not `extract_terms`: every candidate of every prompt is read here, and that takes twenty times as long.
_TO_BLANKS: Final = {
    **{code: " " for code in range(128) if not chr(code).isalnum()},
    **dict.fromkeys(map(ord, "’‘“”…–—«»¿¡、。，！？"), " "),
}


def measure_echo(
    texts: Sequence[str], strength: NDArray[np.float64], *, asked: AbstractSet[str] = frozenset()
) -> NDArray[np.float64]:
    """For each text the weight of the words that the best of them hold, over the largest such weight: in [0, 1].

        v(w) = Σ strength of the best hits with w · ln(1 + (N − n + ½)/(n + ½))      n of N texts hold w
        echo = Σ v(w) over the heaviest words of the text, divided by its maximum

    `strength` is how well each text matches by itself, 0 for one that lends no words; words of the question
    (`asked`) and stop words are left out.

    >>> said = ["I bought a kiln for pottery.", "My pottery teacher fired the kiln.", "It rained."]
    >>> measure_echo(said, np.array([0.9, 0.1, 0.1])).round(2).tolist()
    [1.0, 1.0, 0.0]
    """
    silent = np.zeros(len(texts))
    order = sorted(range(len(texts)), key=lambda place: (-strength[place], texts[place]))
    best = [place for place in order[:BEST_HITS] if strength[place] > 0]
    if not best:
        return silent
    words = [text[:READ_CHARS].lower().translate(_TO_BLANKS).split() for text in texts]
    lent: dict[str, float] = {}
    for place in best:
        for word in set(words[place]):
            lent[word] = lent.get(word, 0.0) + float(strength[place])
    told = {word for word in lent if len(word) >= MIN_WORD_CHARS and word not in asked} - STOP_WORDS
    shared = [told.intersection(said) for said in words]
    holding = Counter(chain.from_iterable(shared))
    weights = {
        word: lent[word] * math.log(1 + (len(texts) - count + 0.5) / (count + 0.5))
        for word, count in holding.items()
        if count >= MIN_HOLDING
    }
    heaviest = dict(sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:SHARED_WORDS])
    echo = np.array([math.fsum(map(heaviest.__getitem__, heaviest.keys() & some)) for some in shared])
    largest = float(echo.max())
    return echo / largest if largest > 0 else silent
