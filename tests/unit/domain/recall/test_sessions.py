"""Claims about the order of sessions: the strongest witness decides, and a ranking stays what it was within one."""

from collections.abc import Sequence
from typing import Any

import pytest

from models.domain.recall.relevance import Passage, PassageColumns, Relevance, RelevanceProfile
from models.domain.recall.relevance import rank_passages as rank_columns
from models.domain.recall.sessions import choose_one_of_each_session, witness


def rank_passages(passages: Sequence[Passage], **how: Any) -> tuple[Relevance, ...]:
    return rank_columns(PassageColumns._make(zip(*passages, strict=True)), **how)


def passage(key: str, *, is_answer: bool) -> Passage:
    return Passage(
        id=key,
        scope="durable",
        session_id=key,
        position=1,
        chars=100,
        cosine=0.6,
        lexical_weight=2.0,
        load=0.0,
        time_fit=0.0,
        age_seconds=0.0,
        useful_count=0,
        authority=0.5,
        is_answer=is_answer,
    )


def test_an_answer_speaks_for_its_session_as_strongly_as_a_persons_words() -> None:
    said, answered = rank_passages([passage("said", is_answer=False), passage("answered", is_answer=True)])
    assert (said.id, answered.id) == ("said", "answered")
    assert said.score > answered.score
    assert witness(answered) == pytest.approx(witness(said))


def test_where_answers_count_for_nothing_they_are_no_witness_and_nothing_is_divided_by_zero() -> None:
    (answered,) = rank_passages(
        [passage("answered", is_answer=True)], profile=RelevanceProfile(answer_cost=1.0)
    )
    assert witness(answered) == 0.0


def test_a_session_is_placed_by_its_strongest_and_shown_by_its_first() -> None:
    sessions = ["a", "b", "a", "c", "b"]
    assert choose_one_of_each_session(sessions, [0.4, 0.3, 0.2, 0.1, 0.9]) == [1, 0, 3]


def test_equally_strong_sessions_keep_the_order_of_the_ranking_and_what_has_no_session_is_left_out() -> None:
    assert choose_one_of_each_session([None, "b", "a", None], [9.0, 0.5, 0.5, 1.0]) == [1, 2]
    assert choose_one_of_each_session([], []) == []


def test_a_witness_is_the_weight_before_the_cost_of_answers() -> None:
    (said,) = rank_passages([passage("said", is_answer=False)])
    assert witness(said) == pytest.approx(said.score / (1 - said.score) / (1 - said.answer_cost))
    assert witness(said) > 0


def test_as_many_witnesses_are_asked_for_as_there_are_passages() -> None:
    with pytest.raises(ValueError, match="zip"):
        choose_one_of_each_session(["a", "b"], [0.5])


def test_a_weaker_passage_later_does_not_weaken_its_session() -> None:
    assert choose_one_of_each_session(["a", "b", "a"], [0.5, 0.4, 0.1]) == [0, 1]
