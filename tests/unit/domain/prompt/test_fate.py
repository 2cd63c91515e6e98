"""Claims about fates: one function gives every reason, and of several the weightier one."""

import inspect

import pytest

from models.domain.prompt.assembly import assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.fate import IN, decide_fate
from models.domain.prompt.supply import Block, Supply
from models.domain.prompt.tokens import CharsCounter

REASONS = {
    "overruled_by": "r1",
    "under_floor": 0.15,
    "ranked_behind": 200,
    "is_small_talk": True,
    "is_filtered": True,
    "is_feasible": False,
    "is_shown": True,
    "is_before_tail": True,
    "repetition": "said",
    "repeats": "m1",
    "reserve": 40,
    "room": 20,
    "is_taken_back": True,
    "single": "spoken_for",
    "listed": 10,
}


def test_a_candidate_that_nothing_keeps_out_is_in() -> None:
    assert decide_fate() == IN
    assert IN.is_in


def test_everything_that_is_known_of_a_candidate_can_keep_it_out_for_a_reason_of_its_own() -> None:
    assert list(REASONS) == list(inspect.signature(decide_fate).parameters)
    reasons = [decide_fate(**{name: value}).reason for name, value in REASONS.items()]
    assert all(reasons)
    assert len(set(reasons)) == len(reasons)


@pytest.mark.parametrize("first", range(len(REASONS)))
def test_of_several_reasons_the_one_named_first_is_given(first: int) -> None:
    known = list(REASONS.items())[first:]
    assert decide_fate(**dict(known)) == decide_fate(**dict(known[:1]))


def test_a_wish_that_is_out_before_the_budget_is_asked_keeps_its_reason_in_any_budget() -> None:
    overruled = decide_fate(overruled_by="r1")
    wish = Block(id="w", rendered="- Use emojis.\n", fate=overruled)
    rule = Block(id="r1", rendered="Never use emojis.\n")
    for total in (10, 1000):
        found = assemble(
            Supply(hard=[rule], guidance=[wish]),
            total=total,
            counter=CharsCounter(),
            reserves=Reserves(),
            min_turns=4,
        )
        assert found.fates["guidance"] == {"w": overruled}
        assert "emojis.\n" not in found.volatile
