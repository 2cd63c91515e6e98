"""Claims about the echo of the best hits: bounded, the same in any order, never from the question's own words."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.feedback import BEST_HITS, READ_CHARS, SHARED_WORDS, measure_echo
from models.domain.recall.relevance import DEFAULT_RELEVANCE, Passage, PassageColumns, rank_passages

SAID = st.lists(
    st.tuples(
        st.lists(
            st.sampled_from(["kiln", "clay", "glaze", "wheel", "the", "of", "ann", "rain", "é", "’s", "12"]),
            max_size=6,
        ),
        st.floats(0, 2),
    ),
    max_size=14,
)


def echoes(said: dict[str, float], *asked: str) -> dict[str, float]:
    found = measure_echo(list(said), np.array(list(said.values())), asked=frozenset(asked))
    return dict(zip(said, found.tolist(), strict=True))


def rank(*said: tuple[str, str, float], **options: Any) -> dict[str, Any]:
    passages = [
        Passage(key, "durable", None, None, len(text), cosine, None, 0.0, 0.0, 1e9, 0, 0.0)
        for key, text, cosine in said
    ]
    columns = PassageColumns(*zip(*passages, strict=True))
    return {one.id: one for one in rank_passages(columns, texts=[text for _, text, _ in said], **options)}


@given(SAID)
def test_an_echo_lies_in_0_to_1_and_somebody_has_all_of_it_or_nobody_any(
    said: list[tuple[list[str], float]],
) -> None:
    found = measure_echo([" ".join(words) for words, _ in said], np.array([weight for _, weight in said]))
    assert len(found) == len(said)
    assert all(0 <= one <= 1 and math.isfinite(one) for one in found.tolist())
    assert found.max(initial=0.0) in {0.0, 1.0}


@given(SAID, st.randoms())
def test_the_order_in_which_texts_were_found_does_not_matter(
    said: list[tuple[list[str], float]], random: Any
) -> None:
    texts = [(" ".join(words), weight) for words, weight in said]
    turned = random.sample(texts, len(texts))

    def measure(given: list[tuple[str, float]]) -> list[tuple[str, float, float]]:
        found = measure_echo([text for text, _ in given], np.array([weight for _, weight in given]))
        return sorted((*pair, one) for pair, one in zip(given, found.tolist(), strict=True))

    assert measure(texts) == measure(turned)


def test_what_shares_words_with_a_hit_and_none_with_the_question_has_an_echo() -> None:
    found = echoes(
        {"Ann fired clay in her kiln": 0.9, "the kiln was hot": 0.0, "it rained on Monday": 0.0}, "ann"
    )
    assert found["the kiln was hot"] > 0
    assert found["it rained on Monday"] == 0


def test_words_of_the_question_and_stop_words_lend_nothing() -> None:
    assert set(echoes({"the kiln of Ann": 0.9, "the kiln of Bob": 0.1}, "kiln").values()) == {0.0}


def test_a_word_that_one_candidate_alone_holds_lends_nothing() -> None:
    assert set(echoes({"a kiln": 0.9, "some clay": 0.1}).values()) == {0.0}


def test_of_two_shared_words_the_rarer_among_the_candidates_weighs_more() -> None:
    hits = {"kiln clay": 0.9, "a kiln": 0.0, "clay one": 0.0, "clay two": 0.0}
    found = echoes(hits)
    assert found["a kiln"] > found["clay one"] == found["clay two"] > 0


def test_only_the_best_hits_lend_words_and_nothing_that_does_not_match() -> None:
    hits = {f"thing{number}": 0.9 for number in range(BEST_HITS)}
    late = {"kiln first": 0.1, "kiln second": 0.0}
    assert set(echoes({**hits, **late}).values()) == {0.0}
    assert echoes(late) == {"kiln first": 1.0, "kiln second": 1.0}
    assert set(echoes(dict.fromkeys(late, 0.0)).values()) == {0.0}


def test_no_more_than_so_many_words_are_lent() -> None:
    words = [f"word{number:02}" for number in range(SHARED_WORDS + 5)]
    found = echoes({" ".join(words): 1.0, **{f"{word} other": 0.0 for word in words}})
    assert sum(one > 0 for one in found.values()) == SHARED_WORDS + 1


def test_a_text_is_read_by_its_beginning() -> None:
    late = "x " * READ_CHARS + "kiln"
    assert echoes({"a kiln": 0.9, late: 0.1})[late] == 0


def test_an_echo_raises_the_score_and_proves_nothing() -> None:
    said = [("hit", "the clay in a kiln", 0.8), ("echo", "kiln", 0.2), ("other", "rain", 0.2)]
    found = rank(*said)
    assert (found["hit"].echo, found["echo"].echo, found["other"].echo) == (1, 1, 0)
    assert found["echo"].score > found["other"].score
    assert found["echo"].base == pytest.approx(0.2 + DEFAULT_RELEVANCE.echo_share * found["echo"].echo)
    assert found["echo"].evidence == found["other"].evidence


def test_switched_off_the_texts_change_nothing() -> None:
    said = [("hit", "the clay in a kiln", 0.8), ("echo", "kiln", 0.2)]
    off = rank(*said, profile=replace(DEFAULT_RELEVANCE, echo_share=0.0))
    silent = [(key, "", cosine) for key, _, cosine in said]
    assert {key: (one.echo, one.score) for key, one in off.items()} == {
        key: (0.0, one.score) for key, one in rank(*silent).items()
    }


def test_a_summary_lends_no_words() -> None:
    summary = Passage("sum", "summary", None, None, 9, 0.9, None, 0.0, 0.0, 1e9, 0, 0.0, 1.0)
    turn = Passage("turn", "durable", None, None, 9, 0.0, None, 0.0, 0.0, 1e9, 0, 0.0)
    ranked = rank_passages(PassageColumns(*zip(summary, turn, strict=True)), texts=["a kiln", "kiln"])
    assert {one.echo for one in ranked} == {0.0}
