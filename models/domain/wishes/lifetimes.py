"""How long a spoken wish holds: for good, for its session, or until a moment (memory-model.md section 9)."""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS: Final = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "ten": 10,
}
_UNITS: Final = {"hour": 1 / 24, "day": 1, "week": 7, "month": 30}
# A beginning, not an end: "from today on".
_BEGINNING: Final = re.compile(
    r"\b(?:from|as of|starting) (?:today|tonight|tomorrow|now|this \w+|next \w+|\w+day)\b"
)
_UNTIL_DAY: Final = re.compile(rf"\b(?:until|till|til|through|before) (?:next |this )?({'|'.join(_DAYS)})\b")
_UNTIL_DATE: Final = re.compile(r"\b(?:until|till|til|through|before) (?:the )?(\d{4})-(\d\d)-(\d\d)\b")
_FOR_SPAN: Final = re.compile(
    rf"\bfor the (?:next|coming) (?:(\d{{1,3}}|{'|'.join(_NUMBERS)}) )?(hour|day|week|month)s?\b"
)
_THIS_DAY: Final = re.compile(
    r"\b(?:today|tonight|this (?:morning|afternoon|evening)|(?:until|till|til) (?:tonight|midnight|the end of the day))\b"
)
_TOMORROW: Final = re.compile(r"\btomorrow\b")
_THIS_WEEK: Final = re.compile(
    r"\b(?:this week|(?:until|till|til) the (?:end of the week|weekend))\b(?! on\b)"
)
_THIS_MONTH: Final = re.compile(r"\b(?:this month|(?:until|till|til) the end of the month)\b(?! on\b)")
_SESSION: Final = re.compile(
    r"\b(?:for now|for the moment|for the time being|this time|just this once|only this once"
    r"|(?:for|in|on|with|during|throughout) this (?:one|file|task|ticket|document|doc|page|draft|email|text|letter|essay"
    r"|story|chat|conversation|session|thread|game|exercise|interview|branch|pr|pull request|change|commit|function|script)"
    r"|for the rest of (?:this|our|the) (?:chat|conversation|session|day|game))\b"
)


class Lifetime(NamedTuple):
    """When a wish ends: at a moment, with its session, or (neither) not of itself."""

    expires_at: datetime | None = None
    is_for_session: bool = False


def find_lifetime(text: str, said_at: datetime) -> Lifetime:
    """Return how long the words of a wish say that it holds, counted from when it was said.

    >>> from datetime import UTC
    >>> said_at = datetime(2024, 5, 1, 9, tzinfo=UTC)  # a Wednesday
    >>> find_lifetime("Answer in German until Friday.", said_at).expires_at.isoformat()
    '2024-05-04T00:00:00+00:00'
    >>> find_lifetime("Use tabs in this file.", said_at).is_for_session
    True
    >>> find_lifetime("From today on, answer in German.", said_at)
    Lifetime(expires_at=None, is_for_session=False)
    """
    folded = _BEGINNING.sub(" ", text.lower())
    return Lifetime(_find_end(folded, said_at), _SESSION.search(folded) is not None)


def _find_end(folded: str, said_at: datetime) -> datetime | None:
    midnight = said_at.replace(hour=0, minute=0, second=0, microsecond=0)
    if match := _UNTIL_DATE.search(folded):
        try:
            return midnight.replace(year=int(match[1]), month=int(match[2]), day=int(match[3])) + timedelta(
                days=1
            )
        except ValueError:
            return None  # no such day: no end is known
    if match := _UNTIL_DAY.search(folded):
        ahead = (_DAYS.index(match[1]) - said_at.weekday()) % 7 or 7
        return midnight + timedelta(days=ahead + 1)
    if match := _FOR_SPAN.search(folded):
        count = 1 if match[1] is None else _NUMBERS.get(match[1]) or int(match[1])
        return said_at + timedelta(days=count * _UNITS[match[2]])
    if _TOMORROW.search(folded):
        return midnight + timedelta(days=2)
    if _THIS_DAY.search(folded):
        return midnight + timedelta(days=1)
    if _THIS_WEEK.search(folded):
        return midnight + timedelta(days=7 - said_at.weekday())
    if _THIS_MONTH.search(folded):
        return (midnight.replace(day=28) + timedelta(days=4)).replace(day=1)
    return None
