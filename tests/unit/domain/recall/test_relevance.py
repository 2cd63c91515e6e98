"""Claims about the default ranking: bounded, the same for any order, and each term does what it says."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.relevance import (
    DEFAULT_RELEVANCE,
    Passage,
    PassageColumns,
    Relevance,
    RelevanceProfile,
    score_hop,
)
from models.domain.recall.relevance import rank_passages as rank_columns
from models.domain.recall.scoring import ScoringProfile

anything = st.one_of(st.floats(), st.none(), st.floats(0, 1))
numbers = st.floats(allow_nan=True, allow_infinity=True)
EVEN = ScoringProfile(omega0=1.0)  # recency, use and authority weigh nothing


def rank_passages(passages: Sequence[Passage], **how: Any) -> tuple[Relevance, ...]:
    """The ranking of passages given one by one."""
    return rank_columns(PassageColumns._make(zip(*passages, strict=True)), **how) if passages else ()


@st.composite
def passages(draw: st.DrawFn) -> list[Passage]:
    count = draw(st.integers(0, 12))
    return [
        Passage(
            id=f"p{index}",
            scope=draw(st.sampled_from(["session", "durable", "global", "lore", "summary"])),
            session_id=draw(st.sampled_from([None, "s", "t"])),
            position=draw(st.one_of(st.none(), st.just(index))),
            chars=draw(st.integers(0, 100_000)),
            cosine=draw(anything),
            lexical_weight=draw(anything),
            load=draw(numbers),
            time_fit=draw(numbers),
            age_seconds=draw(st.one_of(numbers, st.floats(0, 1e9))),
            useful_count=draw(st.integers(0, 10**9)),
            authority=draw(numbers),
            confidence=draw(anything),
            is_answer=index % 2 == 1,  # one draw fewer: many passages are slow to make on a busy machine
            is_teller=index % 3 == 1,
        )
        for index in range(count)
    ]


def turn(name: str, **known: Any) -> Passage:
    """A turn about nothing, of 100 characters, unless told otherwise."""
    facts: dict[str, Any] = {
        "scope": "durable",
        "session_id": None,
        "position": None,
        "chars": 100,
        "cosine": 0.0,
        "lexical_weight": None,
        "load": 0.0,
        "time_fit": 0.0,
        "age_seconds": 1e9,
        "useful_count": 0,
        "authority": 0.0,
    }
    return Passage(id=name, **{**facts, **known})


def scores(*given: Passage, **options: Any) -> dict[str, Relevance]:
    return {one.id: one for one in rank_passages(given, weights=EVEN, **options)}


@given(passages(), st.booleans())
def test_every_score_lies_in_0_to_1_and_is_a_number_and_best_comes_first(
    given_passages: list[Passage], asks: bool
) -> None:
    ranked = rank_passages(given_passages, asks_for_answers=asks)
    assert {one.id for one in ranked} == {passage.id for passage in given_passages}
    for one in ranked:
        assert 0 <= one.score < 1
        for name in (
            "cosine",
            "lexical",
            "load",
            "time_fit",
            "recency",
            "frequency",
            "authority",
            "omega",
            "quality",
        ):
            assert 0 <= getattr(one, name) <= 1, name
        assert 0 <= one.evidence <= 1
        assert one.base >= 0
        assert one.context >= 0
        assert one.length_cost >= 0
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)


@given(passages(), st.randoms())
def test_the_order_of_the_input_does_not_matter(given_passages: list[Passage], random: Any) -> None:
    doubled = [*given_passages, *given_passages[:2]]
    shuffled = random.sample(doubled, len(doubled))
    assert rank_passages(doubled) == rank_passages(shuffled)


@given(st.permutations([(name, cosine) for name in "abc" for cosine in (0.2, 0.7)]))
def test_passages_that_match_alike_come_by_their_ids_in_whatever_order_they_were_found(
    found: list[tuple[str, float]],
) -> None:
    ranked = rank_passages([turn(f"{name}{cosine}", cosine=cosine) for name, cosine in found])
    assert [one.id for one in ranked] == ["a0.7", "b0.7", "c0.7", "a0.2", "b0.2", "c0.2"]


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_more_trusted_summary_never_scores_less(cosine: float, doubted: float, trusted: float) -> None:
    low, high = sorted((doubted, trusted))
    found = scores(
        turn("low", scope="summary", cosine=cosine, confidence=low),
        turn("high", scope="summary", cosine=cosine, confidence=high),
    )
    assert found["high"].score >= found["low"].score


def test_an_old_unread_unauthored_memory_still_scores_by_its_match() -> None:
    (only,) = rank_passages([turn("old", cosine=0.8)])
    assert only.recency == pytest.approx(0, abs=1e-9)
    assert only.score == pytest.approx(0.8 * 0.8 / (1 + 0.8 * 0.8))


def test_words_count_beside_meaning_and_the_best_of_them_counts_whole() -> None:
    found = scores(turn("words", lexical_weight=8.0), turn("half", lexical_weight=4.0), turn("neither"))
    assert found["words"].base == pytest.approx(DEFAULT_RELEVANCE.lexical_share)
    assert found["half"].base == pytest.approx(DEFAULT_RELEVANCE.lexical_share / 2)
    assert found["neither"].score == 0


def test_a_turn_borrows_from_the_turns_around_it_and_from_nobody_elses() -> None:
    hit = turn("hit", cosine=0.9, session_id="s", position=5)
    found = scores(
        hit,
        turn("next", session_id="s", position=6),
        turn("after next", session_id="s", position=7),
        turn("far", session_id="s", position=8),
        turn("elsewhere", session_id="t", position=6),
    )
    one_away = 0.33 * (1 - 50 / 500) * 0.9
    two_away = 0.33 * (1 - 150 / 500) * 0.9
    assert found["next"].context == pytest.approx(one_away)
    assert found["after next"].context == pytest.approx(two_away)
    assert found["far"].context == 0
    assert found["elsewhere"].context == 0


def test_a_turn_behind_an_unknown_one_lends_nothing() -> None:
    found = scores(
        turn("hit", cosine=0.9, session_id="s", position=5), turn("two on", session_id="s", position=7)
    )
    assert found["two on"].context == 0


def test_long_turns_neither_lend_nor_borrow_much() -> None:
    def borrowed(*, lender: int, borrower: int) -> float:
        found = scores(
            turn("a", cosine=0.9, session_id="s", position=1, chars=lender),
            turn("b", session_id="s", position=2, chars=borrower),
        )
        return found["b"].context

    assert borrowed(lender=100, borrower=100) > borrowed(lender=600, borrower=100) > 0
    assert borrowed(lender=100, borrower=300) > borrowed(lender=100, borrower=900) > 0
    assert borrowed(lender=1000, borrower=100) == 0
    assert borrowed(lender=100, borrower=300) == borrowed(lender=100, borrower=10)


def test_what_a_user_tells_and_the_time_asked_about_lift_a_match() -> None:
    found = scores(
        turn("plain", cosine=0.5),
        turn("telling", cosine=0.5, load=1.0),
        turn("then", cosine=0.5, time_fit=1.0),
    )
    raw = {name: one.score / (1 - one.score) for name, one in found.items()}
    assert raw["plain"] == pytest.approx(0.5)
    assert raw["telling"] == pytest.approx(0.75)
    assert raw["then"] == pytest.approx(0.75 + 0.3)


def test_the_time_asked_about_counts_for_a_turn_that_matches_in_nothing_else() -> None:
    found = scores(turn("then", time_fit=1.0), turn("else", cosine=0.2))
    assert found["then"].time_bonus == pytest.approx(0.3)
    assert found["then"].score > found["else"].score


def test_an_answer_counts_less_than_what_a_person_said_unless_answers_are_asked_for() -> None:
    said, answered = turn("said", cosine=0.5), turn("answered", cosine=0.6, is_answer=True)
    found = scores(said, answered)
    assert found["said"].score > found["answered"].score
    assert (found["said"].answer_cost, found["answered"].answer_cost) == (0.0, 0.4)
    asked_for = scores(said, answered, asks_for_answers=True)
    assert asked_for["answered"].score > asked_for["said"].score


def test_an_answer_lends_to_what_it_answers_however_long_it_is() -> None:
    def lent(**roles: bool) -> float:
        asked = turn("asked", session_id="s", position=1, is_answer=roles.get("asked", False))
        reply = turn(
            "reply", session_id="s", position=2, chars=5000, cosine=0.5, is_answer=roles.get("reply", False)
        )
        return scores(asked, reply)["asked"].context

    assert lent(reply=True) == pytest.approx(0.33 * 0.4 * 0.5)
    assert lent() == lent(asked=True, reply=True) == 0


def test_an_answer_cannot_cost_more_than_the_whole_match() -> None:
    with pytest.raises(ValueError, match="answer_cost"):
        RelevanceProfile(answer_cost=1.5)


def test_a_long_answer_pays_for_its_length_unless_it_is_what_is_asked_for() -> None:
    long = turn("long", cosine=0.5, chars=2000)
    assert scores(long)["long"].length_cost == pytest.approx(0.1)
    assert scores(long, asks_for_answers=True)["long"].length_cost == 0
    assert scores(turn("short", cosine=0.5, chars=500))["short"].length_cost == 0
    assert scores(turn("endless", cosine=0.01, chars=10**9))["endless"].score == 0


def test_evidence_reads_the_match_and_not_the_rank() -> None:
    found = scores(turn("weak", cosine=0.05, lexical_weight=0.5), turn("named", lexical_weight=5.0))
    assert found["weak"].evidence == pytest.approx(0.5 / 5.5)
    assert found["named"].evidence == pytest.approx(0.5)


def test_recency_use_and_authority_move_a_score_by_a_fifth_at_most() -> None:
    match = {"cosine": 0.5}
    best = turn("best", **{**match, "age_seconds": 0.0, "authority": 1.0, "useful_count": 10**9})
    ranked = {one.id: one for one in rank_passages([best, turn("plain", **match)])}
    raw = {name: one.score / (1 - one.score) for name, one in ranked.items()}
    assert raw["plain"] == pytest.approx(0.4)
    assert 0.49 < raw["best"] <= 0.5


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_the_shorter_the_neighbour_the_nearer_and_the_nearer_the_more_it_lends(one: int, other: int) -> None:
    short, long = (
        scores(
            turn("a", cosine=0.9, session_id="s", position=1, chars=chars),
            turn("b", session_id="s", position=2),
        )
        for chars in sorted((one, other))
    )
    assert short["b"].context >= long["b"].context


@given(passages(), st.integers(0, 5))
def test_the_best_few_are_the_beginning_of_all(given_passages: list[Passage], most: int) -> None:
    assert rank_passages(given_passages, most=most) == rank_passages(given_passages)[:most]


@pytest.mark.parametrize("name", RelevanceProfile.__slots__)
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_constants_that_make_no_sense_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        replace(DEFAULT_RELEVANCE, **{name: value})


@pytest.mark.parametrize("name", ["context_chars", "free_chars"])
def test_a_length_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        replace(DEFAULT_RELEVANCE, **{name: 0})


def test_a_hop_has_its_parents_share_and_no_term_of_its_own() -> None:
    hop = score_hop("n", 0.4)
    assert (hop.id, hop.score, hop.scope) == ("n", 0.4, "lore")
    assert hop.cosine == hop.base == hop.context == hop.evidence == 0
    assert score_hop("n", 1.7).score == 1


def test_use_counts_by_the_logarithm_of_reads_against_the_most_read() -> None:
    found = {
        one.id: one
        for one in rank_passages([turn("never"), turn("once", useful_count=1), turn("most", useful_count=6)])
    }
    assert found["never"].frequency == 0
    assert found["once"].frequency == pytest.approx(math.log(2) / math.log(8))
    assert found["most"].frequency == pytest.approx(math.log(7) / math.log(8))


def test_the_weight_is_its_floor_and_what_recency_use_and_authority_earn_of_the_rest() -> None:
    weights = ScoringProfile(omega0=0.6, alpha_r=0.5, alpha_f=0.2, alpha_a=0.3)
    (old,) = rank_passages([turn("old", age_seconds=math.inf, authority=0.5)], weights=weights)
    assert old.omega == pytest.approx(0.6 + 0.4 * 0.3 * 0.5)
    (new,) = rank_passages([turn("new", age_seconds=0.0, authority=1.0)], weights=weights)
    assert new.omega == pytest.approx(0.6 + 0.4 * (0.5 + 0.3))


def test_a_doubted_summary_loses_half_of_its_score_at_most_and_a_turn_nothing() -> None:
    certain, doubted, unknown = (
        rank_passages([turn("s", scope="summary", cosine=0.8, confidence=trust)])[0]
        for trust in (1.0, 0.0, None)
    )
    assert (certain.quality, doubted.quality, unknown.quality) == (1.0, 0.5, 0.5)
    assert doubted.score < certain.score
    (said,) = rank_passages([turn("t", cosine=0.8, confidence=0.0)])
    assert said.quality == 1.0


def test_who_is_asked_about_tells_most_of_a_list_and_nothing_more_of_one_thing() -> None:
    told, said = turn("told", cosine=0.5, is_teller=True), turn("said", cosine=0.5)
    several = {one.id: one for one in rank_passages([told, said], asks_for_several=True)}
    assert (several["told"].teller, several["said"].teller) == (0.3, 0.0)
    assert several["told"].score > several["said"].score
    assert several["told"].evidence == several["said"].evidence  # who said it proves no match
    one = {found.id: found for found in rank_passages([told, said])}
    assert one["told"].score == one["said"].score
