"""Which words make a sentence a request for one piece of work, a supposition, or a ban that lasts."""

import pytest

from models.domain.wishes.markers import BAN_STANDING, HYPOTHETICAL, TASK, Lasting

TASKS = """
write a poem; create an index; generate some names; draft the letter; compose this song; make that list
give these people tea; list those files; suggest my next book; recommend our hotel; plan 5 meals; design two logos
build three walls; find four flats; translate five lines; summarise six pages; summarize ten pages; explain how it works
tell me about cats; show what is new; help an old man; describe why it rains; analyse the data; analyze the data
convert several files; compare in 3 lines; provide a list; rewrite this; fix the bug; imagine a world; produce some sound
come up with a name; prepare the room; outline the essay; edit my text; proofread our letter; write me a song
write us a song; write up a plan; write out the plan; please write a song; hi, write a song; hey write a song
ok write a song; so write a song; now write a song; and write a song; also write a song; please! write a song
can you dance; could you dance; would you dance; will you dance; i need a hand; i want some tea
i would like help; i need to go; i'd like an egg; i'd like a hand; i'd like some tea; i'd like help; i'd like to go; help me
"""
NO_TASKS = """
write plainly; never write a word; can you always dance; could you never dance; would you stop that; can you not dance
can you only dance; can you avoid it; can you please always dance; can you please never dance; can you please stop
can you please not dance; can you please only dance; can you please avoid it; i need you; i like a song; tea for two
"""
SUPPOSED = """
what if it rains; imagine it rains; suppose it rains; let's say it rains; say you are a cat; hypothetically it rains
if i were you; if i was you; if i had time; if you were me; if you had time; would you rather fly; i wish it rained
in a world of cats; pretend it rains
"""


def split_phrases(text: str) -> list[str]:
    return [phrase for line in text.strip().splitlines() for phrase in line.split("; ")]


@pytest.mark.parametrize("sentence", split_phrases(TASKS))
def test_a_request_for_one_piece_of_work_is_a_task(sentence: str) -> None:
    assert TASK.match(sentence) is not None


@pytest.mark.parametrize("sentence", split_phrases(NO_TASKS))
def test_what_asks_for_a_habit_is_no_task(sentence: str) -> None:
    assert TASK.match(sentence) is None


def test_a_supposition_opens_with_its_word() -> None:
    assert [sentence for sentence in split_phrases(SUPPOSED) if HYPOTHETICAL.match(sentence) is None] == []
    for sentence in ("it rains", "if it rains", "if i may", "imagined rain", "i wished it rained"):
        assert HYPOTHETICAL.match(sentence) is None


def test_again_and_its_like_make_a_ban_last() -> None:
    for word in ("again", "anymore", "any more", "any longer"):
        assert BAN_STANDING.search(f"don't push {word} today") is not None
    assert BAN_STANDING.search("don't push against any moreover") is None


def test_each_level_of_lasting_includes_those_below() -> None:
    names = [level.name for level in sorted(Lasting)]
    assert names == ["NO", "BAN", "CASE", "WEAK", "OPENED", "STRONG"]
    assert [int(level) for level in sorted(Lasting)] == [0, 1, 2, 3, 4, 5]
