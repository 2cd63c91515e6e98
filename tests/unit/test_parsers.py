"""No text from outside makes a parser fall over; `make fuzz` asks the same of a hundred thousand inputs."""

import pytest

from bench.parsers import PARSERS, attack

EXAMPLES = 150


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_reads_or_refuses_whatever_it_gets(name: str) -> None:
    assert attack(name, examples=EXAMPLES, chosen_seed=20261118) > 0
