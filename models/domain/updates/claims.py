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

from models.domain.updates.frames import (
    ADDED,
    DONE,
    PLANNED,
    Kept,
    Led,
    Taste,
    find_clause,
    read_conditions,
    read_kept,
    read_led,
    read_openings,
    read_plans,
    read_rates,
    read_tastes,
)
from models.domain.updates.patterns import (
    ANSWER,
    CHANGE,
    CLAUSE,
    CLOCK,
    COMPOSITE,
    CONTRACTION,
    COUNTED,
    DENIAL,
    EVENT,
    HEDGE,
    HINT,
    IDIOM,
    IDLE,
    IMPERATIVES,
    LATER_WISH,
    LIFTED,
    MONTH,
    MONTH_BEFORE,
    MOOD,
    NAME,
    NOT_UNITS,
    NUMBER_WORDS,
    ONE_OF,
    OPENER,
    OWN,
    PEOPLE,
    PLACED,
    REVOKED,
    ROLE,
    SLOT,
    SLOT_IDLE,
    STANDING,
    TOTAL,
    VERBS,
    WISH,
    WORD,
)
from models.domain.updates.sentences import MAX_CHARS, fold, list_sentences
from models.domain.updates.stems import strip_ending

MAX_CLAIMS: Final = 8  # of one text
MAX_READ_CHARS: Final = 20_000  # what nobody reads to the end states no standing fact there
MAX_SHORT_WORDS: Final = 14


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
    is_partly_firm: bool  # a clause of it says what is so, whatever the rest considers
    is_total: bool  # it counts what is so by now: "so far", "that makes four"
    is_lifted: bool  # it allows again, or says that something is fine
    is_standing: bool  # it says what is so, and not what was
    slots: tuple[tuple[str, frozenset[str]], ...]  # "my manager" → who it is
    firm: frozenset[str]  # values of numbers that a clause of their own says outright: "…, which is at six"
    rates: tuple[float, ...]  # how often a week
    tastes: tuple[Taste, ...]
    kept: tuple[Kept, ...]
    led: tuple[Led, ...]
    openings: tuple[tuple[str, ...], ...]  # its clauses, word by word
    planned: frozenset[str]  # names of what it means to do
    done: frozenset[str]  # and of what it says is done
    conditions: frozenset[str]  # stems of when and for what a wish is meant
    is_added: bool  # it says that it comes beside something else: "also", "another"


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
    for sentence in list_sentences(text):
        claim = read_statement(sentence)
        if _can_count(claim):
            yield claim


def _can_count(claim: Claim) -> bool:
    """Whether a claim can replace or be replaced: how somebody feels about nothing in particular cannot."""
    if not claim.words:
        return False
    if claim.is_wish or claim.numbers or claim.values or claim.slots or claim.has_change or claim.revoked:
        return True
    if claim.rates or claim.tastes or claim.kept or claim.planned or claim.done:
        return True
    is_said = claim.is_standing or claim.has_hint
    return is_said and not claim.is_mood and (claim.is_short or not claim.is_hedged or claim.is_partly_firm)


def _read_claim(sentence: str) -> Claim:
    bare = OPENER.sub("", sentence) or sentence
    plain = fold(sentence)
    folded = fold(bare)
    tokens = WORD.findall(plain)
    names_of, values_of = load_attributes()
    attributes: set[str] = set()
    values: dict[str, set[str]] = {}
    for phrase, found in _phrases():
        if phrase in plain:
            attributes |= found
    if ROLE.search(plain):
        attributes.add("employer")
    for token in tokens:
        attributes |= names_of.get(token, frozenset())
        for attribute, value in values_of.get(token, ()):
            values.setdefault(attribute, set()).add(value)
    first = folded.split(" ", 1)[0] if folded else ""
    is_wish = WISH.match(folded) is not None or WISH.match(plain) is not None or first in IMPERATIVES
    is_wish = is_wish or LATER_WISH.search(plain) is not None
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
        is_partly_firm=any(map(_is_firm, CLAUSE.split(plain))),
        is_total=TOTAL.search(plain) is not None,
        is_lifted=LIFTED.search(plain) is not None,
        is_standing=STANDING.search(plain) is not None,
        slots=tuple(_read_slots(plain, bare)),
        firm=frozenset(_find_firm(plain)),
        rates=tuple(read_rates(plain)),
        tastes=tuple(read_tastes(plain)),
        kept=tuple(read_kept(plain)),
        led=tuple(read_led(plain)),
        openings=tuple(read_openings(plain)),
        planned=frozenset(read_plans(sentence, PLANNED)),
        done=frozenset(read_plans(sentence, DONE)),
        conditions=read_conditions(plain) if is_wish else frozenset(),
        is_added=ADDED.search(plain) is not None,
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
    """What is said to be over, and not also named as what is: "decaf coffee instead of filter coffee"."""
    for match in REVOKED.finditer(plain):
        start, end = next(match.span(name) for name in ("after", "ended", "before") if match[name])
        kept = {strip_ending(token) for token in WORD.findall(f"{plain[:start]} {plain[end:]}")}
        for token in WORD.findall(plain[start:end]):
            if token not in IDLE and strip_ending(token) not in kept:
                yield strip_ending(token)


def _read_numbers(plain: str) -> Iterator[tuple[str, frozenset[str]]]:
    counted = COMPOSITE.sub(r"\1.\3 \2", plain)
    for match in COUNTED.finditer(counted):
        value = match["value"]
        if value == "one" and ONE_OF.match(match["units"]):
            continue  # "one of them", "one in the hills": it counts nothing
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
        elif MONTH.match(match["units"]) or MONTH_BEFORE.search(counted[: match.start("value")]):
            yield value, frozenset({"dat"})
        elif front == "page":  # page 20 is where somebody is, 20 pages are how many there are
            yield value, frozenset({"page reached"})
        elif front and front != "at":
            yield value, frozenset({strip_ending(front)})
        else:
            # "A 7-day road trip": days are counted, no trips.
            # "A 3-bedroom house", "a 2-bedroom flat": what tells one thing from another counts nothing but of its like.
            words = [
                strip_ending(word)
                for word in re.split(r"[- ]", match["units"])
                if word and word not in NOT_UNITS
            ]
            is_kind = match["units"].startswith("-")
            yield value, frozenset([" ".join(words[:2])] if is_kind and words else words)


def _is_firm(clause: str) -> bool:
    return bool(OWN.search(clause) and STANDING.search(clause)) and HEDGE.search(clause) is None


def _find_firm(plain: str) -> Iterator[str]:
    """Numbers in a clause that has a verb and no doubt, whatever the rest of the sentence considers."""
    for match in COUNTED.finditer(plain):
        clause = find_clause(plain, match.start("value"))
        if VERBS & set(clause.split()) and HEDGE.search(clause) is None:
            yield NUMBER_WORDS.get(match["value"], match["value"].replace(",", ""))
