"""Quotes: the passages of a long turn that match a question, word for word, every cut marked (memory-model.md section 7).

A turn is quoted where the whole would take the room of other evidence. The turn itself stays as it is in the store.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

CUT: Final = "[…]"
QUOTED_SHARE: Final = 0.12  # of the budget that one recalled turn may cost whole; a longer one is quoted
LEAST_QUOTED_TOKENS: Final = 100  # a turn that costs less is never cut
BEST_SHARE: Final = 0.25  # of the best match
ANSWER_SHARE: Final = (
    0.75  # of the best answers, where the question is about what the assistant said: lists are wanted whole
)
BEST_ANSWERS: Final = 4
LEAD_WEIGHT: Final = 0.3  # of the first sentence, which says what a turn is about
NEAR_SHARE: Final = 0.4  # of its weight that a sentence lends to the ones beside it
_MOST_SENTENCES: Final = 400
_MOST_CHARS: Final = 60_000  # of a turn that are looked through
_LONGEST_OPEN: Final = 12
_SENTENCE: Final = re.compile(r"[^\s](?:[^\n.!?。！？]|[.!?](?=\S))*[.!?。！？]*[\"'”’)\]]*")
_OPEN: Final = re.compile(
    r"(?:^|\s|\()(?:\W{0,4}\d{1,3}|[A-Z]|Mr|Mrs|Ms|Dr|St|Prof|vs|etc|e\.g|i\.e|No)\.$|^\W+$"
)
_HEADING: Final = re.compile(r"[#*_\s\d.)-]*[^\n]{0,80}:[*_\s]*$|#+ [^\n]*$|\*\*[^*\n]{1,80}\*\*$")
_WORD: Final = re.compile(r"[^\W_]+")
_STEM_CHARS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a prompt says of a long turn."""

    text: str  # verbatim passages with CUT between them
    chars: int  # of the turn that are in it


def find_sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end; a line is a border.

    >>> said = "It is 3.5 km. Far, Dr. Roth!\\n1. yes"
    >>> [said[start:end] for start, end in find_sentences(said)]
    ['It is 3.5 km.', 'Far, Dr. Roth!', '1. yes']
    """
    spans: list[tuple[int, int]] = []
    for match in _SENTENCE.finditer(text, 0, _MOST_CHARS):
        start, end = match.span()
        if spans and _ends_open(text, spans[-1], start):
            start = spans.pop()[0]
        spans.append((start, end))
        if len(spans) == _MOST_SENTENCES:
            break
    return spans


def _ends_open(text: str, span: tuple[int, int], following: int) -> bool:
    """Whether a piece ends no sentence, and what follows on its line belongs to it: "1.", "Dr."."""
    ending = text[max(span[0], span[1] - _LONGEST_OPEN) : span[1]]
    return "\n" not in text[span[1] : following] and _OPEN.search(ending) is not None


def quote_passages(text: str, keywords: Collection[str], *, max_chars: int) -> Quote | None:
    """The sentences that hold words of the question and those beside them, up to `max_chars`; None where nothing is cut.

    A word that many sentences hold weighs less. Without a match it is the beginning that is quoted.

    >>> said = "We talked. Rain fell all day. Then we ate. My dentist is Ann Roth of Bonn. Later we slept. It was late."
    >>> quote_passages(said, {"dentist"}, max_chars=60).text
    'We talked. […] Then we ate. My dentist is Ann Roth of Bonn. […]'
    """
    if len(text) <= max_chars:
        return None
    spans = find_sentences(text)
    weights = _weigh(text, spans, keywords)
    is_matched = max(weights, default=0.0) > LEAD_WEIGHT * (1 + NEAR_SHARE)
    taken: set[int] = set()
    left = max_chars
    for place in sorted(range(len(spans)), key=lambda place: (-weights[place], place)):
        cost = spans[place][1] - spans[place][0] + 1
        if cost <= left and (weights[place] > 0 or not is_matched):
            taken.add(place)
            left -= cost
    for place in sorted(taken, reverse=True):
        if place and place + 1 not in taken and _HEADING.match(text, *spans[place]):
            taken.discard(place)  # what it heads is cut
    if not taken:  # one endless sentence: its beginning, cut between words
        head = text[:max_chars].rpartition(" ")[0] or text[:max_chars]
        return Quote(text=f"{head} {CUT}", chars=len(head))
    return _join(text, spans, sorted(taken))


def choose_quote_tokens(budget_tokens: int, *, rank: int | None, asks_for_answers: bool = False) -> int:
    """What a turn of this rank may cost before it is quoted.

    >>> choose_quote_tokens(500, rank=9), choose_quote_tokens(2000, rank=9), choose_quote_tokens(2000, rank=1)
    (100, 240, 500)
    """
    share = QUOTED_SHARE
    if rank is not None and asks_for_answers and rank <= BEST_ANSWERS:
        share = ANSWER_SHARE
    elif rank == 1:
        share = BEST_SHARE
    return max(int(share * budget_tokens), LEAST_QUOTED_TOKENS)


def _weigh(text: str, spans: list[tuple[int, int]], keywords: Collection[str]) -> list[float]:
    stems = {word[: max(_STEM_CHARS, len(word) - 2)] for word in keywords}
    held = [
        {stem for word in _WORD.findall(text[start:end].lower()) for stem in stems if word.startswith(stem)}
        for start, end in spans
    ]
    count = {stem: sum(stem in one for one in held) for stem in stems}
    own = [sum(1 / (1 + count[stem]) for stem in one) for one in held]
    if own:
        own[0] += LEAD_WEIGHT
    beside = [0.0, *own, 0.0]
    return [weight + NEAR_SHARE * max(beside[place], beside[place + 2]) for place, weight in enumerate(own)]


def _join(text: str, spans: list[tuple[int, int]], taken: list[int]) -> Quote:
    """The sentences as they stand; neighbours keep what is between them."""
    pieces: list[str] = []
    chars = 0
    if taken[0] > 0:
        pieces.append(f"{CUT} ")
    start = spans[taken[0]][0]
    for place, following in zip(taken, [*taken[1:], None], strict=True):
        end = spans[place][1]
        if following == place + 1:
            continue
        pieces.append(text[start:end])
        chars += end - start
        if following is not None:
            pieces.append(f" {CUT} ")
            start = spans[following][0]
    if taken[-1] < len(spans) - 1 or spans[-1][1] < len(text.rstrip()):
        pieces.append(f" {CUT}")
    return Quote(text="".join(pieces), chars=chars)
