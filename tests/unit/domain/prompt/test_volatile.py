"""Claims about wishes and recall: who gives way, and that no wish is missing while there is room for it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.domain.prompt.assembly import Assembly, assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.markers import CLOSE_BLOCK, open_block
from models.domain.prompt.rendering import GUIDANCE, RECALLED, render_item, render_wish
from models.domain.prompt.supply import Block, Replaced, Supply
from models.domain.prompt.tokens import CharsCounter, TokenCounter
from models.encoders.token_files import load_token_counter

COUNTERS: list[TokenCounter] = [CharsCounter(), load_token_counter("minilm", folder=None)]
texts = st.text(alphabet=st.sampled_from("ab cd\n<>é漢字кириллица"), min_size=1, max_size=120)
WISHES = (  # as people say them, one of them in the middle of a turn
    "Makes sense. Use ON CONFLICT DO NOTHING then, but please never touch the migrations folder without asking me.",
    "From now on keep your answers under five lines unless I ask for detail.",
    "I'd rather you don't explain basic SQL to me, I've done this for fifteen years.",
    "Bitte schreib Kommentare im Code immer auf Englisch, auch wenn ich mal deutsch mit dir rede.",
)


class EveryCharacter:
    """One token a character: the arithmetic of a test can be read off its text."""

    id = "characters"

    def count(self, text: str) -> int:
        return len(text)


def run(supply: Supply, total: int, counter: TokenCounter | None = None, floor: int = 200) -> Assembly:
    return assemble(
        supply,
        total=total,
        counter=counter or EveryCharacter(),
        reserves=Reserves(guidance_floor=floor),
        min_turns=1,
    )


def wish(name: str, size: int = 20, **more: str) -> Block:
    return Block(id=name, rendered="w" * size, **more)  # type: ignore[arg-type]  # only text is given


def recalled(name: str, size: int = 20, **more: str) -> Block:
    return Block(id=name, rendered="r" * size, **more)  # type: ignore[arg-type]  # only text is given


def replaced_by(turn: str, *, telling: str, key: str = "older") -> Replaced:
    return Replaced(by=turn, words="I moved to Bonn.", telling=lambda: Block(id=key, rendered=telling))


def rendered_recall(found: Assembly) -> str:
    return found.text.partition(RECALLED.opening)[2]


@st.composite
def supplies(draw: st.DrawFn) -> Supply:
    turns = [f"t{number}" for number in range(6)]
    return Supply(
        guidance=[
            Block(
                id=f"g{number}",
                rendered=render_wish(draw(texts), day="2026-01-01"),
                says=draw(st.sampled_from([None, *turns])),
            )
            for number in range(draw(st.integers(0, 8)))
        ],
        recall=[
            Block(
                id=f"r{number}",
                rendered=render_item(draw(texts), speaker="Ann"),
                says=draw(st.sampled_from([None, *turns])),
                replaced=draw(
                    st.sampled_from([None, replaced_by("unsaid", telling="x" * 200, key=f"r{number}")])
                ),
                heading=draw(st.sampled_from(["2026-01-01", "2026-01-02"])),
            )
            for number in range(draw(st.integers(0, 8)))
        ],
    )


def test_the_floor_holds_wishes_where_the_share_held_hardly_more_than_the_frame() -> None:
    wishes = [Block(id=text, rendered=render_wish(text, day="2026-11-17")) for text in WISHES]
    talk = [Block(id=f"r{n}", rendered=render_item("We talked about it. " * 3)) for n in range(60)]
    supply = Supply(guidance=wishes, recall=talk)
    assert run(supply, 400, CharsCounter(), floor=0).chosen["guidance"] == (WISHES[1],)
    assert run(supply, 400, CharsCounter()).chosen["guidance"] == WISHES[:3]
    assert run(supply, 1000, CharsCounter()).chosen["guidance"] == WISHES


def test_what_recall_leaves_free_is_for_the_wishes_that_their_reserve_had_no_room_for() -> None:
    wishes = [wish(f"g{number}", 100) for number in range(6)]
    found = run(Supply(guidance=wishes, recall=[recalled("r", 100)]), 2000)
    assert found.chosen["guidance"] == tuple(block.id for block in wishes)
    assert found.chosen["recall"] == ("r",)
    assert found.caps["guidance_reserved"] == 300 < found.tokens["guidance"] <= found.caps["guidance"]
    assert found.caps["guidance"] == 2000 - found.tokens["recall"]
    assert found.caps["recall"] == 2000 - found.tokens["guidance"]


def test_a_wish_that_comes_late_costs_recall_nothing() -> None:
    wishes = [wish(f"g{number}", 150) for number in range(6)]
    talk = [recalled(f"r{number}", 100) for number in range(14)]
    alone = run(Supply(guidance=wishes[:1], recall=talk), 2000)
    found = run(Supply(guidance=wishes, recall=talk), 2000)
    assert found.chosen["recall"] == alone.chosen["recall"]
    assert len(found.chosen["guidance"]) > len(alone.chosen["guidance"])
    assert found.used <= 2000


def test_wishes_that_come_late_stand_in_their_order() -> None:
    wishes = [wish("long", 400), wish("short", 50), wish("last", 60)]
    found = run(Supply(guidance=wishes), 2000)
    assert found.chosen["guidance"] == ("long", "short", "last")


def test_a_late_wish_takes_the_place_of_its_turn_in_recall_and_that_room_goes_on_to_the_next() -> None:
    frames = len(open_block("") + CLOSE_BLOCK + GUIDANCE.opening + GUIDANCE.closing)
    frames += len(RECALLED.opening + RECALLED.closing)
    wishes = [wish(f"g{number}", 100, says=f"t{number}") for number in range(3)]
    talk = [recalled(f"r{number}", 100, says=f"t{number}") for number in range(3)]
    supply = Supply(guidance=wishes, recall=[*talk, recalled("other", 100)])
    # Room for the frames and five of a hundred: the four that recall has, and one wish, then the next in the place of
    # the first one's turn.
    found = run(supply, frames + 500, floor=0)
    assert found.chosen["guidance"] == ("g0", "g1", "g2")
    assert found.chosen["recall"] == ("other",)
    assert {found.fates["recall"][f"r{number}"].reason for number in range(3)} == {"already in the prompt"}


def test_a_wish_that_nothing_has_room_for_says_how_much_there_was() -> None:
    found = run(Supply(guidance=[wish("g", 900)], recall=[recalled("r", 600)]), 1000)
    left = 1000 - found.tokens["recall"]
    assert found.caps["guidance"] == left
    assert found.fates["guidance"]["g"].reason == f"does not fit what is left of {left} tokens"
    assert not found.wants_room


def test_a_wish_said_by_a_late_one_is_out_because_it_is_in_the_prompt() -> None:
    wishes = [wish("first", 100), wish("long", 1900, says="t"), wish("short", 300, says="t")]
    found = run(Supply(guidance=wishes), 1200)
    assert found.chosen["guidance"] == ("first", "short")
    assert found.fates["guidance"]["long"].reason is not None
    assert found.tokens["guidance"] == found.used


def test_a_turn_that_is_shown_whole_stays_whole_when_a_wish_comes_late() -> None:
    whole = Block(id="r", rendered="r" * 900, quoted=lambda: Block(id="r", rendered="q" * 9, quote="q"))
    supply = Supply(guidance=[wish("g", 500)], recall=[whole])
    found = run(supply, 2000)
    assert (found.chosen["guidance"], found.chosen["recall"], found.quotes) == (("g",), ("r",), {})


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.id)
@settings(max_examples=200, deadline=None)
@given(supplies(), st.integers(20, 900))
def test_no_wish_is_missing_for_want_of_room_that_is_free(
    counter: TokenCounter, supply: Supply, total: int
) -> None:
    seam = 0 if counter.id == "chars" else 4  # tokens that a tokenizer may save where parts meet
    found = run(supply, total, counter)
    assert found.used == counter.count(found.text) <= total
    chosen = set(found.chosen["guidance"])
    assert list(found.chosen["guidance"]) == [one.id for one in supply.guidance if one.id in chosen]
    said = {one.says or one.id for one in supply.guidance if one.id in chosen}
    for block in supply.guidance:
        fate = found.fates["guidance"][block.id]
        assert fate.is_in == (block.id in chosen)
        if (
            fate.wants_room
            and "whole text" not in (fate.reason or "")
            and not said & {block.says or block.id}
        ):
            assert f" of {found.caps['guidance']} tokens" in (fate.reason or "")
            more = [one for one in supply.guidance if one.id in chosen or one.id == block.id]
            kept = [replace(one, says=None) for one in supply.recall if one.id in found.chosen["recall"]]
            with_it = run(Supply(guidance=more, recall=kept), 100_000, counter)
            assert with_it.used > total - seam


@settings(max_examples=200, deadline=None)
@given(supplies(), st.integers(20, 900))
def test_recall_gives_late_wishes_nothing_but_the_turns_they_quote(supply: Supply, total: int) -> None:
    found = run(supply, total)
    kept = replace(supply, guidance=_fitting(supply, total))
    before = run(kept, total)
    quoted = {one.says for one in supply.guidance if one.id in found.chosen["guidance"]}
    lost = set(before.chosen["recall"]) - set(found.chosen["recall"])
    assert all(one.says in quoted for one in supply.recall if one.id in lost)


def _fitting(supply: Supply, total: int) -> list[Block]:
    """The wishes that their reserve alone has room for, found with a recall that leaves nothing free."""
    full = Block(id="full", rendered="r")
    filled = replace(supply, recall=[replace(full, id=f"full{n}") for n in range(total)])
    chosen = run(filled, total).chosen["guidance"]
    return [one for one in supply.guidance if one.id in chosen]


def test_what_replaced_a_statement_is_told_with_it_where_the_prompt_does_not_hold_it() -> None:
    older = Block(
        id="older", rendered="older", replaced=replaced_by("newer", telling="older, and what is so now")
    )
    newer = Block(id="newer", rendered="newer")
    alone, beside = run(Supply(recall=[older]), 900), run(Supply(recall=[newer, older]), 900)
    assert rendered_recall(alone).startswith("older, and what is so now")
    assert "what is so now" not in beside.text
    assert beside.fates["recall"]["older"].is_in


def test_what_the_host_shows_and_what_stands_as_a_wish_is_in_the_prompt() -> None:
    older = Block(
        id="older", rendered="older", replaced=replaced_by("newer", telling="older, and what is so now")
    )
    wish = Block(id="wish", rendered="I moved to Bonn.", says="newer")
    assert "what is so now" not in run(Supply(recall=[older], shown=frozenset({"newer"})), 900).text
    assert "what is so now" not in run(Supply(recall=[older], guidance=[wish]), 900).text


@pytest.mark.parametrize(("quote", "is_told"), [("Well. […]", True), ("[…] I  moved\nto Bonn. […]", False)])
def test_an_excerpt_without_the_newer_sentence_does_not_tell_it(quote: str, is_told: bool) -> None:
    newer = Block(
        id="newer", rendered="n" * 900, quoted=lambda: Block(id="newer", rendered="excerpt", quote=quote)
    )
    older = Block(id="older", rendered="older", replaced=replaced_by("newer", telling="what is so now"))
    found = run(Supply(recall=[newer, older]), 900)
    assert found.chosen["recall"] == ("newer", "older")
    assert ("what is so now" in found.text) == is_told


def test_a_turn_that_is_there_whole_tells_all_of_it_whatever_a_wish_quotes() -> None:
    part = Block(id="wish", rendered="wish", says="newer", is_part=True)
    older = Block(id="older", rendered="older", replaced=replaced_by("newer", telling="what is so now"))
    newer = Block(id="newer", rendered="newer")
    assert "what is so now" in run(Supply(guidance=[part], recall=[older]), 900).text
    assert "what is so now" not in run(Supply(guidance=[part], recall=[newer, older]), 900).text


def test_a_wish_that_is_part_of_its_turn_leaves_the_rest_to_recall_and_the_turn_in_the_tail_is_enough() -> (
    None
):
    part = Block(id="wish", rendered="wish", says="turn", is_part=True)
    turn = Block(id="turn", rendered="the turn with the wish and more")
    assert run(Supply(guidance=[part], recall=[turn]), 900).chosen["recall"] == ("turn",)
    assert run(Supply(guidance=[replace(part, is_part=False)], recall=[turn]), 900).chosen["recall"] == ()
    shown = run(Supply(guidance=[part], shown=frozenset({"turn"})), 900)
    assert shown.fates["guidance"]["wish"].reason == "already in the prompt"
