"""Date and time expressions: what is one, what is not, and how many make a turn rich in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.text.anchors import (
    CASED_PATTERNS,
    DATED_KINDS,
    PATTERNS,
    anchor_density,
    find_anchors,
    lower_in_place,
)

ANCHORS = [
    # dates
    ("on 2024-01-15 we", "date", "2024-01-15"),
    ("at 2024-01-15T10:22:33Z we", "date", "2024-01-15T10:22:33Z"),
    ("at 2024-01-15 10:22 we", "date", "2024-01-15 10:22"),
    ("on 2023/02/20 we", "date", "2023/02/20"),
    ("on 15.01.2024 we", "date", "15.01.2024"),
    ("on 1/15/24 we", "date", "1/15/24"),
    ("on 31-12-1999 we", "date", "31-12-1999"),
    ("on March 3rd, 2024 we", "date", "March 3rd, 2024"),
    ("on March the 3rd we", "date", "March the 3rd"),
    ("on Sept. 9 we", "date", "Sept. 9"),
    ("on may 5 we", "date", "may 5"),
    ("on 8 May, 2023 we", "date", "8 May, 2023"),
    ("on the 10th of April we", "date", "10th of April"),
    ("on 2/15 we", "date", "2/15"),
    ("the 7/22 trip", "date", "7/22"),
    ("am 3. März 2024 war", "date", "3. März 2024"),
    ("el 5 de mayo de 2023 fue", "date", "5 de mayo de 2023"),
    ("le 1er juillet 1989 à", "date", "1er juillet 1989"),
    ("3 января 2024 года", "date", "3 января 2024"),
    ("在2024年3月5日见", "date", "2024年3月5日"),
    ("在2024年见", "date", "2024年"),
    ("在5月3日见", "date", "5月3日"),
    # months, years, seasons, holidays
    ("back in May we", "month", "May"),
    ("by early June we", "month", "June"),
    ("this march we", "month", "march"),
    ("the May 2023 trip", "month", "May 2023"),
    ("June was hot", "month", "June"),
    ("im märz 2024 war", "month", "märz 2024"),
    ("since 2019 we", "year", "2019"),
    ("in the 90s we", "year", "the 90s"),
    ("in the late 1980s we", "year", "late 1980s"),
    ("it was last summer when", "season", "last summer"),
    ("the summer of 2019 was", "season", "summer of 2019"),
    ("in the fall we", "season", "in the fall"),
    ("over the winter we", "season", "over the winter"),
    ("during the spring we", "season", "during the spring"),
    ("at Christmas Eve we", "holiday", "Christmas Eve"),
    ("on New Year's Day we", "holiday", "New Year's Day"),
    ("on Ash Wednesday we", "holiday", "Ash Wednesday"),
    # clock
    ("at 22:35 we", "time", "22:35"),
    ("at 7:30 a.m. we", "time", "7:30 a.m."),
    ("at 12:30:15 PM we", "time", "12:30:15 PM"),
    ("at 7 pm we", "time", "7 pm"),
    ("at 11am we", "time", "11am"),
    ("at 5 o'clock we", "time", "5 o'clock"),
    ("at noon we", "time", "noon"),
    # weekdays
    ("it is Monday now", "weekday", "Monday"),
    ("they meet Tuesdays there", "weekday", "Tuesdays"),
    ("it was last friday when", "weekday", "last friday"),
    ("come on Sat or", "weekday", "on Sat"),
    ("2023 (Mon) at", "weekday", "(Mon)"),
    # relative
    ("it was yesterday when", "relative", "yesterday"),
    ("the day before yesterday we", "relative", "the day before yesterday"),
    ("the other day we", "relative", "the other day"),
    ("this morning we", "relative", "this morning"),
    ("it was last week when", "relative", "last week"),
    ("earlier this year we", "relative", "earlier this year"),
    ("two weeks ago we", "relative", "two weeks ago"),
    ("a couple of days ago we", "relative", "a couple of days ago"),
    ("a year later we", "relative", "a year later"),
    ("3 days from now we", "relative", "3 days from now"),
    ("in the past two months we", "relative", "in the past two months"),
    ("over the last year we", "relative", "over the last year"),
    ("the past three weeks were", "relative", "past three weeks"),
    ("we leave in two weeks then", "relative", "in two weeks"),
    ("es war gestern schön", "relative", "gestern"),
    ("это было вчера вечером", "relative", "вчера"),
    ("我昨天去了", "relative", "昨天"),
    ("我们下个月见", "relative", "下个月"),
    # durations
    ("it took three weeks there", "duration", "three weeks"),
    ("a 30-minute walk", "duration", "30-minute"),
    ("for 1.5 hours we", "duration", "1.5 hours"),
    ("after half an hour we", "duration", "half an hour"),
    ("for several years we", "duration", "several years"),
]

NOTHING = [
    "",
    "no date here",
    "may I march on? It may be.",
    "Mars and mayo and mai tai",
    "open 24/7 with 1/2 cup, on 24/7",
    "2000 calories, room 1999",
    "version 1.2.3 at 192.168.1.1",
    "a time of 27:12 and a ratio of 1:3",
    "she is 25 years old, a 25-year-old",
    "the sun sat on a second wed fri",
    "I am here at 5",
    "one daydream, seven weekenders",
    "spring onions and fall over",
    "on 2/15/",
]


@pytest.mark.parametrize(("text", "kind", "found"), ANCHORS)
def test_an_expression_is_found_whole_and_named(text: str, kind: str, found: str) -> None:
    anchor = find_anchors(text)[0]
    assert (anchor.kind, anchor.text) == (kind, found)
    assert text[anchor.start : anchor.end] == found
    assert anchor_density(text) == pytest.approx(1 / 3)


@pytest.mark.parametrize("text", NOTHING)
def test_what_names_no_time_is_no_anchor(text: str) -> None:
    assert find_anchors(text) == ()
    assert anchor_density(text) == 0.0


def test_expressions_come_in_reading_order() -> None:
    found = find_anchors("On 8 May 2023 at 1:56 pm, not last week, for two days")
    assert [anchor.text for anchor in found] == ["8 May 2023", "1:56 pm", "last week", "two days"]


def test_of_overlapping_expressions_the_longer_wins() -> None:
    assert [anchor.text for anchor in find_anchors("in the past two months")] == ["in the past two months"]
    assert [anchor.kind for anchor in find_anchors("Ash Wednesday")] == ["holiday"]


def test_density_counts_distinct_expressions_and_saturates_at_three() -> None:
    assert anchor_density("Monday") == pytest.approx(1 / 3)
    assert anchor_density("Monday, MONDAY and monday") == pytest.approx(1 / 3)
    assert anchor_density("last  week, last week") == pytest.approx(1 / 3)
    assert anchor_density("Monday or Tuesday") == pytest.approx(2 / 3)
    assert anchor_density("Monday, Tuesday, Friday") == 1.0
    assert anchor_density("Monday, Tuesday, Friday, yesterday") == 1.0


def test_a_duration_measures_time_and_does_not_date_it() -> None:
    assert "duration" not in DATED_KINDS
    assert {kind for kind, _ in PATTERNS + CASED_PATTERNS} - DATED_KINDS == {"duration"}


@given(st.text(max_size=150))
def test_anchors_never_overlap_and_quote_the_text(text: str) -> None:
    reached = 0
    for anchor in find_anchors(text):
        assert reached <= anchor.start < anchor.end <= len(text)
        assert text[anchor.start : anchor.end] == anchor.text
        reached = anchor.end


@given(st.text(max_size=100))
def test_density_is_a_share(text: str) -> None:
    assert 0.0 <= anchor_density(text) <= 1.0


@given(st.sampled_from([text for text, _, _ in ANCHORS]), st.sampled_from([text for text, _, _ in ANCHORS]))
def test_more_text_never_has_fewer_anchors(one: str, other: str) -> None:
    assert anchor_density(f"{one} . {other}") >= anchor_density(one)


@given(st.text(alphabet=st.sampled_from("İıSsßΣσAaЖж1 "), max_size=20))
def test_lowering_keeps_every_place(text: str) -> None:
    lowered = lower_in_place(text)
    assert len(lowered) == len(text)
    for before, after in zip(text, lowered, strict=True):
        assert after in (before, before.lower(), "ς")


def test_a_capital_that_lowers_to_two_characters_shifts_nothing() -> None:
    assert lower_in_place("MÄRZ İ") == "märz İ"
    assert [anchor.text for anchor in find_anchors("İİİ YESTERDAY")] == ["YESTERDAY"]


def test_the_whole_search_grows_with_the_length_of_a_hostile_text() -> None:
    assert len(find_anchors("1 day " * 40_000)) == 40_000
