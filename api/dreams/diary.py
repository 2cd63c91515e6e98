"""A dream diary as its file says it: list items below certain headings, each with its numbers in braces at the end.

## Deep sleep
- The user prefers short answers in the morning. {score=0.82 recall=4 unique=3}
"""

import re
from dataclasses import dataclass
from typing import Final

# What an entry must have proved before it is kept; the values of the daemon whose clients send entries.
MIN_SCORE: Final = 0.6
MIN_RECALLS: Final = 2
MIN_QUERIES: Final = 2
MIN_BYTES: Final = 16
SECTION_WORDS: Final = ("deep sleep", "promot", "dream")  # a heading with one of them has entries below it

_HEADING: Final = re.compile(r"\s*#{2,6}\s+(.+)")
_ENTRY: Final = re.compile(r"\s*[-*+]\s+(?P<text>.*\S)\s*\{(?P<numbers>[^{}]*)\}\s*")
_FENCE: Final = re.compile(r"\s*(```|~~~)")
_NAMES: Final = {
    "score": "score",
    "recall": "recall",
    "recallcount": "recall",
    "unique": "unique",
    "uniquequeries": "unique",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamEntry:
    """One entry of a diary, with what speaks for it."""

    text: str
    score: float
    recalls: int
    queries: int
    section: str = ""
    line: int = 0

    @property
    def is_proved(self) -> bool:
        return (
            len(self.text.strip().encode()) >= MIN_BYTES
            and self.score >= MIN_SCORE
            and self.recalls >= MIN_RECALLS
            and self.queries >= MIN_QUERIES
        )


def read_diary(text: str) -> list[DreamEntry]:
    """The entries of a diary, proved or not; an item without its three numbers is none.

    >>> read_diary("## Dreams\\n- Ann likes tea at four. {score=0.9, recall=3, unique=2}\\n- no numbers\\n")
    [DreamEntry(text='Ann likes tea at four.', score=0.9, recalls=3, queries=2, section='dreams', line=2)]
    """
    entries: list[DreamEntry] = []
    section, is_fenced = "", False
    for number, line in enumerate(text.splitlines(), start=1):
        if _FENCE.match(line):
            is_fenced = not is_fenced
        elif is_fenced:
            continue
        elif heading := _HEADING.fullmatch(line):
            section = " ".join(heading[1].lower().split())
        elif any(word in section for word in SECTION_WORDS) and (found := _ENTRY.fullmatch(line)):
            numbers = _read_numbers(found["numbers"])
            if numbers is not None:
                score, recalls, queries = numbers
                entries.append(
                    DreamEntry(
                        text=found["text"].strip(),
                        score=score,
                        recalls=int(recalls),
                        queries=int(queries),
                        section=section,
                        line=number,
                    )
                )
    return entries


def _read_numbers(text: str) -> tuple[float, float, float] | None:
    found: dict[str, float] = {}
    for pair in re.split(r"[,\s]+", text):
        name, _, value = pair.partition("=")
        try:
            found[_NAMES[name.lower()]] = float(value)
        except (KeyError, ValueError):
            continue
    if found.keys() != {"score", "recall", "unique"} or not all(abs(one) < 1e9 for one in found.values()):
        return None
    return found["score"], found["recall"], found["unique"]
