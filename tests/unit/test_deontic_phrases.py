"""Each frame of chat, alternative by alternative, with what it demands to be a rule (tables/deontic_phrases.txt).

A line of the table is one frame: its force; how lasting a sentence must be; whether it yields to a request in the same
turn, may be asked, is open to certain verbs only; and clauses it finds, "|" standing where the frame ends.
"""

import re
from pathlib import Path

import pytest

from models.domain.deontic_lexicon import CONDUCT_VERBS
from models.domain.deontic_markers import Lasting
from models.domain.deontic_phrases import PHRASES, Phrase
from models.domain.deontic_spans import Modality

TABLE = Path(__file__).parent / "tables" / "deontic_phrases.txt"
FORCES = {"ban": Modality.PROHIBITION, "duty": Modality.OBLIGATION, "leave": Modality.PERMISSION}
HEAD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


def name_verbs(verbs: frozenset[str] | None) -> str | None:
    """Which list of verbs a frame is open to, told by words that stand in one and not in the other."""
    if verbs is None:
        return None
    asked = [word for word in ("use", "abort", "stick", "bother", "are", "forget", "doubt") if word in verbs]
    return {
        "use stick": "verbs conduct",
        "use bother": "verbs bare",
        "use abort stick": "verbs listed",
        "use abort stick are": "verbs listed or are",
    }[" ".join(asked)]


def describe(phrase: Phrase) -> str:
    """The frame as the table writes it."""
    force = next(name for name, modality in FORCES.items() if modality is phrase.modality)
    parts = [
        force,
        f"needs {phrase.needs.name.lower()}" if phrase.needs is not Lasting.NO else None,
        "yields" if phrase.yields_to_task is True else None,
        "asks" if phrase.allows_question is True else None,
        name_verbs(phrase.verbs),
        None if phrase.heads else "any head",
    ]
    return ", ".join(part for part in parts if part)


def read_table() -> list[tuple[str, list[str]]]:
    entries = TABLE.read_text(encoding="utf-8").replace("\n    ", " ").strip().splitlines()
    return [(entry.partition(": ")[0], entry.partition(": ")[2].split("; ")) for entry in entries]


def test_every_frame_is_in_the_table_in_its_order() -> None:
    assert [frame for frame, _ in read_table()] == [describe(phrase) for phrase in PHRASES]


@pytest.mark.parametrize("place", range(len(read_table())))
def test_a_frame_finds_its_clauses_and_ends_where_the_table_says(place: int) -> None:
    phrase, (_, clauses) = PHRASES[place], read_table()[place]
    missed = []
    for clause in clauses:
        framed, _, rest = clause.partition("|")
        head = HEAD.match(clause)
        match = phrase.pattern.match(framed + rest)
        is_headed = head is not None and (not phrase.heads or head[0] in phrase.heads)
        if not is_headed or match is None or match[0] != framed:
            missed.append(clause)
    assert missed == []


@pytest.mark.parametrize("place", range(len(read_table())))
def test_no_frame_is_found_in_talk(place: int) -> None:
    for talk in ("tea is hot", "XX", "rain fell over bergen", "she sang"):
        assert PHRASES[place].heads == () or PHRASES[place].pattern.match(talk) is None


@pytest.mark.parametrize(
    ("clause", "is_found"),
    [
        ("don't send emojis", True),
        ("don't send it", False),
        ("don't send them now", False),
        ("don't send the second one", False),
        ("don't tell me why", False),
        ("call me ann", True),
        ("call me later", False),
        ("call me at noon", False),
        ("call me a cab", False),
        ("call me the best", False),
        ("i prefer tea", True),
        ("i prefer it", False),
        ("i prefer not to", False),
        ("i prefer the first", False),
        ("i prefer the other", False),
        ("i prefer the blue one", False),
        ("i prefer this one", False),
        ("prefer tabs", True),
        ("prefer not", False),
        ("remember my birthday", True),
        ("remember our trip", False),
        ("remember my first", False),
        ("no emojis please", True),
        ("no emojis", True),
        ("no emojis in that", True),
        ("no emojis were harmed", False),
    ],
)
def test_a_frame_leaves_one_particular_thing_alone(clause: str, is_found: bool) -> None:
    found = [
        phrase
        for phrase in PHRASES
        if clause.split()[0] in phrase.heads and phrase.needs is Lasting.NO and phrase.pattern.match(clause)
    ]
    if clause.startswith("don't"):
        found = [phrase for phrase in found if phrase.verbs is not None and "send" in phrase.verbs]
    assert bool(found) is is_found


def test_an_open_frame_takes_any_verb_that_is_listed() -> None:
    open_frames = [phrase for phrase in PHRASES if not phrase.heads]
    assert [phrase.needs for phrase in open_frames] == [Lasting.OPENED, Lasting.CASE]
    for phrase in open_frames:
        match = phrase.pattern.match("double-check it")
        assert match is not None
        assert match["verb"] == "double-check"
        assert phrase.pattern.match("42") is None


def test_the_last_group_is_where_the_action_begins() -> None:
    spoken = {
        "stop using tabs": "using",
        "no more emojis": "emojis",
        "never push": "push",
        "i hate being called sam": "being called",
        "you must reply in verse": "reply in",
        "would you mind not asking": "asking",
        "replies should be short": "be",
    }
    for clause, verb in spoken.items():
        matches = [
            match
            for phrase in PHRASES
            if clause.split()[0] in phrase.heads and (match := phrase.pattern.match(clause))
        ]
        assert verb in [match[match.lastgroup] for match in matches if match.lastgroup]
    assert "use" in CONDUCT_VERBS
