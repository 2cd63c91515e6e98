"""Claims about the whole prompt: within budget, complete where it must be, nothing said twice."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.domain.prompt.assembly import Assembly, assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.rendering import render_item, render_rule, render_turn
from models.domain.prompt.supply import Block, Supply, TailBlock
from models.domain.prompt.tail import TailTurn, bundle_starts, find_base_start
from models.domain.prompt.tokens import CharsCounter, TokenCounter
from models.encoders.token_files import load_token_counter

WHEN = "2026-01-01T00:00Z"
texts = st.text(alphabet=st.sampled_from("ab cd\n<>/é漢字кириллица🙂"), min_size=1, max_size=80)
COUNTERS: list[TokenCounter] = [CharsCounter(), load_token_counter("minilm", folder=None)]


@st.composite
def supplies(draw: st.DrawFn) -> Supply:
    def blocks(prefix: str, most: int) -> list[Block]:
        count = draw(st.integers(0, most))
        return [
            Block(
                id=f"{prefix}{i}",
                rendered=render_item(draw(texts), speaker="Ann"),
                heading=draw(st.sampled_from(["2026-01-01", "2026-01-02", "notes.md"]))
                if prefix == "r"
                else "",
                said_at=draw(st.floats(0, 100)),
            )
            for i in range(count)
        ]

    tail = [
        TailBlock(
            id=f"t{i}",
            rendered=render_turn(role=role, text=draw(texts), when=WHEN),
            turn=TailTurn(id=f"t{i}", role=role, position=i),
            is_visible=draw(st.booleans()) and draw(st.booleans()),
        )
        for i, role in enumerate(draw(st.lists(st.sampled_from(["user", "assistant", "tool"]), max_size=15)))
    ]
    recall = blocks("r", 8)
    echo = [replace(block, says=f"t{i}") for i, block in enumerate(recall[:2])]
    return Supply(
        hard=[Block(id=f"h{i}", rendered=render_rule(draw(texts))) for i in range(draw(st.integers(0, 3)))],
        soft=[Block(id=f"s{i}", rendered=render_rule(draw(texts))) for i in range(draw(st.integers(0, 4)))],
        tail=tail,
        guidance=blocks("g", 4),
        recall=[*echo, *recall[2:]],
    )


def run(supply: Supply, total: int, counter: TokenCounter) -> Assembly:
    return assemble(supply, total=total, counter=counter, reserves=Reserves(), min_turns=4)


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.id)
@settings(max_examples=150)
@given(supplies(), st.integers(1, 1500))
def test_the_rendered_text_never_exceeds_the_budget_unless_it_says_so(
    counter: TokenCounter, supply: Supply, total: int
) -> None:
    found = run(supply, total, counter)
    assert found.used == counter.count(found.text)
    if found.needed is None:
        assert found.used <= total
    else:
        assert found.needed == found.used
        assert found.used > total
        assert not (found.chosen["soft"] or found.chosen["guidance"] or found.chosen["recall"])


@settings(max_examples=150)
@given(supplies(), st.integers(1, 1500))
def test_hard_rules_and_the_base_tail_are_always_whole(supply: Supply, total: int) -> None:
    found = run(supply, total, CharsCounter())
    assert found.chosen["hard"] == tuple(block.id for block in supply.hard)
    start = find_base_start([block.turn for block in supply.tail], min_turns=4)
    for block in (*supply.hard, *(b for b in supply.tail[start:] if not b.is_visible)):
        assert block.rendered in found.stable


@settings(max_examples=150)
@given(supplies(), st.integers(50, 1500))
def test_the_tail_is_a_suffix_that_splits_no_bundle(supply: Supply, total: int) -> None:
    found = run(supply, total, CharsCounter())
    chosen = set(found.chosen["tail"])
    starts = [*bundle_starts([block.turn for block in supply.tail]), len(supply.tail)]
    is_in: list[bool] = []
    for start, end in pairwise(starts):
        unseen = {block.id for block in supply.tail[start:end] if not block.is_visible}
        assert unseen <= chosen or not unseen & chosen, "a bundle was split"
        if unseen:
            is_in.append(unseen <= chosen)
    assert is_in == sorted(is_in), "the tail is not a suffix"
    assert not chosen & set(found.visible)


@settings(max_examples=100)
@given(supplies(), st.integers(50, 1500))
def test_every_tier_keeps_to_its_share_and_the_sum_is_what_is_used(supply: Supply, total: int) -> None:
    found = run(supply, total, CharsCounter())
    assert sum(found.tokens.values()) == found.used
    if found.needed is None:
        assert found.tokens["soft"] <= 0.2 * total
        reserve = found.caps["guidance_reserved"]
        assert reserve <= max(0.15 * total, min(200, 0.3 * total))
        assert (
            found.tokens["guidance"] <= found.caps["guidance"] <= max(reserve, total - found.tokens["recall"])
        )


@settings(max_examples=100)
@given(supplies(), st.integers(50, 1500))
def test_everything_is_chosen_dropped_with_a_reason_or_visible(supply: Supply, total: int) -> None:
    found = run(supply, total, CharsCounter())
    tiers = {
        "hard": supply.hard,
        "soft": supply.soft,
        "tail": supply.tail,
        "guidance": supply.guidance,
        "recall": supply.recall,
    }
    for tier, blocks in tiers.items():
        assert list(found.fates[tier]) == [block.id for block in blocks]
        for block in blocks:
            fate = found.fates[tier][block.id]
            assert fate.is_in == (block.id in found.chosen[tier])
            assert fate.is_in or fate.reason
            assert (fate.reason == "the host shows it") == getattr(block, "is_visible", False)


def test_a_memory_whose_words_are_in_the_tail_is_not_said_twice() -> None:
    turn = TailBlock(
        id="t", rendered=render_turn(role="user", text="hello", when=WHEN), turn=TailTurn(id="t", role="user")
    )
    echo = Block(id="m", says="t", rendered=render_item("hello"))
    found = run(Supply(tail=[turn], recall=[echo]), 1000, CharsCounter())
    assert found.chosen["recall"] == ()
    assert found.fates["recall"]["m"].reason == "already in the prompt"


def test_a_soft_rule_in_the_prompt_is_not_recalled_again() -> None:
    rule = Block(id="s", rendered=render_rule("You should prefer tea."))
    found_again = Block(id="s", rendered=render_item("You should prefer tea."))
    found = run(Supply(soft=[rule], recall=[found_again]), 1000, CharsCounter())
    assert found.text.count("prefer tea") == 1
    assert found.chosen["recall"] == ()


def test_two_memories_of_one_turn_are_said_once() -> None:
    twins = [Block(id=i, says="t", rendered=render_item("hello")) for i in ("a", "b")]
    assert run(Supply(recall=twins), 1000, CharsCounter()).chosen["recall"] == ("a",)


def test_recall_starves_before_guidance_and_guidance_before_soft_rules() -> None:
    def block(name: str) -> Block:
        return Block(id=name, rendered=render_item(name * 20))

    supply = Supply(soft=[block("s")], guidance=[block("g")], recall=[block("r")])
    soft_costs = run(Supply(soft=[block("s")]), 900, CharsCounter()).used
    guidance_costs = run(Supply(guidance=[block("g")]), 900, CharsCounter()).used
    present = [
        frozenset(
            tier for tier in ("soft", "guidance", "recall") if run(supply, total, CharsCounter()).chosen[tier]
        )
        for total in range(30, 900, 10)
    ]
    assert frozenset({"soft", "guidance", "recall"}) in present
    # one may come before another only while the share of the other is too small for its frame
    for total in range(30, 900, 10):
        found = run(supply, total, CharsCounter())
        for tier, needs in (("soft", soft_costs), ("guidance", guidance_costs)):
            assert found.chosen[tier] or found.caps[tier] < needs, (tier, total)


def test_nothing_to_say_costs_nothing() -> None:
    found = run(Supply(), 10, CharsCounter())
    assert (found.text, found.used) == ("", 0)


def test_the_volatile_part_follows_the_stable_one() -> None:
    supply = Supply(
        hard=[Block(id="h", rendered=render_rule("rule"))],
        recall=[Block(id="r", rendered=render_item("old"))],
    )
    found = run(supply, 500, CharsCounter())
    assert found.text == found.stable + found.volatile
    assert "rule" in found.stable
    assert "old" not in found.stable
    other = run(replace(supply, recall=()), 500, CharsCounter())
    assert other.stable == found.stable


def test_what_was_recalled_stands_under_its_day_newest_day_first_in_the_order_it_was_said() -> None:
    said = [("late", "2026-01-02", 30.0), ("early", "2026-01-01", 10.0), ("noon", "2026-01-02", 20.0)]
    blocks = [
        Block(id=text, rendered=render_item(text), heading=day, said_at=moment) for text, day, moment in said
    ]
    assembly = run(Supply(recall=blocks), 400, CharsCounter())
    assert "[2026-01-02]\n- noon\n- late\n[2026-01-01]\n- early\n</recalled>" in assembly.text
    assert assembly.chosen["recall"] == ("late", "early", "noon")
    assert assembly.costs["noon"] < assembly.costs["early"]  # the heading of its day is paid for once
