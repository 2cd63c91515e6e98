"""Calibration: from usefulness labels to P(useful | score) and a threshold (memory-model.md, section 5).

The gate promises only an order: a higher score is not less useful. Isotonic regression keeps exactly that
promise and assumes no curve. Fitted by pooling adjacent violators, in numpy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class IsotonicFit:
    """A non-decreasing curve through the knots (x, y); flat beyond its ends, straight between knots."""

    x: tuple[float, ...]  # strictly increasing scores
    y: tuple[float, ...]  # non-decreasing shares in [0, 1]

    def predict(self, scores: ArrayLike) -> Floats:
        """Return P(useful | score) for each score, in [min(y), max(y)] and never falling as scores rise.

        >>> IsotonicFit(x=(0.2, 0.6), y=(0.0, 1.0)).predict([0.0, 0.4, 0.9]).tolist()
        [0.0, 0.5, 1.0]
        """
        values = np.interp(np.asarray(scores, dtype=np.float64), self.x, self.y)
        # Interpolating between equal heights may round a hair past them.
        return np.asarray(np.clip(values, self.y[0], self.y[-1]), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdChoice:
    """The lowest threshold that gives the wanted precision, what it keeps, and why it was chosen."""

    threshold: float
    precision: float  # calibrated share of useful items among those kept
    kept_share: float  # of all labelled items
    n: int  # labelled items at or above the threshold
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Items whose score lies in [low, high): how many, their mean score, the share that was useful."""

    low: float
    high: float
    n: int
    mean_score: float
    useful_share: float


def _check(scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Floats, Floats]:
    x = np.asarray(scores, dtype=np.float64).ravel()
    y = np.asarray(labels, dtype=np.float64).ravel()
    w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64).ravel()
    if x.size == 0:
        raise ValueError("no labelled scores to calibrate on, expected at least 1; collect feedback first")
    if not x.size == y.size == w.size:
        raise ValueError(
            f"got {x.size} scores, {y.size} labels and {w.size} weights, expected one of each per item"
        )
    if not np.isfinite(x).all():
        raise ValueError("a score is not finite; leave out items that were never scored")
    if not ((y >= 0.0) & (y <= 1.0)).all():
        raise ValueError("a label lies outside 0 to 1; use 1 for useful, 0 for not, or a share in between")
    if not (np.isfinite(w) & (w > 0.0)).all():
        raise ValueError("a weight is not a positive number; leave out items that should not count")
    return x, y, w


def fit_isotonic(scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> IsotonicFit:
    """Return the non-decreasing curve nearest to the labels in weighted squares.

    Equal scores are pooled first; then neighbours that fall are pooled until none does. Linear after
    sorting, because every pooling removes a block.

    >>> fit_isotonic([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).y
    (0.0, 0.5, 0.5, 1.0)
    """
    x, y, w = _check(scores, labels, weights)
    knots, owner = np.unique(x, return_inverse=True)
    mass = np.bincount(owner, weights=w)
    means = np.bincount(owner, weights=w * y) / mass

    values: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(means.tolist(), mass.tolist(), strict=True):
        size = 1
        while values and values[-1] >= value:
            left = masses.pop()
            value = (values.pop() * left + value * weight) / (left + weight)
            weight += left
            size += sizes.pop()
        values.append(value)
        masses.append(weight)
        sizes.append(size)
    # A weighted mean may round past its parts; the running maximum makes the order exact.
    heights = np.maximum.accumulate(np.clip(np.repeat(values, sizes), 0.0, 1.0))
    return IsotonicFit(x=tuple(knots.tolist()), y=tuple(heights.tolist()))


def choose_threshold(
    fit: IsotonicFit, scores: ArrayLike, labels: ArrayLike, wanted_precision: float
) -> ThresholdChoice:
    """Return the lowest labelled score whose items and all above are useful often enough.

    Precision is the mean of the fitted curve over the kept items, so it never falls as the threshold
    rises; on whole blocks of the fit it equals the share of useful labels. When no threshold reaches the
    wanted precision, the best one is returned and `why` says so.

    >>> scores, labels = [0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1]
    >>> choose_threshold(fit_isotonic(scores, labels), scores, labels, 0.6).threshold
    0.2
    """
    if not 0.0 <= wanted_precision <= 1.0:
        raise ValueError(f"wanted precision is {wanted_precision}, expected 0 to 1")
    x, _, _ = _check(scores, labels, None)
    ordered = np.sort(x)
    curve = fit.predict(ordered)
    counts = np.arange(ordered.size, 0, -1)
    precision = np.maximum.accumulate(np.cumsum(curve[::-1])[::-1] / counts)
    # Equal scores are kept or dropped together, so only the first of each run is a threshold.
    starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf) > 0.0)
    # Sums of thirds and tenths miss their target by rounding alone.
    enough = starts[precision[starts] >= wanted_precision - 1e-12]
    chosen = int(enough[0]) if enough.size else int(starts[-1])
    kept = int(counts[chosen])
    reached = float(precision[chosen])
    share = f"{kept} of {ordered.size} labelled items at or above {ordered[chosen]:.4g}"
    why = (
        f"lowest threshold with precision {reached:.3f}, wanted {wanted_precision:.3f}: {share}"
        if enough.size
        else f"no threshold reaches precision {wanted_precision:.3f}; the best is {reached:.3f}: {share}"
    )
    return ThresholdChoice(
        threshold=float(ordered[chosen]), precision=reached, kept_share=kept / ordered.size, n=kept, why=why
    )


def reliability_curve(scores: ArrayLike, labels: ArrayLike, bins: int = 10) -> tuple[ReliabilityBin, ...]:
    """Return the useful share by score in equal bins of [0, 1]; empty bins are left out.

    Scores below 0 or above 1 count in the first or last bin.

    >>> [(b.low, b.n, b.useful_share) for b in reliability_curve([0.1, 0.2, 0.9], [0, 1, 1], 2)]
    [(0.0, 2, 0.5), (0.5, 1, 1.0)]
    """
    if bins < 1:
        raise ValueError(f"reliability bins is {bins}, expected at least 1")
    x, y, _ = _check(scores, labels, None)
    places = np.clip(np.floor(x * bins), 0, bins - 1).astype(np.int64)
    curve: list[ReliabilityBin] = []
    for place in range(bins):
        inside = places == place
        if inside.any():
            curve.append(
                ReliabilityBin(
                    low=place / bins,
                    high=(place + 1) / bins,
                    n=int(inside.sum()),
                    mean_score=float(x[inside].mean()),
                    useful_share=float(y[inside].mean()),
                )
            )
    return tuple(curve)
