"""Spoken wishes that contradict an authored rule: the document wins (memory-model.md section 9).

A prohibition meets a demand or a permission of the same action: its words, two at least, are among the other's, and
the verb is the same. So "never use emojis" in a document overrules "use emojis in the titles", said once in a chat.
"""

import functools
from collections.abc import Sequence
from typing import Final, NamedTuple

from models.domain.grammar.actions import is_comparable
from models.domain.rules.detector import DeonticReading, Modality, RuleSpan, read_authored
from models.domain.rules.introductions import lend_force
from models.domain.wishes.conversation import read_wish

_REMEMBERED_WISHES: Final = 4096  # readings kept by text: the same wishes come with every prompt
_REMEMBERED_DOCUMENTS: Final = 64


class AuthoredRule(NamedTuple):
    """A node of an authored document, with the headings and introductions it stands under."""

    id: str
    text: str
    heading_path: tuple[str, ...] = ()


class Overruling(NamedTuple):
    """A spoken wish that an authored rule contradicts."""

    wish_id: str
    rule_id: str
    action: str  # on which they disagree, in the words of the one that forbids
    is_whole: bool  # whether nothing of the wish is left standing


class _Stance(NamedTuple):
    objects: frozenset[str]
    rule_id: str
    action: str


class _Stances(NamedTuple):
    """What a document forbids and demands, by verb."""

    bans: dict[str, list[_Stance]]
    demands: dict[str, list[_Stance]]


def find_overruled(
    rules: Sequence[AuthoredRule], wishes: Sequence[tuple[str, str]]
) -> tuple[Overruling, ...]:
    """Return the wishes, given as id and words, that the rules contradict, in their order.

    A wish is named once, with the first rule that contradicts it. What is not a rule to the detector overrules nobody.

    >>> rules = [AuthoredRule("r", "Never use emojis.")]
    >>> find_overruled(rules, [("w", "From now on, use emojis in your replies."), ("x", "Always answer in German.")])
    (Overruling(wish_id='w', rule_id='r', action='use emojis', is_whole=True),)
    """
    if not rules or not wishes:
        return ()
    stances = _take_stances(tuple(rules))
    found = []
    for wish_id, words in wishes:
        spans = [span for span in _read_wish(words).spans if is_comparable(span.action)]
        lost = [stance for span in spans if (stance := _find_opposed(span, stances)) is not None]
        if lost:
            found.append(Overruling(wish_id, lost[0].rule_id, lost[0].action, len(lost) == len(spans)))
    return tuple(found)


@functools.lru_cache(maxsize=_REMEMBERED_WISHES)
def _read_wish(words: str) -> DeonticReading:
    return read_wish(words)


@functools.lru_cache(maxsize=_REMEMBERED_DOCUMENTS)
def _take_stances(rules: tuple[AuthoredRule, ...]) -> _Stances:
    stances = _Stances({}, {})
    for rule in rules:
        for span in lend_force(rule.heading_path, rule.text, read_authored(rule.text)).spans:
            if not is_comparable(span.action) or span.modality is Modality.PERMISSION:
                continue  # what a document allows, a user may still do without
            side = stances.bans if span.modality is Modality.PROHIBITION else stances.demands
            verb, *objects = span.action.split()
            side.setdefault(verb, []).append(_Stance(frozenset(objects), rule.id, span.action))
    return stances


def _find_opposed(span: RuleSpan, stances: _Stances) -> _Stance | None:
    """Return the authored stance that a spoken rule contradicts, None when it contradicts none."""
    verb, *words = span.action.split()
    objects = frozenset(words)
    if span.modality is Modality.PROHIBITION:
        demands = stances.demands.get(verb, ())
        opposed = next((one for one in demands if _covers(objects, one.objects)), None)
        return None if opposed is None else opposed._replace(action=span.action)
    return next((one for one in stances.bans.get(verb, ()) if _covers(one.objects, objects)), None)


def _covers(banned: frozenset[str], demanded: frozenset[str]) -> bool:
    """Say whether a ban on some objects meets a demand for others; a bare verb meets only a bare verb."""
    return banned <= demanded and (bool(banned) or not demanded)
