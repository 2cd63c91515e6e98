"""Isotonic calibration: monotone always, exact where it can be worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.gate.calibration import (
    IsotonicFit,
    ReliabilityBin,
    choose_threshold,
    fit_isotonic,
    reliability_curve,
)

scores = st.floats(min_value=0.0, max_value=1.0)
pairs = st.lists(st.tuples(scores, st.sampled_from([0.0, 1.0])), min_size=1, max_size=60)
weights = st.floats(min_value=0.01, max_value=100.0)


def split(items: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [score for score, _ in items], [label for _, label in items]


# --- the fit ------------------------------------------------------------------------------------


def test_labels_already_in_order_are_fitted_exactly() -> None:
    fit = fit_isotonic([0.1, 0.5, 0.9], [0, 0.5, 1])
    assert fit == IsotonicFit(x=(0.1, 0.5, 0.9), y=(0.0, 0.5, 1.0))


def test_a_violation_is_pooled_to_its_mean() -> None:
    assert fit_isotonic([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).y == (0.0, 0.5, 0.5, 1.0)


def test_pooling_reaches_back_until_nothing_falls() -> None:
    assert fit_isotonic([1, 2, 3, 4], [1, 1, 1, 0]).y == (0.75, 0.75, 0.75, 0.75)
    assert fit_isotonic([1, 2, 3, 4, 5], [0, 1, 0.6, 0.2, 1]).y == pytest.approx((0, 0.6, 0.6, 0.6, 1))


def test_weights_count_as_repetitions() -> None:
    weighted = fit_isotonic([0.1, 0.2], [1, 0], [3, 1])
    repeated = fit_isotonic([0.1, 0.1, 0.1, 0.2], [1, 1, 1, 0])
    assert weighted.y == repeated.y == (0.75, 0.75)


def test_equal_scores_share_one_value() -> None:
    fit = fit_isotonic([0.5, 0.5, 0.5, 0.1], [1, 0, 0, 0])
    assert fit.x == (0.1, 0.5)
    assert fit.y == pytest.approx((0.0, 1 / 3))


def test_order_of_the_items_does_not_matter() -> None:
    assert fit_isotonic([0.4, 0.1, 0.3, 0.2], [1, 0, 0, 1]) == fit_isotonic(
        [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]
    )


@given(pairs)
def test_the_curve_never_falls_and_stays_a_share(items: list[tuple[float, float]]) -> None:
    fit = fit_isotonic(*split(items))
    assert list(fit.x) == sorted(set(fit.x))
    assert list(fit.y) == sorted(fit.y)
    assert all(0.0 <= value <= 1.0 for value in fit.y)


@given(pairs, st.lists(st.floats(min_value=-1.0, max_value=2.0), min_size=2, max_size=20))
def test_predictions_never_fall_as_scores_rise(items: list[tuple[float, float]], asked: list[float]) -> None:
    predicted = fit_isotonic(*split(items)).predict(sorted(asked))
    assert bool((np.diff(predicted) >= 0).all())


@given(st.lists(st.tuples(scores, st.sampled_from([0.0, 1.0]), weights), min_size=1, max_size=40))
def test_the_fit_keeps_the_weighted_mean(items: list[tuple[float, float, float]]) -> None:
    x, y, w = (np.array(column) for column in zip(*items, strict=True))
    predicted = fit_isotonic(x, y, w).predict(x)
    assert float((predicted * w).sum()) == pytest.approx(float((y * w).sum()), abs=1e-6)


@given(pairs)
def test_no_other_monotone_step_is_nearer(items: list[tuple[float, float]]) -> None:
    x, y = split(items)
    error = float(((fit_isotonic(x, y).predict(x) - y) ** 2).sum())
    mean = float(np.mean(y))
    assert error <= float(((mean - np.array(y)) ** 2).sum()) + 1e-9
    for cut in x:
        below = [label for score, label in items if score < cut]
        above = [label for score, label in items if score >= cut]
        if below and np.mean(below) <= np.mean(above):
            step = sum((label - np.mean(below)) ** 2 for label in below)
            step += sum((label - np.mean(above)) ** 2 for label in above)
            assert error <= step + 1e-9


def test_prediction_is_straight_between_knots_and_flat_beyond() -> None:
    fit = IsotonicFit(x=(0.2, 0.6), y=(0.1, 0.9))
    assert fit.predict([0.0, 0.2, 0.4, 0.6, 1.0]).tolist() == pytest.approx([0.1, 0.1, 0.5, 0.9, 0.9])
    assert fit.predict(0.4).shape == ()


@pytest.mark.parametrize(
    ("x", "y", "w", "words"),
    [
        ([], [], None, "no labelled scores to calibrate on, expected at least 1; collect feedback first"),
        ([0.1, 0.2], [1], None, "got 2 scores, 1 labels and 2 weights, expected one of each per item"),
        ([0.1], [1], [1, 2], "1 scores, 1 labels and 2 weights"),
        ([math.nan], [1], None, "a score is not finite; leave out items that were never scored"),
        ([0.1], [2], None, "a label lies outside 0 to 1; use 1 for useful, 0 for not, or a share in between"),
        (
            [0.1],
            [-0.1],
            None,
            "a label lies outside 0 to 1; use 1 for useful, 0 for not, or a share in between",
        ),
        (
            [0.1],
            [math.nan],
            None,
            "a label lies outside 0 to 1; use 1 for useful, 0 for not, or a share in between",
        ),
        ([0.1], [1], [0], "a weight is not a positive number; leave out items that should not count"),
        ([0.1], [1], [math.inf], "a weight is not a positive number; leave out items that should not count"),
    ],
)
def test_unusable_labels_are_refused_with_a_reason(
    x: list[float], y: list[float], w: list[float] | None, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        fit_isotonic(x, y, w)


# --- the threshold ------------------------------------------------------------------------------


def test_the_lowest_threshold_that_is_good_enough_is_chosen() -> None:
    x, y = [0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1]
    fit = fit_isotonic(x, y)
    everything = choose_threshold(fit, x, y, 0.5)
    assert (everything.threshold, everything.precision, everything.kept_share, everything.n) == (
        0.1,
        0.5,
        1.0,
        4,
    )
    some = choose_threshold(fit, x, y, 0.6)
    assert some.threshold == 0.2
    assert some.precision == pytest.approx(2 / 3)
    assert (some.kept_share, some.n) == (0.75, 3)
    only = choose_threshold(fit, x, y, 1.0)
    assert (only.threshold, only.precision, only.kept_share, only.n) == (0.3, 1.0, 0.5, 2)


def test_the_choice_says_what_was_wanted_and_what_was_reached() -> None:
    x, y = [0.1, 0.2], [0, 1]
    why = choose_threshold(fit_isotonic(x, y), x, y, 0.9).why
    assert why == "lowest threshold with precision 1.000, wanted 0.900: 1 of 2 labelled items at or above 0.2"


def test_when_no_threshold_is_good_enough_the_best_is_given_and_said() -> None:
    x, y = [0.1, 0.2, 0.3, 0.4], [0, 0, 1, 0]
    choice = choose_threshold(fit_isotonic(x, y), x, y, 0.9)
    assert choice.threshold == 0.4
    assert choice.precision == 0.5
    assert choice.n == 1
    assert choice.why.startswith("no threshold reaches precision 0.900; the best is 0.500: 1 of 4")


def test_equal_scores_are_kept_or_dropped_together() -> None:
    x, y = [0.1, 0.5, 0.5, 0.5], [0, 1, 1, 0]
    choice = choose_threshold(fit_isotonic(x, y), x, y, 0.6)
    assert (choice.threshold, choice.n) == (0.5, 3)
    assert choice.precision == pytest.approx(2 / 3)


@given(pairs, scores, scores)
def test_a_higher_wish_never_lowers_the_threshold(
    items: list[tuple[float, float]], one: float, other: float
) -> None:
    x, y = split(items)
    fit = fit_isotonic(x, y)
    low, high = sorted((one, other))
    assert choose_threshold(fit, x, y, low).threshold <= choose_threshold(fit, x, y, high).threshold


@given(pairs, scores)
def test_what_is_kept_is_what_lies_at_or_above_the_threshold(
    items: list[tuple[float, float]], wanted: float
) -> None:
    x, y = split(items)
    choice = choose_threshold(fit_isotonic(x, y), x, y, wanted)
    assert choice.n == sum(score >= choice.threshold for score in x)
    assert choice.kept_share == pytest.approx(choice.n / len(x))
    assert 0.0 <= choice.precision <= 1.0


@pytest.mark.parametrize("wanted", [-0.01, 1.01, math.nan])
def test_a_precision_that_is_no_share_is_refused(wanted: float) -> None:
    with pytest.raises(ValueError, match=r"wanted precision is .*, expected 0 to 1"):
        choose_threshold(IsotonicFit(x=(0.0,), y=(0.0,)), [0.1], [1], wanted)


# --- reliability --------------------------------------------------------------------------------


def test_bins_hold_their_items_with_mean_and_share() -> None:
    curve = reliability_curve([0.1, 0.2, 0.5, 1.0], [0, 1, 1, 1], 2)
    assert curve == (
        ReliabilityBin(low=0.0, high=0.5, n=2, mean_score=pytest.approx(0.15), useful_share=0.5),
        ReliabilityBin(low=0.5, high=1.0, n=2, mean_score=0.75, useful_share=1.0),
    )


def test_empty_bins_are_left_out_and_strays_go_to_the_ends() -> None:
    curve = reliability_curve([-0.5, 1.5], [0, 1], 4)
    assert [(place.low, place.high, place.n) for place in curve] == [(0.0, 0.25, 1), (0.75, 1.0, 1)]


def test_ten_bins_are_the_default() -> None:
    assert [place.low for place in reliability_curve([0.05, 0.15], [0, 1])] == [0.0, 0.1]


@given(pairs, st.integers(1, 20))
def test_every_item_is_in_one_bin(items: list[tuple[float, float]], bins: int) -> None:
    curve = reliability_curve(*split(items), bins)
    assert sum(place.n for place in curve) == len(items)


def test_no_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="reliability bins is 0, expected at least 1"):
        reliability_curve([0.1], [1], 0)
