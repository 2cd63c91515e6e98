"""Finds rules in text, without a model: who must, must not or may do what (memory-model.md sections 6, 9).

read_authored       paragraphs of rule files: a bare imperative is a rule there
read_conversation   a user's chat turn: only what is meant to last is a rule there
find_conflicts      one action, demanded and forbidden in one document
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from models.domain.grammar.actions import is_comparable
from models.domain.grammar.spans import DeonticReading, Modality, RuleSpan
from models.domain.rules.authored import read_authored
from models.domain.wishes.conversation import read_conversation

__all__ = [
    "DeonticReading",
    "Modality",
    "RuleConflict",
    "RuleSpan",
    "find_conflicts",
    "read_authored",
    "read_conversation",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleConflict:
    """An obligation and a prohibition of one action; `action` is what the prohibition forbids."""

    obligation: RuleSpan
    prohibition: RuleSpan
    action: str


def find_conflicts(readings: Sequence[DeonticReading]) -> tuple[RuleConflict, ...]:
    """Return every obligation of a document that one of its prohibitions forbids, in document order.

    A prohibition covers an obligation when its words, at least two, are among the obligation's and the
    verb is the same: "never use tabs" forbids "use tabs in Makefiles", while "do not run tests in
    production" leaves "run tests" alone. Single words clash only with themselves. An obligation is reported
    once, with the first prohibition of the most specific action that covers it.

    >>> readings = [read_authored("Use tabs for indentation."), read_authored("Never use tabs.")]
    >>> find_conflicts(readings)[0].action
    'use tab'
    """
    bans: dict[tuple[str, frozenset[str]], RuleSpan] = {}
    spans = [span for reading in readings for span in reading.spans if is_comparable(span.action)]
    for span in spans:
        if span.modality is Modality.PROHIBITION:
            bans.setdefault(_make_key(span.action.split()), span)
    return tuple(
        RuleConflict(obligation=span, prohibition=ban, action=ban.action)
        for span in spans
        if span.modality is Modality.OBLIGATION and (ban := _find_ban(span.action.split(), bans)) is not None
    )


def _make_key(words: list[str]) -> tuple[str, frozenset[str]]:
    return words[0], frozenset(words[1:])


def _find_ban(words: list[str], bans: dict[tuple[str, frozenset[str]], RuleSpan]) -> RuleSpan | None:
    """Return the ban on the most words of an action; at most 2^5 look-ups, whatever the document holds."""
    verb, *objects = words
    shortest = 1 if objects else 0
    for size in range(len(objects), shortest - 1, -1):
        for chosen in itertools.combinations(objects, size):
            ban = bans.get((verb, frozenset(chosen)))
            if ban is not None:
                return ban
    return None
