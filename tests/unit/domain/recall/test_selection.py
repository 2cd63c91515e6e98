"""What only repeats a better candidate (memory-model.md section 7, set selection)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.selection import DUPLICATE_COSINE, find_marks, find_repeats, unit_vector


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_a_unit_vector_has_length_one_and_the_same_direction(values: list[float]) -> None:
    unit = unit_vector(np.array(values))
    if unit is None:
        assert not any(values)
    else:
        assert float(np.linalg.norm(unit)) == pytest.approx(1)
        assert all(u * v >= 0 for u, v in zip(unit, values, strict=True))


def test_single_precision_vectors_of_any_shape_are_read() -> None:
    unit = unit_vector(np.array([[3.0, 4.0]], dtype=np.float32))
    assert unit is not None
    assert unit.tolist() == pytest.approx([0.6, 0.8])


@given(st.lists(st.tuples(st.sampled_from(["tea", "Tea ", "milk"]), st.integers(0, 3)), max_size=8))
def test_a_repetition_points_to_an_earlier_text_that_is_none_itself(said: list[tuple[str, int]]) -> None:
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.0, 0.0]])
    vectors = rows[[row for _, row in said]]
    repeats = find_repeats([text for text, _ in said], vectors)
    kept = [place for place in range(len(said)) if place not in repeats]
    assert all(original < place and original in kept for place, original in repeats.items())
    plain = [said[place][0].strip().casefold() for place in kept]
    assert len(set(plain)) == len(plain)
    assert all(vectors[a] @ vectors[b] < DUPLICATE_COSINE for a in kept for b in kept if a < b)


def test_another_number_or_a_negation_is_no_repetition() -> None:
    said = ["Rent is 900.", "Rent is 950.", "I eat meat.", "I don't eat meat."]
    alike = np.array([[1.0, 0.0]] * 5)
    assert find_repeats(said[:2], alike[:2]) == {}
    assert find_repeats(said[2:], alike[2:4]) == {}
    assert find_repeats([*said[:2], "The rent: 950"], alike[:3]) == {2: 1}
    assert find_marks("nothing at 5:30, never 2.5") == {"nothing", "5:30", "never", "2.5"}
