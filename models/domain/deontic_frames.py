"""Finds rules that a frame makes, not a verb's position: "must", "is forbidden", "belongs in"."""

import bisect
import itertools
import re
from typing import Final

from models.domain.deontic_actions import name_action
from models.domain.deontic_lexicon import split_words
from models.domain.deontic_spans import Modality, RuleSpan

# Cheap test before the expression, with the marks that end a clause: most paragraphs hold none of these words.
_HINT_WORDS: Final = frozenset(
    word + mark
    for word in split_words("""
        must mustn't should shouldn't shall ought need needs has have required supposed expected obliged may free
        welcome allowed permitted recommend recommends recommended preferred encouraged discouraged important
        essential crucial vital critical imperative necessary best mandatory compulsory non-negotiable obligatory
        forbidden prohibited disallowed banned off-limits limits unacceptable acceptable only require requires
        belong belongs rule policy workflow convention requirement
    """)
    for mark in ("", ".", ",", ";", ":", "!")
)

_BE_FORMS: Final = ("is", "are", "be", "'s")
_LIMIT: Final = r"(?=:| [^\W\d_])"  # a verb or a list must follow
# Every alternative starts with a letter: the engine then drops most of them on the first character.
_ALTERNATIVES: Final[dict[str, list[str]]] = {
    "must": [
        rf"{word}(?:n't| [*_]*+(?:not|never)\b)?+(?!\w)" for word in ("must", "shall", "should", "ought to")
    ],
    "duty": [
        rf"{word} to{_LIMIT}"
        for word in ("need", "needs", "has", "have", "required", "supposed", "expected", "obliged")
    ],
    "bar": [
        r"may (?:not|never|only)\b",
        r"only (?:[\w'-]++ ){1,4}?may\b",
        *(rf"{nobody} may\b" for nobody in ("no one", "nobody", r"no \w++", "at no time")),
    ],
    "leave": [
        rf"{leave}{_LIMIT}"
        for leave in (
            r"you may(?! (?:be|have|need|want|see|find|notice|not|never|only|encounter|already|wish|get|also)\b)",
            "feel free to",
            "are free to",
            "are welcome to",
            "no need to",
            "you don't need to",
            "you don't have to",
            "you do not need to",
            "you do not have to",
            *(rf"{be} (?:allowed|permitted) to" for be in _BE_FORMS),
        )
    ],
    "advice": [
        *(rf"{who} recommend(?:s|ed)?\b" for who in ("we", "i", "strongly", "highly")),
        *(
            rf"{be} (?:\w++ )?(?:recommended|preferred|encouraged|"
            r"(?:important|essential|crucial|vital|critical|imperative|necessary|best) (?:to|that))\b"
            for be in _BE_FORMS
        ),
    ],
    "decree": [rf"{be} (?:\w++ )?(?:mandatory|compulsory|non-negotiable|obligatory)\b" for be in _BE_FORMS],
    "ban": [
        *(
            rf"{be} (?:\w++ )?(?:forbidden|prohibited|disallowed|banned|off-limits|off limits|unacceptable|discouraged"
            r"|(?<=not )(?:allowed|permitted|acceptable)|(?<=never )(?:allowed|permitted|acceptable)"
            r"|for [^.;:!?\n]{1,80}? only|(?<=only )for)\b"
            for be in _BE_FORMS
        ),
        *(rf"{word} recommend(?:ed)?\b" for word in ("not", "don't")),
    ],
    "approval": [
        rf"{verb} (?:[^\W\d_][\w'-]*+ ){{0,4}}(?:authorization|authorisation|approval|permission|consent|confirmation"
        r"|sign-off|review|tests)\b"
        for verb in ("require", "requires")
    ],
    "place": [rf"{verb} (?:in|under|inside|here|there|elsewhere)\b" for verb in ("belong", "belongs")],
    "policy": [
        *(rf"{rule} is (?:always|to|that|never)\b" for rule in ("rule", "policy", "workflow", "convention")),
        r"policy of \w++(?<=ing)\b",
    ],
}
_SCAN: Final = re.compile(r"\b(?:" + "|".join(itertools.chain(*_ALTERNATIVES.values())) + ")")
_FRAME: Final = re.compile("|".join(f"(?P<{kind}>{'|'.join(all_)})" for kind, all_ in _ALTERNATIVES.items()))
_NEGATED: Final = re.compile(r"n't|not|never")

_MODALITIES: Final = {
    "must": Modality.OBLIGATION,
    "duty": Modality.OBLIGATION,
    "bar": Modality.PROHIBITION,
    "leave": Modality.PERMISSION,
    "advice": Modality.OBLIGATION,
    "decree": Modality.OBLIGATION,
    "ban": Modality.PROHIBITION,
    "approval": Modality.OBLIGATION,
    "place": Modality.OBLIGATION,
    "policy": Modality.OBLIGATION,
}

# A subordinate clause describes a case: "when the engine must reduce values".
_SUBORDINATE: Final = re.compile(
    r"(?:\b(?:if|when|whenever|whether|because|which|who|what|why|how|where|while|until|unless|whatever)\s+"
    r"(?:[\w'/-]+\s+){0,3}|\bthat\s+)$"
)
_GUESS: Final = re.compile(
    r"\s*+(?:have been|have \w+ed|'ve\b|now\b|see\b|notice\b|be able|be fine|look like|feel like|work\b|be enough|take\b)"
)
_PERSONAL: Final = re.compile(r"\b(?:he|she)\s+(?:\w+\s+)?$")
_BE: Final = re.compile(r"\b(?:is|are|be|were|'re|was|you're|they're|am)(?: \w+)?\s+$")
_NOT: Final = re.compile(r"\b(?:not|don't|doesn't|never|without)\b[^,]*$")
_PASSIVE: Final = re.compile(r"\s*(?:always |only )?be (?=\w+(?:ed|en|t|e)\b)")
_ACTOR: Final = re.compile(
    r"\b(?:you|agents?|assistants?|bots?|contributors?|developers?|members?|maintainers?|authors?|reviewers?|users?"
    r"|callers?|code|tests?|modules?|commits?|changes)\s+$"
)
_NO_MORE_THAN: Final = re.compile(r"\b(?:no|nothing|nobody|none|neither)\b")
_LOOK_BACK_CHARACTERS: Final = 80


class _ClauseMap:
    """Where the clauses of a text begin, and where its segments begin and end."""

    def __init__(self, openings: list[re.Match[str]], length: int) -> None:
        self.clause_starts = [opening.start(2) for opening in openings]
        strong = [opening for opening in openings if opening[1] != ","]
        self.segment_starts = [opening.start(2) for opening in strong]
        self.segment_ends = [opening.start() for opening in strong[1:]] + [length]

    def locate(self, position: int) -> tuple[int, int, int]:
        """Return clause start, segment start and segment end around a position."""
        clause = bisect.bisect_right(self.clause_starts, position) - 1
        segment = bisect.bisect_right(self.segment_starts, position) - 1
        return self.clause_starts[clause], self.segment_starts[segment], self.segment_ends[segment]


def find_framed_rules(text: str, folded: str, openings: list[re.Match[str]]) -> list[RuleSpan]:
    """Return the rules that modal and copular frames make, with any subject.

    A frame is judged by what stands between it and the clause opening before it; one clause gives at
    most one rule of a force.
    """
    if _HINT_WORDS.isdisjoint((folded.replace("*", " ") if "*" in folded else folded).split()):
        return []
    frames = [
        frame
        for hit in _SCAN.finditer(folded, openings[0].start(2))
        if (frame := _FRAME.match(folded, hit.start())) is not None
    ]
    if not frames:
        return []
    clauses = _ClauseMap(openings, len(folded))
    spans: list[RuleSpan] = []
    last: tuple[int, Modality] | None = None
    for frame in frames:
        opening, start, end = clauses.locate(frame.start())
        if end < len(folded) and folded[end] == "?":
            continue
        subject_start = max(opening, frame.start() - _LOOK_BACK_CHARACTERS)
        modality = _judge(frame, folded, folded[subject_start : frame.start()])
        if modality is None or last == (opening, modality):
            continue
        last = (opening, modality)
        passive = _PASSIVE.match(folded, frame.end())
        if passive is None:
            action = name_action(text, frame.end(), end)
        else:
            verb = name_action(text, passive.end(), end).partition(" ")[0]
            action = f"{verb} {name_action(text, subject_start, frame.start())}".strip()
        cue = " ".join(frame[0].split())
        spans.append(RuleSpan(modality=modality, start=start, end=end, action=action, cue=cue))
    return spans


def _judge(frame: re.Match[str], folded: str, subject: str) -> Modality | None:
    """Return the force of a frame behind its subject, None where it only describes or guesses."""
    kind = frame.lastgroup or ""
    if _SUBORDINATE.search(subject) is not None:
        return None
    if kind == "must":
        if not subject.strip() or _PERSONAL.search(subject) is not None or _GUESS.match(folded, frame.end()):
            return None
        if _NEGATED.search(frame[0]) is not None or _NO_MORE_THAN.search(subject) is not None:
            return Modality.PROHIBITION
        return Modality.OBLIGATION
    if kind == "duty":
        if frame[0].startswith(("need", "ha")):
            if (
                not subject.strip()
                or _PERSONAL.search(subject) is not None
                or _NOT.search(subject) is not None
            ):
                return None
            return Modality.OBLIGATION
        if _BE.search(subject) is None:
            return None
        return Modality.PERMISSION if _NOT.search(subject) is not None else Modality.OBLIGATION
    if kind == "bar" and frame[0].startswith("may") and _ACTOR.search(subject) is None:
        return None  # "jobs may not start at once" is a chance, not a ban
    return _MODALITIES[kind]
