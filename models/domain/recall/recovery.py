"""When recall has failed, and how much may be spent to recover (memory-model.md section 7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from models.domain.recall.scoring import clamp01

WEAK_EVIDENCE = 0.15  # section 7: a best match under this is no match
TOP_SUMMARIES = 4  # section 7: how many leading items are looked at
DOUBTFUL_CONFIDENCE = 0.5  # section 7: mean confidence under which summaries are not trusted
RESERVE_DIVISOR = 10  # section 7: 10 % of the budget
MIN_RESERVE_TOKENS = 16
MAX_RESERVE_TOKENS = 128


class RankedMatch(NamedTuple):
    """What the failure signals read of one ranked item: how strong the match is, and whether it is a summary.

    `evidence` is the match free of ranks (ScoredCandidate.evidence): the first of a bad list has rank 1 too.
    """

    evidence: float
    is_summary: bool = False
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSignals:
    """Why recall counts as failed, or that it does not."""

    is_weak: bool  # the best match is under WEAK_EVIDENCE
    is_doubtful: bool  # the leaders are all summaries that are not trusted
    best_evidence: float
    mean_confidence: float | None  # of the leading summaries; None when a leader is no summary

    @property
    def has_failed(self) -> bool:
        return self.is_weak or self.is_doubtful


def detect_failure(ranked: Sequence[RankedMatch]) -> RetrievalSignals:
    """Whether to search the covered raw turns: nothing matched, or only doubtful summaries did.

    Weak: best evidence < 0.15, also when nothing was found. Doubtful: the top 4 (all, when there are fewer)
    are summaries with a mean confidence < 0.5; an unknown confidence counts as 0.

    >>> detect_failure([RankedMatch(evidence=0.6), RankedMatch(evidence=0.1)]).has_failed
    False
    >>> detect_failure([RankedMatch(evidence=0.6, is_summary=True, confidence=0.3)]).is_doubtful
    True
    """
    best = max((clamp01(match.evidence) for match in ranked), default=0.0)
    leaders = ranked[:TOP_SUMMARIES]
    mean_confidence = None
    if leaders and all(match.is_summary for match in leaders):
        mean_confidence = sum(clamp01(match.confidence) for match in leaders) / len(leaders)
    return RetrievalSignals(
        is_weak=best < WEAK_EVIDENCE,
        is_doubtful=mean_confidence is not None and mean_confidence < DOUBTFUL_CONFIDENCE,
        best_evidence=best,
        mean_confidence=mean_confidence,
    )


def reserve_recovery_tokens(budget_tokens: int) -> int:
    """What recovery may spend: 10 % of the budget, 16 to 128 tokens, never more than the budget itself.

    >>> [reserve_recovery_tokens(budget) for budget in (10, 100, 500, 4000)]
    [10, 16, 50, 128]
    """
    share = min(max(budget_tokens // RESERVE_DIVISOR, MIN_RESERVE_TOKENS), MAX_RESERVE_TOKENS)
    return min(share, max(budget_tokens, 0))
