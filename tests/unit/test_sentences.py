"""Sentences: what an extractive summary may quote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.sentences import clip_words, split_sentences


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
