"""What a user would pick instead: BM25, vectors, their fusion, and the seed's scoring with its own constants.

All rank every turn of one history, in memory, with the encoder of the service.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import bm25s
import numpy as np
import Stemmer

from bench.quality.records import History, Question, SaidTurn
from models.domain.recall.scoring import (
    SEED_LINEAR_PROFILE,
    SEED_PROFILE,
    CandidateFacts,
    ScoringProfile,
    is_found,
    rank_candidates,
)
from models.domain.text.terms import extract_terms, query_keywords

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from models.encoders.protocol import Encoder

RRF_K: Final = 60
SEEDS: Final[Mapping[str, ScoringProfile]] = {"seed": SEED_PROFILE, "seed linear": SEED_LINEAR_PROFILE}
BASELINES: Final = ("BM25", "vector", "fusion", *SEEDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """A history made ready for every baseline."""

    turns: Sequence[SaidTurn]
    words: Any  # bm25s.BM25
    windows: "NDArray[np.float32]"
    owner: "NDArray[np.int64]"  # which turn each window is of
    terms: Sequence[frozenset[str]]
    gate_scores: Mapping[str, float]  # of the turns that the gate promoted, by turn id


def index_history(history: History, encoder: "Encoder", gate_scores: Mapping[str, float]) -> Indexed:
    """Read a history as a retrieval library would: one document for each turn, "who: words"."""
    lines = [turn.line for turn in history.turns]
    words = bm25s.BM25(method="lucene")
    words.index(_tokenize(lines), show_progress=False)
    windows = encoder.encode_windows(lines)
    owner = np.repeat(np.arange(len(lines)), [len(rows) for rows in windows])
    return Indexed(
        turns=history.turns,
        words=words,
        windows=np.concatenate(windows),
        owner=owner,
        terms=[_read_terms(line) for line in lines],
        gate_scores=gate_scores,
    )


def rank_with_baselines(
    indexed: Indexed, question: Question, encoder: "Encoder"
) -> dict[str, list[SaidTurn]]:
    """Every baseline's order of the turns, best first; BM25 and the seed's leave out what they do not match."""
    by_words = _order(_weigh_words(indexed, question.text), above=0.0)
    likeness = _measure_likeness(indexed, encoder.encode([question.text])[0])
    by_meaning = _order(likeness)
    fused = np.zeros(len(indexed.turns))
    for order in (by_words, by_meaning):
        fused[order] += 1 / (RRF_K + 1 + np.arange(len(order)))
    orders = {"BM25": by_words, "vector": by_meaning, "fusion": _order(fused)}
    found = {name: [indexed.turns[place] for place in order] for name, order in orders.items()}
    for name, profile in SEEDS.items():
        found[name] = _rank_as_seed(indexed, question, likeness, profile)
    return found


@cache
def _read_terms(line: str) -> frozenset[str]:
    return extract_terms(line)  # histories of one data set share sessions


def _tokenize(texts: Sequence[str]) -> Any:
    return bm25s.tokenize(
        list(texts), stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False
    )


def _weigh_words(indexed: Indexed, text: str) -> "NDArray[np.float64]":
    (tokens,) = bm25s.tokenize(
        [text], stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False, return_ids=False
    )
    return np.asarray(indexed.words.get_scores(tokens), dtype=np.float64)


def _measure_likeness(indexed: Indexed, vector: "NDArray[np.float32]") -> "NDArray[np.float64]":
    """The cosine of each turn's likest window."""
    best = np.full(len(indexed.turns), -1.0)
    np.maximum.at(best, indexed.owner, (indexed.windows @ vector).astype(np.float64))
    return best


def _order(weights: "NDArray[np.float64]", *, above: float | None = None) -> list[int]:
    """Places by weight, the heaviest first, ties in the order said."""
    order = np.argsort(-weights, kind="stable")
    return [int(place) for place in order if above is None or weights[place] > above]


def _rank_as_seed(
    indexed: Indexed, question: Question, likeness: "NDArray[np.float64]", profile: ScoringProfile
) -> list[SaidTurn]:
    """The seed's order: what is like the question, weighed by recency and by the gate's score of what it promoted."""
    now = question.asked_at.timestamp()
    facts = [
        CandidateFacts(
            id=f"{place:06d}",
            scope="durable",
            cosine=float(likeness[place]),
            lexical_rank=None,
            vector_rank=None,
            age_seconds=max(0.0, now - turn.said_at.timestamp()),
            useful_count=0,
            max_useful_count=0,
            authority=indexed.gate_scores.get(turn.id, 0.0),
            confidence=None,
            terms=indexed.terms[place],
        )
        for place, turn in enumerate(indexed.turns)
    ]
    found = [one for one in facts if is_found(one, profile=profile)]
    ranked = rank_candidates(found, keywords=query_keywords(question.text), profile=profile)
    return [indexed.turns[int(one.id)] for one in ranked]
