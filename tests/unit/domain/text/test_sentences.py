"""Sentences: what an extractive summary may quote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.text.sentences import clip_words, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("It costs 3.50 in v1.2.3 today. Fine.", ["It costs 3.50 in v1.2.3 today.", "Fine."]),
        ("See e.g. src/app.py or ask Dr. Chen. Done.", ["See e.g. src/app.py or ask Dr. Chen.", "Done."]),
        ('She said "no." Then left.', ['She said "no."', "Then left."]),
        ("- first item\n2. second item\n> quoted", ["first item", "second item", "quoted"]),
        ("```\nx = 1\n```\nafter", ["x = 1", "after"]),
        ("会議は三時です。資料は？はい。", ["会議は三時です。", "資料は？", "はい。"]),
        ("wait... what?", ["wait...", "what?"]),
        ("   \n\n ", []),
    ],
)
def test_a_text_is_cut_where_a_reader_would_cut_it(text: str, sentences: list[str]) -> None:
    assert list(split_sentences(text)) == sentences


@given(st.text(max_size=300))
def test_no_letter_or_digit_is_lost_and_no_sentence_has_a_line_break(text: str) -> None:
    found = split_sentences(text)
    assert all("\n" not in one and one == one.strip() and one for one in found)
    # list marks and fences go; they may hold digits ("1. x"), letters stay in their order
    kept = [
        c
        for line in text.splitlines()
        if not line.strip().startswith(("```", "~~~"))
        for c in line
        if c.isalpha()
    ]
    assert [c for one in found for c in one if c.isalpha()] == kept


@given(st.text(max_size=200), st.integers(min_value=0, max_value=80))
def test_a_clipped_text_keeps_to_its_length_and_begins_as_it_began(text: str, chars: int) -> None:
    clipped = clip_words(text, max_chars=chars)
    assert len(clipped) <= chars or clipped == text
    assert text.startswith(clipped.removesuffix("…").rstrip()) or clipped == text


@pytest.mark.parametrize(
    ("text", "chars", "clipped"),
    [
        ("one two three", 13, "one two three"),  # fits exactly
        ("one two three", 12, "one two…"),
        ("one two three", 8, "one two…"),  # the cut falls on a blank, so the word before it is whole
        ("one two three", 7, "one…"),
        ("one, two", 6, "one…"),  # no comma before the ellipsis
        ("one - two", 7, "one…"),
        ("-one two", 6, "-one…"),  # what leads stays
        ("onetwothree", 6, "onetw…"),  # a single word is cut inside
        ("ab", 1, ""),
        ("abc", 2, "a…"),
        ("a", 0, ""),
        ("Xone Xtwo X", 6, "Xone…"),
    ],
)
def test_a_text_is_clipped_between_words(text: str, chars: int, clipped: str) -> None:
    assert clip_words(text, max_chars=chars) == clipped


ABBREVIATIONS = (
    "e.g. i.e. etc. vs. cf. approx. no. nr. fig. mr. mrs. ms. dr. prof. st. jr. sr. inc. ltd. dept. jan. feb. mar. apr. "
    "jun. jul. aug. sep. sept. oct. nov. dec. x."
)


@pytest.mark.parametrize("short", ABBREVIATIONS.split())
def test_an_abbreviation_ends_no_sentence_in_any_case(short: str) -> None:
    for written in (short, short.upper(), short.capitalize()):
        assert split_sentences(f"We saw ({written} that) and {written} again. Done.") == (
            f"We saw ({written} that) and {written} again.",
            "Done.",
        )


def test_a_word_that_ends_like_an_abbreviation_ends_its_sentence() -> None:
    assert split_sentences("Ask the pianist. It is a must. The cost. End") == (
        *("Ask the pianist.", "It is a must.", "The cost.", "End"),
    )


def test_blanks_of_any_length_become_one() -> None:
    assert split_sentences("a \t  b\u00a0 c") == ("a b c",)
