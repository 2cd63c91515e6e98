"""The settings and the domain agree on the threshold of the gate."""

from models.domain.gate.gating import DEFAULT_THRESHOLD
from models.settings import Settings


def test_the_settings_carry_the_calibrated_threshold() -> None:
    assert Settings.model_fields["gate_threshold"].default == DEFAULT_THRESHOLD
