"""The fit behind the weights of spoken rules: what it finds is the likeliest, and it finds the same every time."""

import numpy as np
import pytest

from bench.logistic import CueTable, fit_logistic

PLACES = {"": 0, "always": 1, "yesterday": 2, "tea": 3}
SENTENCES = [
    {"always"},
    {"always", "tea"},
    {"yesterday"},
    {"yesterday", "tea"},
    {"tea"},
    {"always", "unknown"},
]
WANTED = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
WEIGHTS = np.array([1.0, 2.0, 1.0, 1.0, 2.0, 1.0])


def test_a_row_is_the_bias_and_its_cues_and_a_column_the_rows_that_have_it() -> None:
    table = CueTable.of(SENTENCES, PLACES)
    weighed = table.weigh_rows(np.array([0.5, 1.0, 10.0, 100.0]))
    assert weighed.tolist() == [1.5, 101.5, 10.5, 110.5, 100.5, 1.5]
    assert table.sum_columns(np.arange(6.0)).tolist() == [15.0, 6.0, 5.0, 8.0]


def test_the_solution_is_where_the_penalised_likelihood_is_flat() -> None:
    table = CueTable.of(SENTENCES, PLACES)
    solution = fit_logistic(table, WANTED, WEIGHTS, penalty=0.5)
    chances = 1.0 / (1.0 + np.exp(-table.weigh_rows(solution)))
    slope = table.sum_columns(WEIGHTS * (chances - WANTED)) + np.array([0.0, 0.5, 0.5, 0.5]) * solution
    assert np.abs(slope).max() < 2e-3
    assert solution[1] > 0 > solution[2]


def test_where_the_fit_begins_does_not_change_what_it_finds() -> None:
    table = CueTable.of(SENTENCES, PLACES)
    plain = fit_logistic(table, WANTED, WEIGHTS, penalty=0.5)
    other = fit_logistic(table, WANTED, WEIGHTS, penalty=0.5, start=np.array([1.0, -1.0, 1.0, 2.0]))
    assert other == pytest.approx(plain, abs=5e-3)


def test_a_heavier_penalty_makes_smaller_weights() -> None:
    table = CueTable.of(SENTENCES, PLACES)
    light, heavy = (fit_logistic(table, WANTED, WEIGHTS, penalty=penalty) for penalty in (0.5, 50.0))
    assert np.abs(heavy[1:]).max() < np.abs(light[1:]).max()
