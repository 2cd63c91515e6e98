"""What a summariser is: passages in, a shorter text out, and whether it quotes or rewrites."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from models.domain.compaction.extraction import Passage
from models.domain.compaction.summaries import Method


class SummarizerUnavailable(Exception):
    """The writer gave nothing usable: away, too slow, or refused. The extractive one takes its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What to shorten: the passages, what the neighbouring summaries say already, and the room."""

    passages: Sequence[Passage]
    max_tokens: int
    prior_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A text that asks to be a summary. `decoder_confidence` is the writer's own, in [0, 1], if it has one."""

    text: str
    decoder_confidence: float | None = None


class Summarizer(Protocol):
    """Writes one draft; raises SummarizerUnavailable where it cannot."""

    @property
    def name(self) -> str:
        """What is stored as the summary's backend."""

    @property
    def method(self) -> Method:
        """Whether it quotes (extractive) or rewrites (abstractive)."""

    @property
    def is_ready(self) -> bool:
        """Whether asking it now makes sense."""

    def summarize(self, request: SummaryRequest) -> Draft:
        """A draft of about `max_tokens`, in the words of its sources as far as it can."""
