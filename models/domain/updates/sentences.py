"""Which sentences of a text state something that may hold, each cut or joined so that it says of what."""

from collections.abc import Iterator
from typing import Final

from models.domain.text.sentences import split_sentences
from models.domain.updates.patterns import (
    COUNTED,
    IMPERATIVES,
    LABELLED,
    LIST,
    LOG,
    NEWS,
    OWN,
    POINTED,
    POINTING,
    QUESTION,
    STATED,
    STEP,
    VERBS,
    WISH,
    YOURS,
)

MAX_CHARS: Final = 320  # of a sentence
MIN_CLAUSE_WORDS: Final = 3  # before a colon: fewer are a label
MIN_WORDS: Final = 2
PRONOUNS: Final = frozenset({"i", "we", "you", "it", "they"})
MIN_WORDS_BEFORE: Final = 5  # a question
MOST_DIGITS_SHARE: Final = 0.2  # of the characters: more is a table, a log or a formula
MAX_SENTENCES: Final = 40


def list_sentences(text: str) -> Iterator[str]:
    """What a text states, sentence by sentence; one that only points stands with the one before it.

    >>> [*list_sentences("Do you know a lock for my spare key? It's with my neighbour.\\n- 2 eggs")]
    ["Do you know a lock for my spare key? It's with my neighbour."]
    """
    for line in text.splitlines():
        if LIST.match(line):
            continue
        before = ""
        for whole in split_sentences(line)[:MAX_SENTENCES]:
            sentence = cut_question(whole)
            if is_claim(sentence):
                yield join_pointing(before, sentence)
            before = whole


def fold(sentence: str) -> str:
    return sentence.lower().replace("’", "'").strip()


def join_pointing(before: str, sentence: str) -> str:
    """A sentence that only points ("It's with my neighbour") with the one before it, which says at what."""
    is_told = OWN.search(sentence.lower()) is not None or COUNTED.search(sentence.lower()) is not None
    is_pointing = (POINTING.match(sentence) is not None and is_told) or POINTED.search(sentence) is not None
    joined = f"{before} {sentence}"
    is_said = bool(before) and LOG.search(before) is None
    return joined if is_said and is_pointing and len(joined) <= MAX_CHARS else sentence


def cut_question(sentence: str) -> str:
    """A sentence without the question it ends in: "I've had it for 6 months - do you have any tips?"."""
    if len(sentence) > 2 * MAX_CHARS or not sentence.rstrip("\"' )”").endswith("?"):
        return sentence
    stated = STATED.search(sentence)
    if stated is not None:
        return sentence[stated.start("thing" if stated["thing"] else "said") : stated.end("said")]
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
    plain = fold(sentence)
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
    is_clause = bool((VERBS | PRONOUNS) & set(words)) or any(word.endswith("ed") for word in words)
    return not (NEWS.match(label) or (len(words) >= MIN_CLAUSE_WORDS and is_clause))
