"""Worth: small talk and bare requests tell nothing, short facts do (memory-model.md section 5)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.gate.gating import decide_gate, read_text_signals
from models.domain.gate.marks import is_question, read_marks
from models.domain.gate.worth import BIAS, WEIGHTS, measure_worth, weigh_marks

MEGABYTE = 1_000_000


def is_kept(text: str, *, turns: tuple[float, ...] = (), memories: tuple[float, ...] = ()) -> bool:
    return decide_gate(read_text_signals(text), turn_similarities=turns, memory_similarities=memories).keep


@pytest.mark.parametrize(
    "said",
    [
        "Pretty cool",
        "Ooh lucky",
        "Beats nothing",
        "thanks",
        "yep",
        "You too!",
        "How are you doing today?",
        "danke",
    ],
)
def test_small_talk_is_never_durable_however_new_or_often_said(said: str) -> None:
    assert not is_kept(said)
    assert not is_kept(said, turns=(0.99,) * 10)


@pytest.mark.parametrize(
    "said",
    [
        "Standup moved to 10:00",
        "My new manager is Dana",
        "Priya and Tom got engaged",
        "I'm allergic to hazelnuts",
        "The staging server is now in Frankfurt",
        "We switched from npm to pnpm",
    ],
)
def test_a_short_fact_is_durable_also_beside_what_is_known(said: str) -> None:
    assert is_kept(said)
    assert is_kept(said, memories=(0.4,) * 5)


@pytest.mark.parametrize(
    "said", ["Can you recommend a good book?", "Summarize this in bullets", "continue", "Write another scene"]
)
def test_a_bare_request_is_not_durable(said: str) -> None:
    assert not is_kept(said)


@given(st.text(max_size=300))
def test_worth_and_every_mark_are_shares_for_any_text(text: str) -> None:
    marks = read_marks(text, load=0.0)
    assert all(0.0 <= value <= 1.0 for value in marks.values())
    assert 0.0 <= measure_worth(text, load=0.0).score <= 1.0


def test_a_weight_exists_for_every_mark_and_none_besides() -> None:
    assert set(WEIGHTS) == set(read_marks("", load=0.0))


def test_worth_is_the_logistic_of_the_weighed_marks_and_names_what_moved_it() -> None:
    text = "My sister Marta moved to Porto on 2 June"
    marks = read_marks(text, load=0.9)
    total = BIAS + sum(WEIGHTS[name] * value for name, value in marks.items())
    found = measure_worth(text, load=0.9)
    assert found.score == pytest.approx(1 / (1 + math.exp(-total)))
    assert "for.load" in found.reasons and "for.names" in found.reasons
    assert "against.small_talk" in measure_worth("Wow, thanks, that is great!", load=0.0).reasons


@given(st.floats(-1e9, 1e9))
def test_no_sum_of_marks_leaves_the_range(total: float) -> None:
    assert 0.0 <= weigh_marks({"x": 1.0}, 0.0, {"x": total}) <= 1.0


def test_a_question_is_known_by_its_mark_or_its_opening() -> None:
    assert is_question("You went where?")
    assert is_question("how do I install this")
    assert not is_question("How nice.")
    assert not is_question("It is Monday")


@pytest.mark.parametrize("seed", ["my a ", "Aa ", "i ", "the a ", "now ", "a's ", ". ", "?! "])
def test_reading_a_hostile_megabyte_is_linear(seed: str) -> None:
    read_marks(seed * (MEGABYTE // len(seed)), load=0.0)
