"""How recalled candidates are scored and ordered (memory-model.md section 7, pass 2).

A candidate is found by meaning (cosine) or by name (full text, identifiers); both count here, and the weights
ω and Q then say how much it may count. Every score lies in [0, 1] and none is NaN, whatever comes in.
"""

import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal, get_args

Scope = Literal["session", "durable", "global", "lore", "summary"]
Form = Literal["product", "seed_linear"]
ProfileName = Literal["longtail", "seed", "seed_linear"]  # ours is models/domain/recall/relevance.py

RECALL_FLOOR = 0.15  # a score under this is worth no room: evidence hardly scores less (decision 38)

# The seed's linear form (section 7): 0.7·cos + 0.2·r + 0.1·scope.
SEED_COSINE_WEIGHT = 0.7
SEED_RECENCY_WEIGHT = 0.2
SEED_SCOPE_WEIGHT = 0.1
# Section 7 names session, durable and global. A summary stands for turns of its session; lore belongs to
# everyone, as global memory does.
SEED_SCOPE_PRIOR: dict[Scope, float] = {
    "session": 1.0,
    "durable": 0.6,
    "global": 0.3,
    "lore": 0.3,
    "summary": 1.0,
}

_LEGS = 2  # fusion sums over two rankings: by meaning and by name
_UNIT_FIELDS = ("omega0", "alpha_r", "alpha_f", "alpha_a", "delta", "theta1", "lexical_weight")
_RATE_FIELDS = (
    "kappa",
    "session_decay_per_second",
    "durable_decay_per_second",
    "global_decay_per_second",
    "lore_decay_per_second",
    "summary_decay_per_second",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringProfile:
    """The constants of one scoring form, checked when made (memory-model.md section 7).

    >>> ScoringProfile(alpha_r=0.9, alpha_f=0.2, alpha_a=0.3)
    Traceback (most recent call last):
    ValueError: alpha_r + alpha_f + alpha_a add up to 1.400; lower one until they share a weight of 1
    """

    form: Form = "product"
    omega0: float = 0.8  # what a memory weighs before recency, use and authority speak
    alpha_r: float = 0.5
    alpha_f: float = 0.2
    alpha_a: float = 0.3
    kappa: float = 0.3
    delta: float = 0.5
    theta1: float = 0.2
    lexical_weight: float = 0.6  # share of rank fusion in the relevance; 0 is cosine alone
    rrf_k: int = 10
    session_decay_per_second: float = 1e-4
    durable_decay_per_second: float = 1e-5
    global_decay_per_second: float = 2e-6
    lore_decay_per_second: float = 2e-6
    summary_decay_per_second: float = 1e-4

    def __post_init__(self) -> None:
        if self.form not in get_args(Form):
            raise ValueError(f"scoring form is '{self.form}'; choose one of {', '.join(get_args(Form))}")
        for name in _UNIT_FIELDS:
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"scoring constant '{name}' is {value}; it lies in [0, 1]")
        for name in _RATE_FIELDS:
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"scoring constant '{name}' is {value}; it is a finite number from 0 up")
        if self.rrf_k < 1:
            raise ValueError(f"scoring constant 'rrf_k' is {self.rrf_k}; it is a whole number from 1 up")
        total = self.alpha_r + self.alpha_f + self.alpha_a
        if total > 1 + 1e-9:
            raise ValueError(
                f"alpha_r + alpha_f + alpha_a add up to {total:.3f}; lower one until they share a weight of 1"
            )

    def decay_per_second(self, scope: Scope) -> float:
        """The rate λ at which a memory of this scope loses recency."""
        rates: dict[Scope, float] = {
            "session": self.session_decay_per_second,
            "durable": self.durable_decay_per_second,
            "global": self.global_decay_per_second,
            "lore": self.lore_decay_per_second,
            "summary": self.summary_decay_per_second,
        }
        return rates[scope]


# The seed's own constants: no floor under ω, no lexical leg. Kept as a baseline to measure against.
SEED_PROFILE = ScoringProfile(omega0=0.0, lexical_weight=0.0)
SEED_LINEAR_PROFILE = ScoringProfile(form="seed_linear", omega0=0.0, lexical_weight=0.0)
SEED_PROFILES: dict[ProfileName, ScoringProfile] = {"seed": SEED_PROFILE, "seed_linear": SEED_LINEAR_PROFILE}
# ω0, the lexical weight and k sit on the plateau of the calibration runs: any ω0 from 0.5 up, weight from
# 0.5 to 0.7 and k from 5 to 20 does as well, so the values are the middle and not the peak.
DEFAULT_PROFILE = ScoringProfile()


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFacts:
    """What is known of a candidate before it is scored. Ranks count from 1; None: not found that way."""

    id: str
    scope: Scope
    cosine: float | None
    lexical_rank: int | None
    vector_rank: int | None
    age_seconds: float
    useful_count: int
    max_useful_count: int
    authority: float
    confidence: float | None  # of a summary; any other scope ignores it
    terms: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredCandidate:
    """A score in [0, 1] with every term it was made of, each in [0, 1]."""

    id: str
    score: float
    scope: Scope
    cosine: float  # max(cos, 0); 0 when unknown
    coverage: float  # M
    recency: float  # r
    frequency: float  # f
    authority: float  # a
    omega: float
    quality: float  # Q
    semantic: float  # cosine·(1 + κM)/(1 + κ), or the linear base
    fusion: float  # normalised reciprocal ranks
    relevance: float  # the blend of the two
    evidence: float  # the match itself, no ranks: what the failure signal reads


_read_all = attrgetter(*ScoredCandidate.__slots__)


def clamp01(value: float | None) -> float:
    """min(1, max(0, x)); what is unknown or not finite is 0, since a broken number must not win a ranking.

    >>> clamp01(0.3), clamp01(-2.0), clamp01(1.5), clamp01(math.nan), clamp01(math.inf), clamp01(None)
    (0.3, 0.0, 1.0, 0.0, 0.0, 0.0)
    """
    return min(1.0, max(0.0, value)) if value is not None and math.isfinite(value) else 0.0


def is_found(facts: CandidateFacts, *, profile: ScoringProfile) -> bool:
    """Whether pass 1 admits a candidate: by meaning (cos ≥ θ1) or by name (any lexical rank)."""
    return facts.lexical_rank is not None or (
        facts.cosine is not None and profile.theta1 <= facts.cosine < math.inf
    )


def measure_coverage(keywords: AbstractSet[str], terms: AbstractSet[str]) -> float:
    """M(K, d) = |K ∩ terms| / max(|K|, 1): the share of the query's keywords that a candidate holds.

    >>> measure_coverage({"redis", "port"}, {"redis", "runs", "here"})
    0.5
    """
    return len(keywords & terms) / max(len(keywords), 1)


def measure_recency(age_seconds: float, *, decay_per_second: float) -> float:
    """r = exp(−λ·age), in [0, 1]. The future counts as now; an age that is no number earns nothing.

    >>> round(measure_recency(86_400, decay_per_second=1e-5), 3)
    0.421
    """
    if not math.isfinite(age_seconds):
        return 0.0
    return math.exp(-decay_per_second * max(age_seconds, 0.0))


def measure_frequency(useful_count: int, *, max_useful_count: int) -> float:
    """f = log(1 + u)/log(1 + max_u + 1), in [0, 1), u: how often feedback called it useful; 0 when never.

    >>> measure_frequency(0, max_useful_count=9), round(measure_frequency(9, max_useful_count=9), 3)
    (0.0, 0.96)
    """
    if useful_count <= 0:
        return 0.0
    most = max(useful_count, max_useful_count)  # a count may have moved on since the maximum was read
    return min(math.log(1 + useful_count) / math.log(2 + most), 1.0)


def fuse_ranks(*ranks: int | None, rrf_k: int) -> float:
    """Reciprocal rank fusion of the two legs, normalised: F = (k + 1)/2 · Σ 1/(k + rank), in [0, 1].

    First in both is 1, first in one and unseen by the other is ½, found by neither is 0.

    >>> fuse_ranks(1, 1, rrf_k=10), fuse_ranks(1, None, rrf_k=10), fuse_ranks(12, None, rrf_k=10)
    (1.0, 0.5, 0.25)
    """
    total = sum((rrf_k + 1) / (rrf_k + max(rank, 1)) for rank in ranks if rank is not None)
    return min(total / _LEGS, 1.0)


def score_candidate(
    facts: CandidateFacts, *, keywords: AbstractSet[str], profile: ScoringProfile
) -> ScoredCandidate:
    """The score of one candidate, S = ω·R·Q, with its terms.

        M = |K ∩ terms| / max(|K|, 1)        ω = ω0 + (1 − ω0)·(αr·r + αf·f + αa·a)
        Q = 1 − δ·(1 − confidence) for summaries, else 1
        R = (1 − w)·max(cos, 0)·(1 + κM)/(1 + κ) + w·F        w: lexical_weight, F: fuse_ranks

    w = 0 is section 7 as written. What is found by name alone has no cosine and still scores ω·w·F·Q > 0,
    and ω ≥ ω0 keeps an old, unread, unauthored memory in the running. The form `seed_linear` puts
    0.7·cos + 0.2·r + 0.1·scope in place of the cosine term and drops ω.
    """
    cosine = clamp01(facts.cosine)
    coverage = measure_coverage(keywords, facts.terms)
    recency = measure_recency(facts.age_seconds, decay_per_second=profile.decay_per_second(facts.scope))
    frequency = measure_frequency(facts.useful_count, max_useful_count=facts.max_useful_count)
    authority = clamp01(facts.authority)
    earned = profile.alpha_r * recency + profile.alpha_f * frequency + profile.alpha_a * authority
    quality = _weigh_quality(facts, delta=profile.delta)

    if profile.form == "product":
        omega = clamp01(profile.omega0 + (1 - profile.omega0) * earned)
        semantic = cosine * (1 + profile.kappa * coverage) / (1 + profile.kappa)
    else:
        omega = 1.0
        semantic = (
            SEED_COSINE_WEIGHT * cosine
            + SEED_RECENCY_WEIGHT * recency
            + SEED_SCOPE_WEIGHT * SEED_SCOPE_PRIOR[facts.scope]
        )
    fusion = fuse_ranks(facts.vector_rank, facts.lexical_rank, rrf_k=profile.rrf_k)
    relevance = (1 - profile.lexical_weight) * semantic + profile.lexical_weight * fusion
    by_name = coverage if facts.lexical_rank is not None and profile.lexical_weight > 0 else 0.0
    return ScoredCandidate(
        id=facts.id,
        score=clamp01(omega * relevance * quality),
        scope=facts.scope,
        cosine=cosine,
        coverage=coverage,
        recency=recency,
        frequency=frequency,
        authority=authority,
        omega=omega,
        quality=quality,
        semantic=clamp01(semantic),
        fusion=fusion,
        relevance=clamp01(relevance),
        evidence=clamp01(omega * max(semantic, by_name) * quality),
    )


def rank_candidates(
    facts_list: Iterable[CandidateFacts], *, keywords: AbstractSet[str], profile: ScoringProfile
) -> tuple[ScoredCandidate, ...]:
    """All candidates, best first, ties by id; the order of the input does not matter.

    An id that several scopes found is kept once, at its best.
    """
    scored = [score_candidate(facts, keywords=keywords, profile=profile) for facts in facts_list]
    best: dict[str, ScoredCandidate] = {}
    for candidate in sorted(scored, key=_rank_key):
        best.setdefault(candidate.id, candidate)
    return tuple(best.values())


def _rank_key(candidate: ScoredCandidate) -> tuple[float, str, tuple[object, ...]]:
    # Score and id decide. The rest only makes the choice between two readings of one id repeatable.
    return (-candidate.score, candidate.id, _read_all(candidate))


def _weigh_quality(facts: CandidateFacts, *, delta: float) -> float:
    """Q: a summary is worth what it is trusted; one that was never measured is not trusted."""
    if facts.scope != "summary":
        return 1.0
    return 1 - delta * (1 - clamp01(facts.confidence))
