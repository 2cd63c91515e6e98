"""A profile: statements that stand alone, current ones, each with its turn."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.profile import (
    MOST_FACTS,
    ProfileSource,
    is_expired,
    make_profile,
    measure_statement,
    stands_alone,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def said(text: str, *, days: float = 1, key: str = "", role: str = "user", again: int = 0) -> ProfileSource:
    return ProfileSource(
        turn_id=key or text,
        memory_id=key or text,
        session_id="s",
        role=role,
        name=None,
        text=text,
        said_at=NOW - timedelta(days=days),
        confirmations=again,
    )


def test_a_fact_is_the_statement_that_tells_most_and_names_its_turn() -> None:
    turn = "Thanks, that is great! By the way, my sister Marta moved to Porto in June. Any tips for a gift?"
    (line,) = make_profile([said(turn, key="t1")], [], [], now=NOW)
    assert line.kind == "fact"
    assert line.text == "my sister Marta moved to Porto in June."
    assert line.source.turn_id == "t1"


@pytest.mark.parametrize(
    "text",
    [
        "Ooh lucky",
        "Thanks so much!",
        "It was great.",
        "I pitched it to them.",
        "Can you help me?",
        "Just do it!",
    ],
)
def test_small_talk_and_what_points_elsewhere_make_no_line(text: str) -> None:
    assert make_profile([said(text)], [said(text)], [said(text)], now=NOW) == ()


def test_what_was_for_a_day_is_over_after_two_weeks_and_what_lasts_is_not() -> None:
    passing, lasting = "My exam at the university is tomorrow", "My brother Tomas lives in Lyon"
    old = make_profile([said(passing, days=20), said(lasting, days=20)], [], [], now=NOW)
    assert [line.text for line in old] == [lasting]
    fresh = make_profile([said(passing, days=1)], [], [], now=NOW)
    assert [line.text for line in fresh] == [passing]


def test_what_happened_once_is_over_too_unless_something_is_different_since() -> None:
    once, since = (
        "I took my kids to the zoo in Leipzig last weekend",
        "I joined a choir in Leipzig last weekend",
    )
    old = make_profile([said(once, days=40), said(since, days=40)], [], [], now=NOW)
    assert [line.text for line in old] == [since]


@pytest.mark.parametrize(
    "text",
    [
        "Now let me write the complete config of the Berlin cluster.",
        "I checked the Berlin cluster, found 3 nodes:",
    ],
)
def test_steps_and_headings_make_no_line(text: str) -> None:
    assert make_profile([said(text)], [said(text)], [said(text)], now=NOW) == ()


def test_an_open_matter_is_listed_while_it_is_recent() -> None:
    open_matter = "I still need to send the invoice to Northwind by 12 May"
    (line,) = make_profile([], [said(open_matter, days=3)], [], now=NOW)
    assert (line.kind, line.text) == ("open", open_matter)
    assert make_profile([], [said(open_matter, days=60)], [], now=NOW) == ()


def test_the_last_session_ends_with_the_last_thing_that_told_something() -> None:
    ending = [said("We moved the launch to 4 June", key="a"), said("Noted.", role="assistant"), said("Bye!")]
    (line,) = make_profile([], [], ending, now=NOW)
    assert (line.kind, line.source.turn_id) == ("last", "a")


def test_nothing_is_said_twice() -> None:
    once = "My brother Tomas lives in Lyon"
    lines = make_profile([said(once, key="a"), said(f"{once} now", key="b")], [], [], now=NOW)
    assert len(lines) == 1


def test_what_was_confirmed_comes_before_what_was_said_once() -> None:
    one, other = said("My aunt Rosa lives in Turin"), said("My uncle Karl lives in Bremen", again=4)
    assert [line.source for line in make_profile([one, other], [], [], now=NOW)] == [other, one]


def test_a_profile_is_bounded() -> None:
    many = [
        said(f"My cousin {name} works at plant {n} in town{n}")
        for n, name in enumerate(["Ada", "Bo", "Cy"] * 40)
    ]
    assert len(make_profile(many, [], [], now=NOW)) <= MOST_FACTS


@given(st.text(max_size=200))
def test_any_sentence_can_be_measured(sentence: str) -> None:
    assert 0.0 <= measure_statement(sentence) <= 1.0
    assert stands_alone(sentence) in (True, False)
    assert is_expired(sentence, age_days=0.0) is False
