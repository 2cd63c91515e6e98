"""Invariants of memory-model.md that cross one formula, each as a property."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.domain.compaction.lineage import CoverageGraph, verify_graph
from models.domain.compaction.summaries import (
    ESCALATION,
    SummaryQuality,
    append_footer,
    judge_summary,
    limit_attempt,
    measure_quality,
)
from models.domain.gate.gating import read_text_signals
from models.domain.prompt.assembly import Assembly, assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.supply import Block, Supply, TailBlock
from models.domain.prompt.tail import TailTurn, bundle_starts, find_base_start
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
tokens = st.integers(0, 300)
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


def assemble_tightly(prompt: tuple[Supply, int]) -> Assembly:
    supply, total = prompt
    return assemble(supply, total=total, counter=CharsCounter(), reserves=Reserves(), min_turns=2)


@given(tight_prompts())
def test_a_soft_rule_that_does_not_fit_ends_the_prefix(prompt: tuple[Supply, int]) -> None:
    chosen = assemble_tightly(prompt).chosen["soft"]
    assert chosen == tuple(block.id for block in prompt[0].soft[: len(chosen)])


@given(tight_prompts())
def test_a_bundle_is_in_the_prompt_whole_or_not_at_all(prompt: tuple[Supply, int]) -> None:
    found = assemble_tightly(prompt)
    turns = [block.turn for block in prompt[0].tail]
    first = len(turns) - len(found.chosen["tail"])
    assert set(found.chosen["tail"]) == {turn.id for turn in turns[first:]}, "the tail is not a suffix"
    assert first in (*bundle_starts(turns), len(turns)), "a bundle was split"
    assert first <= find_base_start(turns, min_turns=2), "the tail does not hold its base"


# --- scores are numbers from 0 to 1, whatever comes in (section 7) ------------------------------------

broken = st.sampled_from([math.nan, math.inf, -math.inf, -1.0, 0.0, 1.0, 5e-324, 1.7e308, -1.7e308])


@given(
    st.builds(
        CandidateFacts,
        id=st.just("m"),
        scope=st.sampled_from(["session", "durable", "global", "lore", "summary"]),
        cosine=st.none() | broken,
        lexical_rank=st.none() | st.integers(-2, 3),
        vector_rank=st.none() | st.integers(-2, 3),
        age_seconds=broken,
        useful_count=st.integers(-2, 3),
        max_useful_count=st.integers(-2, 3),
        authority=broken,
        confidence=st.none() | broken,
        terms=st.frozensets(st.sampled_from(["redis", "port"])),
    ),
    profiles,
)
def test_no_broken_number_makes_a_score_that_is_none(facts: CandidateFacts, profile: ScoringProfile) -> None:
    scored = score_candidate(facts, keywords=frozenset(["redis"]), profile=profile)
    for name in scored.__slots__:
        value = getattr(scored, name)
        assert not isinstance(value, float) or 0 <= value <= 1, name


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


# --- strict progress (section 8, step 6) -------------------------------------------------------------


@given(st.floats(-1, 1), unit, tokens, tokens, st.sampled_from(["abstractive", "extractive"]))
def test_whatever_is_accepted_costs_strictly_less_than_its_sources(
    align: float, cover: float, made: int, sources: int, method: str
) -> None:
    quality = SummaryQuality(align=align, cover=cover, conf=cover)
    judged = judge_summary(quality, method=method, summary_tokens=made, source_tokens=sources)  # type: ignore[arg-type]
    if judged.is_accepted:
        assert 0 < made < sources
    if not 0 < made < sources:
        assert judged.verdict == "no_progress"


@given(tokens, st.integers(1, 300))
def test_an_attempt_that_fills_its_limit_still_makes_progress(target: int, sources: int) -> None:
    for attempt in ESCALATION:
        limit = limit_attempt(attempt, target_tokens=target, source_tokens=sources)
        assert 0 <= limit < sources
        assert limit <= target


@given(st.text("ab ", max_size=30), st.lists(st.text("xyz", min_size=1, max_size=8), max_size=6), tokens)
def test_a_footer_never_takes_the_progress_away(text: str, dropped: list[str], sources: int) -> None:
    longer = append_footer(text, dropped, count_tokens=len, source_tokens=sources)
    assert longer == text or len(longer) < sources
    assert longer.startswith(text)


# --- lineage: compaction only ever adds (section 8) --------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=4), max_size=12))
def test_a_graph_grown_by_compaction_stays_acyclic_and_every_summary_leads_to_turns(
    steps: list[list[int]],
) -> None:
    nodes = ["t0", "t1", "t2"]
    children: dict[str, tuple[str, ...]] = {}
    for number, picks in enumerate(steps):
        children[f"s{number}"] = tuple(dict.fromkeys(nodes[pick % len(nodes)] for pick in picks))
        nodes.append(f"s{number}")
    graph = CoverageGraph(turns=frozenset(["t0", "t1", "t2"]), children=children)
    assert verify_graph(graph, active=set(nodes)) == ()


@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=4), min_size=1, max_size=8), st.data())
def test_an_edge_back_to_a_summary_above_is_noticed(steps: list[list[int]], data: st.DataObject) -> None:
    children: dict[str, tuple[str, ...]] = {}
    below = ["t0"]
    for number, picks in enumerate(steps):
        # Each summary also covers the one before it: every earlier one lies below every later one.
        chosen = [below[pick % len(below)] for pick in picks]
        children[f"s{number}"] = tuple(dict.fromkeys([*chosen, below[-1]]))
        below.append(f"s{number}")
    low = data.draw(st.integers(0, len(steps) - 1))
    high = data.draw(st.integers(low, len(steps) - 1))
    children[f"s{low}"] = (*children[f"s{low}"], f"s{high}")
    found = verify_graph(CoverageGraph(turns=frozenset(["t0"]), children=children), active=set(below))
    assert "cycle" in {violation.kind for violation in found}


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
