"""Packing of ranked items into a budget (memory-model.md section 7, set selection)."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.selection import (
    DUPLICATE_COSINE,
    PackItem,
    find_marks,
    find_repeats,
    make_text_key,
    pack,
    unit_vector,
)


def item(
    id_: str, tokens: int = 10, score: float = 0.5, vector: list[float] | None = None, text_key: str = ""
) -> PackItem:
    array = None if vector is None else np.array(vector)
    return PackItem(id=id_, tokens=tokens, score=score, vector=array, text_key=text_key)


vectors = st.none() | st.lists(st.floats(-1, 1), min_size=2, max_size=3).map(np.array)
items_of_any_kind = st.lists(
    st.builds(
        PackItem,
        id=st.text("abcdefgh", min_size=1, max_size=2),
        tokens=st.integers(0, 60),
        score=st.floats(allow_nan=True, allow_infinity=True) | st.floats(0, 1) | st.sampled_from([0.25, 0.5]),
        vector=vectors,
        text_key=st.sampled_from(["", "", "x", "y"]),
    ),
    max_size=25,
    unique_by=lambda one: one.id,
)
policies = st.sampled_from(["skip", "stop"])


@given(items_of_any_kind, st.integers(-5, 200), policies)
def test_the_sum_is_never_over_capacity_and_everything_is_accounted_for(
    items: list[PackItem], capacity: int, policy: str
) -> None:
    packing = pack(items, capacity_tokens=capacity, policy=policy)
    tokens = {one.id: one.tokens for one in items}
    used = sum(tokens[id_] for id_ in packing.chosen)
    assert used == packing.used_tokens <= max(capacity, 0)
    dropped = [id_ for id_, _ in packing.dropped]
    assert sorted([*packing.chosen, *dropped]) == sorted(tokens)


@given(items_of_any_kind, st.integers(0, 200), policies, st.randoms())
def test_the_order_given_does_not_matter(
    items: list[PackItem], capacity: int, policy: str, random: Random
) -> None:
    packing = pack(items, capacity_tokens=capacity, policy=policy)
    random.shuffle(items)
    assert pack(items, capacity_tokens=capacity, policy=policy) == packing


@given(items_of_any_kind, st.integers(0, 200))
def test_no_two_chosen_items_say_the_same(items: list[PackItem], capacity: int) -> None:
    packing = pack(items, capacity_tokens=capacity)
    by_id = {one.id: one for one in items}
    chosen = [by_id[id_] for id_ in packing.chosen]
    keys = [one.text_key for one in chosen if one.text_key]
    assert len(keys) == len(set(keys))
    units = [unit for one in chosen if (unit := unit_vector(one.vector)) is not None]
    for index, unit in enumerate(units):
        assert all(other.size != unit.size or unit @ other < 0.95 + 1e-9 for other in units[:index])


@given(items_of_any_kind, st.integers(0, 200))
def test_whatever_skip_leaves_out_for_room_really_did_not_fit(items: list[PackItem], capacity: int) -> None:
    packing = pack(items, capacity_tokens=capacity)
    tokens = {one.id: one.tokens for one in items}
    for id_, reason in packing.dropped:
        if reason == "no_room":
            assert tokens[id_] > capacity - packing.used_tokens
        assert reason != "stopped"


@given(items_of_any_kind)
def test_with_room_for_all_only_duplicates_are_dropped(items: list[PackItem]) -> None:
    packing = pack(items, capacity_tokens=10_000)
    assert all(reason == "duplicate" for _, reason in packing.dropped)
    assert [id_ for id_, _ in packing.duplicate_of] == [id_ for id_, _ in packing.dropped]
    assert all(original in packing.chosen for _, original in packing.duplicate_of)


def test_items_are_taken_by_score_and_then_by_id() -> None:
    items = [item("b", score=0.5), item("a", score=0.5), item("c", score=0.9), item("d", score=0.1)]
    assert pack(items, capacity_tokens=100).chosen == ("c", "a", "b", "d")


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_counts_as_zero(score: float) -> None:
    assert pack([item("a", score=score), item("b", score=0.1)], capacity_tokens=100).chosen == ("b", "a")


def test_an_item_that_fills_the_capacity_exactly_fits() -> None:
    assert pack([item("a", tokens=10)], capacity_tokens=10).chosen == ("a",)
    assert pack([item("a", tokens=11)], capacity_tokens=10).dropped == (("a", "no_room"),)


def test_skip_tries_the_next_and_stop_does_not() -> None:
    items = [item("a", 60, 0.9), item("b", 50, 0.8), item("c", 40, 0.7)]
    assert pack(items, capacity_tokens=100).chosen == ("a", "c")
    stopped = pack(items, capacity_tokens=100, policy="stop")
    assert stopped.chosen == ("a",)
    assert stopped.dropped == (("b", "no_room"), ("c", "stopped"))


def test_a_duplicate_does_not_stop_the_packing() -> None:
    items = [item("a", 60, 0.9, text_key="x"), item("b", 90, 0.8, text_key="x"), item("c", 40, 0.7)]
    packing = pack(items, capacity_tokens=100, policy="stop")
    assert packing.chosen == ("a", "c")
    assert packing.dropped == (("b", "duplicate"),)
    assert packing.duplicate_of == (("b", "a"),)


def test_an_item_dropped_for_room_is_no_original_for_a_duplicate() -> None:
    items = [item("big", 90, 0.9, text_key="x"), item("small", 10, 0.8, text_key="x")]
    assert pack(items, capacity_tokens=50).chosen == ("small",)


def test_the_duplicate_bound_is_inclusive_and_set_at_095() -> None:
    assert DUPLICATE_COSINE == 0.95
    near, far = [0.951, math.sqrt(1 - 0.951**2)], [0.949, math.sqrt(1 - 0.949**2)]
    first = item("a", score=0.9, vector=[1.0, 0.0])
    assert pack([first, item("b", vector=near)], capacity_tokens=100).duplicate_of == (("b", "a"),)
    assert pack([first, item("b", vector=far)], capacity_tokens=100).chosen == ("a", "b")
    at_right_angles = item("b", vector=[0.0, 1.0])
    assert pack([first, at_right_angles], capacity_tokens=100, duplicate_cosine=0.0).chosen == ("a",)


def test_a_duplicate_names_the_nearest_chosen_item() -> None:
    items = [
        item("a", score=0.9, vector=[1.0, 0.0]),
        item("b", score=0.8, vector=[0.0, 1.0]),
        item("c", score=0.7, vector=[0.0, 3.0]),
    ]
    assert pack(items, capacity_tokens=100).duplicate_of == (("c", "b"),)


def test_length_does_not_matter_for_likeness() -> None:
    items = [item("a", score=0.9, vector=[1e-300, 0.0]), item("b", vector=[1e300, 0.0])]
    assert pack(items, capacity_tokens=100).chosen == ("a",)


def test_opposite_vectors_are_not_duplicates() -> None:
    items = [item("a", score=0.9, vector=[1.0, 0.0]), item("b", vector=[-1.0, 0.0])]
    assert pack(items, capacity_tokens=100).chosen == ("a", "b")


@pytest.mark.parametrize("vector", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [], None])
def test_a_vector_without_direction_is_compared_with_nothing(vector: list[float] | None) -> None:
    items = [item("a", score=0.9, vector=vector), item("b", vector=vector)]
    assert pack(items, capacity_tokens=100).chosen == ("a", "b")


def test_vectors_of_two_encoders_are_not_compared() -> None:
    items = [
        item("a", score=0.9, vector=[1.0, 0.0]),
        item("b", score=0.8, vector=[1.0, 0.0, 0.0]),
        item("c", score=0.7, vector=[1.0, 0.0, 0.0]),
    ]
    assert pack(items, capacity_tokens=100).duplicate_of == (("c", "b"),)


def test_an_empty_text_key_matches_nothing() -> None:
    assert pack([item("a"), item("b")], capacity_tokens=100).chosen == ("a", "b")


def test_an_id_given_twice_is_packed_once() -> None:
    packing = pack([item("a", score=0.9), item("a", score=0.2)], capacity_tokens=100)
    assert packing.chosen == ("a",)
    assert packing.duplicate_of == (("a", "a"),)


def test_items_compare_by_what_they_say_and_not_by_their_vectors() -> None:
    assert item("a", vector=[1.0, 0.0]) == item("a", vector=[0.0, 1.0])
    assert item("a", text_key="x") != item("a", text_key="y")


def test_a_negative_cost_is_refused() -> None:
    assert item("a", tokens=0).tokens == 0
    with pytest.raises(ValueError, match=r"^item 'a' costs -1 tokens; a cost is 0 or more$"):
        item("a", tokens=-1)


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^packing policy is 'guess'; choose one of skip, stop$"):
        pack([], capacity_tokens=1, policy="guess")


@given(st.text(), st.text(" \t\n", min_size=1, max_size=3))
def test_white_space_and_case_do_not_change_a_text_key(text: str, space: str) -> None:
    assert make_text_key(space + text.upper().casefold() + space) == make_text_key(text.upper())


def test_text_keys_tell_texts_apart() -> None:
    assert make_text_key("use tabs") == make_text_key("Use \n tabs ")
    assert make_text_key("use tabs") != make_text_key("usetabs")
    assert make_text_key(" \n") == ""
    assert len(make_text_key("\ud800")) == 64


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_a_unit_vector_has_length_one_and_the_same_direction(values: list[float]) -> None:
    unit = unit_vector(np.array(values))
    if unit is None:
        assert not any(values)
    else:
        assert float(np.linalg.norm(unit)) == pytest.approx(1)
        assert all(u * v >= 0 for u, v in zip(unit, values, strict=True))


def test_single_precision_vectors_of_any_shape_are_read() -> None:
    unit = unit_vector(np.array([[3.0, 4.0]], dtype=np.float32))
    assert unit is not None
    assert unit.tolist() == pytest.approx([0.6, 0.8])


@given(st.lists(st.tuples(st.sampled_from(["tea", "Tea ", "milk"]), st.integers(0, 3)), max_size=8))
def test_a_repetition_points_to_an_earlier_text_that_is_none_itself(said: list[tuple[str, int]]) -> None:
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.0, 0.0]])
    vectors = rows[[row for _, row in said]]
    repeats = find_repeats([text for text, _ in said], vectors)
    kept = [place for place in range(len(said)) if place not in repeats]
    assert all(original < place and original in kept for place, original in repeats.items())
    plain = [said[place][0].strip().casefold() for place in kept]
    assert len(set(plain)) == len(plain)
    assert all(vectors[a] @ vectors[b] < DUPLICATE_COSINE for a in kept for b in kept if a < b)


def test_another_number_or_a_negation_is_no_repetition() -> None:
    said = ["Rent is 900.", "Rent is 950.", "I eat meat.", "I don't eat meat."]
    alike = np.array([[1.0, 0.0]] * 5)
    assert find_repeats(said[:2], alike[:2]) == {}
    assert find_repeats(said[2:], alike[2:4]) == {}
    assert find_repeats([*said[:2], "The rent: 950"], alike[:3]) == {2: 1}
    assert find_marks("nothing at 5:30, never 2.5") == {"nothing", "5:30", "never", "2.5"}
