"""Finds rules in authored files: imperatives at clause heads, and modal frames around a subject.

Authored text is written to instruct, so a bare imperative is a rule there (memory-model.md section 6).
"""

import re
from typing import Final

from models.domain.grammar.actions import name_action, name_contrast
from models.domain.grammar.clauses import fold_text, hide_mentions, list_openings
from models.domain.grammar.lexicon import ROLES, WordRole
from models.domain.grammar.spans import NO_RULE, DeonticReading, Modality, RuleSpan
from models.domain.rules.commands import (
    CommandHead,
    Place,
    find_fronted_command,
    is_fronting_prelude,
    read_command,
)
from models.domain.rules.frames import find_framed_rules

_RESTRICTION: Final = re.compile(
    r"only (?:when|if|for|after|to|as|once|where|while|until|by|via|through|on|in)\b"
)
_LINKED_BAN: Final = re.compile(r"\b(?:and|but|or|then) (?:please )?(do not|don't|never) ([^\W\d_]+)")
_SPEAKING: Final = frozenset(["you", "you're", "your", "no"])  # inert words that may open a rule all the same
_CLAUSE_EDGES: Final = frozenset(":;—–")

# Members bound once: the attribute look-up on an enum class costs more than the comparison.
_INERT: Final = WordRole.INERT
_FRONTING: Final = WordRole.FRONTING
_PRELUDE: Final = WordRole.PRELUDE
_SENTENCE: Final = Place.SENTENCE
_FRONTED: Final = Place.FRONTED
_CLAUSE: Final = Place.CLAUSE
_AFTER_COMMA: Final = Place.AFTER_COMMA
_OBLIGATION: Final = Modality.OBLIGATION
_PROHIBITION: Final = Modality.PROHIBITION
_find_role: Final = ROLES.get


def read_authored(text: str) -> DeonticReading:
    """Return the rules of one paragraph, list item or block quote of an authored file.

    Commands count at the head of a sentence or clause, after a fronted phrase ("If X, do Y") and after
    "so" or "but"; modal and copular frames ("must", "is forbidden") count with any subject. Questions,
    quotations, code, asides and bare cross-references do not.

    >>> [str(span.modality) for span in read_authored("Use tabs. Never commit secrets.").spans]
    ['obligation', 'prohibition']
    >>> read_authored("The cache lives in memory and is never written to disk.").is_rule
    False
    """
    folded = hide_mentions(fold_text(text))
    openings = list_openings(folded)
    spans = _find_commands(text, folded, openings)
    framed = find_framed_rules(text, folded, openings)
    if framed:
        spans = sorted(spans + framed, key=lambda span: (span.start, span.end))
    return DeonticReading(spans=tuple(spans)) if spans else NO_RULE


def _find_commands(text: str, folded: str, openings: list[re.Match[str]]) -> list[RuleSpan]:
    """Return the rules that stand as commands at clause heads, in text order."""
    spans: list[RuleSpan] = []
    heads: list[CommandHead] = []
    segment = openings[0]
    is_fronted = False
    dashes = 0  # in a row, without another strong edge between them
    for opening in openings:
        edge, word, object_opener = opening.groups()
        is_comma = edge == ","
        if not is_comma:
            if heads:
                if edge[0] != "?":
                    spans += _close_segment(text, folded, segment.start(2), opening.start(), heads)
                heads = []
            segment = opening
            is_fronted = False
            dashes = dashes + 1 if "—" in edge else 0
        role = _find_role(word)
        if role is _INERT and word not in _SPEAKING:
            # "If it fails, the client retries, ...": the main clause has its subject, no command is due.
            is_fronted = is_fronted and not is_comma
            continue
        if role is None and not (word and object_opener is not None) and word[-2:] != "ly":
            continue  # a noun, as far as anyone can tell
        if role is _FRONTING:
            if is_comma:
                continue
            is_fronted = True
            head = find_fronted_command(folded, opening.start(2), word)
        else:
            if is_comma:
                place = _CLAUSE if heads else _FRONTED if is_fronted else _AFTER_COMMA
            elif edge[:1] not in _CLAUSE_EDGES or _opens_list_item(folded, opening):
                place = _SENTENCE
            else:
                # What follows the second dash of a pair goes on with the sentence before the first.
                place = _AFTER_COMMA if dashes and dashes % 2 == 0 else _CLAUSE
            head = read_command(folded, opening.start(2), word, role, place)
            if head is None and not is_comma and (role is _PRELUDE or word[-2:] == "ly"):
                is_fronted = is_fronting_prelude(folded, opening.end())
        if head is not None:
            heads.append(head)
    if heads:
        spans += _close_segment(text, folded, segment.start(2), len(folded), heads)
    return spans


def _opens_list_item(folded: str, opening: re.Match[str]) -> bool:
    gap = folded[opening.end(1) : opening.start(2)]
    return "\n" in gap and not gap.isspace()


def _close_segment(text: str, folded: str, start: int, end: int, heads: list[CommandHead]) -> list[RuleSpan]:
    """Return the commands of a finished segment as spans, with the bans that lean on them."""
    first_verb = heads[0].verb_start
    clause = folded[first_verb:end]
    restricts = "only " in clause
    spans = []
    last = len(heads) - 1
    for index, (cue_start, verb_start, verb_end, modality) in enumerate(heads):
        if restricts and modality is _OBLIGATION:
            reach = end if index == last else heads[index + 1].cue_start
            if _RESTRICTION.search(folded, verb_start, reach) is not None:
                modality = _PROHIBITION  # "only when needed" forbids the rest
        spans.append(_make_span(text, start, end, cue_start, verb_start, verb_end, modality))
    if "not " not in clause and "never " not in clause and "don't " not in clause:
        return spans
    taken = {head.verb_start for head in heads}
    spans += [
        _make_span(text, start, end, ban.start(1), *ban.span(2), _PROHIBITION)
        for ban in _LINKED_BAN.finditer(folded, first_verb, end)
        if ban.start(2) not in taken
    ]
    contrast = name_contrast(text, folded, first_verb, end)
    if contrast is not None:
        spans.append(RuleSpan(modality=_PROHIBITION, start=start, end=end, action=contrast, cue="not"))
    return spans


def _make_span(
    text: str, start: int, end: int, cue_start: int, verb_start: int, verb_end: int, modality: Modality
) -> RuleSpan:
    cue = text[cue_start:verb_end].lower()
    if not cue.isalpha():
        cue = " ".join(cue.split())
    return RuleSpan(modality, start, end, name_action(text, verb_start, end), cue)
