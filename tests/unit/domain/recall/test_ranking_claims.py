"""Small claims about repeats and terms that whole rankings do not show."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

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


@given(st.lists(st.sampled_from(["Tea.", " tea. ", "TEA.", "milk", "Milk 2", "milk 3"]), max_size=8))
def test_without_vectors_a_repeat_is_the_same_text_up_to_case_and_blanks(texts: list[str]) -> None:
    plain = [" ".join(text.split()).lower() for text in texts]
    first = {text: plain.index(text) for text in plain}
    assert find_repeats(texts) == {i: first[text] for i, text in enumerate(plain) if first[text] != i}


def test_a_typographic_apostrophe_negates_as_well() -> None:
    assert find_marks("I don’t") == find_marks("I don't") == {"don't"}


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
