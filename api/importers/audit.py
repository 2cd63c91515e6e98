"""How much of an export is junk, by kind, without importing it: pure counts over what an importer reads."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from api.importers.junk import find_secrets, hide_secrets, is_injected, is_phatic
from api.importers.records import Dropped, Finding, ImportedTurn, Stripped
from models.domain.updates.statements import Statement, find_superseded

if TYPE_CHECKING:
    from models.encoders.protocol import Vectors

NEAR_SIMILARITY: Final = 0.92  # of two texts that say the same in other words; the gate calls 0.85 saturated
MAX_EXAMPLES: Final = 3
MAX_EXAMPLE_CHARS: Final = 100
COMPARED_AT_ONCE: Final = 512
KINDS: Final = ("duplicate", "near-duplicate", "phatic", "injected", "contradicted", "secret")
_SPACE: Final = re.compile(r"\s+")
Encode = Callable[[Sequence[str]], "Vectors"]


@dataclass(slots=True, kw_only=True)
class Audit:
    """What was found: items by kind of junk, a few of each to look at, and what the importer would drop."""

    items: int = 0
    junk: int = 0  # items of at least one kind
    kinds: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    is_near_compared: bool = False

    @property
    def junk_rate(self) -> float:
        return self.junk / self.items if self.items else 0.0

    def to_json(self) -> dict[str, Any]:
        """The audit for scripts; a kind that was not looked for is null."""
        kinds = {kind: self.kinds[kind] for kind in KINDS}
        return {
            "items": self.items,
            "junk": self.junk,
            "junk_rate": round(self.junk_rate, 4),
            "kinds": {**kinds, "near-duplicate": kinds["near-duplicate"] if self.is_near_compared else None},
            "examples": self.examples,
            "dropped": dict(self.dropped),
            "notes": self.notes,
        }


def audit_findings(findings: Iterable[Finding], *, encode: Encode | None = None) -> Audit:
    """Count the junk of an export; without an encoder, near-duplicates are not looked for.

    The first of several like items is not junk, and of two that contradict each other only the older is.
    """
    audit = Audit(is_near_compared=encode is not None)
    turns: list[ImportedTurn] = []
    for finding in findings:
        if isinstance(finding, ImportedTurn):
            turns.append(finding)
        elif isinstance(finding, Dropped | Stripped):
            audit.dropped[finding.reason] += 1
            if isinstance(finding, Dropped) and finding.where and len(audit.notes) < MAX_EXAMPLES:
                audit.notes.append(f"{finding.where}: {finding.reason}")
    audit.items = len(turns)
    marks: dict[int, set[str]] = {}

    def mark(kind: str, place: int, like: int | None = None) -> None:
        marks.setdefault(place, set()).add(kind)
        audit.kinds[kind] += 1
        shown = audit.examples.setdefault(kind, [])
        if len(shown) < MAX_EXAMPLES:
            example = {"id": _name(turns[place]), "text": _excerpt(turns[place].content)}
            if like is not None:
                example |= {"like": _name(turns[like]), "like_text": _excerpt(turns[like].content)}
            shown.append(example)

    fresh = _mark_words(turns, mark)
    if encode is not None and len(fresh) > 1:
        for place, like in _find_near([turns[place].content for place in fresh], encode):
            mark("near-duplicate", fresh[place], fresh[like])
    for place, like in find_superseded([_state(turn) for turn in turns], encode).items():
        mark("contradicted", place, like)
    audit.junk = len(marks)
    return audit


def _mark_words(turns: Sequence[ImportedTurn], mark: Callable[..., None]) -> list[int]:
    """Mark what words alone show; returns the places of those left to be compared by meaning."""
    first: dict[str, int] = {}
    fresh = []
    for place, turn in enumerate(turns):
        folded = _SPACE.sub(" ", turn.content.casefold()).strip()
        like = first.setdefault(folded, place)
        is_small_talk = is_phatic(turn.content)
        if like != place:
            mark("duplicate", place, like)
        elif not is_small_talk:
            fresh.append(place)
        if is_small_talk:
            mark("phatic", place)
        if is_injected(turn.content):
            mark("injected", place)
        if any(True for _ in find_secrets(turn.content)):
            mark("secret", place)
    return fresh


def _find_near(texts: Sequence[str], encode: Encode) -> Iterable[tuple[int, int]]:
    """Pairs of a text and the earlier one that it is most like, where they are near enough."""
    vectors = encode(texts)
    for start in range(0, len(texts), COMPARED_AT_ONCE):
        block = vectors[start : start + COMPARED_AT_ONCE]
        scores = block @ vectors[: start + len(block)].T
        for row in range(len(block)):
            earlier = scores[row, : start + row]
            if earlier.size and earlier.max() >= NEAR_SIMILARITY:
                yield start + row, int(earlier.argmax())


def _state(turn: ImportedTurn) -> Statement:
    said_at = datetime.fromisoformat(turn.ts).timestamp() if turn.ts else 0.0
    speaker = f"{turn.role} {turn.name or ''} {sorted(turn.identity.items())}"
    return Statement(speaker, said_at, turn.content)


def _name(turn: ImportedTurn) -> str:
    return f"{turn.session_id} {turn.id}"


def _excerpt(text: str) -> str:
    shown = _SPACE.sub(" ", hide_secrets(text)).strip()
    return shown if len(shown) <= MAX_EXAMPLE_CHARS else f"{shown[: MAX_EXAMPLE_CHARS - 1]}…"
