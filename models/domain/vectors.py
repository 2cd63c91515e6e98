"""Vectors: the mean of several as one direction, and the nearest of many."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


def mean_direction(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """One unit vector for the rows of several: a text's windows, a cluster's turns. Zeros where they cancel out.

    >>> mean_direction(np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)).round(3).tolist()
    [0.7070000171661377, 0.7070000171661377]
    """
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length > 0 else mean, dtype=np.float32)


class Nearest(NamedTuple):
    """Which rows are nearest to one vector, nearest first, and how alike they are to it."""

    places: list[int]
    similarities: list[float]


def find_nearest(asked: NDArray[np.float32], rows: NDArray[np.float32], *, count: int) -> list[Nearest]:
    """For each unit vector asked for, its `count` nearest unit rows; fewer where there are fewer.

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], dtype=np.float32)
    >>> find_nearest(rows[:1], rows, count=2)[0].places
    [0, 2]
    """
    cosines = asked @ rows.T
    count = min(count, len(rows))
    best = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
    found = []
    for places, alike in zip(best, cosines, strict=True):
        ordered = places[np.argsort(-alike[places], kind="stable")]
        found.append(Nearest(ordered.tolist(), alike[ordered].tolist()))
    return found
