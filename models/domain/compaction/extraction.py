"""Which sentences stand for a run of turns: an extractive summary by coverage (memory-model.md section 8).

Sentences are chosen greedily for what they add: terms that weigh much and were not said yet, and voices that
were not heard yet. Both gains shrink with every choice, so a second sentence about the same thing costs more
than it brings; identifiers, dates and numbers weigh more than words. The text keeps the order of its sources.
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from models.domain.text.anchors import DATED_KINDS, find_anchors
from models.domain.text.sentences import clip_words, split_sentences
from models.domain.text.terms import extract_mentions, query_keywords

FACT_GAIN: Final = 2.0  # a term with a digit or a sign (path, date, number) against a plain word
PRIOR_GAIN: Final = 0.3  # a term the neighbouring summaries say already: what changed matters more
VOICE_GAIN: Final = 2.0  # a passage's first sentence, against one new term
FULL_SENTENCE_TERMS: Final = 5  # a shorter sentence earns the gain of a voice in proportion
CHATTER_GAIN: Final = 0.1  # greetings, thanks and fillers
COST_POWER: Final = 0.5  # 1 would fill the room with fragments, 0 with the longest sentences
MIN_WORDS: Final = 3  # that a sentence must say, beside chatter
MIN_NEW_SHARE: Final = 0.34  # of a sentence's terms must be new, else it repeats
LONGEST_SENTENCE_SHARE: Final = 0.8  # of the room; a longer one is clipped
READ_CHARS: Final = 20_000  # of one passage; its beginning and its end
# What a sentence is worth beside its terms: when something happened and who was there answers later questions; a
# question or a compliment says little about who asks it.
DATED_WORTH: Final = 1.4
NAMED_WORTH: Final = 1.2
QUESTION_WORTH: Final = 0.5
ADDRESS_WORTH: Final = 0.6
ROLE_WEIGHT: Final[dict[str, float]] = {"user": 1.0, "assistant": 0.8, "system": 0.7, "tool": 0.4}
UNKNOWN_ROLE_WEIGHT: Final = 0.8
_CHATTER_LIST: Final = """
    absolutely agree agreed ah aha alright amazing appreciate awesome aw aww bye chat cheers congrats congratulations
    cool course definitely exactly excited exciting feel glad gonna good grateful great guess haha hello hey hi hmm hope
    important indeed inspiring keep kind kinda kudos let lol look lot lots love luck lucky maybe mean means mm nah nice no
    noted oh ok okay perfect please proud really right see something sorry sounds special stoked super sure talk thank
    thankful thanks time totally true ugh very wanna way well wonderful woohoo words wow yay yeah yep yes yo yup
"""
_CHATTER: Final = frozenset(_CHATTER_LIST.split())
_DAY: Final = re.compile(r"\[(?P<day>\d{4}-\d{2}-\d{2})\] ")  # before a line, where its day is another
# Encouragement, wishes and remarks about what the other one said: "Your story is so inspiring", "Let's catch up".
_ADDRESS: Final = re.compile(
    r"(?:(?:and|but|so|oh|wow|yeah|well|hey)[, ]{1,2})?(?:your|you(?:['’](?:re|ve|ll|d))?|let['’]?s|that['’]?s|"
    r"(?:it |that )?(?:sounds|looks)|thanks?|thank you|congrat\w*|keep|take care|good luck|hope|glad|proud of|so happy|"
    r"(?:i['’]?m |i am )?(?:so |really )?(?:happy|glad|proud|excited|sorry) (?:for|of|to hear)|have (?:a |fun)|how|what)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What somebody said, as the summariser reads it."""

    label: str  # who: a role, or a name
    text: str
    role: str = "user"
    centrality: float = 1.0  # cosine to the middle of the run, in [0, 1]; 1 when unknown
    day: str = ""  # when, as 2026-03-05: "yesterday" means nothing without it; "" when unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    place: tuple[int, int]
    text: str
    terms: frozenset[str]
    weight: float
    is_worthy: bool  # it says when, or names something
    cost: float


def extract_summary(
    passages: Sequence[Passage],
    *,
    capacity_tokens: int,
    count_tokens: Callable[[str], int],
    prior_text: str = "",
) -> str:
    """The sentences that cover most within the room, in source order, one line per voice and day; "" if none fits.

    >>> said = [Passage(label="user", text="The port is 5433. Thanks. The port is 5433, really."),
    ...         Passage(label="assistant", text="Noted.", role="assistant")]
    >>> print(extract_summary(said, capacity_tokens=12, count_tokens=lambda text: -(-len(text) // 4)))
    user: The port is 5433.
    """
    longest_chars = int(capacity_tokens * LONGEST_SENTENCE_SHARE * 4)
    sentences = _list_sentences(passages, longest_chars=longest_chars, count_tokens=count_tokens)
    weights = _weigh_terms(sentences, prior_terms=query_keywords(prior_text))
    chosen: list[_Sentence] = []
    for sentence in _choose(sentences, weights, capacity=capacity_tokens):
        # Counted whole: labels and line breaks cost too, and counts do not add up over parts.
        if count_tokens(_render(passages, [*chosen, sentence])) <= capacity_tokens:
            chosen.append(sentence)
    return _render(passages, chosen)


def clip_summary(
    passages: Sequence[Passage], *, capacity_tokens: int, count_tokens: Callable[[str], int]
) -> str:
    """The deterministic fallback: the beginning of the first passage that says something, cut to the room.

    >>> clip_summary([Passage(label="user", text="aaaa bbbb cccc dddd")], capacity_tokens=4, count_tokens=len)
    ''
    """
    for passage in passages:
        label = f"{_clean_label(passage.label)}: "
        text = " ".join(split_sentences(passage.text[:READ_CHARS]))
        for chars in (capacity_tokens * 4, capacity_tokens * 2, capacity_tokens):
            # Without its label: in a script without blanks the one behind the label is the only place to cut.
            clipped = clip_words(text, max_chars=chars - len(label))
            if clipped.strip("… ") and count_tokens(label + clipped) <= capacity_tokens:
                return label + clipped
    return ""


def parse_summary(body: str, *, footer_label: str) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """A summary's own lines as passages again, and the mentions its footer keeps.

    >>> passages, mentions = parse_summary("user: Hi.\\nAlso: a.py, b.py", footer_label="Also: ")
    >>> [(passage.label, passage.text) for passage in passages], mentions
    ([('user', 'Hi.')], ('a.py', 'b.py'))
    """
    passages: list[Passage] = []
    mentions: tuple[str, ...] = ()
    day = ""
    for line in body.splitlines():
        if line.startswith(footer_label):
            mentions = tuple(part for part in line.removeprefix(footer_label).split(", ") if part)
            continue
        if named := _DAY.match(line):
            day, line = named["day"], line[named.end() :]
        label, colon, said = line.partition(": ")
        if not colon or len(label) > 64:
            label, said = "summary", line
        role = label if label in ROLE_WEIGHT else "user"
        passages.append(Passage(label=label, text=said, role=role, day=day))
    return tuple(passages), mentions


def _list_sentences(
    passages: Sequence[Passage], *, longest_chars: int, count_tokens: Callable[[str], int]
) -> list[_Sentence]:
    found: list[_Sentence] = []
    voices = {passage.label.lower() for passage in passages}
    for index, passage in enumerate(passages):
        weight = ROLE_WEIGHT.get(passage.role, UNKNOWN_ROLE_WEIGHT) * (0.5 + 0.5 * passage.centrality)
        for number, sentence in enumerate(split_sentences(_view(passage.text))):
            text = _clean_sentence(sentence)
            clipped = clip_words(text, max_chars=longest_chars)
            worth = _measure_worth(text, voices)
            if clipped and not text.endswith(":"):  # "Here are some:" without them says nothing
                found.append(
                    _Sentence(
                        place=(index, number),
                        text=clipped,
                        terms=query_keywords(clipped),
                        weight=weight * worth,
                        is_worthy=worth > 1,
                        cost=max(count_tokens(clipped), 1) ** COST_POWER,
                    )
                )
    return found


def _clean_sentence(sentence: str) -> str:
    """A sentence without the marks that only made sense around it: bold type, a quotation cut in two.

    >>> _clean_sentence('**Tip**: "Start small.')
    'Tip: Start small.'
    """
    plain = sentence.replace("**", "").replace("__", "") if "*" in sentence or " __" in sentence else sentence
    return plain.replace('"', "").strip() if plain.count('"') % 2 else plain


def _measure_worth(sentence: str, voices: Collection[str] = ()) -> float:
    """What a sentence is worth beside its terms.

    >>> _measure_worth("We moved yesterday."), _measure_worth("You are so brave!"), _measure_worth("How so?")
    (1.4, 0.6, 0.5)

    `voices` are the speakers, in small letters: to name one of them says nothing new.
    """
    if sentence.rstrip("\"'”’)").endswith(("?", "？")):
        return QUESTION_WORTH
    worth = ADDRESS_WORTH if _ADDRESS.match(sentence) else 1.0
    if any(anchor.kind in DATED_KINDS for anchor in find_anchors(sentence)):
        worth *= DATED_WORTH
    is_named = any(mention.lower() not in voices for mention in extract_mentions(sentence))
    return worth * (NAMED_WORTH if is_named else 1.0)


def _view(text: str) -> str:
    if len(text) <= READ_CHARS:
        return text
    half = READ_CHARS // 2
    return f"{text[:half]}\n{text[-half:]}"


def _weigh_terms(sentences: Sequence[_Sentence], *, prior_terms: Collection[str]) -> dict[str, float]:
    """1 + log of the passages that hold a term; more for facts, less for what was said before."""
    held = {(sentence.place[0], term) for sentence in sentences for term in sentence.terms}
    spread = Counter(term for _, term in held)
    return {
        term: (1 + math.log(count))
        * (FACT_GAIN if _is_fact(term) else 1.0)
        * (PRIOR_GAIN if term in prior_terms else 1.0)
        * (CHATTER_GAIN if term in _CHATTER else 1.0)
        for term, count in spread.items()
    }


def _is_fact(term: str) -> bool:
    return any(character.isdigit() or character in "._/-:#@" for character in term)


def _choose(sentences: Sequence[_Sentence], weights: dict[str, float], *, capacity: int) -> list[_Sentence]:
    """Best gain for its cost first. Gains only shrink, so a stale gain is an upper bound (lazy greedy)."""
    said: set[str] = set()
    heard: Counter[int] = Counter()
    room = float(capacity)

    def gain(sentence: _Sentence) -> float:
        new = sum(weights.get(term, 1.0) for term in sentence.terms if term not in said)
        substance = sum(term not in _CHATTER for term in sentence.terms)
        voice = VOICE_GAIN * min(substance / FULL_SENTENCE_TERMS, 1.0) / (1 + heard[sentence.place[0]])
        return sentence.weight * (new + voice) / sentence.cost

    queue = [
        (-gain(sentence), sentence.place, sentence) for sentence in sentences if _says_something(sentence)
    ]
    heapq.heapify(queue)
    chosen: list[_Sentence] = []
    while queue and room > 0:
        _, place, sentence = heapq.heappop(queue)
        if sum(term not in said for term in sentence.terms) < MIN_NEW_SHARE * len(sentence.terms):
            continue
        fresh = -gain(sentence)
        if queue and fresh > queue[0][0]:
            heapq.heappush(queue, (fresh, place, sentence))
            continue
        cost = sentence.cost ** (1 / COST_POWER)
        if cost > room:
            continue  # it does not fit; a shorter one may
        chosen.append(sentence)
        said |= sentence.terms
        heard[place[0]] += 1
        room -= cost
    return chosen


def _says_something(sentence: _Sentence) -> bool:
    """Whether more than chatter is left: three words, two with a date or a name, or one fact; "100%" alone is none."""
    substance = sentence.terms - _CHATTER
    words = sum(any(character.isalpha() for character in term) for term in substance)
    enough = MIN_WORDS - 1 if sentence.is_worthy else MIN_WORDS
    return words >= enough or any(_is_fact(term) and len(term) > MIN_WORDS for term in substance)


def _render(passages: Sequence[Passage], chosen: Sequence[_Sentence]) -> str:
    """One line per voice and day: neighbouring sentences of the same label share it; a new day is named once."""
    lines: list[tuple[str, str, list[str]]] = []
    for sentence in sorted(chosen, key=lambda one: one.place):
        passage = passages[sentence.place[0]]
        label = _clean_label(passage.label)
        if lines and lines[-1][:2] == (passage.day, label):
            lines[-1][2].append(sentence.text)
        else:
            lines.append((passage.day, label, [sentence.text]))
    before = [""] + [day for day, _, _ in lines]
    return "\n".join(
        f"{f'[{day}] ' if day and day != last else ''}{label}: {' '.join(texts)}"
        for last, (day, label, texts) in zip(before, lines, strict=False)
    )


def _clean_label(label: str) -> str:
    """A label that cannot be taken for a border: one line, no colon."""
    return " ".join(label.replace(":", " ").split())[:64] or "unknown"
