"""Small claims about repeats, packing, summaries and terms that whole rankings do not show."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.domain.compaction.summaries import choose_prior, list_dropped_mentions
from models.domain.recall.selection import find_marks, find_repeats
from models.domain.text.terms import count_terms, extract_terms

# --- repeats ------------------------------------------------------------------------------------------


def directions(angles: list[float]) -> NDArray[np.float64]:
    return np.array([[math.cos(angle), math.sin(angle)] for angle in angles])


def test_a_repeat_is_judged_by_the_bound_that_is_given() -> None:
    near = directions([0.0, 0.2])
    assert find_repeats(["tea", "milk"], near, duplicate_cosine=0.9) == {1: 0}
    assert find_repeats(["tea", "milk"], near, duplicate_cosine=0.999) == {}
    assert find_repeats(["tea", "milk"], near) == {1: 0}
    assert find_repeats(["tea", "milk"]) == {}


@given(st.lists(st.tuples(st.floats(0, 6.28), st.sampled_from("abc12")), max_size=8), st.floats(0.5, 1.0))
def test_a_repeat_names_an_earlier_text_that_is_no_repeat_itself(
    said: list[tuple[float, str]], bound: float
) -> None:
    texts = [text for _, text in said]
    repeats = find_repeats(texts, directions([angle for angle, _ in said]), duplicate_cosine=bound)
    for place, original in repeats.items():
        assert original < place
        assert original not in repeats


@given(st.lists(st.sampled_from(["Tea.", " tea. ", "TEA.", "milk", "Milk 2", "milk 3"]), max_size=8))
def test_without_vectors_a_repeat_is_the_same_text_up_to_case_and_blanks(texts: list[str]) -> None:
    plain = [" ".join(text.split()).lower() for text in texts]
    first = {text: plain.index(text) for text in plain}
    assert find_repeats(texts) == {i: first[text] for i, text in enumerate(plain) if first[text] != i}


def test_a_typographic_apostrophe_negates_as_well() -> None:
    assert find_marks("I don’t") == find_marks("I don't") == {"don't"}


# --- summaries ----------------------------------------------------------------------------------------


def test_a_neighbour_of_one_token_may_be_prior_context_and_one_of_none_not() -> None:
    assert choose_prior([("one", 1), ("none", 0), ("less", -1)], capacity_tokens=1) == ("one",)


@pytest.mark.parametrize("summary", ["xE0308 then E0308.", "E0308 then xE0308.", "xE0308 E0308 xE0308"])
def test_a_mention_said_once_as_a_whole_is_said(summary: str) -> None:
    assert list_dropped_mentions(["we saw E0308"], summary) == ()


@pytest.mark.parametrize("summary", ["xE0308", "E0308x", "xE0308 E0308x"])
def test_a_mention_that_is_only_part_of_words_is_dropped(summary: str) -> None:
    assert list_dropped_mentions(["we saw E0308"], summary) == ("E0308",)


# --- terms --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["log", "café", "журнал"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_word_counts_as_often_as_it_stands_in_any_script(word: str, times: int) -> None:
    assert count_terms(" ".join([word] * times)) == Counter({word: times})


@given(st.text(max_size=60))
def test_the_terms_of_a_text_are_those_counted_and_no_count_is_empty(text: str) -> None:
    counts = count_terms(text)
    assert extract_terms(text) == set(counts)
    assert all(count >= 1 for count in counts.values())
