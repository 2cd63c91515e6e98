"""What a data set is made of, whatever file it came from: people, what was said, and what is asked about it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from models.domain.records import name_speaker


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """One message; its id is unique within its history."""

    id: str
    session: str
    role: str
    text: str
    said_at: datetime
    speaker: str | None = None

    @property
    def line(self) -> str:
        """The turn as baselines and peers read it: who said it, where people have names, then the words.

        >>> from datetime import UTC
        >>> said_at = datetime(2026, 1, 1, tzinfo=UTC)
        >>> SaidTurn(id="1", session="s", role="user", text="Hi", said_at=said_at, speaker="Ann").line
        'Ann: Hi'
        """
        return name_speaker(self.speaker, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something asked later, and the turns that answer it."""

    id: str
    text: str
    category: str
    gold: frozenset[str]  # ids of turns
    gold_sessions: frozenset[str]
    asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All that one user said and heard, in order, and the questions about it: one namespace of the service."""

    user: str
    turns: tuple[SaidTurn, ...]
    questions: tuple[Question, ...]

    @property
    def sessions(self) -> dict[str, list[SaidTurn]]:
        """The turns by session, in the order in which the sessions began."""
        grouped: dict[str, list[SaidTurn]] = {}
        for turn in self.turns:
            grouped.setdefault(turn.session, []).append(turn)
        return grouped


@dataclass(slots=True, kw_only=True)
class Scores:
    """What one method reached on one question: metric → value in [0, 1]."""

    question: str
    category: str
    values: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"question": self.question, "category": self.category, **self.values}
