"""A small honest encoder for tests and trials: hashed words and letter triples, no files, no model.

Texts that share words, or most letters of a word, get similar vectors; meaning beyond that is not seen.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from models.encoders.protocol import EncoderFingerprint
from models.encoders.windows import split_into_windows

if TYPE_CHECKING:
    from models.encoders.protocol import Vectors

DIMENSIONS: Final = 64
MAX_WORDS: Final = 64  # a window; small, so that tests meet texts of several windows early
OVERLAP_WORDS: Final = 8
TRIPLE_WEIGHT: Final = 0.3  # a shared word counts for more than the triples of a similar one
SHORT_WORD_WEIGHT: Final = 0.3  # up to three letters: "the", "and", "is" say little about a text
SCHEME: Final = "crc32 signed buckets; words and letter triples; version 1"  # change it and vectors differ
_WORD: Final = re.compile(r"\w{1,64}")  # longer runs are cut: a cached word stays small


class ToyEncoder:
    """Feature hashing: every word and letter triple adds its weight, with a sign, to one of 64 buckets."""

    def __init__(self) -> None:
        self.name = "toy"
        self.dimensions = DIMENSIONS
        self.fingerprint = EncoderFingerprint(
            name=self.name,
            model_sha256=hashlib.sha256(SCHEME.encode()).hexdigest(),
            dimensions=DIMENSIONS,
            pooling="sum",
            normalisation="l2",
            max_tokens=MAX_WORDS,
            tokenizer_sha256=hashlib.sha256(_WORD.pattern.encode()).hexdigest(),
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit row per text, (n, 64) float32, of the first 64 words of each."""
        return _stack([_embed(_split_words(text)[:MAX_WORDS]) for text in texts])

    def encode_windows(self, texts: Sequence[str]) -> list[Vectors]:
        """Returns (w, 64) unit rows per text, windows of 64 words that share 8."""
        found = []
        for text in texts:
            words = _split_words(text)
            cuts = split_into_windows(len(words), size=MAX_WORDS, overlap=OVERLAP_WORDS)
            found.append(_stack([_embed(words[cut.start : cut.stop]) for cut in cuts]))
        return found

    def encode_phrasing(self, texts: Sequence[str]) -> Vectors:
        """Returns the rows of `encode`: there are no layers."""
        return self.encode(texts)


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _stack(rows: Sequence[Vectors]) -> Vectors:
    return np.stack(rows) if rows else np.empty((0, DIMENSIONS), dtype=np.float32)


def _embed(words: Sequence[str]) -> Vectors:
    """Returns the unit vector of the words; of none at all, the vector of the empty word."""
    buckets = [0.0] * DIMENSIONS
    for word in words or [""]:
        for bucket, weight in _hash_word(word):
            buckets[bucket] += weight
    row = np.array(buckets, dtype=np.float32)
    length = float(np.linalg.norm(row))
    if length == 0.0:  # opposite signs may cancel out; a unit row is promised
        return _embed([])
    return row / np.float32(length)


@lru_cache(maxsize=4096)
def _hash_word(word: str) -> tuple[tuple[int, float], ...]:
    """Returns (bucket, signed weight) of the word and of its letter triples, spelled ^word$."""
    word_weight = SHORT_WORD_WEIGHT if 0 < len(word) <= 3 else 1.0
    marked = f"^{word}$"
    weighted = [(f"w {word}", word_weight)]
    if len(word) > 3:
        weighted += [(marked[at : at + 3], TRIPLE_WEIGHT) for at in range(len(marked) - 2)]
    return tuple(_hash_feature(feature, weight) for feature, weight in weighted)


def _hash_feature(feature: str, weight: float) -> tuple[int, float]:
    # surrogatepass: a lone surrogate is hashed like any other letter.
    value = crc32(feature.encode("utf-8", "surrogatepass"))
    return (value >> 1) % DIMENSIONS, weight if value & 1 else -weight
