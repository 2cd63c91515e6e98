"""Each pattern of the gate finds its phrases, alternative by alternative (tables/gating_cues.txt), and weighs as written."""

from pathlib import Path

import pytest

from models.domain.gating import estimate_length, read_text_signals
from models.domain.gating_cues import (
    ACTION_CUES,
    DENSITY_CUES,
    LOAD_CUES,
    LOAD_DATE_WEIGHT,
    LOAD_PERSON_WEIGHT,
    LOAD_QUANTITY_WEIGHT,
    PATTERNS,
    STRUCTURE_CUES,
)

TABLE = Path(__file__).parent / "tables" / "gating_cues.txt"


def read_table(section: str) -> list[tuple[str, list[str]]]:
    text = TABLE.read_text(encoding="utf-8")
    carried, other = text.removeprefix("# carried\n").split("# not carried\n")
    lines = (carried if section == "carried" else other).replace("\n    ", " ").strip().splitlines()
    return [(line.partition(": ")[0], line.partition(": ")[2].split(" ¦ ")) for line in lines]


@pytest.mark.parametrize(("name", "phrases"), read_table("carried"), ids=lambda value: str(value)[:20])
def test_a_pattern_finds_each_of_its_phrases(name: str, phrases: list[str]) -> None:
    assert [phrase for phrase in phrases if PATTERNS[name].search(phrase) is None] == []


@pytest.mark.parametrize(("name", "phrases"), read_table("not carried"), ids=lambda value: str(value)[:20])
def test_a_pattern_leaves_what_only_looks_like_it(name: str, phrases: list[str]) -> None:
    assert [phrase for phrase in phrases if PATTERNS[name].search(phrase) is not None] == []


def test_every_pattern_has_its_phrases() -> None:
    assert [name for name, _ in read_table("carried")] == list(PATTERNS)


@pytest.mark.parametrize("name", [name for name, _ in read_table("carried")])
def test_a_pattern_finds_nothing_in_plain_words(name: str) -> None:
    for plain in ("the sea is calm", "XX", "a b c", "", "rain fell on bergen"):
        assert PATTERNS[name].search(plain) is None


def test_cues_weigh_as_the_model_says() -> None:
    weights = {
        "density": {"code_fence": 0.5, "stack_trace": 0.5, "function_definition": 0.4, "shell_command": 0.4},
        "structure": {
            "function_definition": 0.4,
            "data_structure": 0.3,
            "dependency": 0.3,
            "test": 0.2,
            "doc_comment": 0.2,
        },
        "action": {"decision": 0.5, "fix": 0.4, "configuration": 0.4, "milestone": 0.3},
        "load": {"preference": 0.4, "self_fact": 0.3},
    }
    cues = {"density": DENSITY_CUES, "structure": STRUCTURE_CUES, "action": ACTION_CUES, "load": LOAD_CUES}
    assert {part: {cue.name: cue.weight for cue in found} for part, found in cues.items()} == weights
    assert (LOAD_DATE_WEIGHT, LOAD_PERSON_WEIGHT, LOAD_QUANTITY_WEIGHT) == (0.3, 0.3, 0.2)


def test_a_length_is_a_quarter_of_the_characters_and_never_nothing() -> None:
    assert [estimate_length("x" * size) for size in (0, 7, 8, 400)] == [1, 1, 2, 100]


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("see https://example.org/a", {"t.url", "p.url"}),
        ("it listens on localhost:8080", {"t.url", "p.url"}),
        ("it says E0308 there", {"p.error_code"}),
        ("look at HEAD~2 there", {"p.git_reference"}),
        ("look at a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8c9d0 there", {"t.hash", "p.git_reference"}),
        ("look at 123e4567-e89b-12d3-a456-426614174000 there", {"t.hash"}),
        ("call parse_args() there", {"p.function_reference"}),
        ("open src/main.rs there", {"t.file_path", "p.file_path"}),
    ],
)
def test_a_span_of_each_kind_is_named_in_its_signal(text: str, reasons: set[str]) -> None:
    found = {reason for reason in read_text_signals(text).reasons if reason.startswith(("t.", "p."))}
    assert found == reasons
