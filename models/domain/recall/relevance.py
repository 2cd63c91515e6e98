"""How recalled passages are ordered: meaning, words, the turns around them, what they say and when (section 7).

A short turn gets its meaning from its neighbours ("Yes, last summer!"), so each passage borrows from the turns
before and after it, the more the fewer characters lie between. Every score lies in [0, 1) and none is NaN.
"""

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.domain.recall.feedback import measure_echo
from models.domain.recall.scoring import Scope, ScoringProfile, clamp01

REACH_TURNS: Final = 2  # turns before and after that lend
EVIDENCE_WEIGHT: Final = 5.0  # the BM25 weight at which a match by words is half proved

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceProfile:
    """The constants of the default ranking, calibrated on conversations (docs/decisions)."""

    lexical_share: float = 0.6  # λ: what the best match by words adds to the cosine
    echo_share: float = 0.2  # μ: what the words of the best hits add
    context_share: float = 0.33  # γ: what the turns around lend
    context_chars: float = 500.0  # a turn this many characters away lends nothing
    patience_chars: float = 300.0  # a passage longer than this needs its neighbours less
    reply_share: float = 0.4  # what an answer lends at least to what it answers, however long it is
    answer_cost: float = 0.4  # of the match of an answer, when the question asks for what a person said
    load_share: float = 0.25  # what facts, dates and preferences in a user's turn add
    time_share: float = 0.5  # by how much a match of the time that is asked about gains
    time_bonus: float = 0.3  # what that time is worth by itself
    teller_share: float = 0.3  # by how much gains what somebody said whom a question for several things names
    length_cost: float = 0.05  # for each doubling over `free_chars`: long answers hold some of everything
    free_chars: float = 500.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"relevance constant '{name}' is {value}; it is a finite number from 0 up")
        if self.answer_cost > 1:
            raise ValueError(f"relevance constant 'answer_cost' is {self.answer_cost}; it is a share of 1")
        for name in ("context_chars", "free_chars"):
            if getattr(self, name) <= 0:
                raise ValueError(f"relevance constant '{name}' is 0; it is a length in characters")


DEFAULT_RELEVANCE: Final = RelevanceProfile()
DEFAULT_WEIGHTS: Final = ScoringProfile()  # ω: recency, usefulness and authority, as in the seed's form


class Passage(NamedTuple):
    """What is known of a candidate, or of a turn beside one, before it is scored."""

    id: str
    scope: Scope
    session_id: str | None
    position: int | None  # of a turn, within its session
    chars: int
    cosine: float | None
    lexical_weight: float | None  # BM25; None: no word in common
    load: float  # Dnl of the gate, for user turns
    time_fit: float  # how well its time fits the time asked about; 0 when none is
    age_seconds: float
    useful_count: int
    authority: float
    confidence: float | None = None  # of a summary; any other scope ignores it
    is_answer: bool = False  # said by a machine to a person
    is_teller: bool = False  # said by somebody whom the question names


class PassageColumns(NamedTuple):
    """Passages by column, each as long as the others: what a statement returns, without a record for each."""

    id: Sequence[str]
    scope: Sequence[Scope]
    session_id: Sequence[str | None]
    position: Sequence[int | None]
    chars: Sequence[int]
    cosine: Sequence[float | None]
    lexical_weight: Sequence[float | None]
    load: Sequence[float]
    time_fit: Sequence[float]
    age_seconds: Sequence[float]
    useful_count: Sequence[int]
    authority: Sequence[float]
    confidence: Sequence[float | None]
    is_answer: Sequence[bool]
    is_teller: Sequence[bool]


class Relevance(NamedTuple):
    """A score in [0, 1) with every term it was made of."""

    id: str
    scope: Scope
    score: float
    cosine: float  # max(cos, 0)
    lexical: float  # BM25 over the best BM25 of the candidates
    echo: float  # the words of the best hits that it holds too, over the most that a candidate holds
    base: float  # cosine + λ·lexical + μ·echo
    context: float  # γ·Σ K·base of the turns around
    load: float
    time_fit: float
    time_bonus: float
    length_cost: float
    answer_cost: float  # the share of the match that an answer loses
    teller: float  # and the share that it gains by who said it
    recency: float  # r
    frequency: float  # f: how often feedback called it useful
    authority: float  # a
    omega: float
    quality: float  # Q
    evidence: float  # the match itself, with no rank in it: what the failure signal reads


def rank_passages(
    listed: PassageColumns,
    *,
    texts: Sequence[str] = (),
    asked: AbstractSet[str] = frozenset(),
    asks_for_answers: bool = False,
    asks_for_several: bool = False,
    most: int | None = None,
    profile: RelevanceProfile = DEFAULT_RELEVANCE,
    weights: ScoringProfile = DEFAULT_WEIGHTS,
) -> tuple[Relevance, ...]:
    """All passages (or the best `most`), best first, ties by id; at least one, each id once, in any order.

        B = max(cos, 0) + λ·L + μ·H      L = BM25 / max BM25, H = echo of the best hits (`feedback`)
        P = B + γ·Σ K(gap)·B(n)          n: up to two turns before and after, K = max(0, 1 − gap/context_chars)
        M = (P + load_share·D)·(1 + time_share·T) + time_bonus·T − length_cost·log2(max(chars, free)/free)
        X = ω·Q·max(0, M·(1 − answer_cost of an answer)·(1 + teller_share of a teller))
        S = X / (1 + X)

    gap is the characters of the turns between, half of n's, and half of what the passage has over
    `patience_chars`; the answer to a person's turn lends at least reply_share of its B. A question for what the
    assistant said (`asks_for_answers`) minds neither length nor answers; for one that `asks_for_several` things it
    counts who tells. Without their `texts`, passages have no echo; `asked` are the question's own words.
    """
    cosine = _unit_column(listed.cosine)
    words = np.maximum(_column(listed.lexical_weight), 0.0)
    lexical = words / max(float(words.max()), 1e-12)
    base = cosine + profile.lexical_share * lexical
    is_summary = np.array([scope == "summary" for scope in listed.scope])
    echo = np.zeros_like(base)
    if texts and profile.echo_share:  # a summary lends no words: it is about many things
        echo = measure_echo(texts, np.where(is_summary, 0.0, base), asked=asked)
        base = base + profile.echo_share * echo
    chars = np.maximum(_column(listed.chars), 0.0)
    context = profile.context_share * _borrow(
        listed.session_id, listed.position, base, chars, np.array(listed.is_answer), profile
    )
    load = _unit_column(listed.load)
    time_fit = _unit_column(listed.time_fit)
    bonus = profile.time_bonus * time_fit
    length_cost, answer_cost = np.zeros_like(base), np.zeros_like(base)
    if not asks_for_answers:
        length_cost = profile.length_cost * np.log2(
            np.maximum(chars, profile.free_chars) / profile.free_chars
        )
        answer_cost = profile.answer_cost * np.array(listed.is_answer)
    match = (base + context + profile.load_share * load) * (1 + profile.time_share * time_fit)
    teller = profile.teller_share * np.array(listed.is_teller) if asks_for_several else np.zeros_like(base)
    match = (match + bonus - length_cost) * (1 - answer_cost) * (1 + teller)

    decays = {scope: weights.decay_per_second(scope) for scope in set(listed.scope)}
    decay = np.array([decays[scope] for scope in listed.scope])
    age = np.array(listed.age_seconds, dtype=np.float64)
    age = np.where(np.isnan(age), math.inf, np.maximum(age, 0.0))
    recency = np.where(np.isinf(age), 0.0, np.exp(-np.where(np.isinf(age), 0.0, decay * age)))
    useful = np.maximum(_column(listed.useful_count), 0.0)
    frequency = np.log1p(useful) / math.log(2 + float(useful.max()))
    authority = _unit_column(listed.authority)
    earned = weights.alpha_r * recency + weights.alpha_f * frequency + weights.alpha_a * authority
    omega = np.clip(weights.omega0 + (1 - weights.omega0) * earned, 0.0, 1.0)
    doubt = weights.delta * (1 - _unit_column(listed.confidence))
    quality = np.where(is_summary, 1 - doubt, 1.0)
    weighed = omega * quality * np.maximum(match, 0.0)
    score = weighed / (1 + weighed)
    evidence = omega * quality * np.maximum(cosine, words / (words + EVIDENCE_WEIGHT))

    by_score = sorted(zip((-score).tolist(), listed.id, range(len(score)), strict=True))
    best = [index for _, _, index in by_score[:most]]
    terms = (score, cosine, lexical, echo, base, context, load, time_fit, bonus)
    rows = np.column_stack(
        (*terms, length_cost, answer_cost, teller, recency, frequency, authority, omega, quality, evidence)
    )[best].tolist()
    return tuple(
        Relevance(listed.id[index], listed.scope[index], *row) for index, row in zip(best, rows, strict=True)
    )


def score_hop(node_id: str, score: float) -> Relevance:
    """The score of what a link led to: its parent's share, and no term of its own."""
    return Relevance(node_id, "lore", clamp01(score), *[0.0] * (len(Relevance._fields) - 3))


def _borrow(
    sessions: Sequence[str | None],
    positions: Sequence[int | None],
    base: Numbers,
    chars: Numbers,
    is_answer: NDArray[np.bool_],
    profile: RelevanceProfile,
) -> Numbers:
    """What the turns around each passage lend it: Σ K(gap)·B over up to two before and two after.

    A turn behind one that is not here lends nothing: what lies between is unknown, so it is not known to be near.
    """
    turns = list(zip(sessions, positions, strict=True))
    find = {turn: index for index, turn in enumerate(turns)}.get
    nobody = len(base)  # the index of a turn that is not here: it says nothing and is infinitely long
    lender = np.append(base, 0.0)
    length = np.append(chars, np.inf)
    replies = np.append(is_answer, False)
    impatience = np.maximum(chars - profile.patience_chars, 0.0) / 2
    lent = np.zeros_like(base)
    for direction in (-1, 1):
        between = np.zeros_like(base)
        for step in range(1, REACH_TURNS + 1):
            offset = direction * step
            others = np.array(
                [
                    nobody
                    if session_id is None or position is None
                    else find((session_id, position + offset), nobody)
                    for session_id, position in turns
                ]
            )
            gap = between + length[others] / 2 + impatience
            share = np.maximum(1 - gap / profile.context_chars, 0.0)
            if direction == step == 1:
                share = np.where(~is_answer & replies[others], np.maximum(share, profile.reply_share), share)
            lent += share * lender[others]
            between += length[others]
    return lent


def _column(values: Iterable[float | None]) -> Numbers:
    """Numbers; what is missing or not finite is 0."""
    column = np.array([0.0 if value is None else value for value in values], dtype=np.float64)
    return np.where(np.isfinite(column), column, 0.0)


def _unit_column(values: Iterable[float | None]) -> Numbers:
    return np.clip(_column(values), 0.0, 1.0)
