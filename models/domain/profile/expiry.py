"""How long a statement holds: a plan until its day, what one considers for weeks, news until they are old.

Days are read against the day on which something was said, forwards: "on May 15th" said in April is a month ahead. English.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from models.domain.profile.patterns import BEGIN, END, ESSENTIAL, SETUP, any_of
from models.domain.recall.time.timeframes import MONTH_WORDS, number_month
from models.domain.text.anchors import find_anchors

SOON_DAYS: Final = 3.0  # "today", "tomorrow"
WEEK_DAYS: Final = 7.0  # "this weekend"
NEWS_DAYS: Final = 14.0  # "last week": what happened once
EVENT_DAYS: Final = 45.0  # what happened once, no day named
DATED_EVENT_DAYS: Final = 180.0  # the same, on a day that is named
COUNT_DAYS: Final = 30.0  # "so far", "not yet"
PLAN_DAYS: Final = 45.0  # what somebody plans, considers or looks for; "next month"
NOW_DAYS: Final = 60.0  # "currently", "lately"
DOING_DAYS: Final = 180.0  # "I have been learning"
MONTHS_BACK: Final = 3  # a month named without its year is the last one for so long, then the next

_DAYS: Final = "(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_SOON: Final = any_of(
    *(
        "today",
        "tonight",
        "tomorrow(?:['’]s)?",
        "right now",
        "at the moment",
        "this (?:morning|afternoon|evening)",
    ),
    r"in (?:an?|\d{1,2}|two|three) (?:hours?|minutes?)",
)
_IN_A_WEEK: Final = any_of(
    *(
        "this (?:week|weekend)",
        f"this (?:coming )?{_DAYS}",
        r"in (?:\d|two|three|a few) days",
        "later",
        "rest of the week",
    ),
    f"(?:on|by|until|for|coming) {_DAYS}(?: (?:morning|afternoon|evening|night))?",
)
_NEXT: Final = any_of(f"next (?:week|weekend|{_DAYS})")
_THIS_MONTH: Final = any_of("this month")
_NEXT_MONTH: Final = any_of("next month", "in (?:the next|a) (?:few )?(?:weeks?|month)")
# What happened once is old news as soon as what was planned, unless something is different since.
_PAST: Final = any_of(
    *(
        "yesterday",
        "the other (?:day|night)",
        "the (?:week|month) before(?: last)?",
        f"last (?:night|week|weekend|month|{_DAYS})",
    ),
    r"(?:an?|\d{1,2}|two|three|four|five|six|ten|(?:a )?few|a couple of|couple)"
    " (?:hours?|days?|nights?|weeks?|weekends?|months?) ago",
)
# What is different since, for years: a job, a home, a family, a school, health, what one takes up.
_LASTING: Final = any_of(
    *("join(?:ed|ing)", "start(?:ed|ing)", "adopt(?:ed|ing)", "graduated", "retir(?:ed|ing)", "married"),
    "mov(?:ed|ing) (?:to|in|into|out|back|from|here|there|away|house|home|on to|the)",
    *("engaged", "divorced", "separated", "diagnosed", "allergic", "hired", "launched", "opened", "founded"),
    *("switched", "become", "became", "signed up", "quit", "resigned", "fired", "laid off", "promoted"),
    *("born", "died", "passed away", "broke up", "pregnant", "grew up", "raised", "enrolled", "accepted"),
    r"(?:lost|left|found|got|landed|took|began|changed) (?:my|a|an|our) (?:\w+ )?(?:jobs?|work|position|role|degree|place"
    r"|home|house|flat|apartment|puppy|dog|cat|kitten|pet|licen[cs]e|visa|green card|baby|studio)",
    r"(?:bought|sold|own(?:ed)?) (?:my|a|an|our) (?:\w+ ){0,2}(?:house|home|flat|apartment|car|truck|bike|boat|farm|land"
    r"|business|company|studio|shop)",
    r"(?:earned|completed|finished|got) (?:my|a|an|our) (?:[\w'’]+ ){0,2}(?:degree|doctorate|phd|certificat\w+|training"
    r"|studies)",
    *("broke my", "injured", "surgery", "got hurt"),
)
# What was so for a time of a life, or again and again: biography, not news.
_BIOGRAPHY: Final = any_of(
    *("used to", "lived", "worked", "studied", "served", "owned", "taught", "played", "loved", "was raised"),
    r"(?:was|were) (?:an?|my|the|born|in (?:my|the) (?:navy|army|military))",
    *("as a (?:kid|child|boy|girl|teenager|student)", "when i was", "when (?:i|we) were", "growing up"),
    *("every", "each", "always", "never", "usually", "often", "since", "for years", "(?:years|decades) ago"),
)
# Somebody did something, once: "I met Tom", "My sister and I flew to Oslo", "Won the cup!".
_DID: Final = (
    r"(?:was|were|did|had|went|got|came|saw|met|took|made|gave|bought|found|won|lost|ran|began|became|left|said|sent"
    r"|spent|paid|built|wrote|ate|drank|drove|flew|rode|swam|sang|thought|felt|heard|held|kept|brought|caught|chose|fell"
    r"|fought|forgot|led|sat|slept|spoke|stood|told|threw|woke|wore|broke|sold|tried|stole|won|beat|hit|hurt|put"
    r"|(?!need|hundred|indeed)[a-z]{2,20}ed)"
)
_EVENT: Final = re.compile(
    r"(?:(?:^|[-–—:;,.!] )(?:(?:yesterday|last \w+|today|recently|then|and|so|woah|wow|guess what|just)[,!]? )*"
    rf"(?:just )?|{BEGIN}(?:i|we|he|she|they|and i|it|(?:my|our) [a-z'’-]+(?: [\w'’-]+){{0,3}}?) "
    r"(?:(?:\w+ly|also|just|even|once|only|then|still|once again) ){0,2})"
    rf"{_DID}{END}",
    re.IGNORECASE,
)
_MONTHS_PAST: Final = any_of(
    r"(?:\d{1,2}|two|three|four|five|six|ten|(?:a )?few|a couple of|couple) months ago"
)
_LATELY: Final = any_of("recently", rf"just(?= {_DID}{END})", r"on the \d{1,2}(?:st|nd|rd|th)(?! of)")
_PLAN: Final = any_of(
    *(
        "(?:i|we)['’]ll(?! (?:always|never))",
        "will",
        "plan(?:s|ned)? (?:to|on|a|an|for|my|our|some)",
        "planning",
    ),
    *(
        "thinking (?:of|about|maybe)",
        "considering",
        "considered",
        "booked",
        "reserved",
        "my (?:maximum |new |monthly )?budget",
        "debating",
        "leaning",
        "looking (?:for|to|into|at|forward)",
    ),
    *("hop(?:e|ing) to", "going to", "gonna", "gotta", "excited (?:to|for|about)", "want to", "wanna"),
    *(
        "(?:i|we)(?:['’]d| would) (?:like|love|prefer)",
        "needs? to",
        "(?:have|ought) to",
        "must",
        "might",
        "should",
    ),
    *(
        "upcoming",
        "soon",
        "trying (?:to|out)",
        "prepar(?:e|ing)",
        "training for",
        "scheduled",
        "researching",
        "narrowed",
    ),
    *(
        "working on",
        "end up",
        "eyeing",
        "interested in",
        "can dedicate",
        "available",
        "curious about",
        "try out",
        "(?:can|could) use",
        "first step",
    ),
)
_NOW: Final = any_of(
    *("currently", "lately", "these days", "nowadays", "craving", "now", "just left", "still"),
    *(
        "my (?:current|latest|recent|most recent)",
        "noticed",
        "found that",
        "reali[sz]ed",
        "(?:concerned|worried) about",
    ),
    *("experiencing", "suffering from", "recovering"),
    r"(?:in|for|over|during) the (?:past|last) (?:\w+ )?(?:weeks?|months?)",
    r"been (?:really |also )?(?:feeling|dealing|struggling|reading|watching|enjoying|loving|playing|having)",
    "been listening to an?",
    r"(?:i['’]?m|am) (?:\w+ )?(?:reading|watching)",
)
_DOING: Final = any_of(
    r"(?:been|keep|kept) (?:\w+ly |also )?(?!living|working|married|teaching|running|studying)\w+ing"
)
_COUNT: Final = any_of(
    *(
        "so far",
        "halfway",
        "(?:currently )?on my (?:second|third|fourth)",
        "not yet",
        "yet",
        "haven['’]?t",
        "hasn['’]?t",
        "ordered",
        "paid",
        "on page",
        "close to",
    ),
    *("this (?:month|quarter)", "recent(?:ly)? (?:few )?(?:days|weeks)", "waiting"),
    "(?:days|weeks|months) (?:until|till|left|to go)",
)
_TOLD: Final = any_of(
    *(
        "was",
        "were",
        "did",
        "had",
        "went",
        "got",
        "came",
        "saw",
        "met",
        "took",
        "made",
        "gave",
        "bought",
        "found",
        "won",
    ),
    *("lost", "ran", "began", "became", "left", "said", "sent", "spent", "paid", "just", "been"),
    "(?!need)[a-z]{2,20}ed",
)
_SINCE: Final = re.compile(r"(?<!\w)(?:every|each|since|from|always)(?!\w)[^.!?]{0,24}$", re.IGNORECASE)
_MONTH: Final = rf"(?P<month>{MONTH_WORDS})\.?"
_DAY: Final = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,? ?(?P<year>(?:19|20)\d\d))?"
_MOMENTS: Final = tuple(
    any_of(pattern)
    for pattern in (
        r"(?P<year>20\d\d)-(?P<month>1[0-2]|0[1-9])-(?P<day>3[01]|[12]\d|0[1-9])",
        rf"{_MONTH} (?:the )?{_DAY}(?!\d|:){_YEAR}",
        rf"{_DAY}(?: of)? {_MONTH}{_YEAR}",
        rf"(?:in|by|until|during|this|next|late|early|mid)[ -]{_MONTH}{_YEAR}",
    )
)
_SEASONS: Final = {
    "spring": 6,
    "summer": 9,
    "fall": 12,
    "autumn": 12,
    "winter": 3,
}  # over when this month begins
_SEASON: Final = any_of(
    rf"(?:this|next|in the|over the|for the|during the|early|late) (?P<season>{'|'.join(_SEASONS)})"
)


def is_expired(sentence: str, *, said_at: datetime, now: datetime) -> bool:
    """Whether a statement spoke of a time that is over.

    >>> said, day = datetime(2026, 5, 1, tzinfo=UTC), timedelta(days=1)
    >>> [is_expired("The demo is tomorrow", said_at=said, now=said + age * day) for age in (1, 4)]
    [False, True]
    >>> [is_expired("I send the invoice by 12 May", said_at=said, now=said + age * day) for age in (10, 13)]
    [False, True]
    >>> [is_expired(f"I {did} last week", said_at=said, now=said + 20 * day) for did in ("went out", "moved to Lyon")]
    [True, False]
    """
    age_days = (now - said_at).total_seconds() / 86_400
    is_lasting = _LASTING.search(sentence) is not None
    is_plan = _PLAN.search(sentence) is not None
    is_passing = not (is_lasting or any(one.search(sentence) for one in (_BIOGRAPHY, ESSENTIAL, SETUP)))
    is_ahead = is_plan or not _TOLD.search(sentence)
    limits = (
        (_SOON, SOON_DAYS, is_plan or not is_lasting),
        (_IN_A_WEEK, WEEK_DAYS if is_ahead else NEWS_DAYS, is_ahead or not is_lasting),
        (_NEXT, NEWS_DAYS, True),
        (_PAST, NEWS_DAYS, not is_lasting),
        (_LATELY, NEWS_DAYS, not is_lasting),
        (_MONTHS_PAST, 0.0, is_passing),
        (_EVENT, DATED_EVENT_DAYS if _is_dated(sentence) else EVENT_DAYS, is_passing),
        (_COUNT, COUNT_DAYS, True),
        (_PLAN, PLAN_DAYS, True),
        (_THIS_MONTH, PLAN_DAYS, is_ahead),
        (_NEXT_MONTH, PLAN_DAYS, True),
        (_NOW, NOW_DAYS, SETUP.search(sentence) is None),
        (_DOING, DOING_DAYS, True),
    )
    if any(applies and age_days > days and pattern.search(sentence) for pattern, days, applies in limits):
        return True
    return is_ahead and any(end <= now for end in find_ends(sentence, said_at=said_at))


def _is_dated(sentence: str) -> bool:
    """Whether a sentence says itself when it was: a date, a month, a year."""
    return any(one.kind in {"date", "month", "year"} for one in find_anchors(sentence))


def find_ends(sentence: str, *, said_at: datetime) -> Iterator[datetime]:
    """When the days, months and seasons that a sentence names are over, seen from when it was said.

    >>> [end.date().isoformat() for end in find_ends("It is due on June 3rd", said_at=datetime(2026, 5, 1, tzinfo=UTC))]
    ['2026-06-04']
    """
    said = said_at.astimezone(UTC)
    for pattern in _MOMENTS:
        for match in pattern.finditer(sentence):
            if not _SINCE.search(sentence, max(0, match.start() - 40), match.start()):
                yield from _find_end(match, said)
    for match in _SEASON.finditer(sentence):
        end = datetime(said.year, _SEASONS[match["season"].lower()], 1, tzinfo=UTC)
        yield end if end > said else end.replace(year=said.year + 1)


def _find_end(match: re.Match[str], said: datetime) -> Iterator[datetime]:
    """The midnight after a day or a month; without a year, the one nearest to when it was said."""
    named = match.groupdict()
    name = named["month"]
    if name in {"may", "mar", "march"}:  # words too; as months they are written with a capital
        return
    month = number_month(name)
    year = int(named["year"]) if named["year"] else said.year + (month < said.month - MONTHS_BACK)
    with suppress(ValueError):  # 31 February
        day = int(named["day"]) if named.get("day") else monthrange(year, month)[1]
        yield datetime(year, month, day, tzinfo=UTC) + timedelta(days=1)
