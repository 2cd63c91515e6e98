"""Whether a summary is worth keeping, and how much it is trusted (memory-model.md section 8, steps 5 to 7).

Quality is measured in the space where the summary will be searched: a summary that lies far from its sources
cannot be found in their place.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from models.domain.recall.scoring import clamp01
from models.domain.recall.selection import unit_vector
from models.domain.text.terms import extract_mentions

Method = Literal["abstractive", "extractive"]
Attempt = Literal["normal", "aggressive", "fallback"]
Verdict = Literal["accepted", "misaligned", "no_progress"]

MIN_ABSTRACTIVE_ALIGN: Final = 0.65  # section 8 step 7
QUALITY_SHARE: Final = 0.8  # section 8 step 7: the rest is the decoder's own confidence
PRIOR_CONTEXT_TOKENS: Final = 96  # section 8 step 5
ESCALATION: Final[tuple[Attempt, ...]] = ("normal", "aggressive", "fallback")  # section 8 step 6
FOOTER_TOKENS: Final = 48  # the "small cap" of section 8
FOOTER_LABEL: Final = "Also mentioned: "
# Beyond these the footer is full in practice; counting tokens for thousands of names would not be.
_MAX_FOOTER_TRIES: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryQuality:
    """How well a summary stands for its sources in the retrieval space."""

    align: float  # in [-1, 1]
    cover: float  # in [0, 1]
    conf: float  # clamp01((align + cover)/2)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryJudgement:
    """Whether a summary may stand for its sources, why, and the trust stored with it."""

    verdict: Verdict
    method: Method
    confidence: float  # in [0, 1]
    decay: float  # 1 − confidence
    quality: SummaryQuality

    @property
    def is_accepted(self) -> bool:
        return self.verdict == "accepted"


def measure_quality(
    summary_vector: NDArray[np.floating[Any]], source_vectors: Sequence[NDArray[np.floating[Any]]]
) -> SummaryQuality:
    """align = cos(E(s), mean E(tᵢ)); cover = mean max(0, cos(E(s), E(tᵢ))); conf = clamp01 of their mean.

    A vector without a direction (zero, not finite) is like nothing; no sources give zeros.

    >>> measure_quality(np.array([1.0, 0.0]), [np.array([1.0, 0.0]), np.array([0.0, 1.0])]).cover
    0.5
    """
    if not source_vectors:
        return SummaryQuality(align=0.0, cover=0.0, conf=0.0)
    summary = _direction(summary_vector)
    sources = np.vstack([_direction(vector) for vector in source_vectors])
    align = float(np.clip(summary @ _direction(sources.mean(axis=0)), -1.0, 1.0))
    cover = float(np.clip(sources @ summary, 0.0, 1.0).mean())
    return SummaryQuality(align=align, cover=cover, conf=clamp01((align + cover) / 2))


def blend_confidence(conf: float, decoder_confidence: float) -> float:
    """Confidence of an abstractive summary: 0.8·conf + 0.2·decoder confidence, in [0, 1].

    >>> round(blend_confidence(0.7, 0.5), 3)
    0.66
    """
    return clamp01(QUALITY_SHARE * clamp01(conf) + (1 - QUALITY_SHARE) * clamp01(decoder_confidence))


def makes_progress(summary_tokens: int, source_tokens: int) -> bool:
    """Whether a summary costs something, and strictly less than its sources.

    >>> makes_progress(99, 100), makes_progress(100, 100), makes_progress(0, 100)
    (True, False, False)
    """
    return 0 < summary_tokens < source_tokens


def limit_attempt(attempt: Attempt, *, target_tokens: int, source_tokens: int) -> int:
    """How long an attempt may be: the target, half of it, or whatever is still smaller than the sources.

    >>> [limit_attempt(attempt, target_tokens=120, source_tokens=90) for attempt in ESCALATION]
    [89, 60, 60]
    """
    bound = max(source_tokens - 1, 0)
    share = target_tokens if attempt == "normal" else target_tokens // 2
    return max(0, min(share, bound))


def judge_summary(
    quality: SummaryQuality,
    *,
    method: Method,
    summary_tokens: int,
    source_tokens: int,
    decoder_confidence: float | None = None,
) -> SummaryJudgement:
    """Accept a summary or say why not: no strict progress, or abstractive and too far from its sources.

    `misaligned` (align < 0.65) means: take the extractive summary in its place. An extractive summary quotes
    its sources and is not judged by alignment; its confidence is conf.
    """
    confidence = quality.conf
    if method == "abstractive":
        # No word from the decoder is no trust in it, not full trust.
        confidence = blend_confidence(quality.conf, decoder_confidence or 0.0)
    verdict: Verdict = "accepted"
    if not makes_progress(summary_tokens, source_tokens):
        verdict = "no_progress"
    elif method == "abstractive" and not quality.align >= MIN_ABSTRACTIVE_ALIGN:
        verdict = "misaligned"
    return SummaryJudgement(
        verdict=verdict, method=method, confidence=confidence, decay=1 - confidence, quality=quality
    )


def choose_prior(
    neighbours: Iterable[tuple[str, int]], *, capacity_tokens: int = PRIOR_CONTEXT_TOKENS
) -> tuple[str, ...]:
    """The neighbouring summaries, as (id, tokens) nearest first, that fit the prior context of 96 tokens.

    >>> choose_prior([("near", 60), ("long", 50), ("far", 36)])
    ('near', 'far')
    """
    chosen: list[str] = []
    left = capacity_tokens
    for neighbour_id, tokens in neighbours:
        if 0 < tokens <= left:
            chosen.append(neighbour_id)
            left -= tokens
    return tuple(chosen)


def list_dropped_mentions(source_texts: Iterable[str], summary_text: str) -> tuple[str, ...]:
    """Identifiers, dates and names of the sources that the summary does not say; the most repeated first.

    >>> list_dropped_mentions(["see src/app.py and E0308", "src/app.py again"], "We met E0308.")
    ('src/app.py',)
    """
    counts: Counter[str] = Counter()
    for text in source_texts:
        counts.update(extract_mentions(text))  # each text counts a mention once
    said = summary_text.lower()
    # most_common keeps the order of first appearance among equals.
    return tuple(mention for mention, _ in counts.most_common() if not _says(said, mention.lower()))


def append_footer(
    summary_text: str,
    dropped_mentions: Sequence[str],
    *,
    count_tokens: Callable[[str], int],
    footer_tokens: int = FOOTER_TOKENS,
    source_tokens: int | None = None,
) -> str:
    """The summary with a last line of what it dropped: at most the cap, and still smaller than its sources.

    A mention that does not fit is passed over; when none fits the summary comes back unchanged.

    >>> append_footer("We met.", ["src/app.py", "E0308"], count_tokens=len)
    'We met.\\nAlso mentioned: src/app.py, E0308'
    """
    said: list[str] = []
    result = summary_text
    for mention in dropped_mentions[:_MAX_FOOTER_TRIES]:
        footer = FOOTER_LABEL + ", ".join((*said, mention))
        longer = f"{summary_text}\n{footer}"
        is_small = source_tokens is None or makes_progress(count_tokens(longer), source_tokens)
        if count_tokens(footer) <= footer_tokens and is_small:
            said.append(mention)
            result = longer
    return result


def _says(text: str, mention: str) -> bool:
    """Whether a text holds a mention as a whole, not as part of a longer word."""
    at = text.find(mention)
    while at >= 0:
        end = at + len(mention)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        at = text.find(mention, at + 1)
    return False


def _direction(vector: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """The unit vector, or zeros where there is no direction: a cosine with it is 0."""
    unit = unit_vector(vector)
    return np.zeros(np.size(vector)) if unit is None else unit
