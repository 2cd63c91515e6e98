"""Each turn of phrase carries its cue, entry by entry, and what only looks like it does not (tables/deontic_cues.txt)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from models.domain.deontic_cues import CUES

TABLE = Path(__file__).parent / "tables" / "deontic_cues.txt"


def read_table(section: str) -> Iterator[tuple[str, list[str]]]:
    """The entries of one section: the name of a cue, and phrases as a sentence has them once it is folded."""
    parts = TABLE.read_text(encoding="utf-8").split("# ")
    lines = next(part for part in parts if part.startswith(f"{section}\n")).split("\n", 1)[1]
    for entry in lines.replace("\n    ", " ").strip().splitlines():
        name, _, phrases = entry.partition(": ")
        yield name, phrases.split("; ")


@pytest.mark.parametrize(("name", "phrases"), list(read_table("carried")), ids=lambda value: str(value)[:20])
def test_a_turn_of_phrase_carries_its_cue(name: str, phrases: list[str]) -> None:
    cue = CUES[name]
    assert [phrase for phrase in phrases if cue.search(phrase) is None] == []


@pytest.mark.parametrize(
    ("name", "phrases"), list(read_table("not carried")), ids=lambda value: str(value)[:20]
)
def test_what_only_looks_like_a_cue_does_not_carry_it(name: str, phrases: list[str]) -> None:
    cue = CUES[name]
    assert [phrase for phrase in phrases if cue.search(phrase) is not None] == []


def test_every_cue_has_its_phrases_and_none_is_found_in_other_talk() -> None:
    assert {name for name, _ in read_table("carried")} == CUES.keys()
    for talk in ("tea is hot", "rain fell over bergen", "XXX"):
        found = {name for name, cue in CUES.items() if cue.search(talk) is not None}
        assert found <= {"bound:contrast"}
