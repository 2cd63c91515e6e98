"""What a text claims that can be replaced: its standing statements, each as subject, attributes, values and force.

Questions, lists, readings and log lines claim nothing (memory-model.md section 7). Reading is structural: no model.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Final

from models.domain.text.sentences import split_sentences
from models.domain.updates.patterns import (
    ANSWER,
    CHANGE,
    CLAUSE,
    CLOCK,
    CONTRACTION,
    COUNTED,
    DENIAL,
    ENDINGS,
    EVENT,
    HEDGE,
    HINT,
    IDIOM,
    IDLE,
    IMPERATIVES,
    LABELLED,
    LIFTED,
    LIST,
    LOG,
    MOOD,
    NAME,
    NEWS,
    NOT_UNITS,
    NUMBER_WORDS,
    OPENER,
    OWN,
    PEOPLE,
    PLACED,
    QUESTION,
    REVOKED,
    SLOT,
    SLOT_IDLE,
    STANDING,
    STEP,
    TOTAL,
    VERBS,
    WISH,
    WORD,
    YOURS,
)

MAX_CLAIMS: Final = 8  # of one text
MAX_READ_CHARS: Final = 20_000  # what nobody reads to the end states no standing fact there
MAX_SENTENCES: Final = 40
MAX_CHARS: Final = 320  # of a sentence
MIN_CLAUSE_WORDS: Final = 3  # before a colon: fewer are a label
MIN_WORDS: Final = 2
DOUBLING: Final = ("ing", "ed")  # "run", "running"
DOUBLED: Final = frozenset("bdgmnprt")
MAX_SHORT_WORDS: Final = 14
MIN_WORDS_BEFORE: Final = 5  # a question
MOST_DIGITS_SHARE: Final = 0.2  # of the characters: more is a table, a log or a formula


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence as it is compared with others of the same speaker."""

    text: str
    words: frozenset[str]  # stems of its telling words
    subjects: frozenset[
        str
    ]  # stems of what its clauses are about; "i" for the speaker, "you" for an instruction
    names: frozenset[str]  # proper names, folded
    attributes: frozenset[str]
    values: tuple[tuple[str, frozenset[str]], ...]  # attribute → the values of it that are named
    numbers: tuple[
        tuple[str, frozenset[str]], ...
    ]  # value, and the words it may count: "15 crash course videos"
    revoked: frozenset[str]  # stems of what it says is over: "no longer …", "instead of …", "… is fine"
    is_denied: bool
    has_change: bool  # it says itself that something changed
    has_hint: bool  # it says so perhaps: "now", "new"
    is_mood: bool  # how somebody feels
    is_placed: bool  # it says where something is
    people: frozenset[str]  # whom it is about, by kinship or part
    is_short: bool  # it says one thing
    is_event: bool  # it tells what happened once
    is_wish: bool  # an instruction
    is_own: bool  # it speaks of the speaker or what is theirs
    is_answer: bool  # "it's …": its subject was named before
    is_hedged: bool  # it only considers: "maybe", "I'm thinking of"
    is_total: bool  # it counts what is so by now: "so far", "that makes four"
    is_lifted: bool  # it allows again, or says that something is fine
    is_standing: bool  # it says what is so, and not what was
    slots: tuple[tuple[str, frozenset[str]], ...]  # "my manager" → who it is


@lru_cache(maxsize=1)
def load_attributes() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[tuple[str, str]]]]:
    """What a word says: the attributes it names, and the values (attribute, folded value) it is."""
    names: dict[str, set[str]] = {}
    values: dict[str, set[tuple[str, str]]] = {}
    for line in (
        files("models.domain.updates").joinpath("attributes.tsv").read_text(encoding="utf-8").splitlines()
    ):
        if line.startswith("#") or not line.strip():
            continue
        attribute, kind, words = line.split("\t")
        for word in words.split():
            if kind == "=":
                values.setdefault(word, set()).add((attribute, strip_ending(word)))
            names.setdefault(word, set()).add(attribute)
    return (
        {word: frozenset(found) for word, found in names.items()},
        {word: frozenset(found) for word, found in values.items()},
    )


@lru_cache(maxsize=1)
def _phrases() -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple(
        (word.replace("_", " "), found) for word, found in load_attributes()[0].items() if "_" in word
    )


def read_claims(text: str) -> tuple[Claim, ...]:
    """The claims of a text, in order, the first MAX_CLAIMS.

    >>> [claim.text for claim in read_claims("I live in Rome. Is it warm there?\\n- 2 eggs")]
    ['I live in Rome.']
    """
    return tuple(islice(_list_claims(text[:MAX_READ_CHARS]), MAX_CLAIMS))


@lru_cache(maxsize=4096)
def read_statement(sentence: str) -> Claim:
    """One sentence that is known to state something, as a claim; of a longer one, its start."""
    return _read_claim(sentence[:MAX_CHARS])


def _list_claims(text: str) -> Iterator[Claim]:
    for line in text.splitlines():
        if LIST.match(line):
            continue
        for whole in split_sentences(line)[:MAX_SENTENCES]:
            sentence = _cut_question(whole)
            if is_claim(sentence):
                claim = read_statement(sentence)
                if _can_count(claim):
                    yield claim


def _can_count(claim: Claim) -> bool:
    """Whether a claim can replace or be replaced: how somebody feels about nothing in particular cannot."""
    if not claim.words:
        return False
    if claim.is_wish or claim.numbers or claim.values or claim.slots or claim.has_change or claim.revoked:
        return True
    is_said = claim.is_standing or claim.has_hint
    return is_said and not claim.is_mood and (claim.is_short or not claim.is_hedged)


def _cut_question(sentence: str) -> str:
    """A sentence without the question it ends in: "I've had it for 6 months - do you have any tips?"."""
    if len(sentence) > 2 * MAX_CHARS or not sentence.rstrip("\"' )”").endswith("?"):
        return sentence
    match = QUESTION.match(sentence)
    return (
        match["before"]
        if match is not None and len(match["before"].split()) >= MIN_WORDS_BEFORE
        else sentence
    )


def is_claim(sentence: str) -> bool:
    """Whether a sentence may state something that holds: no question, list, reading, line of a log or next step."""
    if len(sentence) > MAX_CHARS or sentence.rstrip("\"' )”").endswith(("?", ":")):
        return False
    if LOG.search(sentence) or _is_labelled(sentence):
        return False
    digits = sum(character.isdigit() for character in sentence)
    if digits > max(8, MOST_DIGITS_SHARE * len(sentence)):
        return False
    plain = _fold(sentence)
    words = plain.split()
    if len(words) < MIN_WORDS or STEP.match(plain):
        return False
    is_own = OWN.search(plain) is not None
    is_wish = WISH.match(plain) is not None or words[0] in IMPERATIVES
    return is_own or is_wish or YOURS.search(plain) is None


def _is_labelled(sentence: str) -> bool:
    """Whether a sentence is a line under a label, as notes and readings are."""
    match = LABELLED.match(sentence)
    if match is None:
        return False
    label = match["label"].lower()
    words = label.split()
    return not (NEWS.match(label) or (len(words) >= MIN_CLAUSE_WORDS and VERBS & set(words)))


def _read_claim(sentence: str) -> Claim:
    bare = OPENER.sub("", sentence) or sentence
    plain = _fold(sentence)
    folded = _fold(bare)
    tokens = WORD.findall(plain)
    names_of, values_of = load_attributes()
    attributes: set[str] = set()
    values: dict[str, set[str]] = {}
    for phrase, found in _phrases():
        if phrase in plain:
            attributes |= found
    for token in tokens:
        attributes |= names_of.get(token, frozenset())
        for attribute, value in values_of.get(token, ()):
            values.setdefault(attribute, set()).add(value)
    first = folded.split(" ", 1)[0] if folded else ""
    is_wish = WISH.match(folded) is not None or WISH.match(plain) is not None or first in IMPERATIVES
    return Claim(
        text=sentence,
        words=frozenset(
            strip_ending(token)
            for token in tokens
            if token not in IDLE and not token[0].isdigit() and token not in NUMBER_WORDS
        ),
        subjects=frozenset(_find_subjects(folded, is_wish=is_wish)),
        names=frozenset(
            name.lower() for name in NAME.findall(bare) if name.lower() not in IDLE and name != "I"
        ),
        attributes=frozenset(attributes),
        values=tuple(sorted((attribute, frozenset(found)) for attribute, found in values.items())),
        numbers=tuple(_read_numbers(plain)),
        revoked=frozenset(_find_revoked(plain)),
        is_denied=DENIAL.search(IDIOM.sub(" ", plain)) is not None,
        has_change=CHANGE.search(plain) is not None,
        has_hint=HINT.search(plain) is not None,
        is_mood=MOOD.search(plain) is not None,
        is_placed=PLACED.search(plain) is not None,
        people=frozenset(_find_people(folded)),
        is_short=len(tokens) <= MAX_SHORT_WORDS,
        is_event=EVENT.search(plain) is not None,
        is_wish=is_wish,
        is_own=OWN.search(plain) is not None,
        is_answer=ANSWER.match(folded) is not None,
        is_hedged=HEDGE.search(plain) is not None,
        is_total=TOTAL.search(plain) is not None,
        is_lifted=LIFTED.search(plain) is not None,
        is_standing=STANDING.search(plain) is not None,
        slots=tuple(_read_slots(plain, bare)),
    )


def _read_slots(plain: str, original: str) -> Iterator[tuple[str, frozenset[str]]]:
    """What is said to be what, where the value is a name, a known value or a number: moods and looks come and go."""
    _, values_of = load_attributes()
    for match in SLOT.finditer(plain):
        if match["naming"]:
            yield match["naming"], frozenset(WORD.findall(match["name"]))
            continue
        words = WORD.findall(match["value"])
        names = {name.lower() for name in NAME.findall(original)}
        if (
            any(word in names or word in values_of or word[0].isdigit() for word in words)
            or "favo" in match["slot"]
        ):
            slot = " ".join(strip_ending(word) for word in match["slot"].split() if word not in SLOT_IDLE)
            if slot:
                yield slot, frozenset(strip_ending(word) for word in words if word not in IDLE)


def _find_subjects(folded: str, *, is_wish: bool) -> Iterator[str]:
    """The stems of the last word before the first verb of each clause: "my yoga class is" gives "class"."""
    if is_wish:
        yield "you"
    for clause in CLAUSE.split(folded):
        before: list[str] = []
        for token in CONTRACTION.sub(r" \g<0>", clause).split():
            word = token.strip('.,!"()')
            if word in {"i", "we"}:
                yield "i"
                break
            if word in VERBS:
                heads = [one for one in before if one and one not in IDLE | {"a", "an", "the"}]
                if {"i", "we"} & set(before[-3:]):
                    yield "i"
                elif heads:
                    yield strip_ending(heads[-1])
                break
            before.append(word)
            if len(before) > 8:
                break


def _find_people(folded: str) -> Iterator[str]:
    """Those who are the subject of a clause: "my sister Ana lives" gives "sister"."""
    for clause in CLAUSE.split(folded):
        for token in CONTRACTION.sub(r" \g<0>", clause).split():
            word = token.strip('.,!"()')
            if word in PEOPLE:
                yield strip_ending(word)
            if word in VERBS:
                break


def _find_revoked(plain: str) -> Iterator[str]:
    for match in REVOKED.finditer(plain):
        for token in WORD.findall(match["after"] or match["ended"] or match["before"] or ""):
            if token not in IDLE:
                yield strip_ending(token)


def _read_numbers(plain: str) -> Iterator[tuple[str, frozenset[str]]]:
    for match in COUNTED.finditer(plain):
        value = match["value"]
        value = NUMBER_WORDS.get(value, value.replace(",", ""))
        front = match["front"] or ""
        if match["money"] or match["money_after"]:
            yield value, frozenset({"money"})
        elif (
            CLOCK.fullmatch(value)
            or match["half"]
            or front == "half past"
            or (front == "at" and value.isdigit() and int(value) <= 24)
        ):
            yield f"{value}{':30' if front == 'half past' else ''}", frozenset({"clock"})
        elif front and front != "at":
            yield value, frozenset({strip_ending(front)})
        else:
            # "A 7-day road trip": days are counted, no trips.
            counted = match["units"].split(" ")[0] if match["units"].startswith("-") else match["units"]
            words = (strip_ending(word) for word in re.split(r"[- ]", counted) if word not in NOT_UNITS)
            yield value, frozenset(word for word in words if word)


def _fold(sentence: str) -> str:
    return sentence.lower().replace("’", "'").strip()


def strip_ending(word: str) -> str:
    """A word without its ending, so that "coins" is "coin"; no stemmer, both sides lose the same.

    >>> strip_ending("coins"), strip_ending("running"), strip_ending("calls"), strip_ending("is")
    ('coin', 'run', 'call', 'is')
    """
    word = word.removesuffix("'s")
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word.removesuffix(ending)
            is_doubled = ending in DOUBLING and stem[-1] == stem[-2] and stem[-1] in DOUBLED
            return stem[:-1] if is_doubled and len(stem) > 3 else stem
    return word
