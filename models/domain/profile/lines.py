"""A profile: what is known of a user before anything is asked, one statement a line (memory-model.md section 5).

Of a durable memory the statement that tells most; what is still open; how the last session ended. Never small talk,
never what has expired or was said otherwise since. Every line names its turn.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple

from models.domain.profile.expiry import is_expired
from models.domain.profile.patterns import IT_IS, any_of
from models.domain.profile.standing import is_essential, is_setup, list_openings, measure_statement
from models.domain.text.prose import drop_pasted
from models.domain.text.sentences import clip_words, split_sentences
from models.domain.text.terms import query_keywords

LineKind = Literal["fact", "open", "last"]
FACT_FLOOR: Final = 0.85  # worth of a statement that stands alone
SETUP_FLOOR: Final = 0.75  # "Migrations belong to Priya now"
ESSENTIAL_FLOOR: Final = 0.5  # "I'm vegetarian"
OPEN_FLOOR: Final = 0.6
LAST_FLOOR: Final = 0.7
MOST_FACTS: Final = 24
MOST_OPEN: Final = 5
LINE_CHARS: Final = 240
SAME_SHARE: Final = 0.5  # of the words of two lines: one of them is enough
OPEN_DAYS: Final = 30.0
HALF_LIFE_DAYS: Final = 180.0
WORTH_SHARE: Final = 0.6
RECENCY_SHARE: Final = 0.2
CONFIRMED_SHARE: Final = 0.2  # said again, or called useful
FULLY_CONFIRMED: Final = 4

_OPEN: Final = any_of(
    "(?:i|we)(?: still)? (?:need|have|must|ought) to",
    "(?:i|we)['’]?(?:ll| will) (?:have|need) to",
    *("remind me", "don['’]?t forget", "to-?do", "deadline", "due (?:on|by|in)", "waiting (?:for|on)"),
    "(?:i|we)(?:['’]m|['’]re| am| are) (?:also |actually )?(?:planning|going|hoping|about) to",
    *("(?:i|we) (?:plan|hope|intend) to", "not yet", "haven['’]?t", "still (?:open|missing|broken|to do)"),
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
    lines = list(_end_of(ending, now=now))
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


def _find_facts(memories: Sequence[ProfileSource], *, now: datetime) -> list[ProfileLine]:
    return [
        _line("fact", best, source, worth, now)
        for source in memories
        for worth, best in _tell_best(source, FACT_FLOOR, now=now)
    ]


def _find_open(recent: Sequence[ProfileSource], *, now: datetime) -> list[ProfileLine]:
    return [
        _line("open", sentence, source, worth, now)
        for source in recent
        if _age_days(source, now) <= OPEN_DAYS
        for sentence in split_sentences(drop_pasted(source.text))
        if _OPEN.search(sentence)
        for worth, sentence in [_tell(sentence, source, now=now)]
        if worth >= OPEN_FLOOR and _OPEN.search(sentence)
    ]


def _end_of(ending: Sequence[ProfileSource], *, now: datetime) -> list[ProfileLine]:
    """The last thing the user said that tells something."""
    for source in reversed(ending):
        if source.role == "user":
            for worth, best in _tell_best(source, LAST_FLOOR, now=now):
                return [_line("last", best, source, worth, now)]
    return []


def _tell_best(source: ProfileSource, floor: float, *, now: datetime) -> list[tuple[float, str]]:
    """The statement of a source that tells most, when it tells enough; how things are set up goes before what happened."""
    told = [_tell(sentence, source, now=now) for sentence in _list_statements(source.text)]
    best = max(
        told, key=lambda pair: (is_setup(pair[1]) and pair[0] >= SETUP_FLOOR, pair[0]), default=(0.0, "")
    )
    if is_setup(best[1]):
        floor = min(floor, SETUP_FLOOR)
    if is_essential(best[1]):
        floor = min(floor, ESSENTIAL_FLOOR)
    return [best] if best[0] >= floor else []


def _list_statements(text: str) -> Iterator[str]:
    """What its author says in a text, sentence by sentence; one that begins with "it's" also with the one before it.

    >>> list(_list_statements("The deploy window moved. It's Wednesdays at 10:00 now."))[1]
    "The deploy window moved. It's Wednesdays at 10:00 now."
    """
    before = ""
    for sentence in split_sentences(drop_pasted(text)):
        if before and IT_IS.match(sentence) and len(before) + len(sentence) < LINE_CHARS:
            yield f"{before} {sentence}"
        yield sentence
        before = sentence


def _tell(sentence: str, source: ProfileSource, *, now: datetime) -> tuple[float, str]:
    """As much of a sentence as stands alone and still holds, and how much that tells."""
    for said in list_openings(sentence):
        worth = measure_statement(said)
        if worth and not is_expired(said, said_at=source.said_at, now=now):
            return worth, said
    return 0.0, ""


def _line(kind: LineKind, sentence: str, source: ProfileSource, worth: float, now: datetime) -> ProfileLine:
    confirmed = min(math.log1p(max(source.confirmations, 0)) / math.log1p(FULLY_CONFIRMED), 1.0)
    recency = 0.5 ** (_age_days(source, now) / HALF_LIFE_DAYS)
    return ProfileLine(
        kind=kind,
        text=clip_words(sentence, max_chars=LINE_CHARS),
        source=source,
        worth=worth,
        value=WORTH_SHARE * worth + RECENCY_SHARE * recency + CONFIRMED_SHARE * confirmed,
    )


def _age_days(source: ProfileSource, now: datetime) -> float:
    return max((now - source.said_at).total_seconds() / 86_400, 0.0)


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) > SAME_SHARE * max(min(len(one), len(other)), 1)
