"""Temporal questions: how much a query asks about time, which events it names, which turns answer it.

    ξ(q) = min(Σ weights / 1.5, 1), active from 0.3
    choice: (1 − ξ(1 − μ))·S + ξν·A + ξρ·ΔΦ, up to three, none under 0.10

Source of every constant: memory-model.md, section 7. Below the active range nothing changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from models.domain.text.anchors import find_anchors, lower_in_place

INTENT_NORM: Final = 1.5
ACTIVE_INTENT: Final = 0.3
RELEVANCE_KEPT: Final = 0.6  # μ: what is left of the relevance score at full intent
ANCHOR_GAIN: Final = 0.2  # ν
COVERAGE_GAIN: Final = 0.2  # ρ
SLOT_SIMILARITY: Final = 0.50
MAX_CHOICES: Final = 3
CHOICE_FLOOR: Final = 0.10
MAX_SLOTS: Final = 4
RECOVERY_SIMILARITY: Final = 0.15
MAX_RECOVERED: Final = 10

_B: Final = r"(?<![0-9a-z_\u00df-\u1fff])"
_E: Final = r"(?![0-9a-z_\u00df-\u1fff])"
_UNIT: Final = r"(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?"
_AUX: Final = r"(?:did|do|does|was|were|is|are|will|would|had|has|have|should|can)"

# Weights (section 7 fixes the norm, not these): one plain temporal question word must activate alone,
# so it weighs at least 0.5; a word that is often not temporal ("now", "took") must not.
INTENT_CUES: Final[tuple[tuple[str, float, re.Pattern[str]], ...]] = (
    (
        "how_many_units",
        0.9,
        re.compile(rf"{_B}how (?:many|much) (?:more |full |total )?(?:{_UNIT}|time){_E}"),
    ),
    ("how_long", 0.7, re.compile(rf"{_B}how (?:long|old|soon|recently|far apart){_E}")),
    ("when", 0.7, re.compile(rf"{_B}(?:when {_AUX}|since when|until when){_E}|(?:\A|[.?!]\s)when{_E}")),
    (
        "which_date",
        0.7,
        re.compile(
            rf"{_B}(?:(?:what|which) (?:exact )?(?:dates?|day|month(?:'s)?|year|week|weekday|season|time of)"
            rf"|(?:at )?what time|the (?:exact )?date){_E}"
        ),
    ),
    (
        "which_first",
        0.8,
        re.compile(
            # Not "my last name" or "the first purchase": the word must end its phrase.
            rf"{_B}(?:(?:which|who|what)(?= [^?\n]{{0,120}}?{_B}(?:first|last|earlier|later|sooner|most recently)"
            rf"(?:[,:?]|\Z| or | among | between ))|(?:came|come|happened|occurred) (?:first|last|earlier|later|next)"
            rf"|(?:in|the|what) order|chronological(?:ly)?|earliest|(?:most recent|latest) (?:to|first)){_E}"
        ),
    ),
    ("before_after", 0.5, re.compile(rf"{_B}(?:before|after|prior to|until|till|by the time|following){_E}")),
    ("since", 0.5, re.compile(rf"{_B}since{_E}")),
    (
        "between",
        0.5,
        re.compile(
            r"(?<!difference )(?<!differences )(?<!relationship )(?<!comparison )(?<!distinction )(?<!choose )"
            rf"(?<!choosing )(?<!balance ){_B}between{_E}"
        ),
    ),
    ("ago", 0.3, re.compile(rf"{_B}ago{_E}")),
    ("passed", 0.3, re.compile(rf"{_B}(?:passed|elapsed|took|take|lasted|duration){_E}")),
    (
        "recency",
        0.3,
        re.compile(rf"{_B}(?:now|currently|recently|lately|previously|latest|most recent|used to){_E}"),
    ),
    (
        "other_language",
        0.7,
        re.compile(
            rf"{_B}(?:wann|wie lange|wie viele (?:tage|wochen|monate|jahre)|quand|combien de (?:temps|jours|semaines|mois)"
            r"|cuándo|cuánto tiempo|cuántos (?:días|meses|años)|quando|quanto tempo|quanti giorni|quantos dias"
            rf"|когда|сколько (?:дней|недель|времени)|как долго){_E}|什么时候|多久|多少天|几天|いつ|何日|どのくらい"
        ),
    ),
)
ANCHOR_WEIGHT: Final = 0.5  # a date or a stretch of time named in the question itself


def temporal_intent(query: str) -> float:
    """Return ξ in [0, 1]: how much a question is about time; 0 when nothing in it is.

    >>> temporal_intent("What is my sister's name?"), temporal_intent("How many days before the trip?")
    (0.0, 0.9333333333333332)
    """
    lowered = lower_in_place(query)
    weights = [weight for _, weight, pattern in INTENT_CUES if pattern.search(lowered)]
    if find_anchors(query):
        weights.append(ANCHOR_WEIGHT)
    return min(math.fsum(weights) / INTENT_NORM, 1.0)


# A quotation stays whole, connectors inside it included.
SLOT_TOKEN: Final = re.compile(
    r"(?<!\w)'[^'\n]{1,120}'(?!\w)|\"[^\"\n]{1,120}\"|“[^“”\n]{1,120}”|‘[^‘’\n]{1,120}’(?!\w)"
    r"|[^\W_][\w.'’&/+-]*|[,;:?!()—–]"
)
_SPLITTER_LIST: Final = """
    between and or before after since when until till while during than prior following , ; : ? ! ( ) — –
    did do does was were is are will would had has have can could should might among
"""
_EMPTY_LIST: Final = """
    a an the this that these those my our your his her their its i me you he she it we they us them be been am being
    how many much long old soon often what which who whom whose where why to of in on at by for from with as about into
    over passed elapsed take took taken last lasted time times day days week weeks month months year years hour hours
    minute minutes night nights date ago now currently recently lately previously latest most recent order earliest
    later earlier first second third next past total combined there then so not also ever just still already start
    started starting mention mentioned tell remind remember know say said use used one two three four five six seven
    eight nine ten couple few several some any all both each today yesterday tomorrow answer yes no
"""
_GENERIC_LIST: Final = "event events thing things happen happened happening came come occur occurred"
_SPLITTERS: Final = frozenset(_SPLITTER_LIST.split())
_EMPTY_WORDS: Final = frozenset(_EMPTY_LIST.split())
_GENERIC_WORDS: Final = frozenset(_GENERIC_LIST.split())
_MAX_SLOT_WORDS: Final = 12
_LONGEST_ABBREVIATION: Final = 3  # "St." goes on, "week." ends a sentence


def _trim_slot(words: Sequence[str]) -> str:
    """The words from the first telling one to the last, at most twelve; empty when none names an event."""
    telling = [i for i, word in enumerate(words) if word.lower() not in _EMPTY_WORDS and not word.isdigit()]
    if all(words[i].lower() in _GENERIC_WORDS for i in telling):
        return ""
    return " ".join(words[telling[0] : telling[-1] + 1][:_MAX_SLOT_WORDS])


def _cut_clauses(query: str) -> Iterator[list[str]]:
    """The words of the question, cut at its temporal words, conjunctions and auxiliaries."""
    words: list[str] = []
    for match in SLOT_TOKEN.finditer(query):
        word = match.group()
        if word.lower() in _SPLITTERS:
            yield words
            words = []
        elif word.endswith(".") and len(word) > _LONGEST_ABBREVIATION:
            yield [*words, word.rstrip(".")]
            words = []
        else:
            words.append(word)
    yield words


def event_slots(query: str) -> tuple[str, ...]:
    """Return the events a temporal question relates, at most four, in order; none for other questions.

    The question is cut at its temporal words, and what carries no event is trimmed from each piece.

    >>> event_slots("How many days passed between the Sunday mass and the Ash Wednesday service?")
    ('Sunday mass', 'Ash Wednesday service')
    >>> event_slots("What is my sister's name?")
    ()
    """
    if temporal_intent(query) == 0.0:
        return ()
    slots: dict[str, str] = {}
    for words in _cut_clauses(query):
        slot = _trim_slot(words)
        if slot:
            slots.setdefault(slot.casefold(), slot)
        if len(slots) == MAX_SLOTS:
            break
    return tuple(slots.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalCandidate:
    """A recalled turn with what the selector needs: S, A, and its cosine to each event slot."""

    id: str
    score: float
    anchor_density: float
    slot_similarities: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalChoice:
    """A chosen turn: value = relevance + anchors + coverage, and the slots it was first to cover."""

    id: str
    value: float
    relevance: float
    anchors: float
    coverage: float
    covered_slots: tuple[int, ...]


def _clamp01(value: float) -> float:
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0


def is_active(xi: float) -> bool:
    """Say whether an intent is strong enough to change anything: ξ ≥ 0.3."""
    return xi >= ACTIVE_INTENT


def _find_covered(candidate: TemporalCandidate, uncovered: frozenset[int]) -> tuple[int, ...]:
    """The slots that a turn would be the first to cover."""
    if not uncovered:
        return ()
    return tuple(
        slot
        for slot, similarity in enumerate(candidate.slot_similarities)
        if slot in uncovered and similarity >= SLOT_SIMILARITY
    )


def select_temporal(xi: float, candidates: Sequence[TemporalCandidate]) -> tuple[TemporalChoice, ...]:
    """Return up to three turns, greedily, by (1 − ξ(1 − μ))·S + ξν·A + ξρ·ΔΦ; none below intent 0.3.

    ΔΦ is the share of the still uncovered slots that a turn covers (cosine ≥ 0.50), so the second choice
    looks for the event that the first one left out. Ties go to the earlier candidate.

    >>> turns = [
    ...     TemporalCandidate(id="mass", score=0.5, anchor_density=1.0, slot_similarities=(0.8, 0.1)),
    ...     TemporalCandidate(id="mass again", score=0.5, anchor_density=0.0, slot_similarities=(0.8, 0.1)),
    ...     TemporalCandidate(id="service", score=0.4, anchor_density=0.0, slot_similarities=(0.1, 0.7)),
    ... ]
    >>> [choice.id for choice in select_temporal(1.0, turns)]
    ['mass', 'service', 'mass again']
    """
    xi = _clamp01(xi)
    if not is_active(xi):
        return ()
    kept, gain = 1.0 - xi * (1.0 - RELEVANCE_KEPT), xi * ANCHOR_GAIN
    relevance = [kept * _clamp01(candidate.score) for candidate in candidates]
    anchors = [gain * _clamp01(candidate.anchor_density) for candidate in candidates]
    uncovered = frozenset(range(max((len(c.slot_similarities) for c in candidates), default=0)))
    remaining = list(range(len(candidates)))
    choices: list[TemporalChoice] = []
    while remaining and len(choices) < MAX_CHOICES:
        share = xi * COVERAGE_GAIN / max(len(uncovered), 1)
        covered = {index: _find_covered(candidates[index], uncovered) for index in remaining}
        values = {
            index: relevance[index] + anchors[index] + share * len(covered[index]) for index in remaining
        }
        best = max(remaining, key=values.__getitem__)
        if values[best] < CHOICE_FLOOR:
            break
        choices.append(
            TemporalChoice(
                id=candidates[best].id,
                value=values[best],
                relevance=relevance[best],
                anchors=anchors[best],
                coverage=share * len(covered[best]),
                covered_slots=covered[best],
            )
        )
        uncovered -= frozenset(covered[best])
        remaining.remove(best)
    return tuple(choices)


def put_choices_first(order: Sequence[str], choices: Sequence[TemporalChoice]) -> tuple[str, ...]:
    """Return the ranked ids with the choices moved to the front; without choices, the order as it was.

    >>> put_choices_first(("a", "b"), ())
    ('a', 'b')
    """
    return tuple(dict.fromkeys((*(choice.id for choice in choices), *order)))
