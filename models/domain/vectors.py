"""The mean of several vectors as one direction."""

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
