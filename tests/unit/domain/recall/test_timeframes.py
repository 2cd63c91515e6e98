"""The time a question asks about, and how well a turn's time fits it."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.time.timeframes import (
    DAY_SECONDS,
    MAX_FRAMES,
    MAX_QUESTION_CHARS,
    TimeFrame,
    find_time_frames,
    measure_time_fit,
)

NOW = datetime(2024, 5, 16, 15, 30, tzinfo=UTC)  # a Thursday

moments = st.floats(6e8, 4e9).map(lambda second: datetime.fromtimestamp(second, UTC))
frames = st.builds(
    lambda start, length, slack: TimeFrame(start, start + length, slack),
    st.floats(-1e9, 4e9),
    st.floats(0, 1e8),
    st.floats(1.0, 1e7),
)


def find_days(question: str, now: datetime = NOW) -> list[tuple[str, str]]:
    """First and last day of each frame, by date."""
    found = find_time_frames(question, now=now)
    return [
        (
            datetime.fromtimestamp(frame.start, UTC).date().isoformat(),
            datetime.fromtimestamp(frame.end, UTC).date().isoformat(),
        )
        for frame in found
    ]


@pytest.mark.parametrize(
    "words",
    [
        "on 2023-07-08",
        "on 8 July 2023",
        "on 8th of July, 2023",
        "on July 8, 2023",
        "on July 8,2023",
        "on Jul. 8th 2023",
        "on 8  JULY,\n2023",
    ],
)
def test_a_date_is_that_day(words: str) -> None:
    assert find_days(f"What did Ann do {words}?") == [("2023-07-08", "2023-07-09")]


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("in February 2024", "2024-02-01", "2024-03-01"),
        ("in december, 2022", "2022-12-01", "2023-01-01"),
        ("in the month of February", "2024-02-01", "2024-03-01"),
        ("in May", "2024-05-01", "2024-06-01"),
        ("in June", "2023-06-01", "2023-07-01"),  # June 2024 has not begun
        ("late Sept", "2023-09-01", "2023-10-01"),
        ("since March", "2024-03-01", "2024-05-16"),
        ("in 2022", "2022-01-01", "2022-12-31"),
        ("on March 3rd", "2024-03-03", "2024-03-04"),
        ("on 24 December", "2023-12-24", "2023-12-25"),
        ("yesterday", "2024-05-15", "2024-05-16"),
        ("last Tuesday", "2024-05-14", "2024-05-15"),
        ("last Thursday", "2024-05-09", "2024-05-10"),  # today is one
        ("two weeks ago", "2024-04-29", "2024-05-06"),
        ("a couple of days ago", "2024-05-13", "2024-05-15"),
        ("20 days ago", "2024-04-23", "2024-04-29"),
        ("3 months ago", "2024-01-31", "2024-03-01"),
        ("in the past week", "2024-05-09", "2024-05-16"),
        ("this month", "2024-04-16", "2024-05-16"),
        ("in the last two months", "2024-03-16", "2024-05-16"),
        ("over the previous few weeks", "2024-04-25", "2024-05-16"),
        ("last week", "2024-05-03", "2024-05-15"),
        ("last weekend", "2024-05-07", "2024-05-16"),
        ("last month", "2024-03-17", "2024-05-16"),
    ],
)
def test_what_is_named_is_read_against_today(words: str, first: str, last: str) -> None:
    assert find_days(f"What did I buy {words}?") == [(first, last)]


@pytest.mark.parametrize(
    "question",
    [
        "What may I eat?",
        "Which march did the band play?",
        "How many days ago did I move?",
        "What is my last name?",
        "Who won in the last race?",
        "Is 1066 a year?",
        "What happened on 31 February 2023?",
        "What was there 999 years ago in Rome 999 years ago?",
        "Version 2.2024-13-99",
        "",
    ],
)
def test_what_names_no_time_has_no_frame(question: str) -> None:
    frames_found = find_time_frames(question, now=datetime(900, 1, 1, tzinfo=UTC))
    assert frames_found == ()


def test_an_expression_is_read_once_by_the_most_exact_reading() -> None:
    assert len(find_time_frames("on 8 May 2023", now=NOW)) == 1
    assert find_days("between 8 May 2023 and 3 June") == [
        ("2023-05-08", "2023-05-09"),
        ("2023-06-03", "2023-06-04"),
    ]


def test_a_text_full_of_dates_asks_about_none_of_them() -> None:
    log = " ".join(f"2023-01-0{day} ok" for day in range(1, MAX_FRAMES + 1))
    assert len(find_time_frames(log, now=NOW)) == MAX_FRAMES
    assert find_time_frames(log + " 2023-02-01 ok", now=NOW) == ()


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert find_time_frames("x " * (MAX_QUESTION_CHARS // 2) + "in May 2023", now=NOW) == ()


def test_today_is_todays_date_in_utc() -> None:
    midnight = datetime(2024, 5, 17, 1, 0, tzinfo=timezone(timedelta(hours=9)))  # still the 16th in UTC
    assert find_days("yesterday", midnight) == [("2024-05-15", "2024-05-16")]


def test_the_fit_is_whole_inside_and_falls_by_e_for_each_slack_outside() -> None:
    frame = TimeFrame(10 * DAY_SECONDS, 11 * DAY_SECONDS, 2 * DAY_SECONDS)
    assert [measure_time_fit([frame], day * DAY_SECONDS) for day in (10, 10.5, 11)] == [1, 1, 1]
    assert measure_time_fit([frame], 8 * DAY_SECONDS) == pytest.approx(math.exp(-1))
    assert measure_time_fit([frame], 15 * DAY_SECONDS) == pytest.approx(math.exp(-2))


def test_the_best_of_several_frames_counts_and_none_fits_nothing() -> None:
    near, far = TimeFrame(0, 1, 1), TimeFrame(1e9, 1e9 + 1, 1)
    assert measure_time_fit([far, near], 0.5) == 1
    assert measure_time_fit([], 0.5) == 0
    assert measure_time_fit([near], math.nan) == measure_time_fit([near], math.inf) == 0


@given(st.lists(frames, max_size=4), st.floats(allow_nan=True, allow_infinity=True))
def test_a_fit_lies_in_0_to_1(some: list[TimeFrame], said_at: float) -> None:
    assert 0 <= measure_time_fit(some, said_at) <= 1


@given(frames, st.floats(0, 1e8), st.floats(0, 1e8))
def test_nearer_never_fits_worse(frame: TimeFrame, one: float, other: float) -> None:
    near, far = sorted((one, other))
    assert measure_time_fit([frame], frame.end + near) >= measure_time_fit([frame], frame.end + far)


WORD_LIST = """
    in on of since last past this a few couple two 31 30 2 1st ago day days week months year
    may march february sept yesterday monday weekend 2024 1900 2099 , - . 02 2023-02-30
"""
words = st.sampled_from(WORD_LIST.split())


@given(st.lists(words, max_size=12).map(" ".join) | st.text(), moments)
def test_any_question_is_read_and_a_frame_has_a_beginning_before_its_end(text: str, now: datetime) -> None:
    found = find_time_frames(text, now=now)
    assert len(found) <= MAX_FRAMES
    for frame in found:
        assert frame.start <= frame.end
        assert frame.slack_seconds > 0


@given(moments)
def test_what_was_said_at_the_time_asked_about_fits(now: datetime) -> None:
    (frame,) = find_time_frames("two weeks ago", now=now)
    assert measure_time_fit([frame], (now - timedelta(days=14)).timestamp()) == 1


MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905


@pytest.mark.parametrize(("number", "name"), list(enumerate(MONTHS, 1)))
def test_every_month_is_known_by_its_name_and_its_first_letters(number: int, name: str) -> None:
    for written in (name, name.upper(), name[:3], f"{name[:3]}."):
        assert find_days(f"What happened in {written} 2022?")[0][0] == f"2022-{number:02}-01"
        assert find_days(f"What happened on 5 {written} 2022?") == [
            (f"2022-{number:02}-05", f"2022-{number:02}-06")
        ]


@pytest.mark.parametrize(
    ("words", "count"),
    [
        *(
            ("a", 1),
            ("an", 1),
            ("one", 1),
            ("two", 2),
            ("couple of", 2),
            ("a couple of", 2),
            ("three", 3),
            ("few", 3),
        ),
        *(
            ("a few", 3),
            ("four", 4),
            ("several", 4),
            ("five", 5),
            ("six", 6),
            ("seven", 7),
            ("eight", 8),
            ("nine", 9),
        ),
        *(("ten", 10), ("eleven", 11), ("twelve", 12), ("7", 7), ("120", 120)),
    ],
)
def test_a_number_of_units_is_known_in_words_and_digits(words: str, count: int) -> None:
    for unit, days in (("day", 1.0), ("week", 7.0), ("month", 30.4), ("year", 365.25)):
        (frame,) = find_time_frames(f"What did I say {words} {unit}s ago?", now=NOW)
        middle = NOW - timedelta(days=count * days)
        assert (frame.start + frame.end) / 2 == pytest.approx(middle.timestamp(), abs=1)
        around = max(1.0, 0.15 * count) if unit == "day" else days / 2
        assert frame.end - frame.start == pytest.approx(2 * around * DAY_SECONDS)
        (frame,) = find_time_frames(f"What did I say in the past {words} {unit}s?", now=NOW)
        assert frame.end == NOW.timestamp()
        assert frame.start == pytest.approx(middle.timestamp(), abs=1)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        *(
            ("Monday", 13),
            ("Tuesday", 14),
            ("Wednesday", 15),
            ("Thursday", 9),
            ("Friday", 10),
            ("Saturday", 11),
        ),
        ("Sunday", 12),
    ],
)
def test_a_weekday_is_the_newest_before_today(name: str, day: int) -> None:
    assert find_days(f"Whom did I meet last {name}?") == [(f"2024-05-{day:02}", f"2024-05-{day + 1:02}")]


@pytest.mark.parametrize(
    ("words", "slack_days"),
    [
        *(("on 8 July 2023", 2.0), ("on 2023-07-08", 2.0), ("on March 3rd", 2.0), ("last Monday", 2.0)),
        *(
            ("in May 2023", 5.0),
            ("in June", 5.0),
            ("since March", 5.0),
            ("in 2022", 30.0),
            ("yesterday", 1.0),
        ),
        *(("2 days ago", 1.0), ("2 weeks ago", 2.1), ("2 months ago", 9.12), ("2 years ago", 109.575)),
        *(("past 3 days", 1.0), ("past week", 2.1), ("last 2 months", 9.12)),
        *(("last week", 3.0), ("last weekend", 2.0), ("last month", 8.0)),
    ],
)
def test_the_coarser_the_words_the_slower_the_fit_falls(words: str, slack_days: float) -> None:
    (frame,) = find_time_frames(f"What did I buy {words}?", now=NOW)
    assert frame.slack_seconds == pytest.approx(slack_days * DAY_SECONDS)


@pytest.mark.parametrize("word", ["in", "during", "early", "late", "mid", "last", "month of", "since"])
def test_a_month_alone_needs_a_word_that_makes_it_a_time(word: str) -> None:
    assert [first for first, _ in find_days(f"What came {word} march?")] == ["2024-03-01"]
    assert find_days(f"What came mid-march {word}?")[0][0] == "2024-03-01"
    assert find_days("What march came?") == []


@pytest.mark.parametrize("word", ["in", "during", "of"])
def test_a_year_alone_needs_a_word_that_makes_it_a_time(word: str) -> None:
    assert find_days(f"The summer {word} 1999") == [("1999-01-01", "1999-12-31")]
    assert find_days(f"The summer {word} 1899") == []
    assert find_days("The summer 1999") == []


def test_today_itself_is_the_newest_such_day_and_tomorrow_is_a_year_old() -> None:
    assert find_days("on May 16")[0][0] == "2024-05-16"
    assert find_days("on May 17")[0][0] == "2023-05-17"


@pytest.mark.parametrize(("words", "day"), [("last Monday", 13), ("yesterday", 15), ("on May 3", 3)])
def test_a_day_lasts_from_midnight_to_midnight(words: str, day: int) -> None:
    for now in (NOW, NOW.replace(second=59, microsecond=999), NOW.replace(hour=0, minute=1)):
        (frame,) = find_time_frames(f"What did I eat {words}?", now=now)
        start = datetime(2024, 5, day, tzinfo=UTC)
        assert (frame.start, frame.end) == (start.timestamp(), (start + timedelta(days=1)).timestamp())


def test_five_moments_are_a_story() -> None:
    days = [f"2023-01-0{day}" for day in range(1, 6)]
    assert len(find_time_frames(" ".join(days[:4]), now=NOW)) == 4
    assert find_time_frames(" ".join(days), now=NOW) == ()
