"""The gate: which user turns become durable memory (memory-model.md, section 5).

    G = (1 − T)·Gconv + T·Gtech               K = (1 − ω)·G + ω·W        kept when K ≥ θ
    Gconv = 0.35·H + 0.40·R + 0.25·Dnl        Gtech = 0.40·P + 0.35·A + 0.25·Dtech

The text part (T, Dnl, P, A, Dtech, W) needs the words alone; the neighbour part (H, R) needs the two
searches. Both are read once, at the gate. Everything that fired is named, so that a decision can be explained from its row.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from models.domain.gate.cues import (
    ACTION_CUES,
    COUNTED,
    DENSITY_CUES,
    LOAD_CUES,
    LOAD_DATE_WEIGHT,
    LOAD_PERSON_WEIGHT,
    LOAD_QUANTITY_WEIGHT,
    NAMED_PERSON,
    RELATION,
    STRUCTURE_CUES,
    Cue,
)
from models.domain.gate.weights import DEFAULT_WEIGHTS, TECHNICAL_NORM, GateWeights
from models.domain.gate.worth import measure_worth
from models.domain.text.anchors import DATED_KINDS, find_anchors, lower_in_place
from models.domain.text.prose import drop_quoted_lines, strip_code
from models.domain.text.technical.expressions import QUANTITY
from models.domain.text.technical.shapes import SpanKind, has_extension
from models.domain.text.technical.spans import TechnicalSpan, find_technical_spans

# Calibrated on judged turns (docs/decisions/0039); novelty alone, 0.35·(1 − ω), keeps nothing.
# A host with labels replaces it (models/domain/gate/calibration.py).
DEFAULT_THRESHOLD: Final = 0.63
TOKENS_PER_DENSITY_UNIT: Final = 100  # section 5: P is a density per hundred estimated tokens
CHARS_PER_TOKEN: Final = 4  # section 3: L(t), the gate's own estimator

TURN_NEIGHBOURS: Final = 10  # section 5: nearest past user turns
MEMORY_NEIGHBOURS: Final = 5  # section 5: nearest durable memories, used for H and for S
REPEATED_SIMILARITY: Final = 0.80
SATURATED_SIMILARITY: Final = 0.85
REPEATS_FOR_FULL_FREQUENCY: Final = 5
HITS_FOR_FULL_SATURATION: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSignals:
    """The seed's twelve signals, worth and score, each in [0, 1]; stored as columns of the same names."""

    g: float
    t: float
    h: float
    r: float
    d: float
    input_freq: float
    mem_saturation: float
    p: float
    a: float
    dtech: float
    gconv: float
    gtech: float
    worth: float  # W
    score: float  # K


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """Whether a turn is kept, by how much, and which patterns of its text spoke for it."""

    keep: bool
    score: float  # K, in [0, 1]
    threshold: float
    signals: GateSignals
    reasons: tuple[
        str, ...
    ]  # "signal.pattern", such as "d.preference" or "p.error_code"; "for." and "against." worth


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSignals:
    """What the text alone says, each in [0, 1], and the patterns that said it."""

    t: float
    d: float
    p: float
    a: float
    dtech: float
    worth: float
    reasons: tuple[str, ...]


# Spans by the names of section 5. A git hash is both a hash (T) and a git reference (P).
_SPAN_NAMES: Final[dict[SpanKind, tuple[str, ...]]] = {
    "url": ("url",),
    "endpoint": ("url",),
    "error_code": ("error_code",),
    "git_reference": ("git_reference",),
    "git_hash": ("git_reference", "hash"),
    "hex_id": ("hash",),
    "uuid": ("hash",),
    "function": ("function_reference",),
}
# T: weight of a span kind that occurs (section 5).
SPAN_DENSITY: Final[tuple[tuple[str, float], ...]] = (("file_path", 0.4), ("url", 0.3), ("hash", 0.3))
# P: weight of each occurrence (section 5).
SPAN_SPECIFICITY: Final[tuple[tuple[str, float], ...]] = (
    ("error_code", 0.5),
    ("file_path", 0.4),
    ("git_reference", 0.4),
    ("function_reference", 0.3),
    ("url", 0.3),
)


def estimate_length(text: str) -> int:
    """Return L(t) = max(⌊code points / 4⌋, 1), the gate's own token estimate (never a prompt budget).

    >>> estimate_length("x" * 403), estimate_length("")
    (100, 1)
    """
    return max(len(text) // CHARS_PER_TOKEN, 1)


def _is_file_path(text: str) -> bool:
    """A bare "report.pdf" is a document somebody mentions, not a path to work on."""
    return "/" in text or "\\" in text or "." not in text[1:] or has_extension(text, documents=False)


def _count_technical(spans: Sequence[TechnicalSpan]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for span in spans:
        counts.update(_SPAN_NAMES.get(span.kind, ()))
        counts["file_path"] += span.kind == "path" and _is_file_path(span.text)
        counts["hash"] += span.kind == "error_code" and span.text.startswith("0x")
    return counts


def _weigh(signal: str, fired: Iterable[tuple[str, float, bool]], reasons: list[str]) -> float:
    """Sum the weights of what fired, name each in `reasons`. Summed exactly: 0.3 + 0.3 + 0.4 is 1."""
    weights = []
    for name, weight, has_fired in fired:
        if has_fired:
            weights.append(weight)
            reasons.append(f"{signal}.{name}")
    return math.fsum(weights)


def _match_cues(cues: Sequence[Cue], text: str) -> list[tuple[str, float, bool]]:
    return [(cue.name, cue.weight, cue.pattern.search(text) is not None) for cue in cues]


def _match_load(text: str) -> list[tuple[str, float, bool]]:
    prose = strip_code(text)
    lowered = lower_in_place(prose)
    is_dated = any(anchor.kind in DATED_KINDS for anchor in find_anchors(prose))
    is_about_someone = bool(RELATION.search(lowered) or NAMED_PERSON.search(prose))
    is_counted = bool(QUANTITY.search(prose) or COUNTED.search(lowered))
    return [
        *_match_cues(LOAD_CUES, lowered),
        ("date", LOAD_DATE_WEIGHT, is_dated),
        ("person", LOAD_PERSON_WEIGHT, is_about_someone),
        ("quantity", LOAD_QUANTITY_WEIGHT, is_counted),
    ]


def read_text_signals(text: str, *, technical_norm: float = TECHNICAL_NORM) -> TextSignals:
    """Return what the text alone contributes to the gate: T, Dnl, P, A, Dtech and W, each in [0, 1].

    Pure and free of neighbours. T saturates where the weights of what occurs reach `technical_norm`. Quoted lines are
    somebody else's words and count for nothing.

    >>> read_text_signals("I prefer tea, my sister moved here on March 3rd").d
    1.0
    >>> read_text_signals("Fixed ORA-00942 in src/db.py").reasons[:4]
    ('t.file_path', 'p.error_code', 'p.file_path', 'a.fix')
    """
    text = drop_quoted_lines(text)
    counts = _count_technical(find_technical_spans(text))
    reasons: list[str] = []
    spans_present = [(name, weight, counts[name] > 0) for name, weight in SPAN_DENSITY]
    density = _weigh("t", [*_match_cues(DENSITY_CUES, text), *spans_present], reasons)
    load = _weigh("d", _match_load(text), reasons)
    spans_counted = [(name, weight * counts[name], counts[name] > 0) for name, weight in SPAN_SPECIFICITY]
    mass = _weigh("p", spans_counted, reasons)
    action = _weigh("a", _match_cues(ACTION_CUES, lower_in_place(text)), reasons)
    structure = _weigh("dtech", _match_cues(STRUCTURE_CUES, text), reasons)
    d = min(load, 1.0)
    worth = measure_worth(text, load=d)
    return TextSignals(
        t=min(density / technical_norm, 1.0),
        d=d,
        p=min(mass / max(estimate_length(text) / TOKENS_PER_DENSITY_UNIT, 1.0), 1.0),
        a=min(action, 1.0),
        dtech=min(structure, 1.0),
        worth=worth.score,
        reasons=(*reasons, *worth.reasons),
    )


def _nearest(similarities: Sequence[float], count: int) -> list[float]:
    """The `count` largest, each in [-1, 1]. What is not finite counts as 0: unknown is not similar."""
    usable = (min(max(value, -1.0), 1.0) if math.isfinite(value) else 0.0 for value in similarities)
    return sorted(usable, reverse=True)[:count]


def measure_novelty(memory_similarities: Sequence[float]) -> float:
    """Return H = 1 − mean(max(0, cos)) over the five nearest durable memories; 1 without any.

    >>> measure_novelty([]), measure_novelty([0.5, 0.25, -1.0])
    (1.0, 0.75)
    """
    nearest = _nearest(memory_similarities, MEMORY_NEIGHBOURS)
    if not nearest:
        return 1.0
    return 1.0 - math.fsum(max(0.0, value) for value in nearest) / len(nearest)


def measure_frequency(turn_similarities: Sequence[float]) -> float:
    """Return F = min(hits with cos ≥ 0.80 among the ten nearest past turns / 5, 1).

    >>> measure_frequency([0.9, 0.8, 0.79])
    0.4
    """
    nearest = _nearest(turn_similarities, TURN_NEIGHBOURS)
    return min(sum(value >= REPEATED_SIMILARITY for value in nearest) / REPEATS_FOR_FULL_FREQUENCY, 1.0)


def measure_saturation(memory_similarities: Sequence[float]) -> float:
    """Return S = min(hits with cos ≥ 0.85 among the five nearest memories / 3, 1).

    >>> measure_saturation([0.99, 0.9, 0.85, 0.2])
    1.0
    """
    nearest = _nearest(memory_similarities, MEMORY_NEIGHBOURS)
    return min(sum(value >= SATURATED_SIMILARITY for value in nearest) / HITS_FOR_FULL_SATURATION, 1.0)


def decide_gate(
    text_signals: TextSignals,
    *,
    turn_similarities: Sequence[float],
    memory_similarities: Sequence[float],
    threshold: float = DEFAULT_THRESHOLD,
    weights: GateWeights = DEFAULT_WEIGHTS,
) -> GateDecision:
    """Decide whether a user turn becomes durable memory: keep when K = (1 − ω)·G + ω·W ≥ threshold.

    `turn_similarities` are the cosines of the nearest past user turns (ten count), `memory_similarities`
    those of the nearest durable memories (five count); the turn itself is in neither.

    >>> signals = read_text_signals("I prefer aisle seats")
    >>> decide_gate(signals, turn_similarities=[], memory_similarities=[0.5, 0.3]).signals.g
    0.31
    """
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"gate threshold is {threshold}, expected 0 to 1; set it within that range")
    novelty = measure_novelty(memory_similarities)
    frequency = measure_frequency(turn_similarities)
    saturation = measure_saturation(memory_similarities)
    repetition = frequency * (1.0 - saturation)

    gconv = weights.novelty * novelty + weights.repetition * repetition + weights.load * text_signals.d
    gtech = (
        weights.specificity * text_signals.p
        + weights.actionability * text_signals.a
        + weights.structure * text_signals.dtech
    )
    gconv, gtech = min(gconv, 1.0), min(gtech, 1.0)
    mixed = (1.0 - text_signals.t) * gconv + text_signals.t * gtech
    # Rounding may put the mixture a hair outside its two ends; the invariant is exact.
    g = min(max(mixed, min(gconv, gtech)), max(gconv, gtech))
    score = min((1.0 - weights.worth) * g + weights.worth * text_signals.worth, 1.0)
    return GateDecision(
        keep=score >= threshold,
        score=score,
        threshold=threshold,
        signals=GateSignals(
            g=g,
            t=text_signals.t,
            h=novelty,
            r=repetition,
            d=text_signals.d,
            input_freq=frequency,
            mem_saturation=saturation,
            p=text_signals.p,
            a=text_signals.a,
            dtech=text_signals.dtech,
            gconv=gconv,
            gtech=gtech,
            worth=text_signals.worth,
            score=score,
        ),
        reasons=text_signals.reasons,
    )
