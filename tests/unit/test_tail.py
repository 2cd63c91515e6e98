"""Claims about the recent tail: a suffix, never shorter than its base, never through a bundle."""

from hypothesis import given
from hypothesis import strategies as st

from models.domain.tail import (
    MAX_BUNDLE_TURNS,
    TailTurn,
    are_coupled,
    bundle_starts,
    extend_tail,
    find_base_start,
)

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
