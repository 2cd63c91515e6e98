"""Logistic regression with an L2 penalty over rows that have a few of many cues. No chance in it.

Newton's method; each step is solved by conjugate gradients, so that no matrix of cues by cues is ever made: 20,000
sentences of 3,000 cues take seconds. The first column is the bias: every row has it, and it goes free of the penalty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

NEWTON_STEPS: Final = 25
GRADIENT_STEPS: Final = 150  # of conjugate gradients in one step of Newton
MIN_SLOPE: Final = 1e-3
STEP_ACCURACY: Final = 1e-3  # of a step, as a share of the slope
FREE: Final = 1e-6  # the penalty on the bias, so that a set of one kind still has a solution
HALVINGS: Final = 30  # of a step that leads too far


@dataclass(frozen=True, slots=True)
class CueTable:
    """Rows of zeros and ones, kept as the columns that are one: row i has `columns[starts[i] : starts[i + 1]]`."""

    columns: NDArray[np.int64]
    starts: NDArray[np.int64]
    rows: NDArray[np.int64]  # the row of each entry of `columns`
    width: int

    @classmethod
    def of(cls, sentences: Sequence[Iterable[str]], places: Mapping[str, int]) -> CueTable:
        """Tabulate the cues that have a place; column 0 is the bias."""
        columns: list[int] = []
        starts = [0]
        for cues in sentences:
            columns += [0, *sorted(places[cue] for cue in cues if cue in places)]
            starts.append(len(columns))
        ends = np.array(starts, dtype=np.int64)
        rows = np.repeat(np.arange(len(sentences)), np.diff(ends))
        return cls(np.array(columns, dtype=np.int64), ends[:-1], rows, len(places))

    def weigh_rows(self, weights: Vector) -> Vector:
        """Return the sum of weights of each row."""
        return np.asarray(np.add.reduceat(weights[self.columns], self.starts), dtype=np.float64)

    def sum_columns(self, amounts: Vector) -> Vector:
        """Return for each column the sum of its rows' amounts."""
        sums = np.bincount(self.columns, weights=amounts[self.rows], minlength=self.width)
        return np.asarray(sums, dtype=np.float64)


def fit_logistic(
    table: CueTable, wanted: Vector, weights: Vector, *, penalty: float, start: Vector | None = None
) -> Vector:
    """Return the weight of each column that makes `wanted` (0 or 1 by row) likeliest, less ½ penalty × Σ weight².

    `weights`: how much each row counts. `start`: where to begin; it changes the time, not the result.
    """
    penalties = np.full(table.width, penalty)
    penalties[0] = FREE

    def measure_loss(candidate: Vector) -> float:
        scores = table.weigh_rows(candidate)
        surprise = np.logaddexp(0.0, scores) - wanted * scores
        return float(weights @ surprise + 0.5 * penalties @ candidate**2)

    solution = np.zeros(table.width) if start is None else start.copy()
    loss = measure_loss(solution)
    for _ in range(NEWTON_STEPS):
        chances = 0.5 * (1.0 + np.tanh(0.5 * table.weigh_rows(solution)))
        slope = table.sum_columns(weights * (chances - wanted)) + penalties * solution
        if np.linalg.norm(slope) < MIN_SLOPE:
            break
        step = _solve_step(table, weights * chances * (1.0 - chances), penalties, slope)
        for _ in range(HALVINGS):  # far from the solution a whole step may lead away from it
            if measure_loss(solution - step) <= loss:
                break
            step = 0.5 * step
        solution = solution - step
        loss = measure_loss(solution)
    return solution


def _solve_step(table: CueTable, curves: Vector, penalties: Vector, slope: Vector) -> Vector:
    """Return x with (rowsᵀ · curves · rows + penalties) x = slope, by conjugate gradients scaled by the diagonal."""
    scale = 1.0 / (table.sum_columns(curves) + penalties)
    step = np.zeros_like(slope)
    rest = slope.copy()
    direction = scale * rest
    size = float(rest @ direction)
    for _ in range(GRADIENT_STEPS):
        bent = table.sum_columns(curves * table.weigh_rows(direction)) + penalties * direction
        length = size / float(direction @ bent)
        step += length * direction
        rest -= length * bent
        if np.linalg.norm(rest) < STEP_ACCURACY * np.linalg.norm(slope):
            break
        scaled = scale * rest
        size, before = float(rest @ scaled), size
        direction = scaled + size / before * direction
    return step
