"""Small claims about scoring, packing, summaries and terms that whole rankings do not show."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.scoring import ScoredCandidate, score_hop
from models.domain.selection import PackItem, find_marks, find_repeats, pack
from models.domain.summaries import choose_prior, list_dropped_mentions
from models.domain.terms import count_terms, extract_terms

# --- hops ---------------------------------------------------------------------------------------------


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_hop_scores_its_share_and_has_no_term_of_its_own(score: float) -> None:
    hop = score_hop("m", score)
    assert (hop.id, hop.scope) == ("m", "lore")
    assert hop.score == (min(1.0, max(0.0, score)) if math.isfinite(score) else 0.0)
    own = [name for name in ScoredCandidate.__slots__ if name not in ("id", "scope", "score")]
    assert all(getattr(hop, name) == 0.0 for name in own)


# --- repeats ------------------------------------------------------------------------------------------


def item(name: str, *angles: float, **more: object) -> PackItem:
    vector = np.array([math.cos(angles[0]), math.sin(angles[0])]) if angles else None
    return PackItem(id=name, tokens=1, score=1.0, vector=vector, **more)  # type: ignore[arg-type]


def test_a_repeat_is_judged_by_the_bound_that_is_given() -> None:
    near = [item("a", 0.0), item("b", 0.2)]
    assert find_repeats(near, duplicate_cosine=0.9) == {"b": "a"}
    assert find_repeats(near, duplicate_cosine=0.999) == {}
    assert find_repeats(near) == {"b": "a"}


@given(st.lists(st.floats(0, 6.28), max_size=8), st.floats(0.5, 1.0))
def test_repeats_name_an_earlier_item_that_is_no_repeat_itself(angles: list[float], bound: float) -> None:
    items = [item(f"m{i}", angle) for i, angle in enumerate(angles)]
    repeats = find_repeats(items, duplicate_cosine=bound)
    for name, original in repeats.items():
        assert int(original[1:]) < int(name[1:])
        assert original not in repeats


def test_an_item_without_a_text_a_vector_or_marks_is_compared_with_nothing() -> None:
    plain = [PackItem(id=name, tokens=1, score=1.0) for name in "ab"]
    assert (plain[0].vector, plain[0].text_key, plain[0].marks) == (None, "", frozenset())
    assert pack(plain, capacity_tokens=5).chosen == ("a", "b")


def test_a_typographic_apostrophe_negates_as_well() -> None:
    assert find_marks("I don’t") == find_marks("I don't") == {"don't"}


def test_whole_numbers_are_directions_too() -> None:
    one, other = (
        PackItem(id=name, tokens=1, score=1.0, vector=np.array(numbers))
        for name, numbers in (("a", [3, 4]), ("b", [6, 8]))
    )
    assert find_repeats([one, other]) == {"b": "a"}


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
