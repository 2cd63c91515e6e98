"""How the cues of a sentence are found and weighed, and that the table of weights fits the cues."""

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.rules.detector import Modality, read_conversation
from models.domain.wishes.conversation import list_cues, read_wish
from models.domain.wishes.evidence import find_cues
from models.domain.wishes.openings import judge_kind, list_clauses

DEV_FILE = pathlib.Path(__file__).parents[4] / "bench" / "sets" / "standing_rules_dev.jsonl"


@pytest.mark.parametrize(
    ("clause", "kind"),
    [
        ("keep it short", "command"),
        ("don't push to main", "ban"),
        ("no nuts", "none"),
        ("stop apologising", "stop"),
        ("only direct flights", "only"),
        ("i'd rather you asked", "wish-you"),
        ("i want short answers", "wish"),
        ("i can't stand jargon", "dislike"),
        ("i don't eat pork", "unable"),
        ("i'm vegan", "am"),
        ("could you use metric", "polite"),
        ("what should i cook", "asks"),
        ("you must ask first", "must"),
        ("she never answers", "third"),
        ("metric only", "fragment"),
        ("the lamp hangs low", "the"),
        ("use is free", "plain"),
    ],
)
def test_a_clause_is_known_by_how_it_opens(clause: str, kind: str) -> None:
    assert judge_kind(clause) == kind


def test_slips_of_the_keyboard_are_put_right_and_fillers_taken_off() -> None:
    (clause,) = list_clauses("ok so pls dont use allways", 0, 26)
    assert (clause.start, clause.lead, clause.text) == (10, "ok so please ", "don't use always")


@pytest.mark.parametrize(
    ("turn", "modality"),
    [
        ("metric only pls, i never learned feet and inches", Modality.OBLIGATION),
        ("Shellfish is off limits for me.", Modality.PROHIBITION),
        ("no meetings on friday afternoons", Modality.PROHIBITION),
        ("I don't want my photos uploaded anywhere.", Modality.PROHIBITION),
        ("Weights in grams, never in cups.", Modality.PROHIBITION),
        ("I'd appreciate a heads-up a day before every deadline.", Modality.OBLIGATION),
    ],
)
def test_a_rule_without_a_frame_of_the_grammar_is_found_by_its_cues(turn: str, modality: Modality) -> None:
    reading = read_wish(turn)
    assert modality in reading.modalities
    assert all(span.action for span in reading.spans)


@pytest.mark.parametrize(
    "turn",
    [
        "Should I always salt the water?",
        "Imagine you never slept, no breaks.",
        "Use the blue one for now.",
        "Ok.",
    ],
)
def test_what_cannot_be_a_rule_has_no_cues(turn: str) -> None:
    assert list_cues(turn) == [frozenset()]


def test_a_lone_emphasis_speaks_for_the_sentence_beside_it() -> None:
    assert "next:emphatic" in list_cues("Aisle seat on flights. Always.")[0]
    assert "next:emphatic" not in list_cues("Aisle seat on flights. Thanks a lot.")[0]


@given(st.text(), st.booleans(), st.booleans())
def test_a_question_that_is_not_polite_is_no_rule(text: str, is_frame: bool, is_task: bool) -> None:
    folded = text.lower()
    clauses = list_clauses(folded, 0, len(folded))
    cues = find_cues(clauses, is_question=True, is_frame=is_frame, is_task=is_task)
    assert not cues or any(clause.kind == "polite" for clause in clauses)


@pytest.mark.parametrize(
    "refusal", ["You cannot use emojis ever.", "You can't ever book flights on Fridays for me."]
)
def test_a_permission_that_is_refused_is_a_prohibition(refusal: str) -> None:
    (span,) = read_wish(refusal).spans
    assert span.modality is Modality.PROHIBITION


def test_somebodys_view_of_a_matter_is_no_rule() -> None:
    assert not read_conversation("Hana says the onboarding deck should wait for Jonas's change 158.").is_rule
