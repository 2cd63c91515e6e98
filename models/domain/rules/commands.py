"""Decides whether the head of a clause commands: "use", "never commit", "no force pushes", "you are a"."""

import enum
import re
from typing import Final, NamedTuple

from models.domain.grammar.clauses import MASK, read_word
from models.domain.grammar.lexicon import (
    INVERTED_SUBJECTS,
    INVERTING_VERBS,
    NAMING_TOO,
    NOUN_FOLLOWERS,
    OBJECT_OPENERS,
    PARTICIPLES_TOO,
    PARTICLES,
    ROLES,
    WordRole,
    split_words,
)
from models.domain.grammar.spans import Modality


class Place(enum.Enum):
    """Where a clause stands, which says how much its head must prove."""

    SENTENCE = enum.auto()  # sentence, paragraph or list item: a bare verb commands
    FRONTED = enum.auto()  # behind the comma that ends a fronted phrase
    CLAUSE = enum.auto()  # behind ":", ";", a dash, or a comma after a command
    AFTER_COMMA = enum.auto()  # behind any other comma: only "so", "but" and the like let a command follow


class CommandHead(NamedTuple):
    """A command found at a clause head."""

    cue_start: int
    verb_start: int
    verb_end: int
    modality: Modality


# Members bound once: the attribute look-up on an enum class costs more than the comparison.
_COMMAND: Final = WordRole.COMMAND
_NOUNISH: Final = WordRole.NOUNISH
_PRELUDE: Final = WordRole.PRELUDE
_BAN: Final = WordRole.BAN
_INERT: Final = WordRole.INERT
_SENTENCE: Final = Place.SENTENCE
_FRONTED: Final = Place.FRONTED
_CLAUSE: Final = Place.CLAUSE
_AFTER_COMMA: Final = Place.AFTER_COMMA
_OBLIGATION: Final = Modality.OBLIGATION
_PROHIBITION: Final = Modality.PROHIBITION

_MAX_PRELUDES: Final = 4  # "so please also always use": further words are no longer a prelude
_LINKS: Final = frozenset(["so", "but", "instead", "otherwise"])
_URGES: Final = frozenset(["always", "only", "please", "just", "kindly"])  # what follows is a verb, no noun
_BANNING_VERBS: Final = frozenset(["avoid", "refrain", "stop", "quit"])

# Group 1: a subordinate clause begins, whose verb is not the main one; group 2: a second command is joined.
_FINITE: Final = re.compile(
    r"\b(?:(if|when|whenever|that|which|who|because|so|unless|until|before|after|where)|((?:and|or) \w+)"
    r"|is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|does|do|did|lives?|uses?"
    r"|contains?|goes|go|runs?|needs?|accepts?|supports?|belongs?|exists?|includes?|comes?|means?|requires?"
    r"|becomes?|remains?|follows?|works?|describes?|defines?|provides?|covers?|fails?|returns?|takes?|sits?"
    r"|ends?|expires?|appears?|resides?|arrives?|applies|apply|pass|passes|maps?|stays?)\b"
)
# "Return values:" labels, "Test the values:" commands.
_LABEL: Final = re.compile(r"(?:\s+[^\W\d_]+){1,2}[*_]*:")
_SEGMENT_END: Final = re.compile(r"[.;:!?](?=\s)|[—\n]")
# A verb further off says nothing about the head, and bounded windows keep time linear.
_LOOK_AHEAD_CHARACTERS: Final = 120
_SHORT_LOOK_AHEAD_CHARACTERS: Final = 40  # inside a list of commands

_TIMING: Final = re.compile(r"when (?:not )?to [^\W\d_]+:")  # "When to run: once the review is done"
_FRONTING_PREPOSITIONS: Final = split_words("for to in on with without from under during at before after")
_FRONTED_VERB: Final = re.compile(
    rf" (use|call|run|read|pass|set|prefer|follow|add|invoke) (?=the\b|an?\b|your\b|{MASK})"
)
_IDENTITY: Final = re.compile(
    r"you(?:'re| are) (?:not )?(?:now )?(?:an?|the|here to|responsible for|in charge of|[\w-]+, (?:an?|the))\b"
    r"|your (?:\w+ )?(?:job|role|task|goal|mission|purpose|responsibility|duty|priority|objective|aim) is\b"
    r"|you(?: will)? (?:always|never) (?!be able|see|get|find)(?=[^\W\d_])"
)
_BAN_FRAGMENT_MAX_WORDS: Final = 12
_NO_BAN: Final = split_words(
    "need longer matter further one problem such way other doubt idea change changes action guarantee exceptions excuses"
)


def read_command(
    folded: str, position: int, word: str, role: WordRole | None, place: Place
) -> CommandHead | None:
    """Return the command that a clause opens with, or None.

    >>> read_command("always run the tests", 0, "always", ROLES["always"], Place.SENTENCE).verb_start
    7
    """
    cue_start = position
    end = position + len(word)
    restricts = is_urged = is_listed = False
    is_linked = place is not _AFTER_COMMA
    if role is _PRELUDE or role is None:
        for _ in range(_MAX_PRELUDES):
            if role is not _PRELUDE and (role is not None or not word.endswith("ly")):
                break
            restricts = restricts or word == "only"
            is_urged = is_urged or word in _URGES
            is_listed = is_listed or word in ("and", "or")
            is_linked = is_linked or word in _LINKS
            following = read_word(folded, end)
            if following is None:
                return None
            word, position, end = following[1], following.start(1), following.end()
            role = ROLES.get(word)
    if role is _INERT:
        if place is _SENTENCE or place is _CLAUSE:
            return _read_statement(folded, cue_start, position, word)
        return None
    if not is_linked:
        return None
    if word == "do" and (negation := read_word(folded, end)) is not None and negation[1] == "not":
        role, end = _BAN, negation.end()
    if role is _BAN:
        verb = read_word(folded, end)
        if verb is None or not can_be_base_verb(verb[1]):
            return None
        return CommandHead(cue_start, verb.start(1), verb.end(), _PROHIBITION)
    if not (is_urged and role is _NOUNISH) and not _commands(
        folded, word, role, end, place, listed=is_listed
    ):
        return None
    banned = restricts or word in _BANNING_VERBS
    return CommandHead(cue_start, position, end, _PROHIBITION if banned else _OBLIGATION)


def find_fronted_command(folded: str, position: int, word: str) -> CommandHead | None:
    """Return the command after a fronted phrase without a comma: "for other providers use the skill"."""
    if word == "when" and (timing := _TIMING.match(folded, position)) is not None:
        return CommandHead(position, position, timing.end(), _OBLIGATION)
    if word not in _FRONTING_PREPOSITIONS:
        return None
    fronted = _FRONTED_VERB.search(folded, position, find_segment_end(folded, position))
    if fronted is None:
        return None
    before = folded[position : fronted.start()].split()
    if not before or before[-1].strip(")]*_") in ROLES:
        return None  # "to use the", "you call a": what stands before is no noun
    return CommandHead(fronted.start(1), *fronted.span(1), _OBLIGATION)


def is_fronting_prelude(folded: str, end: int) -> bool:
    """Say whether a command may follow the next comma: "First, ...", "then, if it fails, ...", "instead of"."""
    following = read_word(folded, end)
    if following is None:
        return folded.startswith(",", end)
    return following[1] == "of" or ROLES.get(following[1]) is WordRole.FRONTING


def can_be_base_verb(word: str) -> bool:
    """Say whether a word can be a verb in its base form, by class when listed, else by its ending."""
    role = ROLES.get(word)
    if role is not None:
        return role <= _NOUNISH or word in ("see", "own")
    if word[0] == MASK or word.endswith(("ing", "ed", "ly", "n't", "'s", "'ll", "'re")):
        return False
    return not word.endswith("s") or word.endswith("ss")


def find_segment_end(folded: str, start: int, reach_characters: int = _LOOK_AHEAD_CHARACTERS) -> int:
    """Return where the segment around an offset ends, at most `reach_characters` further on."""
    limit = min(len(folded), start + reach_characters)
    end = _SEGMENT_END.search(folded, start, limit)
    return limit if end is None else end.start()


def _read_statement(folded: str, cue_start: int, position: int, word: str) -> CommandHead | None:
    """Return the rule in a clause that opens with "you", "your" or "no"."""
    if word == "no":
        if _is_ban_fragment(folded, position + len(word)):
            return CommandHead(cue_start, position, position + len(word), _PROHIBITION)
        return None
    identity = _IDENTITY.match(folded, position)
    if identity is None:
        return None
    banned = "never" in identity[0] or " not " in identity[0]
    return CommandHead(cue_start, identity.end(), identity.end(), _PROHIBITION if banned else _OBLIGATION)


def _commands(folded: str, word: str, role: WordRole | None, end: int, place: Place, *, listed: bool) -> bool:
    """Say whether a clause-initial word is an imperative, judged by its class and what follows it."""
    following = read_word(folded, end)
    if following is None:
        # "Stop.", "When in doubt, ask." and "Before release, ensure:" command; ": read, write" is a list.
        is_last = place is _FRONTED and (end == len(folded) or folded[end] in ".!")
        return role is _COMMAND and (place is _SENTENCE or is_last or folded.startswith(":", end))
    after = following[1]
    if after in NOUN_FOLLOWERS:
        return after == "by" and word not in PARTICIPLES_TOO
    if role is _COMMAND:
        if after in INVERTED_SUBJECTS and word in INVERTING_VERBS:
            return False
        if after[-1] == "s" and word in NAMING_TOO and after not in OBJECT_OPENERS:
            return _is_verbless(folded, end)
        return place is _SENTENCE or after not in ("and", "or")
    if role is _NOUNISH:
        if after in OBJECT_OPENERS or after[0] == MASK or "[" in following[0]:
            return True
        if (place is _CLAUSE or listed) and after not in PARTICLES:
            return False
        if word == "default" or after.endswith(
            "ing"
        ):  # "default values", "prompt engineering"; "default to" stays
            return after == "to" or after == "using"
        reach_characters = _SHORT_LOOK_AHEAD_CHARACTERS if place is _CLAUSE else _LOOK_AHEAD_CHARACTERS
        return _LABEL.match(folded, end) is None and _is_verbless(folded, end, reach_characters)
    # An unlisted word commands when a determiner follows: "Frobnicate the index".
    return (
        place in (_SENTENCE, _FRONTED) and role is None and after in OBJECT_OPENERS and can_be_base_verb(word)
    )


def _is_verbless(folded: str, start: int, reach_characters: int = _LOOK_AHEAD_CHARACTERS) -> bool:
    for finite in _FINITE.finditer(folded, start, find_segment_end(folded, start, reach_characters)):
        if finite[1] is not None:
            return True
        if finite[2] is None:
            return False
    return True


def _is_ban_fragment(folded: str, end: int) -> bool:
    """Say whether "no ..." is a fragment that forbids ("No force pushes."), not a statement."""
    words = folded[end : find_segment_end(folded, end)].split(maxsplit=_BAN_FRAGMENT_MAX_WORDS + 1)
    if not words or len(words) > _BAN_FRAGMENT_MAX_WORDS or words[0].strip(",") in _NO_BAN:
        return False
    if folded[end] == "," or words[-1] in ("needed", "required", "necessary"):
        return False
    return _is_verbless(folded, end)
