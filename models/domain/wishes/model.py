"""What the cues and the vectors of a sentence are worth: whether a user means it to last (memory-model.md section 9).

Three scores, all fitted by `python -m bench.rules.training` and shipped as data (`wishes.npz`):

weigh_cues   bias + Σ weight of each cue, for structure alone. From `strict` on a sentence is a wish at once, where
             the next agrees (from SECONDED on).
weigh_words  the same for cues and words together. From `floor` on a sentence is worth an encoding, and from `alone` on it
             is a wish where no vector can be had.
score        b + Σ αᵢ·[k(s, sᵢ) + k(c, cᵢ) + ½·k(t, tᵢ)], kernel regression with k(x, y) = exp(−2(1 − cos)) over
             how the sentence is put (the encoder's early layer, less the mean of all sentences), its cues and words
             (tf-idf) and its turn's vector. A wish from `between_people` on, and
             from `to_assistant` on where an assistant is spoken to: there wishes are five times as frequent.
"""

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
MODEL_FILE: Final = "wishes.npz"
SHARPNESS: Final = 2.0
TURN_SHARE: Final = 0.5
SECONDED: Final = 1.2  # "From now on you must always send every API key …" weighs 1.3 with its words


@dataclass(frozen=True, slots=True, kw_only=True)
class WishModel:
    """The fitted numbers: weights for cues and words, and the sentences that draw the line."""

    encoder_digest: str  # of the encoder whose vectors `score` may read
    floor: float
    strict: float
    alone: float
    between_people: float
    to_assistant: float
    bias: float
    weights: Mapping[str, float]
    word_bias: float
    word_weights: Mapping[str, float]
    places: Mapping[str, int]  # of the cues and words that `score` compares
    rarity: Vector  # log inverse frequency of each
    middle: Vector  # the mean of the sentences' vectors, which every sentence has in common
    sentences: Vector  # less the middle, a row for each support vector
    turns: Vector
    cue_starts: NDArray[np.int64]  # rows of `cue_places` and `cue_shares` by support vector
    cue_places: NDArray[np.int64]
    cue_shares: Vector
    signs: Vector  # αᵢ
    intercept: float

    def weigh_cues(self, cues: Iterable[str]) -> float:
        """Return bias + Σ weights; cues without a weight count nothing."""
        return self.bias + math.fsum(self.weights.get(cue, 0.0) for cue in cues)

    def weigh_words(self, cues: Iterable[str]) -> float:
        """Return bias + Σ weights of cues and words."""
        return self.word_bias + math.fsum(self.word_weights.get(cue, 0.0) for cue in cues)

    def score(self, cues: Iterable[str], sentence: Vector, turn: Vector) -> float:
        """Return the distance from the line that the support vectors draw; positive speaks for a wish."""
        ours = np.zeros(len(self.rarity), dtype=np.float32)
        known = [self.places[cue] for cue in cues if cue in self.places]
        ours[known] = self.rarity[known]
        ours /= max(float(np.linalg.norm(ours)), 1e-6)
        likeness = np.add.reduceat(ours[self.cue_places] * self.cue_shares, self.cue_starts)
        put = centre_rows(sentence[np.newaxis], self.middle)[0]
        kernel = _liken(self.sentences @ put) + _liken(likeness) + TURN_SHARE * _liken(self.turns @ turn)
        return float(kernel @ self.signs) + self.intercept


def centre_rows(rows: Vector, middle: Vector) -> Vector:
    """Return what sets each row apart from the middle, as unit rows."""
    apart = rows - middle
    unit: Vector = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-6)
    return unit


def _liken(cosines: Vector) -> Vector:
    likeness: Vector = np.exp(-SHARPNESS * (1 - cosines))
    return likeness


@functools.lru_cache(maxsize=1)
def load_model() -> WishModel:
    """Read the fitted numbers; once in a process."""
    with (
        resources.files(__package__).joinpath(MODEL_FILE).open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        names = str(stored["names"]).split("\n")
        starts = stored["cue_starts"].astype(np.int64)
        places = stored["cue_places"].astype(np.int64)
        rarity = stored["rarity"].astype(np.float32)
        owners = np.repeat(np.arange(len(starts)), np.diff([*starts, len(places)]))
        lengths = np.sqrt(np.bincount(owners, weights=rarity[places] ** 2))
        return WishModel(
            encoder_digest=str(stored["encoder_digest"]),
            floor=float(stored["floor"]),
            strict=float(stored["strict"]),
            alone=float(stored["alone"]),
            between_people=float(stored["between_people"]),
            to_assistant=float(stored["to_assistant"]),
            bias=float(stored["bias"]),
            # Structural cues are named first.
            weights=dict(zip(names, stored["linear"].tolist(), strict=False)),
            word_bias=float(stored["word_bias"]),
            word_weights=dict(zip(names, stored["words"].tolist(), strict=True)),
            places={name: place for place, name in enumerate(names)},
            rarity=rarity,
            middle=stored["middle"].astype(np.float32),
            sentences=_read_rows(stored["sentences"]),
            turns=_read_rows(stored["turns"]),
            cue_starts=starts,
            cue_places=places,
            cue_shares=(rarity[places] / lengths[owners]).astype(np.float32),
            signs=stored["signs"].astype(np.float32),
            intercept=float(stored["intercept"]),
        )


def _read_rows(stored: NDArray[np.int8]) -> Vector:
    """Return unit rows from rows of small integers."""
    rows = stored.astype(np.float32)
    unit: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
