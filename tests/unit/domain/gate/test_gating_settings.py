"""The settings and the domain agree on the gate, and weights that do not sum to 1 stop the start."""

import pytest

from models.domain.gate.gating import DEFAULT_THRESHOLD
from models.domain.gate.weights import DEFAULT_WEIGHTS, TECHNICAL_NORM
from models.settings import Settings


def test_the_settings_carry_the_calibrated_threshold_and_the_weights_of_the_contract() -> None:
    settings = Settings()
    assert settings.gate_threshold == DEFAULT_THRESHOLD
    assert settings.gate_weights() == DEFAULT_WEIGHTS
    assert settings.gate_technical_norm == TECHNICAL_NORM


def test_weights_are_set_by_their_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGTAIL_GATE_NOVELTY_WEIGHT", "0.25")
    monkeypatch.setenv("LONGTAIL_GATE_LOAD_WEIGHT", "0.35")
    assert Settings().gate_weights().load == 0.35


@pytest.mark.parametrize("name", ["NOVELTY", "STRUCTURE"])
def test_a_branch_whose_weights_do_not_sum_to_1_stops_the_start(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"LONGTAIL_GATE_{name}_WEIGHT", "0.30")
    with pytest.raises(ValueError, match="expected 1; change one of them by"):
        Settings()
