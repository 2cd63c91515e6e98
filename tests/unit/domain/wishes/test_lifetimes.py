"""How long a wish holds by its own words."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.wishes.lifetimes import Lifetime, find_lifetime

WEDNESDAY = datetime(2024, 5, 1, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        ("Answer in German until Friday.", "2024-05-04"),
        ("Until Wednesday, no calls.", "2024-05-09"),  # the next one: today is over at midnight anyway
        ("No calls today please.", "2024-05-02"),
        ("Only short answers tomorrow.", "2024-05-03"),
        ("Keep it short this week.", "2024-05-06"),
        ("No deploys until the end of the month.", "2024-06-01"),
        ("Use the staging key until 2024-05-20.", "2024-05-21"),
    ],
)
def test_a_wish_that_names_its_last_day_ends_after_it(said: str, ends: str) -> None:
    assert find_lifetime(said, WEDNESDAY) == Lifetime(datetime.fromisoformat(ends).replace(tzinfo=UTC), False)


def test_a_span_counts_from_when_it_was_said() -> None:
    assert find_lifetime("Be brief for the next two hours.", WEDNESDAY).expires_at == WEDNESDAY + timedelta(
        hours=2
    )
    assert find_lifetime("For the next week, no sugar.", WEDNESDAY).expires_at == WEDNESDAY + timedelta(
        days=7
    )


@pytest.mark.parametrize(
    "said", ["Use tabs in this file.", "For now, skip the tests.", "In this chat, call me Sam."]
)
def test_what_is_said_of_one_piece_of_work_holds_for_its_session(said: str) -> None:
    assert find_lifetime(said, WEDNESDAY) == Lifetime(None, True)


@pytest.mark.parametrize(
    "said", ["From today on, answer in German.", "Never use tabs.", "No calls on Fridays."]
)
def test_a_rule_without_an_end_holds_for_good(said: str) -> None:
    assert find_lifetime(said, WEDNESDAY) == Lifetime()


@given(
    st.text(),
    st.datetimes(
        min_value=datetime.fromisoformat("1990-01-01"), max_value=datetime.fromisoformat("2100-01-01")
    ),
)
def test_an_end_lies_ahead_or_is_a_date_that_was_named(said: str, at: datetime) -> None:
    end = find_lifetime(said, at.replace(tzinfo=UTC)).expires_at
    assert end is None or end > at.replace(tzinfo=UTC) or "-" in said
