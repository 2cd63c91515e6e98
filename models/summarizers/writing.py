"""From sources to a summary that may stand for them: route, escalate, judge (memory-model.md section 8).

Whatever writes the text, the same gate decides: it must cost less than its sources, hold nothing they do not,
and lie where they lie in the retrieval space. A writer that fails costs time, never a summary.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import structlog
from numpy.typing import NDArray

from models.domain.compaction.extraction import Passage
from models.domain.compaction.preservation import find_flaw
from models.domain.compaction.summaries import (
    ESCALATION,
    Attempt,
    Method,
    SummaryJudgement,
    Verdict,
    append_footer,
    judge_summary,
    limit_attempt,
    list_dropped_mentions,
    makes_progress,
    measure_quality,
)
from models.domain.prompt.tokens import CharsCounter
from models.domain.vectors import mean_direction
from models.summarizers.extractive import ExtractiveSummarizer
from models.summarizers.protocol import Draft, Summarizer, SummarizerUnavailable, SummaryRequest

log = structlog.get_logger(__name__)
Vector = NDArray[np.float32]
EncodeWindows = Callable[[Sequence[str]], list[Vector]]

SUMMARY_SHARE: Final = 0.25  # of its sources' tokens
MIN_SUMMARY_TOKENS: Final = 40
MAX_SUMMARY_TOKENS: Final = 160  # with its footer it still fits one window of the encoder
MAX_OVERRUN: Final = 1.5  # a draft this many times longer than asked for is not one
count_tokens: Final = CharsCounter().count
_WEEKDAY_LIST: Final = (
    "mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday"
)
_WEEKDAYS: Final = frozenset(_WEEKDAY_LIST.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A turn or a summary that will be covered, as the writer may see it."""

    passages: Sequence[Passage]
    tokens: int
    vector: Vector = field(compare=False)
    mentions: Sequence[str] = ()  # kept by its own footer


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSummary:
    """A summary that passed the gate, with all that is stored about it."""

    text: str
    tokens: int
    source_tokens: int
    attempt: Attempt
    backend: str
    judgement: SummaryJudgement
    windows: Vector = field(compare=False)
    refusals: tuple[str, ...] = ()  # why earlier drafts were not taken


def write_summary(
    sources: Sequence[Source],
    *,
    encode_windows: EncodeWindows,
    prior_text: str = "",
    abstractive: Summarizer | None = None,
) -> WrittenSummary | None:
    """The first draft that passes, in order of escalation; None: the sources stay as they are."""
    source_tokens = sum(source.tokens for source in sources)
    if not sources or source_tokens < 2:
        return None
    writing = _Writing(sources=sources, encode_windows=encode_windows, prior_text=prior_text)
    if abstractive is not None and abstractive.is_ready:
        written = writing.rewrite(abstractive)
        if written is not None:
            return written
    return writing.quote()


@dataclass(slots=True, kw_only=True)
class _Writing:
    sources: Sequence[Source]
    encode_windows: EncodeWindows
    prior_text: str
    refusals: list[str] = field(default_factory=list)

    def rewrite(self, writer: Summarizer) -> WrittenSummary | None:
        """An abstractive summary, normal or at half length; None when the extractive one must take its place."""
        for attempt in ESCALATION[:2]:
            request = self._request(attempt)
            try:
                draft = writer.summarize(request)
            except SummarizerUnavailable as problem:
                log.warning("summarizer.unavailable", backend=writer.name, reason=str(problem)[:200])
                self.refusals.append(f"{writer.name}: {problem}"[:200])
                return None
            flaw = find_flaw(draft.text, [passage.text for passage in request.passages])
            if flaw is not None:
                log.warning("summary.refused", backend=writer.name, flaw=flaw.kind)
                self.refusals.append(f"{writer.name}: {flaw.kind}")
                return None
            written = self._finish(draft, request, attempt=attempt, method=writer.method, backend=writer.name)
            if isinstance(written, WrittenSummary):
                return written
            if written == "misaligned":
                return None  # shorter would not bring it nearer
        return None

    def quote(self) -> WrittenSummary | None:
        """An extractive summary: normal, half as long, or clipped."""
        writer = ExtractiveSummarizer()
        for attempt in ESCALATION:
            request = self._request(attempt)
            draft = writer.clip(request) if attempt == "fallback" else writer.summarize(request)
            written = self._finish(draft, request, attempt=attempt, method=writer.method, backend=writer.name)
            if isinstance(written, WrittenSummary):
                return written
        return None

    @property
    def _source_tokens(self) -> int:
        return sum(source.tokens for source in self.sources)

    def _request(self, attempt: Attempt) -> SummaryRequest:
        wanted = int(self._source_tokens * SUMMARY_SHARE)
        target = min(max(wanted, MIN_SUMMARY_TOKENS), MAX_SUMMARY_TOKENS)
        return SummaryRequest(
            passages=[passage for source in self.sources for passage in source.passages],
            max_tokens=limit_attempt(attempt, target_tokens=target, source_tokens=self._source_tokens),
            prior_text=self.prior_text,
        )

    def _finish(
        self, draft: Draft, request: SummaryRequest, *, attempt: Attempt, method: Method, backend: str
    ) -> WrittenSummary | Verdict:
        """The draft with its footer, judged; or why it is refused."""
        body = draft.text.strip()
        tokens = count_tokens(body)
        if not makes_progress(tokens, self._source_tokens) or tokens > request.max_tokens * MAX_OVERRUN:
            self.refusals.append(f"{backend}: {attempt} draft of {tokens} tokens makes no progress")
            return "no_progress"
        text = append_footer(
            body, self._dropped(body), count_tokens=count_tokens, source_tokens=self._source_tokens
        )
        windows = self.encode_windows([text])[0]
        judgement = judge_summary(
            measure_quality(mean_direction(windows), [source.vector for source in self.sources]),
            method=method,
            summary_tokens=count_tokens(text),
            source_tokens=self._source_tokens,
            decoder_confidence=draft.decoder_confidence,
        )
        if not judgement.is_accepted:
            self.refusals.append(f"{backend}: {judgement.verdict}")
            return judgement.verdict
        return WrittenSummary(
            text=text,
            tokens=count_tokens(text),
            source_tokens=self._source_tokens,
            attempt=attempt,
            backend=backend,
            judgement=judgement,
            windows=windows,
            refusals=tuple(self.refusals),
        )

    def _dropped(self, body: str) -> list[str]:
        """Identifiers, dates and names the body does not say: of people, of machines, then of the sources' own footers."""
        passages = [passage for source in self.sources for passage in source.passages]
        voices = [passage.label.lower() for passage in passages]
        spoken = [passage.text for passage in passages if passage.role == "user"]
        written = [passage.text for passage in passages if passage.role != "user"]
        said = body.lower()
        kept = (mention for source in self.sources for mention in source.mentions)
        inherited = (mention for mention in kept if mention.lower() not in said)
        found = (*list_dropped_mentions(spoken, body), *list_dropped_mentions(written, body), *inherited)
        return [mention for mention in dict.fromkeys(found) if not _is_idle(mention.lower(), voices)]


def _is_idle(mention: str, voices: Sequence[str]) -> bool:
    """Whether a mention says nothing on its own: a weekday, or what a speaker is called ("Mel" of "Melanie").

    >>> _is_idle("friday", []), _is_idle("mel", ["melanie"]), _is_idle("melbourne", ["melanie"])
    (True, True, False)
    """
    return mention in _WEEKDAYS or (len(mention) > 2 and any(voice.startswith(mention) for voice in voices))
