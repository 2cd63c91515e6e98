"""Sentences that introduce a list, and the force they lend its items.

"Push to main." under "You must not:" forbids; alone it commands. So the introduction travels with its items, as
a heading does (memory-model.md section 6), and an item is read with the force of what introduces it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from models.domain.grammar.actions import name_action, name_voiced_action
from models.domain.grammar.clauses import fold_text
from models.domain.grammar.lexicon import split_words
from models.domain.grammar.spans import DeonticReading, Modality, RuleSpan

# It is repeated with every item. Of a longer sentence the end is kept: "you must not:" stands there.
MAX_INTRODUCTION_CHARACTERS: Final = 160
_CLOSING_MARKS: Final = "*_`\"')]”’ "
_SENTENCE_END: Final = re.compile(
    r"[.!?](?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)[*_)\]\"'”]*\s+(?=[^a-z\s])"
)
_EMPHASISED_LINE: Final = re.compile(r"(\*\*|__)[^\s*_](?:[^*_\n]*[^\s*_])?\1")
_MARKUP: Final = re.compile(r"[*_`:]")
_CUE_EDGES: Final = ",;—( "
_ITEM_MARKER: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")

# What may stand between the word of force and the colon without changing it.
_FILLER: Final = (
    r"(?: (?:ever|do|to|the following(?: things)?|any of (?:the following|these)|these(?: things)?|this"
    r"|(?:under )?any circumstances|be))*"
)
# "never" and "do not" rule at the head of a clause or behind a modal; "things we never" only tells.
_BARE_NEGATION: Final = (
    r"(?:(?:^|[,;—(] |\b(?:please|and|so|but|also|you|must|should|shall|may|will) )(?:never|do not|don't))"
)
_NEGATED_MODAL: Final = r"(?:\b(?:must not|mustn't|may not|shall not|should not|shouldn't))"
_BAN: Final = re.compile(
    rf"(?P<cue>{_BARE_NEGATION}|{_NEGATED_MODAL}|\b(?:you|agents?|assistants?) (?:cannot|can't|can not)"
    r"|\b(?:not (?:allowed|permitted)|avoid|refrain from|forbidden|prohibited|disallowed|off[- ]limits|don'ts"
    rf"|what not)){_FILLER}$"
)
_VERBED_BAN: Final = re.compile(
    rf"(?P<cue>(?:{_BARE_NEGATION}|{_NEGATED_MODAL}|(?:^|[,;—(] )avoid) (?P<verb>[a-z]+))$"
)
_LEAVE: Final = re.compile(
    r"\b(?P<cue>(?:you|we|agents?|assistants?|contributors?) may|(?:you|agents?|assistants?) can"
    rf"|allowed|permitted|free to){_FILLER}$"
)
_DUTY: Final = re.compile(
    r"(?<!\bnot )(?<!n't )\b(?P<cue>always|must|shall|should|have to|need to|has to|needs to|required|mandatory"
    rf"|make sure|be sure){_FILLER}$|^(?P<bare>do|dos|do's)$"
)
_CONDITION: Final = re.compile(r"\s*(?:if|when|whenever|unless|until|where|because|why|how|whether)\b")
# "Do not skip:" demands its items; what else may follow "never" and be meant well is listed here too.
_NEGLECTING: Final = split_words("forget skip omit miss ignore neglect overlook hesitate drop lose remove")


@dataclass(frozen=True, slots=True, kw_only=True)
class Force:
    """What an introduction makes of its items; with a verb, the items are what that verb acts on."""

    modality: Modality
    cue: str
    verb: str | None = None


def find_introduction(paragraph: str) -> str | None:
    """Return the sentence by which a paragraph introduces the list right below it, on one line; None without one.

    It ends with a colon, or is one emphasised line that serves as a heading.

    >>> find_introduction("Be careful. When you deploy, **you must not:**")
    'When you deploy, **you must not:**'
    >>> find_introduction("Three things happened.") is None
    True
    """
    text = " ".join(paragraph.split())
    if not text.rstrip(_CLOSING_MARKS).endswith(":"):
        is_short = len(text) <= MAX_INTRODUCTION_CHARACTERS
        return text if is_short and _EMPHASISED_LINE.fullmatch(paragraph.strip()) else None
    start = 0
    for end in _SENTENCE_END.finditer(text):
        start = end.end()
    if len(text) - start <= MAX_INTRODUCTION_CHARACTERS:
        return text[start:]
    start = len(text) - MAX_INTRODUCTION_CHARACTERS
    return "… " + text[text.find(" ", start) + 1 or start :]


def read_force(introduction: str) -> Force | None:
    """Return the force that an introduction lends its items, None when it lends none.

    >>> read_force("**Never:**").modality.value, read_force("You should not commit:").verb
    ('prohibition', 'commit')
    >>> read_force("Examples:") is None
    True
    """
    folded = " ".join(_MARKUP.sub(" ", fold_text(introduction)).split()).rstrip("!.,)\"' ")
    clause_start = max(folded.rfind(edge) for edge in ",;—") + 1
    if _CONDITION.match(folded, clause_start) is not None:
        return None  # "If you must:" tells when, not what
    for modality, pattern in (
        (Modality.PROHIBITION, _BAN),
        (Modality.PERMISSION, _LEAVE),
        (Modality.OBLIGATION, _DUTY),
    ):
        match = pattern.search(folded)
        if match is not None:
            return Force(modality=modality, cue=(match["cue"] or match["bare"]).strip(_CUE_EDGES))
    verbed = _VERBED_BAN.search(folded)
    if verbed is None:
        return None
    if verbed["verb"] in _NEGLECTING:
        return Force(modality=Modality.OBLIGATION, cue=verbed["cue"].strip(_CUE_EDGES))
    return Force(modality=Modality.PROHIBITION, cue=verbed["cue"].strip(_CUE_EDGES), verb=verbed["verb"])


def lend_force(introductions: Sequence[str], text: str, reading: DeonticReading) -> DeonticReading:
    """Return the reading of a list item with the force of the nearest introduction above it that has one.

    A ban or a permission turns the commands of the item into its own; a ban with a verb ("Never commit:") takes
    the item as what is acted on; whatever the force, an item in which nothing was found becomes a rule of that
    force. A rule that already says no keeps saying so.

    >>> span = lend_force(["Never:"], "- force the lock open", DeonticReading(spans=())).spans[0]
    >>> str(span.modality), span.action
    ('prohibition', 'force lock open')
    """
    for introduction in reversed(introductions):
        force = read_force(introduction)
        if force is not None:
            return _apply_force(force, text, reading)
    return reading


def _apply_force(force: Force, text: str, reading: DeonticReading) -> DeonticReading:
    commands = [span for span in reading.spans if span.modality is Modality.OBLIGATION]
    is_object = force.verb is not None and len(commands) == len(reading.spans)
    if reading.spans and not is_object:
        if force.modality is Modality.OBLIGATION or force.verb is not None:
            return reading
        return DeonticReading(spans=tuple(_turn(span, force) for span in reading.spans))
    marker = _ITEM_MARKER.match(text)
    start = 0 if marker is None else marker.end()
    end = len(text.rstrip())
    if start >= end:
        return reading
    action = name_action(text, start, end)
    if force.verb is not None:
        action = name_voiced_action(force.verb, text[start:end])
    return DeonticReading(spans=(RuleSpan(force.modality, start, end, action, force.cue),))


def _turn(span: RuleSpan, force: Force) -> RuleSpan:
    if span.modality is not Modality.OBLIGATION:
        return span
    return span._replace(modality=force.modality, cue=f"{force.cue}: {span.cue}")
