"""What an assembly says of itself, and how far each tier may go (memory-model.md sections 1 and 2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.prompt.assembly import Assembly, assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.markers import CLOSE_BLOCK, open_block
from models.domain.prompt.rendering import AUTHORED, RECALLED, RECENT, render_item
from models.domain.prompt.supply import Block, Supply, TailBlock
from models.domain.prompt.tail import TailTurn, bundle_starts
from models.domain.prompt.tokens import CharsCounter, TokenCounter

OPEN_HANDED = Reserves(hard=0.0, soft=0.0, tail=1.0, guidance=0.0)


class EveryCharacter:
    """One token a character: the arithmetic of a test can be read off its text."""

    id = "characters"

    def count(self, text: str) -> int:
        return len(text)


class Superadditive(EveryCharacter):
    """Dearer as a whole than in parts, as a tokenizer is that splits what a seam held together."""

    id = "superadditive"

    def count(self, text: str) -> int:
        return len(text) + 10 * (len(text) // 40)


def run(
    supply: Supply,
    total: int,
    counter: TokenCounter | None = None,
    reserves: Reserves | None = None,
    held: int | None = None,
) -> Assembly:
    return assemble(
        supply,
        total=total,
        counter=counter or EveryCharacter(),
        reserves=reserves or Reserves(),
        min_turns=1,
        held=held,
    )


def turn(number: int, *, size: int = 20, **more: bool) -> TailBlock:
    return TailBlock(
        id=f"t{number}",
        rendered="w" * size,
        turn=TailTurn(id=f"t{number}", role="user", position=number),
        **more,
    )


def block(name: str, size: int = 20) -> Block:
    return Block(id=name, rendered="w" * size)


def left_out(found: Assembly) -> dict[str, str | None]:
    """What is not in, by id: the reason."""
    return {
        key: fate.reason for fates in found.fates.values() for key, fate in fates.items() if not fate.is_in
    }


def test_with_room_for_all_the_whole_session_is_the_tail() -> None:
    found = run(Supply(tail=[turn(i) for i in range(8)]), 10_000)
    assert found.chosen["tail"] != ()
    assert set(found.chosen["tail"]) == {f"t{i}" for i in range(8)}
    assert left_out(found) == {}


@given(st.lists(st.integers(1, 120), min_size=1, max_size=14), st.integers(400, 1200))
def test_the_tail_is_the_longest_that_fits_and_splits_no_bundle(sizes: list[int], total: int) -> None:
    tail = [turn(i, size=size) for i, size in enumerate(sizes)]
    found = run(Supply(tail=tail), total, reserves=OPEN_HANDED)
    first = len(tail) - len(found.chosen["tail"])
    assert set(found.chosen["tail"]) == {block.id for block in tail[first:]}
    assert found.tokens["tail"] <= found.caps["tail"] <= total
    starts = bundle_starts([block.turn for block in tail])
    assert first in starts
    if first:
        before = max(start for start in starts if start < first)
        more = sum(len(block.rendered) for block in tail[before:first])
        assert found.tokens["tail"] + more > found.caps["tail"]


def test_a_tail_begins_where_it_is_held_and_a_step_later_when_that_no_longer_fits() -> None:
    tail = [turn(i, size=120) for i in range(40)]
    first = run(Supply(tail=tail[:20]), 1000, reserves=OPEN_HANDED)
    grown = run(Supply(tail=tail[:20]), 2000, reserves=OPEN_HANDED, held=first.tail_from)
    assert grown.tail_from == first.tail_from
    assert grown.chosen["tail"] == first.chosen["tail"]
    cut = run(Supply(tail=tail), 1000, reserves=OPEN_HANDED, held=first.tail_from)
    assert (cut.tail_from or 0) > (first.tail_from or 0)
    assert 0.3 * cut.caps["tail"] < cut.tokens["tail"] <= 0.5 * cut.caps["tail"]


def test_turns_on_the_screen_are_stepped_over_and_older_ones_still_join() -> None:
    tail = [turn(0), turn(1, is_visible=True), turn(2)]
    found = run(Supply(tail=tail), 10_000)
    assert set(found.chosen["tail"]) == {"t0", "t2"}
    assert found.visible == ("t1",)


def test_what_the_host_shows_is_not_recalled_however_old_nor_is_a_summary_of_it() -> None:
    supply = Supply(
        recall=[
            block("old"),
            Block(id="m", says="older", rendered="w" * 20),
            Block(id="s", covers=frozenset({"old"}), rendered="w" * 20),
            block("other"),
        ],
        shown=frozenset({"old", "older"}),
    )
    found = run(supply, 10_000)
    assert found.chosen["recall"] == ("other",)
    assert found.visible == ("old", "older")
    assert left_out(found) == {
        "old": "already in the prompt",
        "m": "already in the prompt",
        "s": "the prompt holds turns that it stands for",
    }


def test_a_turn_is_not_on_the_screen_and_a_block_speaks_for_itself_unless_told() -> None:
    assert turn(0).is_visible is False
    assert block("b").says is None
    assert run(Supply(), 5).needed is None
    assert Supply() == Supply(hard=(), soft=(), tail=(), guidance=(), recall=())


def test_a_block_may_fill_its_share_and_the_budget_to_the_last_token() -> None:
    frame = len(open_block("") + CLOSE_BLOCK + RECALLED.opening + RECALLED.closing)
    exact = run(Supply(recall=[block("r", 50)]), frame + 50)
    assert (exact.chosen["recall"], exact.used, exact.needed) == (("r",), frame + 50, None)
    assert run(Supply(recall=[block("r", 51)]), frame + 50).chosen["recall"] == ()


def test_soft_rules_may_fill_their_reserve_to_the_last_token() -> None:
    frame = len(open_block("") + CLOSE_BLOCK + AUTHORED.opening + AUTHORED.closing)
    reserves = Reserves(hard=0.0, soft=0.5, tail=0.0, guidance=0.0)
    assert run(Supply(soft=[block("s", 100)]), 2 * (frame + 100), reserves=reserves).chosen["soft"] == ("s",)
    assert run(Supply(soft=[block("s", 101)]), 2 * (frame + 100), reserves=reserves).chosen["soft"] == ()


def test_each_drop_names_its_tier_and_its_reason() -> None:
    supply = Supply(
        hard=[block("h")],
        soft=[block("s", 5000), block("late")],
        guidance=[block("g", 5000)],
        recall=[block("h"), block("r", 5000)],
    )
    found = run(supply, 2000)
    out = [
        (tier, key) for tier, fates in found.fates.items() for key, fate in fates.items() if not fate.is_in
    ]
    assert out == [("soft", "s"), ("soft", "late"), ("guidance", "g"), ("recall", "h"), ("recall", "r")]
    reasons = left_out(found)
    assert reasons["s"] == reasons["late"] == "soft reserve of 400 tokens is used up"
    # 300 tokens are kept for wishes; all that nothing else took was not enough either
    assert found.caps["guidance_reserved"] == 300
    assert reasons["g"] == f"does not fit what is left of {2000 - found.used} tokens"
    assert reasons["h"] == "already in the prompt"


def test_what_each_block_added_and_the_total_are_in_the_answer() -> None:
    supply = Supply(soft=[block("s", 30), block("s2", 31)], recall=[block("r", 32)])
    found = run(supply, 3000)
    assert found.total == 3000
    assert set(found.costs) == {"s", "s2", "r"}
    assert found.costs["s2"] == 31
    assert sum(found.costs.values()) == found.used == sum(found.tokens.values())


@given(st.lists(st.integers(10, 90), min_size=1, max_size=12), st.integers(300, 1200))
def test_a_whole_that_counts_more_than_its_parts_gives_back_its_last_steps(
    sizes: list[int], total: int
) -> None:
    recall = [block(f"r{i}", size) for i, size in enumerate(sizes)]
    found = run(Supply(recall=recall), total, Superadditive())
    assert found.used == Superadditive().count(found.text) <= total
    assert found.needed is None
    kept, dropped = found.chosen["recall"], list(left_out(found))
    assert sorted([*kept, *dropped]) == sorted(one.id for one in recall)
    assert set(found.costs) == set(kept)
    assert found.tokens["recall"] == sum(found.costs.values())


def test_a_step_taken_back_is_a_drop_with_its_own_reason() -> None:
    recall = [block(name, 30) for name in "abcd"]
    total = next(
        size
        for size in range(200, 1500)
        if any(
            "whole" in (reason or "")
            for reason in left_out(run(Supply(recall=recall), size, Superadditive())).values()
        )
    )
    found = run(Supply(recall=recall), total, Superadditive())
    assert "the whole text counts more than its parts" in left_out(found).values()
    assert found.tokens["recall"] == sum(found.costs.values())


def test_a_hard_rule_is_not_recalled_again() -> None:
    found = run(Supply(hard=[block("h")], guidance=[block("h")], recall=[block("h")]), 3000)
    assert (found.chosen["guidance"], found.chosen["recall"]) == ((), ())


@pytest.mark.parametrize("counter", [CharsCounter(), EveryCharacter()])
def test_a_feasible_prompt_never_says_what_it_needs(counter: TokenCounter) -> None:
    assert all(
        (run(Supply(hard=[block("h", 40)]), total, counter).needed is None)
        == (counter.count(run(Supply(hard=[block("h", 40)]), 10_000, counter).text) <= total)
        for total in range(1, 300, 7)
    )


def test_what_nearly_repeats_a_better_block_is_dropped_with_its_name() -> None:
    twin = Block(id="twin", rendered=render_item("Tea."), repeats="first")
    supply = Supply(recall=[Block(id="first", rendered=render_item("Tea!")), twin])
    done = assemble(supply, total=500, counter=CharsCounter(), reserves=Reserves(), min_turns=4)
    assert done.chosen["recall"] == ("first",)
    assert left_out(done) == {"twin": "nearly the same as first, which ranks higher"}


def test_an_assembly_says_what_each_tier_might_cost() -> None:
    found = run(Supply(tail=[turn(0), turn(1)], soft=[block("s")], recall=[block("r")]), 1_000)
    assert found.caps.keys() == {"base", "soft", "tail", "guidance_reserved", "guidance", "recall"}
    assert found.caps["base"] == len(open_block("") + CLOSE_BLOCK) + len(RECENT.opening + RECENT.closing) + 20
    assert found.caps["recall"] == 1_000 - sum(
        found.tokens[tier] for tier in ("hard", "soft", "tail", "guidance")
    )


def test_what_was_recovered_comes_first_within_its_reserve_and_recall_has_all_the_rest() -> None:
    recall = [block("a", 50), block("b", 50), block("c", 50)]
    recovered = [block("x", 50), block("y", 50)]
    free = run(Supply(recall=recall), 1_000)
    frame = free.tokens["recall"] - 150
    found = run(Supply(recall=recall, recovered=recovered, recovery_tokens=frame + 60), 1_000)
    assert found.chosen["recall"] == ("x", "a", "b", "c")
    assert left_out(found) == {"y": f"does not fit what is left of {frame + 60} tokens"}
    assert found.caps["recall"] == free.caps["recall"]


def test_what_does_not_fit_at_all_says_what_it_needs() -> None:
    found = run(Supply(hard=[block("h", 500)], tail=[turn(0)], soft=[block("s")]), 100)
    assert found.needed == found.used > 100
    assert found.caps == {"base": found.tokens["tail"]}
    assert found.chosen["soft"] == ()


def test_what_stands_in_one_layout_or_the_other() -> None:
    supply = Supply(hard=[block("h")], tail=[turn(0)], recall=[block("r")])
    two = run(supply, 1_000)
    assert two.text == two.stable + two.volatile
    assert two.text.count(CLOSE_BLOCK) == 2
    assert run(supply, 1_000) == assemble(
        supply,
        total=1_000,
        counter=EveryCharacter(),
        reserves=Reserves(),
        min_turns=1,
        marker="",
        layout="two",
    )
    assert sum(two.tokens.values()) == two.used


def test_without_a_tail_nothing_is_shown_and_nothing_is_missing() -> None:
    found = run(Supply(recall=[block("r")]), 1_000)
    assert (found.visible, left_out(found), found.chosen["tail"]) == ((), {}, ())


def test_a_summary_of_what_another_one_stands_for_is_left_out_and_says_why() -> None:
    def summary(name: str, *covers: str) -> Block:
        return Block(id=name, rendered="w" * 20, covers=frozenset(covers))

    found = run(Supply(recall=[summary("s1", "a"), summary("s2", "b"), summary("s3", "a", "c")]), 1_000)
    assert found.chosen["recall"] == ("s1", "s2")
    assert left_out(found) == {"s3": "another summary in the prompt stands for the same turns"}


def test_what_has_no_time_comes_first_under_its_heading_and_its_heading_last() -> None:
    def said(name: str, heading: str, at: float | None) -> Block:
        return Block(id=name, rendered=f"<{name}>", heading=heading, said_at=at)

    recall = [said("b", "h1", 0.5), said("a", "h1", None), said("c", "h2", None), said("d", "h3", 0.7)]
    text = run(Supply(recall=recall), 10_000).text
    places = [text.index(f"<{name}>") for name in ("d", "a", "b", "c")]
    assert places == sorted(places)


def test_a_rule_that_recall_found_is_framed_as_a_rule_and_what_was_said_as_history() -> None:
    rule = Block(id="rule", is_rule=True, rendered="Prefer the metric system.\n")
    found = run(Supply(recall=[rule, block("said")]), 10_000)
    assert found.chosen["recall"] == ("rule", "said")
    sections = {part.section.name: part.text for part in found.parts}
    assert "Prefer the metric system." in sections["found_rules"]
    assert "Prefer the metric system." not in sections["recalled"]
    assert found.used == len(found.text) == sum(found.tokens.values())
