"""Claims about the recent tail: a suffix, never shorter than its base, never through a bundle."""

import random
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.domain.prompt.assembly import Assembly, assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.rendering import render_item, render_rule, render_turn
from models.domain.prompt.supply import Block, Supply, TailBlock
from models.domain.prompt.tail import (
    MAX_BUNDLE_TURNS,
    TAIL_STEP,
    TailTurn,
    are_coupled,
    bundle_starts,
    choose_start,
    extend_tail,
    find_base_start,
)
from models.domain.prompt.tokens import CharsCounter

roles = st.sampled_from(["user", "assistant", "tool", "system"])


@st.composite
def conversations(draw: st.DrawFn) -> list[TailTurn]:
    count = draw(st.integers(0, 60))
    return [
        TailTurn(id=str(i), role=draw(roles), host_turn=draw(st.sampled_from([None, None, "a", "b"])))
        for i in range(count)
    ]


def turns_of(*roles_in_order: str) -> list[TailTurn]:
    return [TailTurn(id=str(i), role=role) for i, role in enumerate(roles_in_order)]


def test_a_request_and_its_response_belong_together() -> None:
    assert are_coupled(*turns_of("user", "assistant"))
    assert are_coupled(*turns_of("user", "tool"))


def test_a_tool_call_and_its_results_belong_together() -> None:
    assert are_coupled(*turns_of("assistant", "tool"))
    assert are_coupled(*turns_of("tool", "tool"))


def test_a_new_request_and_a_new_step_begin_a_bundle() -> None:
    assert not are_coupled(*turns_of("assistant", "user"))
    assert not are_coupled(*turns_of("tool", "assistant"))
    assert not are_coupled(*turns_of("user", "user"))
    assert not are_coupled(*turns_of("assistant", "assistant"))
    assert not are_coupled(*turns_of("system", "user"))


def test_messages_of_one_host_turn_belong_together() -> None:
    one, two = TailTurn(id="1", role="assistant", host_turn="t"), TailTurn(id="2", role="user", host_turn="t")
    assert are_coupled(one, two)
    assert not are_coupled(one, TailTurn(id="2", role="user", host_turn="u"))


def test_an_endless_run_of_tool_results_is_cut_rather_than_wedging_the_tail() -> None:
    turns = turns_of("assistant", *["tool"] * (2 * MAX_BUNDLE_TURNS))
    assert bundle_starts(turns) == (0, MAX_BUNDLE_TURNS, 2 * MAX_BUNDLE_TURNS)


@given(conversations(), st.integers(1, 20))
def test_the_base_is_the_shortest_whole_suffix_with_enough_turns(turns: list[TailTurn], least: int) -> None:
    start = find_base_start(turns, min_turns=least)
    starts = bundle_starts(turns)
    assert len(turns) - start >= min(least, len(turns))
    assert start in (starts or (0,))
    shorter = [s for s in starts if s > start]
    assert all(len(turns) - s < least for s in shorter)


@given(conversations(), st.integers(1, 10), st.integers(0, 60))
def test_the_tail_holds_the_base_and_splits_no_bundle(turns: list[TailTurn], least: int, room: int) -> None:
    base = find_base_start(turns, min_turns=least)
    taken: list[tuple[int, int]] = []

    def take(start: int, end: int) -> bool:
        if base - start > room:
            return False
        taken.append((start, end))
        return True

    start = extend_tail(turns, base_start=base, take=take)
    assert start <= base
    assert start == base or start in bundle_starts(turns)
    assert sum(end - begin for begin, end in taken) == base - start


def test_the_first_refusal_ends_the_tail() -> None:
    asked: list[tuple[int, int]] = []

    def refuse(start: int, end: int) -> bool:
        asked.append((start, end))
        return False

    assert extend_tail(turns_of("user", "user", "user"), base_start=2, take=refuse) == 2
    assert asked == [(1, 2)]


def max_bundle(costs: list[int], roles_of: list[str]) -> int:
    """What the dearest bundle costs."""
    starts = bundle_starts([TailTurn(id=str(i), role=role) for i, role in enumerate(roles_of)])
    return max(sum(costs[a:b]) for a, b in pairwise((*starts, len(costs))))


def slide(costs: list[int], roles_of: list[str], cap: int, *, least: int = 4) -> list[tuple[int, int, int]]:
    """The chosen start after each turn of a session, with the longest one that fits and its cost."""
    turns = [TailTurn(id=str(i), role=role, position=i) for i, role in enumerate(roles_of)]
    sums = [0, *accumulate(costs)]
    found = []
    held: int | None = None
    for count in range(1, len(turns) + 1):
        known = turns[:count]
        base = find_base_start(known, min_turns=least)
        fitting = [
            s for s in bundle_starts(known) if s <= base and (s == base or sums[count] - sums[s] <= cap)
        ]
        tail_costs = [sums[count] - sums[s] for s in fitting]
        start = held = choose_start(known, fitting, tail_costs, cap=cap, held=held)
        found.append((start, fitting[0], sums[count] - sums[start]))
    return found


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(1, 60), st.sampled_from(["user", "assistant", "tool"])),
        min_size=1,
        max_size=150,
    ),
    st.integers(60, 800),
)
def test_the_start_only_moves_forward_and_the_tail_keeps_to_its_cap(
    turns: list[tuple[int, str]], cap: int
) -> None:
    costs, roles_of = [cost for cost, _ in turns], [role for _, role in turns]
    found = slide(costs, roles_of, cap)
    for (start, longest, cost), count in zip(found, range(1, len(costs) + 1), strict=True):
        base = find_base_start(
            [TailTurn(id=str(i), role=role) for i, role in enumerate(roles_of[:count])], min_turns=4
        )
        assert longest <= start <= base
        assert cost <= cap or start == base
        if longest == 0:
            assert start == 0, "a session that fits is whole"
        largest_bundle = max_bundle(costs[:count], roles_of[:count])
        assert start in (0, base) or cost > (1 - TAIL_STEP) * cap - largest_bundle, "a step gave up too much"
    if all(cost <= cap for _, _, cost in found):
        assert all(a[0] <= b[0] for a, b in pairwise(found)), "the start moved back"


@settings(max_examples=15)
@given(st.integers(8, 60), st.integers(1, 20))
def test_cuts_are_as_rare_as_what_they_give_up(window: int, cost: int) -> None:
    found = slide([cost] * 600, ["user"] * 600, window * cost)
    cuts = sum(a[0] != b[0] for a, b in pairwise(found))
    given_up = window - max(4, int((1 - TAIL_STEP) * window))
    assert cuts <= 600 / given_up + 1


def test_a_tail_that_held_nothing_yet_is_the_longest_that_fits() -> None:
    turns = [TailTurn(id=str(i), role="user", position=50 + i) for i in range(20)]
    starts = list(range(5, 17))
    assert choose_start(turns, starts, [10 * (20 - s) for s in starts], cap=150, held=None) == 5


def test_a_start_that_is_no_longer_one_gives_way_to_the_longest_tail() -> None:
    turns = [TailTurn(id=str(i), role="user", position=50 + i) for i in range(20)]
    starts = [5, 7, 9]
    assert choose_start(turns, starts, [150, 130, 110], cap=150, held=56) == 5


def replay(count: int, *, budget: int, words: int, seed: int) -> list[Assembly]:
    """A session of `count` turns, assembled after each of them, with rules before and recall behind."""
    rng = random.Random(seed)
    vocabulary = [
        "rain",
        "harbour",
        "engine",
        "please",
        "tomorrow",
        "because",
        "Lyon",
        "seventeen",
        "of",
        "the",
    ]
    tail = []
    rules = [
        Block(id=f"h{i}", rendered=render_rule(f"Never do thing number {i} without asking."))
        for i in range(20)
    ]
    made: list[Assembly] = []
    for index in range(count):
        role = "user" if index % 2 == 0 else "assistant"
        text = " ".join(rng.choices(vocabulary, k=1 + int(rng.expovariate(1 / words))))
        tail.append(
            TailBlock(
                id=str(index),
                rendered=render_turn(role=role, text=text, when="2026-01-01T00:00Z"),
                turn=TailTurn(id=str(index), role=role, position=index),
            )
        )
        supply = Supply(
            hard=rules,
            soft=rules[:3],
            tail=tail[-300:],
            recall=[Block(id=f"r{i}", rendered=render_item(rng.choice(vocabulary) * 9)) for i in range(20)],
        )
        made.append(
            assemble(
                supply,
                total=budget,
                counter=CharsCounter(),
                reserves=Reserves(),
                min_turns=4,
                marker="0123456789abcdef",
                held=made[-1].tail_from if made else None,
            )
        )
    return made


def count_shared(one: str, other: str) -> int:
    """Characters that two texts have in common before they first differ."""
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


@pytest.mark.parametrize(("budget", "words"), [(8000, 20), (16_000, 40)])
def test_at_least_95_percent_of_the_stable_part_lasts_from_turn_to_turn(budget: int, words: int) -> None:
    made = replay(500, budget=budget, words=words, seed=words)
    assert all(one.needed is None and one.tokens["tail"] <= 0.3 * budget for one in made)
    shared = [count_shared(a.stable, b.stable) / len(a.stable) for a, b in pairwise(made)]
    assert sum(shared) / len(shared) >= 0.95
    rules = made[0].stable.index("<recent_turns>")
    assert all(count_shared(a.stable, b.stable) >= rules for a, b in pairwise(made)), "rules always stay"
