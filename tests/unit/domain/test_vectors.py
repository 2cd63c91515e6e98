"""The mean of several vectors as one direction."""

import numpy as np
import pytest

from models.domain.vectors import mean_direction


def test_the_mean_of_several_rows_is_a_unit_vector_between_them() -> None:
    mean = mean_direction(np.array([[3.0, 0.0], [0.0, 3.0]], dtype=np.float32))
    assert float(np.linalg.norm(mean)) == pytest.approx(1.0, abs=1e-6)
    assert mean[0] == mean[1]


def test_rows_that_cancel_out_have_no_direction() -> None:
    assert mean_direction(np.array([[1.0, 0.0], [-1.0, 0.0]], dtype=np.float32)).tolist() == [0.0, 0.0]
