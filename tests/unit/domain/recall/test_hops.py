"""Hops to neighbours of ranked items (memory-model.md section 7)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.hops import HOP_ATTENUATION, HOP_FLOOR, Hop, score_hops

ids = st.sampled_from("abcdefgh")
scores_of_any_kind = st.dictionaries(ids, st.floats(allow_nan=True, allow_infinity=True) | st.floats(0, 1))
links = st.dictionaries(ids, st.lists(ids, max_size=5))


def test_the_constants_are_those_of_section_7() -> None:
    assert (HOP_ATTENUATION, HOP_FLOOR) == (0.5, 0.15)


def test_a_neighbour_scores_half_of_its_best_parent() -> None:
    hops = score_hops({"a": 0.6, "b": 0.8}, {"a": ["x"], "b": ["x", "y"]})
    assert hops == (Hop(id="x", score=0.4, parent="b"), Hop(id="y", score=0.4, parent="b"))


def test_hops_come_best_first_and_ties_by_id() -> None:
    hops = score_hops({"a": 0.6, "b": 0.8}, {"a": ["q", "p"], "b": ["z"]})
    assert [hop.id for hop in hops] == ["z", "p", "q"]


def test_equal_parents_are_told_apart_by_id() -> None:
    assert score_hops({"b": 0.8, "a": 0.8}, {"a": ["x"], "b": ["x"]})[0].parent == "a"


def test_a_hop_at_the_floor_is_kept_and_one_below_is_not() -> None:
    assert [hop.score for hop in score_hops({"a": 0.3}, {"a": ["x"]})] == [0.15]
    assert score_hops({"a": 0.2999}, {"a": ["x"]}) == ()


def test_attenuation_and_floor_can_be_set() -> None:
    assert score_hops({"a": 0.2}, {"a": ["x"]}, attenuation=0.9, floor=0.1)[0].score == pytest.approx(0.18)


def test_depth_is_one() -> None:
    hops = score_hops({"a": 1.0}, {"a": ["x"], "x": ["y"]})
    assert [hop.id for hop in hops] == ["x"]


def test_a_ranked_neighbour_is_lifted_when_the_hop_is_worth_more() -> None:
    scores = {"a": 1.0, "weak": 0.1, "equal": 0.5, "strong": 0.7}
    hops = score_hops(scores, {"a": ["weak", "equal", "strong", "a"]})
    assert hops == (Hop(id="weak", score=0.5, parent="a"),)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_parent_whose_score_is_no_number_vouches_for_nobody(broken: float) -> None:
    assert score_hops({"a": broken}, {"a": ["x"]}) == ()


@given(scores_of_any_kind, links)
def test_a_hop_never_outranks_its_parent_and_never_falls_below_the_floor(
    scores: dict[str, float], neighbours: dict[str, list[str]]
) -> None:
    finite = {id_: score for id_, score in scores.items() if math.isfinite(score)}
    hops = score_hops(scores, neighbours)
    for hop in hops:
        assert hop.id in neighbours[hop.parent]
        assert 0.15 <= hop.score == 0.5 * finite[hop.parent] < finite[hop.parent]
        assert hop.score > finite.get(hop.id, 0.0)
        rivals = [finite[p] for p in finite if hop.id in neighbours.get(p, [])]
        assert finite[hop.parent] == max(rivals)
    assert len({hop.id for hop in hops}) == len(hops)


@given(st.dictionaries(ids, st.floats(0, 1)), links)
def test_no_neighbour_that_earned_a_hop_is_forgotten(
    scores: dict[str, float], neighbours: dict[str, list[str]]
) -> None:
    found = {hop.id for hop in score_hops(scores, neighbours)}
    for parent, score in scores.items():
        for neighbour in neighbours.get(parent, []):
            earned = 0.5 * score >= 0.15 and 0.5 * score > scores.get(neighbour, 0.0)
            assert not earned or neighbour in found
