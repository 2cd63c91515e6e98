"""Claims about summaries in a prompt: never one together with the turns it stands for."""

from hypothesis import given
from hypothesis import strategies as st

from models.domain.prompt.assembly import Assembly, assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.rendering import render_item, render_turn
from models.domain.prompt.supply import Block, Supply, TailBlock
from models.domain.prompt.tail import TailTurn
from models.domain.prompt.tokens import CharsCounter

WHEN = "2026-01-01T00:00Z"


def block(name: str, *, says: str | None = None, covers: str = "", text: str = "words") -> Block:
    return Block(id=name, rendered=render_item(text), says=says, covers=frozenset(covers.split()))


def tail(*names: str) -> list[TailBlock]:
    return [
        TailBlock(
            id=name,
            rendered=render_turn(role="user", text="hi", when=WHEN),
            turn=TailTurn(id=name, role="user"),
        )
        for name in names
    ]


def run(total: int = 4000, **supply: object) -> Assembly:
    return assemble(
        Supply(**supply),
        total=total,
        counter=CharsCounter(),
        reserves=Reserves(),
        min_turns=1,  # type: ignore[arg-type]
    )


def test_a_turn_below_a_summary_in_the_prompt_is_left_out() -> None:
    found = run(recall=[block("s", covers="a b"), block("a"), block("m", says="b"), block("c")])
    assert found.chosen["recall"] == ("s", "c")
    assert [found.fates["recall"][key].reason for key in ("a", "m")] == [
        "a summary in the prompt stands for it"
    ] * 2


def test_a_summary_of_a_turn_in_the_prompt_is_left_out() -> None:
    found = run(recall=[block("m", says="b"), block("s", covers="a b"), block("a")])
    assert found.chosen["recall"] == ("m", "a")


def test_a_summary_of_a_turn_in_the_tail_is_left_out() -> None:
    found = run(tail=tail("a"), recall=[block("s", covers="a b"), block("b")])
    assert found.chosen["recall"] == ("b",)


def test_a_summary_may_stand_beside_a_wish_quoted_from_its_turns() -> None:
    found = run(guidance=[block("g", says="a")], recall=[block("s", covers="a b")])
    assert found.chosen["recall"] == ("s",)


def test_two_summaries_of_the_same_turns_do_not_meet() -> None:
    assert run(recall=[block("high", covers="a b c"), block("low", covers="a")]).chosen["recall"] == ("high",)


def test_a_summary_that_does_not_fit_leaves_its_turns_their_place() -> None:
    found = run(total=60, recall=[block("s", covers="a", text="long " * 400), block("a")])
    assert found.chosen["recall"] == ("a",)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.frozensets(st.sampled_from("abcdef"), max_size=4)),
        max_size=12,
    ),
    st.lists(st.sampled_from("abcdef"), unique=True, max_size=2),
)
def test_no_turn_is_in_a_prompt_both_raw_and_summarised(
    picks: list[tuple[str, frozenset[str]]], newest: list[str]
) -> None:
    recall = [
        Block(id=f"s{index}" if covers else turn, rendered=render_item("x"), covers=covers)
        for index, (turn, covers) in enumerate(picks)
    ]
    found = run(tail=tail(*newest), recall=recall)
    by_id = {one.id: one for one in recall}
    covered = [turn for name in found.chosen["recall"] for turn in by_id[name].covers]
    raw = {name for name in found.chosen["recall"] if not by_id[name].covers} | set(found.chosen["tail"])
    assert len(covered) == len(set(covered))
    assert not raw & set(covered)
