"""Temporal questions: intent, events and the greedy choice of memory-model.md section 7."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.time import temporal
from models.domain.recall.time.temporal import (
    INTENT_CUES,
    TemporalCandidate,
    TemporalChoice,
    event_slots,
    is_active,
    put_choices_first,
    select_temporal,
    temporal_intent,
)

shares = st.floats(min_value=0.0, max_value=1.0)


def make(
    name: str, score: float = 0.0, density: float = 0.0, slots: tuple[float, ...] = ()
) -> TemporalCandidate:
    return TemporalCandidate(id=name, score=score, anchor_density=density, slot_similarities=slots)


candidates = st.lists(
    st.builds(
        make, st.text("abcdef", min_size=1, max_size=3), shares, shares, st.tuples(shares, shares, shares)
    ),
    max_size=8,
    unique_by=lambda candidate: candidate.id,
)


# --- intent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "weight"),
    [
        ("How many days was it?", 0.9),
        ("How much time do I have?", 0.9),
        ("How long was it?", 0.7),
        ("I forgot when was it", 0.7),
        ("How old is she?", 0.7),
        ("When did she call?", 0.7),
        ("Fine. When then?", 0.7),
        ("On which date was it?", 0.7),
        ("What time is it?", 0.7),
        ("In which month's game was it?", 0.7),
        ("Which did I start first?", 0.8),
        ("Who called later, Ann or Bob?", 0.8),
        ("What is the order of them?", 0.8),
        ("List them from earliest on", 0.8),
        ("Which city before Rome?", 0.5),
        ("What happened after it?", 0.5),
        ("Did it rain since I moved?", 0.5),
        ("How it went between the two?", 0.5),
        ("Was it long ago?", 0.3),
        ("Has it lasted?", 0.3),
        ("Where is she now?", 0.3),
        ("What was it on Monday?", 0.5),
        ("Wann war das?", 0.7),
        ("¿Cuándo fue?", 0.7),
        ("когда это было?", 0.7),
        ("什么时候去？", 0.7),
    ],
)
def test_a_temporal_word_weighs_what_it_should(query: str, weight: float) -> None:
    assert temporal_intent(query) == pytest.approx(weight / 1.5)


@pytest.mark.parametrize(
    "query",
    [
        "What is my sister's name?",
        "What was my last name?",
        "What did I pay on my first order?",
        "What is the difference between tea and coffee?",
        "Which book did I like?",
        "Tell me about whales",
        "",
    ],
)
def test_other_questions_have_no_intent(query: str) -> None:
    assert temporal_intent(query) == 0.0


def test_cues_have_names_and_weights() -> None:
    assert {name: weight for name, weight, _ in INTENT_CUES} == {
        "how_many_units": 0.9,
        "how_long": 0.7,
        "when": 0.7,
        "which_date": 0.7,
        "which_first": 0.8,
        "before_after": 0.5,
        "since": 0.5,
        "between": 0.5,
        "ago": 0.3,
        "passed": 0.3,
        "recency": 0.3,
        "other_language": 0.7,
    }
    assert temporal.ANCHOR_WEIGHT == 0.5


def test_intent_adds_up_over_one_and_a_half_and_saturates() -> None:
    assert temporal_intent("How long was it before the trip?") == pytest.approx(1.2 / 1.5)
    assert temporal_intent("How many days passed between Monday and Friday?") == 1.0


def test_intent_is_active_from_three_tenths_on() -> None:
    assert is_active(0.3)
    assert not is_active(math.nextafter(0.3, 0))
    assert is_active(temporal_intent("Which city before Rome?"))
    assert not is_active(temporal_intent("Where is she now?"))


@given(st.text(max_size=200))
def test_intent_is_a_share_of_any_text(text: str) -> None:
    assert 0.0 <= temporal_intent(text) <= 1.0


@given(st.text(max_size=60))
def test_case_does_not_change_the_intent_of_a_question(text: str) -> None:
    assert temporal_intent("How many days " + text) >= 0.9 / 1.5
    assert temporal_intent("HOW MANY DAYS " + text) >= 0.9 / 1.5


# --- events ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "slots"),
    [
        (
            "How many days passed between the Sunday mass at St. Mary's Church and the Ash Wednesday service?",
            ("Sunday mass at St. Mary's Church", "Ash Wednesday service"),
        ),
        (
            "Which event happened first, my cousin's wedding or Michael's engagement party?",
            ("cousin's wedding", "Michael's engagement party"),
        ),
        (
            "How many days before I bought the iPhone 13 Pro did I attend the Holiday Market?",
            ("bought the iPhone 13 Pro", "attend the Holiday Market"),
        ),
        (
            "How long did I take to finish 'Before Sunrise and After' and \"The Nightingale\"?",
            ("finish 'Before Sunrise and After'", '"The Nightingale"'),
        ),
        ("How many weeks ago did I attend a networking event?", ("attend a networking event",)),
        ("I cooked for my friend two days ago. What was it?", ("cooked for my friend",)),
        ("Who left first, Ann, Bob, Cem, Dan or Eve?", ("left", "Ann", "Bob", "Cem")),
        ("When was it?", ()),
        ("When was the trip? Yes or no", ("trip",)),
        ("Who graduated first among Ann and Bob?", ("graduated", "Ann", "Bob")),
        ("How long since the trip, the Trip or the TRIP?", ("trip",)),
        ("What is my sister's name?", ()),
        ("", ()),
    ],
)
def test_the_events_of_a_question_are_its_slots(query: str, slots: tuple[str, ...]) -> None:
    assert event_slots(query) == slots


def test_a_slot_has_twelve_words_at_most() -> None:
    words = [f"w{i}" for i in range(20)]
    assert event_slots("When did " + " ".join(words) + "?") == (" ".join(words[:12]),)


@given(st.text(max_size=200))
def test_slots_are_at_most_four_distinct_and_not_empty(text: str) -> None:
    slots = event_slots("When did " + text)
    assert len(slots) <= 4
    assert len({slot.casefold() for slot in slots}) == len(slots)
    assert all(slot.strip() for slot in slots)


# --- the choice ------------------------------------------------------------------------------------


def test_the_constants_are_those_of_the_contract() -> None:
    assert (temporal.INTENT_NORM, temporal.ACTIVE_INTENT) == (1.5, 0.3)
    assert (temporal.RELEVANCE_KEPT, temporal.ANCHOR_GAIN, temporal.COVERAGE_GAIN) == (0.6, 0.2, 0.2)
    assert (temporal.SLOT_SIMILARITY, temporal.CHOICE_FLOOR, temporal.MAX_CHOICES) == (0.5, 0.1, 3)
    assert (temporal.MAX_SLOTS, temporal.RECOVERY_SIMILARITY, temporal.MAX_RECOVERED) == (4, 0.15, 10)


def test_the_terms_of_a_choice_add_up_as_written() -> None:
    (choice,) = select_temporal(0.5, [make("a", 0.4, 0.5, (0.6, 0.2, 0.5))])
    assert choice.relevance == pytest.approx((1 - 0.5 * 0.4) * 0.4)
    assert choice.anchors == pytest.approx(0.5 * 0.2 * 0.5)
    assert choice.coverage == pytest.approx(0.5 * 0.2 * 2 / 3)
    assert choice.value == pytest.approx(choice.relevance + choice.anchors + choice.coverage)
    assert choice.covered_slots == (0, 2)


def test_at_full_intent_relevance_keeps_six_tenths() -> None:
    (choice,) = select_temporal(1.0, [make("a", 0.5)])
    assert choice.value == pytest.approx(0.3)
    assert choice.coverage == 0.0


def test_coverage_is_a_share_of_what_is_still_uncovered() -> None:
    first, second, third = select_temporal(
        1.0, [make("a", 0.9, 0.0, (0.9, 0.9, 0.1)), make("b", 0.5, 0.0, (0.9, 0.1, 0.9)), make("c", 0.6)]
    )
    assert (first.id, first.coverage) == ("a", pytest.approx(0.2 * 2 / 3))
    assert (second.id, second.coverage, second.covered_slots) == ("b", pytest.approx(0.2), (2,))
    assert (third.id, third.coverage, third.covered_slots) == ("c", 0.0, ())


def test_a_slot_is_covered_from_one_half_on() -> None:
    (at,) = select_temporal(1.0, [make("a", 0.5, 0.0, (0.5,))])
    (below,) = select_temporal(1.0, [make("a", 0.5, 0.0, (0.4999,))])
    assert (at.covered_slots, below.covered_slots) == ((0,), ())


def test_the_turn_that_covers_the_other_event_is_preferred() -> None:
    chosen = select_temporal(
        1.0,
        [
            make("mass", 0.5, 1.0, (0.8, 0.1)),
            make("mass again", 0.5, 0.0, (0.8, 0.1)),
            make("service", 0.4, 0.0, (0.1, 0.7)),
        ],
    )
    assert [choice.id for choice in chosen] == ["mass", "service", "mass again"]


def test_candidates_with_fewer_slots_leave_the_rest_uncovered() -> None:
    (first, second) = select_temporal(1.0, [make("a", 0.9, 0.0, (0.9,)), make("b", 0.5, 0.0, (0.1, 0.9))])
    assert (first.coverage, second.coverage) == (pytest.approx(0.1), pytest.approx(0.2))


def test_at_most_three_are_chosen() -> None:
    chosen = select_temporal(1.0, [make(name, 0.9) for name in "abcde"])
    assert [choice.id for choice in chosen] == ["a", "b", "c"]


def test_nothing_under_the_floor_is_chosen() -> None:
    assert len(select_temporal(1.0, [make("a", 0.0, 0.5)])) == 1
    assert select_temporal(1.0, [make("a", 0.0, 0.49)]) == ()
    assert [c.id for c in select_temporal(1.0, [make("a", 0.9), make("b", 0.01)])] == ["a"]


def test_no_candidates_give_no_choices() -> None:
    assert select_temporal(1.0, []) == ()


@given(candidates, st.floats(min_value=0.0, max_value=math.nextafter(0.3, 0)))
def test_an_inactive_intent_changes_nothing(turns: list[TemporalCandidate], xi: float) -> None:
    choices = select_temporal(xi, turns)
    order = tuple(turn.id for turn in turns)
    assert choices == ()
    assert put_choices_first(order, choices) == order


@given(candidates, shares)
def test_choices_are_distinct_above_the_floor_and_add_up(turns: list[TemporalCandidate], xi: float) -> None:
    chosen = select_temporal(xi, turns)
    assert len({choice.id for choice in chosen}) == len(chosen) <= 3
    for choice in chosen:
        assert choice.value >= 0.10
        assert choice.value == pytest.approx(choice.relevance + choice.anchors + choice.coverage)
        assert choice.value <= 1.0 + 1e-9
    covered = [slot for choice in chosen for slot in choice.covered_slots]
    assert len(set(covered)) == len(covered)


@given(candidates, shares)
def test_the_values_never_rise_when_no_slots_are_left(turns: list[TemporalCandidate], xi: float) -> None:
    bare = [make(turn.id, turn.score, turn.anchor_density) for turn in turns]
    values = [choice.value for choice in select_temporal(xi, bare)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_counts_as_nothing(bad: float) -> None:
    assert select_temporal(bad, [make("a", 0.9)]) == ()
    (choice,) = select_temporal(1.0, [make("a", 0.5, bad, (bad,))])
    assert math.isfinite(choice.value)
    assert select_temporal(1.0, [make("a", bad, 0.0, ())]) == ()


def test_values_beyond_a_share_are_cut() -> None:
    (choice,) = select_temporal(2.0, [make("a", 3.0, 3.0)])
    assert choice.value == pytest.approx(0.6 + 0.2)


def test_choices_move_to_the_front_and_the_rest_keeps_its_order() -> None:
    choices = [
        TemporalChoice(id=name, value=1, relevance=1, anchors=0, coverage=0, covered_slots=())
        for name in "cx"
    ]
    assert put_choices_first(("a", "b", "c", "d"), choices) == ("c", "x", "a", "b", "d")
