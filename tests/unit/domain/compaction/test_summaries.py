"""Quality, routing, progress and footer of summaries (memory-model.md section 8, steps 5 to 7)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.compaction import summaries
from models.domain.compaction.summaries import (
    SummaryJudgement,
    SummaryQuality,
    append_footer,
    blend_confidence,
    choose_prior,
    judge_summary,
    limit_attempt,
    list_dropped_mentions,
    makes_progress,
    measure_quality,
)

any_float = st.floats(allow_nan=True, allow_infinity=True)
vector = st.lists(any_float, min_size=3, max_size=3).map(np.array)
plain_vector = st.lists(st.floats(-10, 10), min_size=3, max_size=3).map(np.array)


def quality(align: float, cover: float = 0.8, conf: float = 0.7) -> SummaryQuality:
    return SummaryQuality(align=align, cover=cover, conf=conf)


def judge(
    align: float = 0.9,
    *,
    method: str = "abstractive",
    summary_tokens: int = 50,
    source_tokens: int = 100,
    decoder: float | None = 0.5,
) -> SummaryJudgement:
    return judge_summary(
        quality(align),
        method=method,
        summary_tokens=summary_tokens,
        source_tokens=source_tokens,
        decoder_confidence=decoder,
    )


def test_the_constants_are_those_of_section_8() -> None:
    assert summaries.MIN_ABSTRACTIVE_ALIGN == 0.65
    assert (summaries.QUALITY_SHARE, summaries.PRIOR_CONTEXT_TOKENS) == (0.8, 96)
    assert summaries.ESCALATION == ("normal", "aggressive", "fallback")
    assert summaries.FOOTER_TOKENS == 48


# --- quality -------------------------------------------------------------------------------------------------


def test_quality_matches_the_worked_example() -> None:
    measured = measure_quality(np.array([1.0, 0.0]), [np.array([1.0, 0.0]), np.array([0.0, 1.0])])
    assert measured.align == pytest.approx(1 / math.sqrt(2))
    assert measured.cover == pytest.approx(0.5)
    assert measured.conf == pytest.approx((1 / math.sqrt(2) + 0.5) / 2)


def test_a_summary_that_is_its_only_source_is_perfect() -> None:
    measured = measure_quality(np.array([0.6, 0.8]), [np.array([3.0, 4.0])])
    assert (measured.align, measured.cover, measured.conf) == (pytest.approx(1),) * 3


def test_an_opposite_source_covers_nothing_and_may_align_below_zero() -> None:
    measured = measure_quality(np.array([1.0, 0.0]), [np.array([-1.0, 0.0])])
    assert (measured.align, measured.cover, measured.conf) == (-1.0, 0.0, 0.0)


def test_opposite_sources_do_not_lower_the_cover_below_that_of_the_others() -> None:
    measured = measure_quality(np.array([1.0, 0.0]), [np.array([1.0, 0.0]), np.array([-1.0, 0.0])])
    assert measured.cover == 0.5
    assert measured.align == 0.0


def test_each_source_counts_the_same_however_long_its_vector() -> None:
    short = measure_quality(np.array([1.0, 1.0]), [np.array([1.0, 0.0]), np.array([0.0, 1.0])])
    long = measure_quality(np.array([5.0, 5.0]), [np.array([100.0, 0.0]), np.array([0.0, 1.0])])
    assert long == short
    assert short.align == pytest.approx(1)


def test_no_sources_give_no_quality() -> None:
    assert measure_quality(np.array([1.0]), []) == SummaryQuality(align=0.0, cover=0.0, conf=0.0)


def test_a_vector_without_direction_is_like_nothing() -> None:
    assert measure_quality(np.zeros(2), [np.array([1.0, 0.0])]).conf == 0.0
    broken = measure_quality(np.array([1.0, 0.0]), [np.array([math.nan, 0.0]), np.array([1.0, 0.0])])
    assert (broken.align, broken.cover) == (1.0, 0.5)


@given(vector, st.lists(vector, max_size=6))
def test_quality_is_always_a_number_in_range(summary: np.ndarray, sources: list[np.ndarray]) -> None:
    measured = measure_quality(summary, sources)
    assert -1 <= measured.align <= 1
    assert 0 <= measured.cover <= 1
    assert 0 <= measured.conf <= 1
    assert measured.conf == pytest.approx(max(0.0, (measured.align + measured.cover) / 2))


@given(any_float, any_float)
def test_blended_confidence_lies_between_its_parts(conf: float, decoder: float) -> None:
    blended = blend_confidence(conf, decoder)
    ours, theirs = (min(1.0, max(0.0, x)) if math.isfinite(x) else 0.0 for x in (conf, decoder))
    assert min(ours, theirs) - 1e-12 <= blended <= max(ours, theirs) + 1e-12
    assert blended == pytest.approx(0.8 * ours + 0.2 * theirs)


# --- progress ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("summary", "source", "expected"),
    [(1, 2, True), (2, 2, False), (3, 2, False), (0, 2, False), (-1, 2, False), (1, 1, False)],
)
def test_progress_is_strict(summary: int, source: int, expected: bool) -> None:
    assert makes_progress(summary, source) is expected


def test_each_attempt_has_its_limit() -> None:
    assert limit_attempt("normal", target_tokens=120, source_tokens=1000) == 120
    assert limit_attempt("aggressive", target_tokens=120, source_tokens=1000) == 60
    assert limit_attempt("fallback", target_tokens=120, source_tokens=1000) == 60
    assert limit_attempt("normal", target_tokens=120, source_tokens=120) == 119
    assert limit_attempt("fallback", target_tokens=120, source_tokens=0) == 0
    assert limit_attempt("normal", target_tokens=-3, source_tokens=5) == 0


@given(st.sampled_from(summaries.ESCALATION), st.integers(0, 500), st.integers(1, 500))
def test_an_attempt_within_its_limit_makes_progress(attempt: str, target: int, source: int) -> None:
    limit = limit_attempt(attempt, target_tokens=target, source_tokens=source)
    assert 0 <= limit <= target
    assert limit < source
    assert makes_progress(limit, source) == (limit > 0)


# --- judgement -----------------------------------------------------------------------------------------------


def test_an_abstractive_summary_must_align() -> None:
    assert judge(0.65).verdict == "accepted"
    assert judge(0.6499).verdict == "misaligned"
    assert judge(math.nan).verdict == "misaligned"
    assert judge(0.65).is_accepted
    assert not judge(0.6499).is_accepted


def test_an_extractive_summary_is_not_judged_by_alignment() -> None:
    judged = judge(0.1, method="extractive")
    assert judged.is_accepted
    assert judged.confidence == 0.7
    assert judged.decay == pytest.approx(0.3)
    assert judged.method == "extractive"


def test_an_abstractive_summary_blends_the_decoders_confidence() -> None:
    assert judge(decoder=0.5).confidence == pytest.approx(0.66)
    assert judge(decoder=1.0).confidence == pytest.approx(0.76)
    assert judge(decoder=None).confidence == pytest.approx(0.56)
    assert judge(decoder=None).method == "abstractive"


@pytest.mark.parametrize("method", ["abstractive", "extractive"])
def test_a_summary_that_saves_nothing_is_refused_however_good(method: str) -> None:
    assert judge(0.99, method=method, summary_tokens=100).verdict == "no_progress"
    assert judge(0.1, method=method, summary_tokens=100).verdict == "no_progress"
    assert judge(0.99, method=method, summary_tokens=99).verdict == "accepted"


@given(
    st.floats(-1, 1),
    st.floats(0, 1),
    st.sampled_from(["abstractive", "extractive"]),
    st.integers(0, 200),
    st.integers(0, 200),
    st.none() | any_float,
)
def test_confidence_and_decay_share_one(
    align: float, conf: float, method: str, summary: int, source: int, decoder: float | None
) -> None:
    judged = judge_summary(
        quality(align, conf=conf),
        method=method,
        summary_tokens=summary,
        source_tokens=source,
        decoder_confidence=decoder,
    )
    assert 0 <= judged.confidence <= 1
    assert judged.decay == 1 - judged.confidence
    assert judged.quality == quality(align, conf=conf)
    if not 0 < summary < source:
        assert judged.verdict == "no_progress"
    if judged.is_accepted:
        assert 0 < summary < source
        assert method == "extractive" or align >= 0.65


# --- prior context -------------------------------------------------------------------------------------------


def test_prior_context_takes_the_nearest_that_fit_ninety_six_tokens() -> None:
    assert choose_prior([("a", 96), ("b", 1)]) == ("a",)
    assert choose_prior([("a", 97), ("b", 50), ("c", 47), ("d", 46)]) == ("b", "d")
    assert choose_prior([("empty", 0), ("less", -1), ("a", 3)], capacity_tokens=3) == ("a",)


@given(st.lists(st.tuples(st.text(max_size=2), st.integers(0, 120)), max_size=8), st.integers(0, 200))
def test_prior_context_never_exceeds_its_cap(neighbours: list[tuple[str, int]], cap: int) -> None:
    chosen = choose_prior(enumerate_ids(neighbours), capacity_tokens=cap)
    costs = dict(enumerate_ids(neighbours))
    assert sum(costs[id_] for id_ in chosen) <= cap


def enumerate_ids(neighbours: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return [(f"{index}{name}", tokens) for index, (name, tokens) in enumerate(neighbours)]


# --- footer --------------------------------------------------------------------------------------------------


def test_dropped_mentions_are_those_the_summary_does_not_say() -> None:
    sources = ["we saw E0308 in src/app.py with Ada", "later src/app.py on 2023-05-07"]
    assert list_dropped_mentions(sources, "Somebody saw e0308.") == ("src/app.py", "Ada", "2023-05-07")
    assert list_dropped_mentions(sources, "Ada, E0308, SRC/APP.PY, 2023-05-07") == ()


def test_mentions_of_more_sources_come_first_and_one_text_counts_once() -> None:
    sources = ["see E0308 E0308 E0308 and a.py", "see b.py", "see b.py again"]
    assert list_dropped_mentions(sources, "") == ("b.py", "E0308", "a.py")


def test_part_of_a_longer_word_does_not_say_a_mention() -> None:
    assert list_dropped_mentions(["see app.py now"], "in myapp.py") == ("app.py",)
    assert list_dropped_mentions(["see app.py now"], "in app.pyc") == ("app.py",)
    assert list_dropped_mentions(["see app.py now"], "in myapp.py and app.py") == ()
    assert list_dropped_mentions(["see app.py now"], "app.py in myapp.py") == ()
    assert list_dropped_mentions(["see app.py now"], "app.py") == ()


def test_the_footer_lists_what_fits_and_passes_over_what_does_not() -> None:
    text = append_footer(
        "We met.", ["a.py", "much/too/long/a/path.py", "b.py"], count_tokens=len, footer_tokens=26
    )
    assert text == "We met.\nAlso mentioned: a.py, b.py"
    assert (
        append_footer("We met.", ["a.py", "b.py"], count_tokens=len, footer_tokens=25)
        == "We met.\nAlso mentioned: a.py"
    )


def test_without_anything_to_say_the_summary_is_unchanged() -> None:
    assert append_footer("We met.", [], count_tokens=len) == "We met."
    assert append_footer("We met.", ["a.py"], count_tokens=len, footer_tokens=3) == "We met."


def test_the_footer_does_not_eat_the_progress() -> None:
    footed = "We met.\nAlso mentioned: a.py"
    assert append_footer("We met.", ["a.py"], count_tokens=len, source_tokens=len(footed) + 1) == footed
    assert append_footer("We met.", ["a.py"], count_tokens=len, source_tokens=len(footed)) == "We met."


def test_the_footer_tries_a_bounded_number_of_mentions() -> None:
    mentions = [f"n{i}" for i in range(500)]
    footed = append_footer("", mentions, count_tokens=len, footer_tokens=10**6)
    assert footed.endswith(", n63")


@given(
    st.text(max_size=20),
    st.lists(st.text("ab./", min_size=1, max_size=9), max_size=12),
    st.integers(0, 60),
    st.integers(0, 80),
)
def test_the_footer_stays_within_its_cap_and_below_the_sources(
    summary: str, mentions: list[str], cap: int, source_tokens: int
) -> None:
    footed = append_footer(
        summary, mentions, count_tokens=len, footer_tokens=cap, source_tokens=source_tokens
    )
    assert footed.startswith(summary)
    if footed != summary:
        assert len(footed) < source_tokens
        assert len(footed) - len(summary) - 1 <= cap
