"""The time a question asks about ("in May 2023", "two weeks ago"), and how well a turn's own time fits it.

What was said around that time is likely to answer, whatever its words. English only; other languages are left
to the words themselves. Nothing here guesses: an expression that needs today's date is read against `now`.
"""

import math
import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

MAX_QUESTION_CHARS: Final = 2_000  # of a longer text only the beginning is read
MAX_FRAMES: Final = 4  # a text that names more moments tells a story; it does not ask about one of them

DAY_SECONDS: Final = 86_400.0
# How far outside a frame the fit has fallen to 1/e: people tell of a day soon after it, of a month a bit later.
DAY_SLACK_DAYS: Final = 2.0
MONTH_SLACK_DAYS: Final = 5.0
YEAR_SLACK_DAYS: Final = 30.0
UNIT_SLACK: Final = 0.3  # "two weeks ago" is said of anything from one and a half to two and a half

_MONTH_LIST: Final = "january february march april may june july august september october november december"
_MONTH_NAMES: Final = _MONTH_LIST.split()
_MONTHS: Final = {
    **{name: number for number, name in enumerate(_MONTH_NAMES, 1)},
    **{name[:3]: number for number, name in enumerate(_MONTH_NAMES, 1)},
    "sept": 9,
    **{f"{number:02}": number for number in range(1, 13)},
}
MONTH_WORDS: Final = "|".join(sorted((name for name in _MONTHS if name.isalpha()), key=len, reverse=True))
_WEEKDAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_COUNTS: Final = {
    **dict.fromkeys(("a", "an", "one"), 1),
    **dict.fromkeys(("two", "couple of", "a couple of"), 2),
    **dict.fromkeys(("three", "few", "a few"), 3),
    **dict.fromkeys(("four", "several"), 4),
    **{
        word: number
        for number, word in enumerate(["five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 5)
    },
}
UNIT_DAYS: Final = {"day": 1.0, "week": 7.0, "month": 30.4, "year": 365.25}


def number_month(name: str) -> int:
    """The number of a month by its English name, whole or cut, or by its digits; 0 when there is no such month.

    >>> number_month("Sept"), number_month("03"), number_month("mayor")
    (9, 3, 0)
    """
    return _MONTHS.get(name.lower(), 0)


class TimeFrame(NamedTuple):
    """A stretch of time in seconds since 1970, and how slowly the fit falls outside it."""

    start: float
    end: float
    slack_seconds: float


def find_time_frames(question: str, *, now: datetime) -> tuple[TimeFrame, ...]:
    """The stretches of time a question names, at most four; none when it names more or nothing.

    >>> [frame] = find_time_frames("What did Ann paint in May 2023?", now=datetime(2024, 1, 1, tzinfo=UTC))
    >>> [datetime.fromtimestamp(second, UTC).date().isoformat() for second in frame[:2]]
    ['2023-05-01', '2023-06-01']
    """
    left = " ".join(question[:MAX_QUESTION_CHARS].lower().split())
    today = now.astimezone(UTC)
    frames: list[TimeFrame] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(left):
            try:
                frame = read(match, today)
            except (OverflowError, ValueError):  # 31 February, 900 years ago: no such time
                continue
            if frame is not None:
                frames.append(frame)
        left = pattern.sub(" | ", left)  # what one reader took, no other reads again
    return tuple(frames) if len(frames) <= MAX_FRAMES else ()


def measure_time_fit(frames: Sequence[TimeFrame], said_at: float) -> float:
    """T in [0, 1]: 1 inside a frame, exp(−distance/slack) outside the nearest, 0 without frames.

    >>> frame = TimeFrame(0.0, DAY_SECONDS, 2 * DAY_SECONDS)
    >>> [round(measure_time_fit([frame], day * DAY_SECONDS), 3) for day in (-2, 0.5, 3)]
    [0.368, 1.0, 0.368]
    """
    if not math.isfinite(said_at):
        return 0.0
    return max((_fit(frame, said_at) for frame in frames), default=0.0)


def _fit(frame: TimeFrame, said_at: float) -> float:
    outside = max(frame.start - said_at, said_at - frame.end, 0.0)
    return math.exp(-outside / frame.slack_seconds)


def _frame(start: datetime, end: datetime, slack_days: float) -> TimeFrame:
    return TimeFrame(start.timestamp(), end.timestamp(), slack_days * DAY_SECONDS)


def _day(start: datetime, slack_days: float = DAY_SLACK_DAYS) -> TimeFrame:
    return _frame(start, start + timedelta(days=1), slack_days)


def _month(year: int, month: int, until: datetime | None = None) -> TimeFrame:
    start = datetime(year, month, 1, tzinfo=UTC)
    end = until or start + timedelta(days=monthrange(year, month)[1])
    return _frame(start, end, MONTH_SLACK_DAYS)


def _read_date(match: re.Match[str], _: datetime) -> TimeFrame:
    return _day(datetime(int(match["year"]), number_month(match["month"]), int(match["day"]), tzinfo=UTC))


def _read_date_without_year(match: re.Match[str], now: datetime) -> TimeFrame:
    """The newest such day that is not in the future."""
    start = datetime(now.year, _MONTHS[match["month"]], int(match["day"]), tzinfo=UTC)
    return _day(start if start <= now else start.replace(year=now.year - 1))


def _read_month_of_year(match: re.Match[str], _: datetime) -> TimeFrame:
    return _month(int(match["year"]), _MONTHS[match["month"]])


def _read_month(match: re.Match[str], now: datetime) -> TimeFrame:
    """The newest such month that has begun; "since" goes on from there until now."""
    month = _MONTHS[match["month"]]
    year = now.year if month <= now.month else now.year - 1
    return _month(year, month, until=now if match["since"] else None)


def _read_year(match: re.Match[str], _: datetime) -> TimeFrame:
    year = int(match["year"])
    return _frame(
        datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, 23, 59, tzinfo=UTC), YEAR_SLACK_DAYS
    )


def _read_count(match: re.Match[str]) -> int:
    words = match["count"] or "one"
    return int(words) if words.isdigit() else _COUNTS[words]


def _read_ago(match: re.Match[str], now: datetime) -> TimeFrame:
    """Half a unit around the moment; a number of days is a guess that grows with them."""
    count, unit = _read_count(match), UNIT_DAYS[match["unit"]]
    middle = now - timedelta(days=count * unit)
    around = timedelta(days=max(1.0, 0.15 * count) if unit == 1 else unit / 2)
    return _frame(middle - around, middle + around, max(1.0, UNIT_SLACK * unit))


def _read_past(match: re.Match[str], now: datetime) -> TimeFrame:
    """The last so many units, up to now."""
    unit = UNIT_DAYS[match["unit"]]
    return _frame(now - timedelta(days=_read_count(match) * unit), now, max(1.0, UNIT_SLACK * unit))


def _read_yesterday(_: re.Match[str], now: datetime) -> TimeFrame:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return _day(midnight - timedelta(days=1), slack_days=1.0)


def _read_weekday(match: re.Match[str], now: datetime) -> TimeFrame:
    """The newest such weekday before today."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    back = (now.weekday() - _WEEKDAYS.index(match["weekday"])) % 7 or 7
    return _day(midnight - timedelta(days=back))


# "last week" may have begun 13 days ago; (days ago from, days ago to, slack in days).
_LAST: Final = {"week": (13.0, 1.0, 3.0), "weekend": (9.0, 0.0, 2.0), "month": (60.0, 0.0, 8.0)}


def _read_last(match: re.Match[str], now: datetime) -> TimeFrame:
    begun, over, slack = _LAST[match["unit"]]
    return _frame(now - timedelta(days=begun), now - timedelta(days=over), slack)


_MONTH: Final = f"(?P<month>{MONTH_WORDS})"
_NUMBER: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_UNIT: Final = r"(?P<unit>day|week|month|year)"
_Reader = Callable[[re.Match[str], datetime], TimeFrame | None]
# In this order: the most exact first, because what one has read is gone for the next.
_READERS: Final[tuple[tuple[re.Pattern[str], _Reader], ...]] = (
    (re.compile(rf"\b{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)\b"), _read_date),
    (re.compile(rf"\b{_NUMBER}(?: of)? {_MONTH}\b\.?,? ?{_YEAR}\b"), _read_date),
    (re.compile(rf"\b{_MONTH}\b\.? {_NUMBER},? ?{_YEAR}\b"), _read_date),
    (re.compile(rf"\b{_MONTH}\b\.?,?(?: of)? {_YEAR}\b"), _read_month_of_year),
    (re.compile(rf"\b{_MONTH}\b\.? {_NUMBER}\b"), _read_date_without_year),
    (re.compile(rf"\b{_NUMBER}(?: of)? {_MONTH}\b"), _read_date_without_year),
    # "May" and "March" are words too: a month alone needs a preposition.
    (
        re.compile(rf"\b(?:in|during|early|late|mid|last|month of|(?P<since>since))[ -]{_MONTH}\b"),
        _read_month,
    ),
    (re.compile(rf"\b(?:in|during|of) {_YEAR}\b"), _read_year),
    (re.compile(rf"\b{_COUNT} {_UNIT}s? ago\b"), _read_ago),
    (re.compile(rf"\b(?:past|last|previous) {_COUNT} {_UNIT}s?\b"), _read_past),
    (re.compile(r"\b(?:past|this) (?P<count>)(?P<unit>week|month)\b"), _read_past),
    (re.compile(r"\byesterday\b"), _read_yesterday),
    (re.compile(rf"\blast (?P<weekday>{'|'.join(_WEEKDAYS)})\b"), _read_weekday),
    (re.compile(r"\blast (?P<unit>weekend|week|month)\b"), _read_last),
)
