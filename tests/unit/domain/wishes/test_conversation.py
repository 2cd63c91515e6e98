"""What a user's turn must say to become a standing rule, and what it may say without becoming one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.rules.detector import Modality, read_conversation
from models.domain.wishes.conversation import list_candidates, read_wish

OBLIGATION, PROHIBITION = Modality.OBLIGATION, Modality.PROHIBITION


@pytest.mark.parametrize(
    ("turn", "cue", "action"),
    [
        ("Never use tabs.", "never use", "use tab"),
        ("Stop using bullet points.", "stop using", "use bullet point"),
        ("I prefer short answers.", "i prefer", "use short answer"),
        ("I don't want you to send reports.", "i don't want you to", "send report"),
        ("No emojis, please.", "no emojis", "emojis"),
        ("From now on, quote prices with tax.", "quote", "quote price tax"),
        ("You must not commit secrets.", "you must not commit", "commit secret"),
        (
            "You may edit notes without asking.",
            "you may edit notes without asking",
            "edit note without asking",
        ),
        ("Be concise.", "be concise", "concise"),
    ],
)
def test_a_rule_names_its_cue_and_action(turn: str, cue: str, action: str) -> None:
    (span,) = read_wish(turn).spans
    assert (span.cue, span.action) == (cue, action)


def test_a_span_covers_its_sentence() -> None:
    turn = "I went to Rome. Never book hostels for me! It was loud.\nAlways pick hotels"
    spans = read_wish(turn).spans
    assert [turn[span.start : span.end] for span in spans] == [
        "Never book hostels for me",
        "Always pick hotels",
    ]
    assert [span.modality for span in spans] == [PROHIBITION, OBLIGATION]


def test_always_marks_at_the_end_of_any_sentence() -> None:
    assert read_conversation("Give me prices in dollars, always. I live in Ohio.").is_rule


def test_a_contrast_is_a_duty_and_a_ban() -> None:
    spans = read_wish("Use tabs, not spaces.").spans
    assert [(span.modality, span.action) for span in spans] == [
        (OBLIGATION, "use tab"),
        (PROHIBITION, "use space"),
    ]


@pytest.mark.parametrize(
    "turn",
    [
        "> Never use tabs.\nWhat do you think?",
        "```\nNever use tabs.\n```",
        "He wrote “never use tabs” on the board.",
        "Look: `always use tabs`",
    ],
)
def test_what_is_quoted_is_not_said(turn: str) -> None:
    assert not read_conversation(turn).is_rule


def is_offered(words: str, turn: str) -> bool:
    """Whether a sentence is among those that may be a rule."""
    return any(words in candidate.text for candidate in list_candidates(turn))


@pytest.mark.parametrize("wish", ["Use simple words", "Don't use idioms", "Be brief", "Avoid jargon"])
def test_a_wish_about_one_piece_of_work_ends_with_it(wish: str) -> None:
    assert is_offered(wish, f"{wish}.")
    assert not is_offered(wish, f"Write a poem about the sea. {wish}.")
    assert not is_offered(wish, f"{wish} this time.")


def test_a_lasting_rule_survives_a_request_in_the_same_turn() -> None:
    assert is_offered("Never use rhymes", "Write a poem about the sea. Never use rhymes.")
    assert read_conversation("Write a poem about the sea. From now on, use simple words.").is_rule


def test_a_sentence_longer_than_anyone_speaks_is_passed_over() -> None:
    longest = "Never use " + "a" * 590
    assert list_candidates(longest)
    assert not list_candidates(longest + "a")


def test_the_shortest_rule_has_seven_letters() -> None:
    assert list_candidates("be frank")
    assert not list_candidates("be x")


def test_a_polite_question_may_rule_but_a_real_one_does_not() -> None:
    assert list_candidates("Could you always show units?")
    assert list_candidates("Always show units, ok?")
    assert not list_candidates("Always show units?")


@pytest.mark.parametrize(
    "entry", ["Note 12: always the same queue on Fridays.", "Ticket 90: never show the spinner to guests."]
)
def test_an_entry_of_a_list_is_no_rule_whatever_it_says(entry: str) -> None:
    assert not list_candidates(entry)
    assert list_candidates(entry.partition(": ")[2])


@pytest.mark.parametrize(
    "turn",
    [
        "My rent for the flat in Lyon is 900 euros a month.",
        "The budget for the kitchen is 12,000 euros.",
        "My subscription for the news costs 9 euros a month.",
        "My savings account pays 2 percent a year.",
        "The price for the sofa is 450 euros.",
        "The team meets every Monday at ten.",
        "The warranty for the fridge is two years.",
    ],
)
def test_what_something_costs_or_when_it_is_binds_nobody(turn: str) -> None:
    assert not read_conversation(turn).is_rule


@given(st.text())
def test_any_turn_is_read_and_every_span_lies_in_it(turn: str) -> None:
    reading = read_conversation(turn)
    for span in reading.spans:
        assert 0 <= span.start < span.end <= len(turn)


@given(
    st.lists(
        st.sampled_from(["never use ", "from now on, ", "I prefer ", "tabs", ". ", "? ", ", so ", "\n"]),
        max_size=25,
    )
)
def test_any_mix_of_cues_is_read(parts: list[str]) -> None:
    turn = "".join(parts)
    for span in read_conversation(turn).spans:
        assert turn[span.start : span.end].strip()
