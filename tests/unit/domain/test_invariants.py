"""Invariants of memory-model.md that cross one formula, each as a property."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.domain.compaction.summaries import SummaryQuality, judge_summary, measure_quality
from models.domain.gate.gating import read_text_signals
from models.domain.prompt.assembly import assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.supply import Block, Supply, TailBlock
from models.domain.prompt.tail import TailTurn
from models.domain.prompt.tokens import CharsCounter
from models.domain.recall.hops import score_hops
from models.domain.recall.scoring import (
    DEFAULT_PROFILE,
    SEED_LINEAR_PROFILE,
    SEED_PROFILE,
    CandidateFacts,
    ScoringProfile,
    rank_candidates,
    score_candidate,
)
from models.domain.rules.guidance import GuidanceCandidate, order_guidance

unit = st.floats(0, 1)
profiles = st.sampled_from([DEFAULT_PROFILE, SEED_PROFILE, SEED_LINEAR_PROFILE])
summary_facts = st.builds(
    CandidateFacts,
    id=st.sampled_from("abc"),
    scope=st.just("summary"),
    cosine=unit,
    lexical_rank=st.none() | st.integers(1, 40),
    vector_rank=st.none() | st.integers(1, 40),
    age_seconds=st.floats(0, 1e6),
    useful_count=st.integers(0, 20),
    max_useful_count=st.integers(0, 20),
    authority=unit,
    confidence=unit,
    terms=st.frozensets(st.sampled_from(["redis", "port"])),
)


# --- one prompt: shares, order, whole bundles (sections 1 and 2) --------------------------------------

# Lengths far apart, so that a later block often fits where an earlier one did not.
lengths = st.sampled_from([4, 40, 160, 400])


@st.composite
def tight_prompts(draw: st.DrawFn) -> tuple[Supply, int]:
    soft = [Block(id=f"s{i}", rendered="w" * n) for i, n in enumerate(draw(st.lists(lengths, max_size=6)))]
    roles = draw(st.lists(st.sampled_from(["user", "assistant", "tool"]), max_size=14))
    tail = [
        TailBlock(id=f"t{i}", rendered="w" * draw(lengths), turn=TailTurn(id=f"t{i}", role=role))
        for i, role in enumerate(roles)
    ]
    return Supply(soft=soft, tail=tail), draw(st.integers(50, 1200))


@given(tight_prompts())
def test_a_soft_rule_that_does_not_fit_ends_the_prefix(prompt: tuple[Supply, int]) -> None:
    supply, total = prompt
    found = assemble(supply, total=total, counter=CharsCounter(), reserves=Reserves(), min_turns=2)
    chosen = found.chosen["soft"]
    assert chosen == tuple(block.id for block in supply.soft[: len(chosen)])


# --- the gate: code says nothing about its author (section 5) -----------------------------------------

LOADED = ("I prefer tea", "my sister moved", "on March 3rd", "I live in Oslo", "we bought 12 chairs")


@given(st.lists(st.sampled_from(LOADED), min_size=1, max_size=4), st.sampled_from(["```", "~~~"]))
def test_what_would_be_load_in_prose_is_none_in_a_fence(lines: list[str], fence: str) -> None:
    inside = "\n".join(lines)
    assert read_text_signals(inside).d > 0
    assert read_text_signals(f"{fence}\n{inside}\n{fence}").d == 0


# --- confidence: what is trusted more never scores less (sections 7 and 8) ---------------------------


@given(summary_facts, unit, profiles)
def test_a_summary_trusted_more_never_scores_less(
    facts: CandidateFacts, other: float, profile: ScoringProfile
) -> None:
    low, high = sorted([facts.confidence or 0.0, other])
    less, more = (
        score_candidate(replace(facts, confidence=c), keywords=frozenset(["redis"]), profile=profile)
        for c in (low, high)
    )
    assert less.score <= more.score
    assert less.evidence <= more.evidence
    assert less.quality <= more.quality
    if high - low > 1e-6 and more.score > 1e-6:
        assert less.score < more.score


@given(summary_facts, unit)
def test_of_two_like_summaries_the_trusted_one_ranks_first(facts: CandidateFacts, other: float) -> None:
    twin = replace(facts, id="z", confidence=other)
    first, second = rank_candidates([facts, twin], keywords=frozenset(), profile=DEFAULT_PROFILE)
    assert first.quality >= second.quality or first.score == second.score


@given(st.floats(-1, 1), unit, unit, unit)
def test_a_decoder_that_is_surer_never_lowers_the_confidence(
    align: float, cover: float, sure: float, surer: float
) -> None:
    quality = SummaryQuality(align=align, cover=cover, conf=max(0.0, (align + cover) / 2))
    sure, surer = sorted([sure, surer])
    at = [
        judge_summary(
            quality, method="abstractive", summary_tokens=1, source_tokens=2, decoder_confidence=said
        ).confidence
        for said in (sure, surer)
    ]
    assert at[0] <= at[1]


# --- order of the input, where it says nothing -------------------------------------------------------


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.2, 0.6, 0.9]), max_size=5),
    st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("uvwabc"), max_size=4), max_size=5),
)
def test_hops_do_not_depend_on_the_order_of_items_or_links(
    scores: dict[str, float], links: dict[str, list[str]]
) -> None:
    turned = {key: list(reversed(links[key])) for key in reversed(list(links))}
    assert score_hops(scores, links) == score_hops({k: scores[k] for k in reversed(list(scores))}, turned)


guidance = st.lists(
    st.builds(
        GuidanceCandidate,
        id=st.sampled_from("abcdefgh"),
        tokens=st.integers(1, 40),
        cosine=st.sampled_from([None, 0.1, 0.5]),
        score=st.sampled_from([0.2, 0.8]),
        stability_weight=st.sampled_from([0.4, 0.6]),
        said_at=st.sampled_from([datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2)]),
        is_standing=st.booleans(),
        is_superseded=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda candidate: candidate.id,
)


@given(guidance)
def test_the_order_of_guidance_does_not_depend_on_the_order_given(
    candidates: list[GuidanceCandidate],
) -> None:
    assert order_guidance(candidates) == order_guidance(list(reversed(candidates)))


directions = st.lists(st.integers(-3, 3), min_size=3, max_size=3).map(
    lambda numbers: np.array(numbers, float)
)


@given(directions, st.lists(directions, min_size=2, max_size=5))
def test_quality_does_not_depend_on_the_order_of_the_sources(
    summary: NDArray[np.float64], sources: list[NDArray[np.float64]]
) -> None:
    one, other = measure_quality(summary, sources), measure_quality(summary, sources[::-1])
    assert (one.align, one.cover, one.conf) == pytest.approx((other.align, other.cover, other.conf))
