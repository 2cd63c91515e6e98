"""Retrieval failure signals and the recovery reserve (memory-model.md section 7)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall import recovery
from models.domain.recall.recovery import RankedMatch, detect_failure, reserve_recovery_tokens

any_float = st.floats(allow_nan=True, allow_infinity=True)
matches = st.lists(
    st.builds(RankedMatch, evidence=any_float, is_summary=st.booleans(), confidence=st.none() | any_float),
    max_size=8,
)


def summary(confidence: float | None, evidence: float = 0.9) -> RankedMatch:
    return RankedMatch(evidence=evidence, is_summary=True, confidence=confidence)


def test_the_constants_are_those_of_section_7() -> None:
    assert (recovery.WEAK_EVIDENCE, recovery.TOP_SUMMARIES, recovery.DOUBTFUL_CONFIDENCE) == (0.15, 4, 0.5)
    assert (recovery.MIN_RESERVE_TOKENS, recovery.MAX_RESERVE_TOKENS) == (16, 128)


def test_finding_nothing_is_a_failure() -> None:
    signals = detect_failure([])
    assert signals.is_weak
    assert signals.has_failed
    assert not signals.is_doubtful
    assert signals.best_evidence == 0.0
    assert signals.mean_confidence is None


def test_a_best_match_at_the_bound_is_no_failure() -> None:
    assert not detect_failure([RankedMatch(evidence=0.15)]).has_failed
    assert detect_failure([RankedMatch(evidence=0.1499)]).is_weak


def test_the_best_evidence_counts_wherever_it_is_ranked() -> None:
    signals = detect_failure([RankedMatch(evidence=0.05), RankedMatch(evidence=0.4)])
    assert not signals.has_failed
    assert signals.best_evidence == 0.4


def test_four_doubtful_summaries_on_top_are_a_failure() -> None:
    doubtful = [summary(0.4), summary(0.5), summary(0.4), summary(0.6)]
    signals = detect_failure(doubtful)
    assert signals.mean_confidence == pytest.approx(0.475)
    assert signals.is_doubtful
    assert signals.has_failed
    assert not signals.is_weak


def test_a_mean_confidence_at_the_bound_is_trusted() -> None:
    signals = detect_failure([summary(0.25), summary(0.75)])
    assert signals.mean_confidence == 0.5
    assert not signals.has_failed


def test_only_the_top_four_are_looked_at() -> None:
    trusted = [summary(0.9)] * 4
    assert not detect_failure([*trusted, summary(0.0)]).is_doubtful
    assert detect_failure([summary(0.1)] * 4 + [summary(1.0)] * 9).is_doubtful
    assert detect_failure([*[summary(0.1)] * 4, RankedMatch(evidence=0.9)]).is_doubtful


def test_one_raw_turn_among_the_leaders_is_enough_to_go_on() -> None:
    for position in range(4):
        leaders = [summary(0.1)] * 3
        leaders.insert(position, RankedMatch(evidence=0.5))
        signals = detect_failure(leaders)
        assert not signals.is_doubtful
        assert signals.mean_confidence is None


@pytest.mark.parametrize("confidence", [None, math.nan, math.inf])
def test_an_unknown_confidence_is_no_trust(confidence: float | None) -> None:
    assert detect_failure([summary(confidence)]).mean_confidence == 0.0


@given(matches)
def test_the_signals_are_always_numbers_and_say_why(ranked: list[RankedMatch]) -> None:
    signals = detect_failure(ranked)
    assert 0 <= signals.best_evidence <= 1
    assert signals.is_weak == (signals.best_evidence < 0.15)
    assert signals.has_failed == (signals.is_weak or signals.is_doubtful)
    if signals.mean_confidence is not None:
        assert 0 <= signals.mean_confidence <= 1
        assert all(match.is_summary for match in ranked[:4])


@pytest.mark.parametrize(
    ("budget", "reserve"),
    [
        (0, 0),
        (-5, 0),
        (1, 1),
        (15, 15),
        (16, 16),
        (169, 16),
        (170, 17),
        (1000, 100),
        (1289, 128),
        (10**6, 128),
    ],
)
def test_the_reserve_is_a_tenth_within_its_bounds(budget: int, reserve: int) -> None:
    assert reserve_recovery_tokens(budget) == reserve


@given(st.integers(-100, 10**7), st.integers(0, 10**4))
def test_the_reserve_never_exceeds_the_budget_and_grows_with_it(budget: int, more: int) -> None:
    reserve = reserve_recovery_tokens(budget)
    assert 0 <= reserve <= max(budget, 0)
    assert reserve <= reserve_recovery_tokens(budget + more) <= 128
    assert budget < 16 or reserve >= 16
