"""The proof of losslessness: each broken rule is found, and a sound session is clean."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.compaction.verification import (
    CheckedEdge,
    CheckedSummary,
    CheckedTurn,
    SessionLineage,
    verify_session,
)
from models.domain.prompt.tail import TailTurn


def turn(number: int) -> CheckedTurn:
    return CheckedTurn(turn=TailTurn(id=f"t{number}", role="user"), position=number, tokens=10)


def leaf(name: str, *numbers: int, **changes: object) -> CheckedSummary:
    edges = tuple(CheckedEdge(turn_id=f"t{number}", tokens=10, is_protected=False) for number in numbers)
    made = CheckedSummary(
        id=name,
        level=1,
        is_active=True,
        summary_tokens=5,
        body_tokens=5,
        source_tokens=10 * len(edges),
        turn_count=len(edges),
        turn_tokens=10 * len(edges),
        turns=edges,
    )
    return replace(made, **changes)


def roof(name: str, *children: CheckedSummary, **changes: object) -> CheckedSummary:
    made = CheckedSummary(
        id=name,
        level=children[0].level + 1,
        is_active=True,
        summary_tokens=6,
        body_tokens=6,
        source_tokens=sum(child.summary_tokens for child in children),
        turn_count=sum(child.turn_count for child in children),
        turn_tokens=sum(child.turn_tokens for child in children),
        children=tuple(child.id for child in children),
    )
    return replace(made, **changes)


RETIRED = {"is_active": False, "is_indexed": False, "has_vectors": False}


def kinds(*summaries: CheckedSummary, turns: int = 10, covered_through: int = -1) -> list[str]:
    lineage = SessionLineage(
        session_id="s",
        turns=[turn(number) for number in range(turns)],
        summaries=summaries,
        covered_through=covered_through,
    )
    return sorted({violation.kind for violation in verify_session(lineage, min_turns=4)})


def test_a_sound_session_is_clean() -> None:
    low, high = leaf("a", 0, 1, **RETIRED), leaf("b", 2, 3, **RETIRED)
    assert kinds(low, high, roof("r", low, high), leaf("c", 4, 5), covered_through=5) == []


def test_a_turn_under_a_retired_summary_alone_is_found() -> None:
    assert kinds(leaf("a", 0, 1, **RETIRED)) == ["unreachable_turn", "wrong_activity"]


def test_a_protected_turn_counts_below_and_not_as_a_source() -> None:
    edges = (
        CheckedEdge(turn_id="t0", tokens=10, is_protected=False),
        CheckedEdge(turn_id="t1", tokens=10, is_protected=True),
    )
    assert kinds(leaf("a", 0, 1, turns=edges, source_tokens=10)) == []


def test_a_cycle_and_an_empty_summary_are_found() -> None:
    one = leaf("a", **RETIRED, source_tokens=6, turn_count=1, children=("b",), level=1)
    other = leaf("b", **RETIRED, source_tokens=6, turn_count=1, children=("a",), level=1)
    assert {"cycle", "empty_expansion"} <= set(kinds(one, other))


@given(
    st.lists(st.integers(min_value=0, max_value=5), unique=True, min_size=1, max_size=6), st.integers(0, 5)
)
def test_a_missing_edge_never_goes_unnoticed(numbers: list[int], victim: int) -> None:
    whole = leaf("a", *numbers)
    if victim in numbers:
        broken = replace(whole, turns=tuple(edge for edge in whole.turns if edge.turn_id != f"t{victim}"))
        assert kinds(broken)
    assert kinds(whole) == []


def find(*summaries: CheckedSummary, covered_through: int = -1) -> list[tuple[str, str, tuple[str, ...]]]:
    lineage = SessionLineage(
        session_id="s",
        turns=[turn(number) for number in range(10)],
        summaries=summaries,
        covered_through=covered_through,
    )
    return [(one.kind, one.node, one.related) for one in verify_session(lineage, min_turns=4)]


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"body_tokens": 4}, "says it costs 5, its text 4"),
        ({"source_tokens": 21}, "says its sources cost 21, they cost 20"),
        ({"turn_tokens": 19}, "says the turns below cost 19, they cost 20"),
        ({"turn_count": 3}, "says 3 turns lie below, 2 do"),
        ({"summary_tokens": 20, "body_tokens": 20}, "costs no less than its sources"),
    ],
)
def test_a_wrong_number_is_told_with_the_right_one(change: dict[str, int], detail: str) -> None:
    assert find(leaf("a", 0, 1, **change)) == [("token_arithmetic", "a", (detail,))]


def test_a_wrong_cost_is_told_with_its_turn() -> None:
    edges = tuple(CheckedEdge(turn_id=f"t{n}", tokens=10 + n, is_protected=False) for n in (0, 1))
    made = leaf("a", 0, 1, turns=edges, source_tokens=21, turn_tokens=21)
    assert find(made) == [("token_arithmetic", "a", ("wrote down another cost for turn t1",))]


def test_a_wrong_level_is_told_with_what_lies_below() -> None:
    assert find(leaf("a", 0, 1, level=2)) == [("wrong_level", "a", ("t0", "t1"))]
    low, other = leaf("a", 0, 1, **RETIRED), leaf("b", 2, 3, **RETIRED, level=2)
    found = find(low, other, roof("r", low, other))
    assert ("wrong_level", "r", ("b",)) in found
    assert ("wrong_level", "b", ("t2", "t3")) in found


def test_a_summary_in_the_wrong_state_is_told_which_way() -> None:
    low = leaf("a", 0, 1)
    roofed = find(low, roof("r", low, source_tokens=5, summary_tokens=4, body_tokens=4))
    assert roofed == [("wrong_activity", "a", ("is active although another covers it",))]
    alone = find(leaf("a", 0, 1, **RETIRED))
    assert ("wrong_activity", "a", ("is retired although nothing covers it",)) in alone


def test_a_summary_that_search_gets_wrong_is_told_which_way() -> None:
    low = leaf("a", 0, 1, **(RETIRED | {"is_indexed": True}))
    kept = find(low, roof("r", low, source_tokens=5, summary_tokens=4, body_tokens=4))
    assert kept == [("not_indexed", "a", ("is retired and still found",))]
    assert find(leaf("a", 0, 1, is_indexed=False)) == [
        ("not_indexed", "a", ("is active and cannot be found",))
    ]
    assert find(leaf("a", 0, 1, has_vectors=False)) == [
        ("not_indexed", "a", ("is active and has no vectors",))
    ]


def test_a_counter_that_claims_too_much_is_told_with_the_first_bare_turn() -> None:
    detail = "covered through 4, but turn 2 is not covered"
    assert find(leaf("a", 0, 1), covered_through=4) == [("wrong_state", "s", (detail,))]
    assert find(leaf("a", 0, 1), covered_through=2) == [
        ("wrong_state", "s", ("covered through 2, but turn 2 is not covered",))
    ]
    assert find(leaf("a", 0, 1), covered_through=1) == []


def test_violations_come_sorted() -> None:
    found = find(leaf("b", 6, 7, body_tokens=4), leaf("a", 0, 1, body_tokens=4, level=2), covered_through=9)
    assert found == sorted(found)
    assert [kind for kind, *_ in found] == [
        *(
            "tail_covered",
            "tail_covered",
            "token_arithmetic",
            "token_arithmetic",
            "wrong_level",
            "wrong_state",
        )
    ]


def test_a_covered_turn_of_the_tail_is_named() -> None:
    assert find(leaf("a", 6, 7)) == [("tail_covered", "t6", ()), ("tail_covered", "t7", ())]


def test_a_session_whose_turns_are_all_covered_has_no_bare_turn() -> None:
    found = find(leaf("a", *range(10)), covered_through=9)
    assert {kind for kind, *_ in found} == {"tail_covered"}
