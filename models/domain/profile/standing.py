"""Which statements stand alone: understood without those around them, and with something in them to hold on to. English."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from models.domain.gate.gating import read_text_signals
from models.domain.gate.marks import count_content, is_question, is_vague
from models.domain.profile.patterns import (
    ASIDE,
    AT_FIRST,
    BROKEN_OFF,
    CHANGE,
    CONDITION,
    DEFINITE,
    ESSENTIAL,
    EXACT,
    FIGURE,
    FRAGMENT,
    GOES_ON,
    HANGING,
    KNOWN,
    LEAD_IN,
    MOOD,
    NAME,
    NAMELESS,
    OF_THE_TALK,
    OPENING,
    OWN,
    PEOPLE,
    PERSON,
    POINTING,
    SELF,
    SETUP,
    STOPS,
    SUBORDINATE,
    THING,
    UNNAMED,
    WORKING,
)
from models.domain.text.anchors import DATED_KINDS, find_anchors
from models.domain.updates.sentences import is_claim

NAMED_FIRST: Final = 3  # content words before a word like "it": fewer, and nobody knows what it is
FEWEST_CONTENT: Final = 2  # content words of a line
FULL_CONTENT: Final = 4  # of the beginning of a sentence without the rest
MOST_CHARS: Final = 400  # of a sentence: what is longer is a paste
ESSENTIAL_POINTS: Final = 2
MOST_NAMES: Final = 2  # that count


@lru_cache(maxsize=8192)  # a namespace's statements are the same from session to session
def measure_statement(sentence: str) -> float:
    """How much a sentence tells by itself: 0 for questions, fragments, and what points at something unsaid."""
    return read_text_signals(sentence).worth if stands_alone(sentence) else 0.0


def stands_alone(sentence: str) -> bool:
    """Whether a sentence can be understood without those around it, and tells something when it is.

    >>> stands_alone("I pitched it to some producers"), stands_alone("My laptop crashed and I want to replace it")
    (False, True)
    >>> stands_alone("The headphones cost me $378"), stands_alone("I think I'll go by train")
    (False, False)
    """
    said = sentence[match.end() :] if (match := LEAD_IN.match(sentence)) else sentence
    if len(said) > MOST_CHARS or is_question(said) or is_vague(said) or not is_claim(said):
        return False
    is_fragment = FRAGMENT.match(said) is not None and not (said != sentence and said.startswith("the "))
    if OPENING.match(said) or is_fragment or BROKEN_OFF.search(said) or OF_THE_TALK.search(said):
        return False
    is_empty = count_content(said) < FEWEST_CONTENT and not is_essential(said) and not is_setup(said)
    return not is_empty and not _points_elsewhere(said) and _tells_something(said)


def is_essential(sentence: str) -> bool:
    """Whether it says what is true of somebody for years and has to be known.

    >>> is_essential("I'm allergic to nuts"), is_essential("I'm in Rome")
    (True, False)
    """
    return ESSENTIAL.search(sentence) is not None


def is_setup(sentence: str) -> bool:
    """Whether it says how things are set up: what runs where, which version, who owns it.

    >>> is_setup("Migrations belong to Priya now"), is_setup("Migrations are a pain")
    (True, False)
    """
    return SETUP.search(sentence) is not None


def list_openings(sentence: str) -> Iterator[str]:
    """The sentence without what only turns to it, then what it says before it goes on to something else, longest first.

    >>> list(list_openings("By the way, I use Duolingo, but I want to try a book"))
    ['I use Duolingo, but I want to try a book', 'I use Duolingo']
    """
    whole = _cut_aside(sentence)
    yield whole
    for match in reversed(list(GOES_ON.finditer(whole[:MOST_CHARS]))):
        said = SUBORDINATE.sub("", whole[: match.start()])
        if (
            (OWN.search(said) or is_setup(said))
            and not CONDITION.match(said)
            and not AT_FIRST.match(said)
            and not HANGING.search(said)
            and _is_full(said)
        ):
            yield said


def _is_full(said: str) -> bool:
    """Whether the beginning of a sentence tells enough without the rest."""
    return count_content(said) >= FULL_CONTENT or any(
        one.search(said) for one in (NAME, CHANGE, ESSENTIAL, SETUP)
    )


def _points_elsewhere(said: str) -> bool:
    if UNNAMED.search(said):
        return True
    before = _read_before(POINTING, said)
    if before is not None and (count_content(before) < NAMED_FIRST or not THING.search(before)):
        return True
    before = _read_before(PERSON, said)
    if before is not None and not PEOPLE.search(before):
        return True
    places = [match.start() for match in DEFINITE.finditer(said) if not _is_known(match)]
    return bool(places) and count_content(said[: min(places)]) < NAMED_FIRST


def _read_before(pattern: re.Pattern[str], said: str) -> str | None:
    """What stands before the first word of a kind, when there is one."""
    match = pattern.search(said)
    return said[: match.start()] if match else None


def _is_known(match: re.Match[str]) -> bool:
    """Whether "the …" is the only one of its kind, or says which one."""
    words = match["what"].lower().split()
    if words[0] in KNOWN or not WORKING.isdisjoint(words):
        return True
    for place, word in enumerate(words):
        if word in EXACT and place:
            return True
        if word in STOPS:
            return False
    if match["after"]:
        return True
    rest = match["rest"].split()
    return bool(rest) and rest[0].lower().strip(",") in EXACT


def _tells_something(said: str) -> bool:
    """Whether it holds more names, figures, habits and changes than things without a name and moods."""
    names = len(set(NAME.findall(said)))
    is_nameless = NAMELESS.search(said) is not None
    if is_nameless and not names:
        return False
    dated = {one.kind for one in find_anchors(said)} & DATED_KINDS
    has_figure = bool(dated) or FIGURE.search(said) is not None
    has_change = CHANGE.search(said) is not None
    is_shared = any(
        not WORKING.isdisjoint(match["what"].lower().split()) for match in DEFINITE.finditer(said)
    )
    if not OWN.search(said) and not is_shared:
        is_full = said[0].isupper() and count_content(said) >= NAMED_FIRST
        return is_full and (is_setup(said) or bool(dated - {"relative"}) or (has_change and has_figure))
    points = min(names, MOST_NAMES) + has_figure + has_change + (SELF.search(said) is not None)
    points += ESSENTIAL_POINTS * is_essential(said) + is_setup(said)
    return points > is_nameless + (MOOD.search(said) is not None)


def _cut_aside(sentence: str) -> str:
    """The sentence without what only turns to it, opened with a capital.

    >>> _cut_aside("Oh, by the way, I moved to Lyon."), _cut_aside("So much has happened.")
    ('I moved to Lyon.', 'So much has happened.')
    >>> _cut_aside("By the way, speaking of trips, we flew to Oslo.")
    'we flew to Oslo.'
    """
    match = ASIDE.match(sentence)
    if match is None or not re.search(r"[,!:] $|(?i:way|btw) $", match[0]):
        return sentence
    return sentence[match.end() :]
