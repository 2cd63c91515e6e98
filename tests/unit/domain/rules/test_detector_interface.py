"""What other code takes from `models.domain.rules.detector`, by name."""

from models.domain.rules import detector as deontic


def test_every_name_that_is_offered_exists_and_is_its_own_name() -> None:
    assert len(set(deontic.__all__)) == len(deontic.__all__)
    for name in deontic.__all__:
        assert getattr(deontic, name).__name__ == name
