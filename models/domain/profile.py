"""A profile: what is known of a user before anything is asked, one statement a line (memory-model.md section 5).

Of a durable memory the statement that tells most; what is still open; how the last session ended. Never small talk,
never what has expired or was said otherwise since. Every line names its turn.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from models.domain.gate.gating import read_text_signals
from models.domain.gate.marks import count_content, is_question, is_vague
from models.domain.text.sentences import clip_words, split_sentences
from models.domain.text.terms import query_keywords
from models.domain.updates.claims import is_claim

LineKind = Literal["fact", "open", "last"]
FACT_FLOOR: Final = 0.85  # worth of a statement that stands alone
OPEN_FLOOR: Final = 0.6
LAST_FLOOR: Final = 0.7
NAMED_FIRST: Final = 3  # content words before a word like "it": fewer, and nobody knows what it is
MOST_FACTS: Final = 24
MOST_OPEN: Final = 5
LINE_CHARS: Final = 240
FEWEST_CONTENT: Final = 2  # content words of a line
SAME_SHARE: Final = 0.5  # of the words of two lines: one of them is enough
EXPIRES_DAYS: Final = 14.0  # "next week" and what was news are over by then
EXPIRES_SOON_DAYS: Final = 3.0  # "today", "tomorrow"
EXPIRES_IN_A_WEEK_DAYS: Final = 7.0  # "this weekend", "on Saturday"
OPEN_DAYS: Final = 30.0
HALF_LIFE_DAYS: Final = 180.0
WORTH_SHARE: Final = 0.6
RECENCY_SHARE: Final = 0.2
CONFIRMED_SHARE: Final = 0.2  # said again, or called useful
FULLY_CONFIRMED: Final = 4

_PASSING: Final = re.compile(
    r"(?<!\w)(?:today|tonight|tomorrow|right now|at the moment|this (?:morning|afternoon|evening|week|weekend)|later"
    r"|next (?:week|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|in (?:an?|\d{1,2}|two|three) (?:hours?|days?|minutes?))(?!\w)",
    re.IGNORECASE,
)
_PASSING_SOON: Final = re.compile(
    r"(?<!\w)(?:today|tonight|tomorrow|right now|at the moment|this (?:morning|afternoon|evening))(?!\w)",
    re.IGNORECASE,
)
_PASSING_IN_A_WEEK: Final = re.compile(
    r"(?<!\w)this (?:week|weekend|(?:coming )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?!\w)",
    re.IGNORECASE,
)
# What happened once is old news as soon as what was planned, unless something is different since.
_PAST: Final = re.compile(
    r"(?<!\w)(?:yesterday|the other (?:day|night)|last (?:night|week|weekend|month"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)"
    r"|(?:an?|\d{1,2}|two|three|four|five|six|ten|(?:a )?few|a couple of|couple) (?:hours?|days?|nights?|weeks?|weekends?"
    r"|months?) ago)(?!\w)",
    re.IGNORECASE,
)
_LASTING: Final = re.compile(
    r"(?<!\w)(?:join|start|mov|adopt|graduat|retir|marri|engaged|divorc|diagnos|allergic|hired|launch|open|switch|becom|becam"
    r"|sign(?:ed)? up|quit|lost my|found a|new|bought|sold|born|died|broke|pregnan|promot|won|own)\w*",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"(?<!\w)(?:(?:i|we)(?: still)? (?:need|have|must|ought) to|(?:i|we)['’]?(?:ll| will) (?:have|need) to|remind me"
    r"|don['’]?t forget"
    r"|to-?do|deadline|due (?:on|by|in)|waiting (?:for|on)"
    r"|(?:i|we)(?:['’]m|['’]re| am| are) (?:also |actually )?(?:planning|going|hoping|about)"
    r" to|(?:i|we) (?:plan|hope|intend) to|not yet|haven['’]?t|still (?:open|missing|broken|to do))(?!\w)",
    re.IGNORECASE,
)
# Words that point at something said elsewhere, unless the sentence has named it before them.
_POINTING: Final = re.compile(
    r"(?<![\w'’])(?:it|its|them|there|these|those|this|that one|the (?:previous|first|second|last"
    r"|other) one|ones?|here)(?![\w])",
    re.IGNORECASE,
)
_CHEERING: Final = re.compile(
    r"(?:don['’]?t|remember|gotta|keep|never give|let['’]?s|here['’]?s|now that|just do)(?!\w)", re.IGNORECASE
)
_TALK_ITSELF: Final = re.compile(
    r"(?<!\w)(?:haven['’]?t (?:talked|spoken|chatted)|(?:since we|we last) (?:last )?(?:talked|spoke|chatted)"
    r"|better idea of what)(?!\w)",
    re.IGNORECASE,
)
_LEAD_IN: Final = re.compile(
    r"(?:(?:oh|and|so|also|anyway|well|hey|yeah|thanks|wow|actually)[,!]? )*(?:by the way|btw"
    r"|on another note|speaking of which)?[,:]? ?",
    re.IGNORECASE,
)


_ASIDE: Final = re.compile(
    r"(?:(?:oh|ah|and|so|also|anyway|well|hey|yeah|yes|yup|thanks|wow|woah|actually|haha)[,!] )*"
    r"(?:(?:oh|and|also|anyway|but),? )?(?:(?:by the way|btw|on another note|speaking of which)[,:]? )?"
    r"(?:speaking of [^\W\d_]+(?: [^\W\d_]+)?, )?",
    re.IGNORECASE,
)


class ProfileSource(NamedTuple):
    """A memory or a turn that lines may be made from."""

    turn_id: str
    memory_id: str | None
    session_id: str
    role: str
    name: str | None
    text: str
    said_at: datetime
    confirmations: int = 0  # mentions after the first, and labels of usefulness


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLine:
    """One statement, where it comes from, and what it is worth beside the others, in [0, 1]."""

    kind: LineKind
    text: str
    source: ProfileSource
    worth: float
    value: float


def make_profile(
    memories: Sequence[ProfileSource],
    recent: Sequence[ProfileSource],
    ending: Sequence[ProfileSource],
    *,
    now: datetime,
) -> tuple[ProfileLine, ...]:
    """The lines of a profile: how the last session ended, open matters, then facts, each by value.

    `recent` are user turns of late, `ending` the last turns of the last session, both oldest first.
    """
    lines = list(_end_of(ending))
    used = {line.source.turn_id for line in lines}
    told = [query_keywords(line.text) for line in lines]
    groups = ((_find_open(recent, now=now), MOST_OPEN), (_find_facts(memories, now=now), MOST_FACTS))
    for found, most in groups:
        taken = 0
        for line in sorted(found, key=lambda line: (-line.value, line.source.turn_id)):
            words = query_keywords(line.text)
            if taken == most:
                break
            if line.source.turn_id in used or any(_is_same(words, other) for other in told):
                continue
            lines.append(line)
            used.add(line.source.turn_id)
            told.append(words)
            taken += 1
    return tuple(lines)


@lru_cache(maxsize=8192)  # a namespace's statements are the same from session to session
def measure_statement(sentence: str) -> float:
    """How much a sentence tells by itself: 0 for questions, fragments, and what points at something unsaid."""
    return read_text_signals(sentence).worth if stands_alone(sentence) else 0.0


def stands_alone(sentence: str) -> bool:
    """Whether a sentence can be understood without those around it.

    >>> stands_alone("I pitched it to some producers"), stands_alone("My laptop crashed and I want to replace it")
    (False, True)
    """
    said = sentence[match.end() :] if (match := _LEAD_IN.match(sentence)) else sentence
    if is_question(said) or is_vague(said) or count_content(said) < FEWEST_CONTENT or not is_claim(said):
        return False
    if _CHEERING.match(said) or _TALK_ITSELF.search(said):
        return False
    pointing = _POINTING.search(said)
    return pointing is None or count_content(said[: pointing.start()]) >= NAMED_FIRST


def is_expired(sentence: str, *, age_days: float) -> bool:
    """Whether a statement spoke of a time that is over.

    >>> is_expired("The demo is tomorrow", age_days=4), is_expired("The demo is tomorrow", age_days=1)
    (True, False)
    >>> [is_expired("I take the shoes to the cobbler this Saturday", age_days=days) for days in (5, 9)]
    [False, True]
    >>> [is_expired(f"I {did} last week", age_days=20) for did in ("went to the fair", "moved to Lyon")]
    [True, False]
    """
    if age_days > EXPIRES_SOON_DAYS and _PASSING_SOON.search(sentence) and not _LASTING.search(sentence):
        return True
    if age_days > EXPIRES_IN_A_WEEK_DAYS and _PASSING_IN_A_WEEK.search(sentence):
        return True
    if age_days <= EXPIRES_DAYS:
        return False
    return bool(_PASSING.search(sentence) or (_PAST.search(sentence) and not _LASTING.search(sentence)))


def _find_facts(memories: Sequence[ProfileSource], *, now: datetime) -> list[ProfileLine]:
    lines = []
    for source in memories:
        age_days = _age_days(source, now)
        told = [
            (measure_statement(sentence), sentence)
            for sentence in split_sentences(source.text)
            if not is_expired(sentence, age_days=age_days)
        ]
        worth, best = max(told, key=lambda pair: pair[0], default=(0.0, ""))
        if worth >= FACT_FLOOR:
            lines.append(_line("fact", best, source, worth, age_days))
    return lines


def _find_open(recent: Sequence[ProfileSource], *, now: datetime) -> list[ProfileLine]:
    lines = []
    for source in recent:
        age_days = _age_days(source, now)
        if age_days > OPEN_DAYS:
            continue
        for sentence in split_sentences(source.text):
            worth = measure_statement(sentence) if _OPEN.search(sentence) else 0.0
            if worth >= OPEN_FLOOR and not is_expired(sentence, age_days=age_days):
                lines.append(_line("open", sentence, source, worth, age_days))
    return lines


def _end_of(ending: Sequence[ProfileSource]) -> list[ProfileLine]:
    """The last thing the user said that tells something, and what was answered to it."""
    for place in range(len(ending) - 1, -1, -1):
        source = ending[place]
        if source.role != "user":
            continue
        told = [(measure_statement(sentence), sentence) for sentence in split_sentences(source.text)]
        worth, best = max(told, key=lambda pair: pair[0], default=(0.0, ""))
        if worth >= LAST_FLOOR:
            return [_line("last", best, source, worth, 0.0)]
    return []


def _line(kind: LineKind, sentence: str, source: ProfileSource, worth: float, age_days: float) -> ProfileLine:
    confirmed = min(math.log1p(max(source.confirmations, 0)) / math.log1p(FULLY_CONFIRMED), 1.0)
    recency = 0.5 ** (age_days / HALF_LIFE_DAYS)
    return ProfileLine(
        kind=kind,
        text=clip_words(_cut_aside(sentence), max_chars=LINE_CHARS),
        source=source,
        worth=worth,
        value=WORTH_SHARE * worth + RECENCY_SHARE * recency + CONFIRMED_SHARE * confirmed,
    )


def _cut_aside(sentence: str) -> str:
    """The sentence without what only turns to it, opened with a capital.

    >>> _cut_aside("Oh, by the way, I moved to Lyon."), _cut_aside("So much has happened.")
    ('I moved to Lyon.', 'So much has happened.')
    >>> _cut_aside("By the way, speaking of trips, we flew to Oslo.")
    'we flew to Oslo.'
    """
    match = _ASIDE.match(sentence)
    if match is None or not re.search(r"[,!:] $|(?i:way|btw) $", match[0]):
        return sentence
    return sentence[match.end() :]


def _age_days(source: ProfileSource, now: datetime) -> float:
    return max((now - source.said_at).total_seconds() / 86_400, 0.0)


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) > SAME_SHARE * max(min(len(one), len(other)), 1)
