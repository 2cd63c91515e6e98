"""Finds rules that a frame makes, not a verb's position: "must", "is forbidden", "belongs in"."""

import bisect
import itertools
import re
from typing import Final

from models.domain.grammar.actions import name_action, name_voiced_action
from models.domain.grammar.lexicon import join_by_letter, split_words
from models.domain.grammar.spans import Modality, RuleSpan

# Cheap test before the expression, with the marks that end a clause: most paragraphs hold none of these words.
_HINT_WORDS: Final = frozenset(
    word + mark
    for word in split_words("""
        must mustn't should shouldn't shall ought need needs has have required supposed expected obliged may free
        welcome allowed permitted recommend recommends recommended preferred encouraged discouraged important
        essential crucial vital critical imperative necessary mandatory compulsory non-negotiable obligatory
        forbidden prohibited disallowed banned off-limits limits unacceptable acceptable only require requires
        belong belongs rule policy workflow convention requirement
    """)
    for mark in ("", ".", ",", ";", ":", "!")
)

_LIMIT: Final = r"(?=:| [^\W\d_])"  # a verb or a list must follow
_MAY_BE: Final = (
    r"you may(?! (?:be|have|need|want|see|find|notice|not|never|only|encounter|already|wish|get|also)\b)"
)
_APPROVAL: Final = (
    r"(?:[^\W\d_][\w'-]* ){0,4}(?:authorization|authorisation|approval|permission|consent|confirmation|sign-off|review"
    r"|tests)\b"
)
# What stands behind "is", "are", "be" or "'s".
_PREDICATES: Final = {
    "leave": rf"(?:allowed|permitted) to{_LIMIT}",
    "advice": (
        r"(?!not |never )(?:\w+ )?(?:recommended|preferred|encouraged"
        r"|(?:important|essential|crucial|vital|critical|imperative|necessary) (?:to|that))\b"
    ),
    "decree": r"(?!not )(?:\w+ )?(?:mandatory|compulsory|non-negotiable|obligatory)\b",
    "ban": (
        r"(?!not )(?:\w+ )?(?:forbidden|prohibited|disallowed|banned|off-limits|off limits|unacceptable|discouraged)\b"
        r"|(?:not|never) (?:allowed|permitted|acceptable|recommended|encouraged)\b"
        r"|(?:\w+ )?for [^.;:!?\n]{1,80}? only\b|only for\b"
    ),
}
# Every alternative starts with a letter, so that they can be told apart by it.
_ALTERNATIVES: Final[dict[str, list[str]]] = {
    "must": [
        rf"{modal}(?:n't| [*_]*(?:not|never)\b)?(?!\w)" for modal in ("must", "shall", "should", "ought to")
    ],
    "duty": [
        rf"{word} to{_LIMIT}"
        for word in ("need", "needs", "has", "have", "required", "supposed", "expected", "obliged")
    ],
    "bar": [
        r"may (?:not|never|only)\b",
        r"only (?:[\w'-]+ ){1,4}?may\b",
        *(rf"{nobody} may\b" for nobody in ("no one", "nobody", r"no \w+", "at no time")),
    ],
    "leave": [
        _MAY_BE + _LIMIT,
        *(rf"{free} to{_LIMIT}" for free in ("feel free", "are free", "are welcome", "no need")),
        rf"you (?:don't|do not) (?:need|have) to{_LIMIT}",
    ],
    "advice": [rf"{who} recommend(?:s|ed)?\b" for who in ("we", "i", "strongly", "highly")],
    "ban": [rf"{negation} recommend\b" for negation in ("not", "don't")],
    "approval": [rf"{verb} {_APPROVAL}" for verb in ("require", "requires")],
    "place": [rf"{verb} (?:in|under|inside|here|there|elsewhere)\b" for verb in ("belong", "belongs")],
    "policy": [
        *(rf"{rule} is (?:always|to|that|never)\b" for rule in ("rule", "policy", "workflow", "convention")),
        r"policy of \w+(?<=ing)\b",
    ],
}
_BE: Final = r"(?:is|are|be|'s) "
_FRAME: Final = re.compile(
    "|".join(f"(?P<{kind}>{'|'.join(frames)})" for kind, frames in _ALTERNATIVES.items())
    + "|"
    + "|".join(f"{_BE}(?P<be_{kind}>{predicate})" for kind, predicate in _PREDICATES.items())
)
# Finds where a frame starts; _FRAME then says which one it is.
_BE_FRAMES: Final = [f"{be} (?:{'|'.join(_PREDICATES.values())})" for be in ("is", "are", "be", "'s")]
_SCAN: Final = re.compile(rf"\b(?:{join_by_letter(itertools.chain(*_ALTERNATIVES.values(), _BE_FRAMES))})")
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
    r"\s*(?:have been|have \w+ed|'ve\b|now\b|see\b|notice\b|be able|be fine|look like|feel like|work\b|be enough|take\b)"
)
_PERSONAL: Final = re.compile(r"\b(?:he|she)\s+(?:\w+\s+)?$")
_PASSIVE_BE: Final = re.compile(r"\b(?:is|are|be|were|'re|was|you're|they're|am)(?: \w+)?\s+$")
_NOT: Final = re.compile(r"\b(?:not|don't|doesn't|never|without)\b[^,]*$")
_PASSIVE: Final = re.compile(
    r"\s*(?:always |only )?be ([^\W\d_]+(?<=ed)|[^\W\d_]+(?<=en)|run|set|put|read|kept|made|sent|built|done|held)\b"
)
_ACTOR: Final = re.compile(
    r"\b(?:you|agents?|assistants?|bots?|contributors?|developers?|members?|maintainers?|authors?|reviewers?|users?"
    r"|callers?|code|tests?|modules?|commits?|changes)\s+$"
)
_NONE_OF: Final = re.compile(r"\b(?:no|nothing|nobody|none|neither)\b")
_LOOK_BACK_CHARACTERS: Final = 80
_MAX_FRAMES_PER_CLAUSE: Final = (
    4  # nobody writes more; a megabyte of "must" without a comma may hold a hundred thousand
)


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
    clause, judged, found = -1, 0, set[Modality]()
    for frame in frames:
        opening, start, end = clauses.locate(frame.start())
        if opening != clause:
            clause, judged, found = opening, 0, set()
        judged += 1
        if judged > _MAX_FRAMES_PER_CLAUSE or (end < len(folded) and folded[end] == "?"):
            continue
        subject_start = max(opening, frame.start() - _LOOK_BACK_CHARACTERS)
        modality = _judge(frame, folded, folded[subject_start : frame.start()])
        if modality is None or modality in found:
            continue
        found.add(modality)
        action = _name_framed_action(text, folded, frame, subject_start, end)
        cue = " ".join(frame[0].split())
        spans.append(RuleSpan(modality=modality, start=start, end=end, action=action, cue=cue))
    return spans


def _name_framed_action(text: str, folded: str, frame: re.Match[str], subject_start: int, end: int) -> str:
    """Return the action a frame speaks of: behind it, or its subject where the subject is acted on."""
    after = frame.end()
    subject = text[subject_start : frame.start()]
    if (frame.lastgroup or "").startswith("be_"):
        if frame[0].endswith((" to", " that")) or folded.startswith(" to ", after):
            return name_action(text, after, end)  # "it is forbidden to log tokens"
        return name_action(subject, 0, len(subject))  # "logging tokens is forbidden"
    if "recommend" in frame[0]:
        return name_voiced_action("prefer", text[after:end])  # "we recommend tabs": use tabs
    passive = _PASSIVE.match(folded, after)
    if passive is not None:
        return name_voiced_action(passive[1], subject)  # "secrets must not be committed": commit secrets
    return name_action(text, after, end)


def _judge(frame: re.Match[str], folded: str, subject: str) -> Modality | None:
    """Return the force of a frame behind its subject, None where it only describes or guesses."""
    kind = (frame.lastgroup or "").removeprefix("be_")
    if _SUBORDINATE.search(subject) is not None:
        return None
    if kind == "must":
        if not subject.strip() or _PERSONAL.search(subject) is not None or _GUESS.match(folded, frame.end()):
            return None
        if _NEGATED.search(frame[0]) is not None or _NONE_OF.search(subject) is not None:
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
        if _PASSIVE_BE.search(subject) is None:
            return None
        return Modality.PERMISSION if _NOT.search(subject) is not None else Modality.OBLIGATION
    if kind == "bar" and frame[0].startswith("may") and _ACTOR.search(subject) is None:
        return None  # "jobs may not start at once" is a chance, not a ban
    return _MODALITIES[kind]
