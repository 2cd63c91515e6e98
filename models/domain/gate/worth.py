"""Worth: how much a turn tells that a later conversation could build on (memory-model.md, section 5).

    W = 1 / (1 + exp(−(bias + Σ weight·mark)))        marks in [0, 1], read from the words alone

A greeting, praise or a bare request tells nothing, however new it is; "Standup moved to 10:00" tells something,
however short. `worth.tsv` holds a weight for each mark of `models.domain.gate.marks`, fitted on judged turns by
`python -m bench.gate_worth`. No vector is read, so W is the same under every encoder, for turns and for single sentences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Final

from models.domain.gate.marks import read_marks

WEIGHTS_FILE: Final = "worth.tsv"
TELLING: Final = 0.25  # a mark that moves the sum by less is not named


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """How much a text tells, in [0, 1], and the marks that spoke for and against it."""

    score: float
    reasons: tuple[str, ...]  # "for.change", "against.small_talk": what moved the sum by TELLING or more


def weigh_marks(marks: Mapping[str, float], bias: float, weights: Mapping[str, float]) -> float:
    """W of these marks, in [0, 1]."""
    total = bias + math.fsum(weights.get(name, 0.0) * value for name, value in marks.items())
    return 1.0 / (1.0 + math.exp(-max(min(total, 50.0), -50.0)))


def measure_worth(text: str, *, load: float) -> Worth:
    """How much a text tells, with the marks that say so.

    >>> told = measure_worth("My flight lands at 6:40 on Sunday", load=0.3)
    >>> small = measure_worth("Ooh lucky", load=0.0)
    >>> told.score > 0.5 > small.score
    True
    """
    marks = read_marks(text, load=load)
    moved = {name: WEIGHTS.get(name, 0.0) * value for name, value in marks.items()}
    return Worth(
        score=weigh_marks(marks, BIAS, WEIGHTS),
        reasons=tuple(
            f"{'for' if by > 0 else 'against'}.{name}" for name, by in moved.items() if abs(by) >= TELLING
        ),
    )


def read_weights() -> tuple[float, Mapping[str, float]]:
    """Return the bias and the weight of each mark."""
    text = resources.files(__package__).joinpath(WEIGHTS_FILE).read_text(encoding="utf-8")
    table = {mark: float(weight) for mark, weight in (line.split("\t") for line in text.splitlines())}
    return table.pop("bias"), MappingProxyType(table)


BIAS, WEIGHTS = read_weights()
