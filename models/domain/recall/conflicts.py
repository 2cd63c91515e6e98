"""Which of two statements about the same matter still holds: the newer one. The older is marked and kept (section 7).

Deterministic and narrow: a statement fills slots ("my rent is …", "I live in …", "… euros", "not …"), and two
statements of one speaker conflict where they fill one slot differently. What only happened twice ("I went to Rome",
"I went to Oslo") fills no slot.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from models.domain.text.sentences import split_sentences
from models.domain.text.terms import STOP_WORDS

MAX_SENTENCES: Final = 24  # of one text: what nobody reads to the end states no standing fact there
MAX_SENTENCE_CHARS: Final = 400
MIN_SHARED_WORDS: Final = 2  # beside the value and its unit: both must speak of the same matter
MIN_SHARED_SHARE: Final = 0.4  # of the words of the shorter sentence
SAME_FRAME_SHARE: Final = 0.75  # of four words or more, all of fewer: then "not" alone makes the difference
MIN_FRAME_WORDS: Final = 2


class Statement(NamedTuple):
    """Something said: by whom, when (seconds since 1970), in which words."""

    speaker: str
    said_at: float
    text: str


class _Claim(NamedTuple):
    """A sentence as it is compared: its telling words, what it states by slot, and whether it denies."""

    words: frozenset[str]
    numbers: dict[str, str]  # unit → value
    facts: dict[str, str]  # "my rent", "i live in" → value
    is_denied: bool


_NUMBER_LIST: Final = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty
"""
_ORDINAL_LIST: Final = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth"
_NUMBER_WORDS: Final = {
    word: str(number) for words in (_NUMBER_LIST, _ORDINAL_LIST) for number, word in enumerate(words.split())
}
_WEEKDAYS: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_VALUE: Final = rf"\d[\d.,:/]*(?<=\d)(?:st|nd|rd|th)?|{'|'.join(_NUMBER_WORDS)}"
# A number and what it counts; a clock time and a weekday count themselves.
_COUNTED: Final = re.compile(
    rf"(?P<money>[$€£])?\b(?P<value>{_VALUE})\b(?:[- ]?(?P<unit>[a-z]+))?"
    rf"|\b(?P<weekday>{_WEEKDAYS})s\b|\bevery (?P<each>{_WEEKDAYS})\b"
)
_CLOCK: Final = re.compile(r"\d{1,2}:\d\d")
_HALVES: Final = frozenset({"am", "pm"})
_NOT_UNITS: Final = STOP_WORDS | {"of", "more", "less", "other", "different", "new", "to", "times", "time"}
_LATELY: Final = r"(?:now |currently |still |actually |really |just |mostly |usually )*"
# Standing facts: "my … is …", "I live in …". Verbs of events are left out on purpose.
_FACTS: Final = (
    re.compile(
        rf"\b(?P<slot>(?:my|our) (?:[a-z'-]+ ){{1,4}}?)(?:is|are) {_LATELY}"
        r"(?:called |named |at |in |on |a |an |the )*"
        r"(?P<value>(?!about |also |so |very |that |to |not |my |our )[^,.;!?]{1,40})(?=[,.;!?]|$)"
    ),
    re.compile(
        rf"\b(?:i|we) {_LATELY}(?P<slot>live in|live at|work at|work for|work as|study at|drive|weigh|bank with"
        r"|am allergic to|am married to|am based in|keep [a-z ]{1,30}?(?= (?:in|on|under|at) ))"
        r" (?P<value>[^,.;!?]{1,40})(?=[,.;!?]|$)"
    ),
)
# What happened once may happen again with another number: it replaces nothing.
_EVENT: Final = re.compile(
    r"\b(?:last|ago|yesterday|tonight|spent|took|this (?:week|month|year|morning|weekend)|the other day)\b"
)
_DENIAL: Final = re.compile(r"\b(?:not|never|no longer|stopped|quit|gave up|cannot|[a-z]{2,8}n't)\b")
# Said to somebody about them ("Follow your dreams and don't quit!"), it states nothing of the speaker.
_YOURS: Final = re.compile(r"\byou(?:rs?|'re)?\b")
_MINE: Final = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b")
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|\d[\d.,:/]*(?<=\d)")
_ENDINGS: Final = ("ing", "ed", "es", "s")
_IDLE_LIST: Final = """
    not never no longer stopped quit gave cannot can't don't doesn't didn't won't isn't aren't anymore way really actually
    been recently lately currently now still it's that's it'll definitely absolutely totally certainly sure yeah thanks
"""
_IDLE: Final = STOP_WORDS | _NUMBER_WORDS.keys() | frozenset(_IDLE_LIST.split())
_DENIED: Final = "(denied)"
_STATED: Final = "(stated)"


def find_superseded(statements: Sequence[Statement]) -> dict[int, int]:
    """Which statements a newer one of the same speaker replaces: {place of the older: place of the newest such}.

    >>> said = ["My rent for the flat is 900 euros", "My rent for the flat is 950 euros", "I went to Rome"]
    >>> find_superseded([Statement("ann", day, text) for day, text in enumerate(said)])
    {0: 1}
    """
    replaced: dict[int, int] = {}
    for first, second in _find_conflicts(statements):
        older, newer = sorted((first, second), key=lambda place: statements[place].said_at)
        if statements[older].said_at == statements[newer].said_at:
            continue  # said in one breath: neither is the newer
        known = replaced.get(older)
        if known is None or statements[newer].said_at > statements[known].said_at:
            replaced[older] = newer
    return dict(sorted(replaced.items()))


def _find_conflicts(statements: Sequence[Statement]) -> Iterator[tuple[int, int]]:
    """Pairs of places. Only claims that fill the same slot are compared, and denials with what they may deny."""
    slots: dict[tuple[str, str], list[tuple[int, _Claim]]] = {}
    for place, statement in enumerate(statements):
        for claim in _read_claims(statement.text):
            for slot in (*claim.facts, *claim.numbers, _DENIED if claim.is_denied else _STATED):
                others = slots.setdefault((statement.speaker, slot), [])
                if slot not in {_DENIED, _STATED}:
                    yield from (
                        (other, place) for other, known in others if other != place and _differ(known, claim)
                    )
                others.append((place, claim))
    for (speaker, slot), denials in slots.items():
        if slot == _DENIED:
            for place, denial in denials:
                for other, claim in slots.get((speaker, _STATED), ()):
                    if other != place and _deny(denial, claim):
                        yield place, other


@lru_cache(maxsize=4096)  # what one question recalls the next one often recalls too
def _read_claims(text: str) -> tuple[_Claim, ...]:
    return tuple(_list_claims(text))


def _list_claims(text: str) -> Iterator[_Claim]:
    for sentence in split_sentences(text)[:MAX_SENTENCES]:
        if len(sentence) > MAX_SENTENCE_CHARS or sentence.rstrip().endswith("?"):
            continue
        plain = sentence.lower().replace("’", "'")
        if _YOURS.search(plain) is not None and _MINE.search(plain) is None:
            continue
        numbers = {} if _EVENT.search(plain) else dict(_read_numbers(plain))
        facts = {
            _fold(match["slot"]): _fold(match["value"])
            for pattern in _FACTS
            for match in pattern.finditer(plain)
        }
        words = frozenset(
            _strip(word) for word in _WORD.findall(plain) if word not in _IDLE and not word[0].isdigit()
        )
        yield _Claim(words, numbers, facts, _DENIAL.search(plain) is not None)


def _read_numbers(plain: str) -> Iterator[tuple[str, str]]:
    for match in _COUNTED.finditer(plain):
        if weekday := match["weekday"] or match["each"]:
            yield "weekday", weekday
            continue
        value, unit = match["value"], match["unit"] or ""
        value = _NUMBER_WORDS.get(value, value.rstrip("stndrh"))
        if match["money"]:
            yield "money", value
        elif _CLOCK.fullmatch(value) or unit in _HALVES:
            yield "clock", value
        elif unit and unit not in _NOT_UNITS:
            yield _strip(unit), value


def _differ(one: _Claim, other: _Claim) -> bool:
    """Whether both fill one slot, and differently."""
    if any(value != other.facts[slot] for slot, value in one.facts.items() if slot in other.facts):
        return True
    shared = one.words & other.words
    wanted = max(MIN_SHARED_WORDS, MIN_SHARED_SHARE * min(len(one.words), len(other.words)))
    return any(
        other.numbers.get(unit, value) != value and len(shared - {unit}) >= wanted
        for unit, value in one.numbers.items()
    )


def _deny(denial: _Claim, claim: _Claim) -> bool:
    """Whether the two say the same but for the denial."""
    larger = max(len(denial.words), len(claim.words))
    return larger >= MIN_FRAME_WORDS and len(denial.words & claim.words) >= SAME_FRAME_SHARE * larger


def put_newer_first(order: Sequence[str], superseded: Mapping[str, str]) -> tuple[str, ...]:
    """The ranked ids, each newer statement before the older one it replaces: it takes the better of the two places.

    >>> put_newer_first(("old", "other", "new"), {"old": "new"})
    ('new', 'old', 'other')
    """
    placed: dict[str, None] = {}
    for key in order:
        if key in superseded:
            placed.setdefault(superseded[key])
        placed.setdefault(key)
    return tuple(placed)


def _fold(words: str) -> str:
    return " ".join(_strip(word) for word in _WORD.findall(words) if word not in {"a", "an", "the"})


def _strip(word: str) -> str:
    """A word without its ending, so that "coins" is "coin"; no stemmer, both sides lose the same.

    >>> _strip("coins"), _strip("running"), _strip("is")
    ('coin', 'runn', 'is')
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
