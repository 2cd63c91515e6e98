"""What each cue of `models.domain.rules.evidence` is worth: `weights.tsv`, a cue and its weight a line, heaviest first.

`python -m bench.rules.training --data DIR --write` writes the file; nobody edits it by hand.
"""

from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Final

WEIGHTS_FILE: Final = "weights.tsv"


def read_weights() -> tuple[float, Mapping[str, float]]:
    """Return the bias and the weight of each cue."""
    text = resources.files(__package__).joinpath(WEIGHTS_FILE).read_text(encoding="utf-8")
    table = {cue: float(weight) for cue, weight in (line.split("\t") for line in text.splitlines())}
    return table.pop("bias"), MappingProxyType(table)


BIAS, WEIGHTS = read_weights()
