"""The default writer: it quotes. No model, no network, the same text for the same turns."""

from typing import Final

from models.domain.compaction.extraction import clip_summary, extract_summary
from models.domain.compaction.summaries import Method
from models.domain.prompt.tokens import CharsCounter
from models.summarizers.protocol import Draft, SummaryRequest


class ExtractiveSummarizer:
    """Sentences of the sources, chosen for what they cover."""

    name: Final = "extractive"
    method: Final[Method] = "extractive"
    is_ready: Final = True

    def summarize(self, request: SummaryRequest) -> Draft:
        """The best sentences within the room, in source order."""
        return Draft(
            text=extract_summary(
                request.passages,
                capacity_tokens=request.max_tokens,
                count_tokens=CharsCounter().count,
                prior_text=request.prior_text,
            )
        )

    def clip(self, request: SummaryRequest) -> Draft:
        """The bounded fallback: how the first passage begins."""
        return Draft(
            text=clip_summary(
                request.passages, capacity_tokens=request.max_tokens, count_tokens=CharsCounter().count
            )
        )
