"""Claims about how a budget is shared (memory-model.md section 2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.prompt.budget import (
    Reserves,
    guidance_capacity,
    is_feasible,
    recall_capacity,
    soft_capacity,
    tail_capacity,
)

tokens = st.integers(min_value=0, max_value=100_000)
shares = st.floats(min_value=0, max_value=1 / 3)
reserves = st.builds(
    Reserves, hard=shares, soft=shares, tail=shares, guidance=st.floats(min_value=0, max_value=1)
)


def test_default_reserves_are_those_of_the_memory_model() -> None:
    assert Reserves() == Reserves(hard=0.30, soft=0.20, tail=0.30, guidance=0.15)


@pytest.mark.parametrize("name", ["hard", "soft", "tail", "guidance"])
@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan")])
def test_a_reserve_outside_0_to_1_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"'{name}'"):
        Reserves(**{"hard": 0, "soft": 0, "tail": 0, "guidance": 0} | {name: value})


def test_reserves_that_share_more_than_the_budget_are_refused() -> None:
    with pytest.raises(ValueError, match=r"1\.100"):
        Reserves(hard=0.5, soft=0.3, tail=0.3)
    assert Reserves(hard=0.5, soft=0.2, tail=0.3).hard == 0.5


def test_guidance_reserve_does_not_count_against_the_sum() -> None:
    assert Reserves(hard=0.5, soft=0.2, tail=0.3, guidance=1.0).guidance == 1.0


def test_feasible_up_to_the_very_last_token() -> None:
    assert is_feasible(total=100, hard=70, base=30)
    assert not is_feasible(total=100, hard=71, base=30)


@given(tokens, tokens, tokens, reserves)
def test_soft_never_takes_what_hard_rules_and_the_base_need(
    total: int, hard: int, base: int, r: Reserves
) -> None:
    soft = soft_capacity(total=total, hard=hard, base=base, reserves=r)
    assert 0 <= soft <= max(0, total - hard - base)
    assert soft <= r.soft * total


@given(tokens, tokens, tokens, tokens, reserves)
def test_the_base_wins_over_the_tail_target(total: int, hard: int, base: int, soft: int, r: Reserves) -> None:
    tail = tail_capacity(total=total, hard=hard, base=base, soft=soft, reserves=r)
    assert tail <= total - hard - soft
    if hard + base + soft <= total:
        assert tail >= base


@given(tokens, st.data())
def test_what_each_tier_may_take_adds_up_to_the_budget_at_most(total: int, data: st.DataObject) -> None:
    r = data.draw(reserves)
    hard = data.draw(st.integers(0, total))
    base = data.draw(st.integers(0, total - hard))
    soft = data.draw(st.integers(0, soft_capacity(total=total, hard=hard, base=base, reserves=r)))
    tail = data.draw(
        st.integers(base, tail_capacity(total=total, hard=hard, base=base, soft=soft, reserves=r))
    )
    guide_cap = guidance_capacity(total=total, hard=hard, soft=soft, tail=tail, reserves=r)
    guidance = data.draw(st.integers(0, guide_cap))
    recall = recall_capacity(total=total, hard=hard, soft=soft, tail=tail, guidance=guidance)
    assert recall >= 0
    assert hard + soft + tail + guidance + recall == total


@pytest.mark.parametrize(
    ("total", "kept"),
    [
        (100, 30),  # 0.30 * 100
        (400, 120),  # 0.30 * 400
        (667, 200),  # G, from 200 / 0.30 on
        (1333, 200),
        (2000, 300),  # 0.15 * 2000, from 200 / 0.15 on
    ],
)
def test_guidance_has_its_share_and_of_a_small_budget_the_floor(total: int, kept: int) -> None:
    assert guidance_capacity(total=total, hard=0, soft=0, tail=0, reserves=Reserves()) == kept


def test_without_a_floor_guidance_has_its_share_alone() -> None:
    reserves = Reserves(guidance_floor=0)
    assert guidance_capacity(total=1000, hard=0, soft=0, tail=0, reserves=reserves) == 150


def test_a_floor_below_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        Reserves(guidance_floor=-1)


def test_guidance_is_bounded_by_what_is_left() -> None:
    assert guidance_capacity(total=1000, hard=500, soft=200, tail=250, reserves=Reserves()) == 50
    assert guidance_capacity(total=1000, hard=800, soft=200, tail=250, reserves=Reserves()) == 0
