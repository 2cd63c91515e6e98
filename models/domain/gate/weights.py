"""What the terms of the gate are worth (memory-model.md section 5); an operator may set each of them."""

import math
from dataclasses import dataclass, fields
from typing import Final

TECHNICAL_NORM: Final = 1.5  # section 5: T saturates here
WEIGHT_SUM_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class GateWeights:
    """The weights of both branches, each of which sums to 1, and ω: what worth counts beside G. All stay in [0, 1]."""

    novelty: float = 0.35
    repetition: float = 0.40
    load: float = 0.25
    specificity: float = 0.40
    actionability: float = 0.35
    structure: float = 0.25
    worth: float = 0.7  # ω (docs/decisions/0039)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0.0 <= value <= 1.0:
                raise ValueError(
                    f"gate weight '{field.name}' is {value}, expected 0 to 1; set it within that range"
                )
        branches = {
            "conversational": ("novelty", "repetition", "load"),
            "technical": ("specificity", "actionability", "structure"),
        }
        for branch, names in branches.items():
            total = math.fsum(getattr(self, name) for name in names)
            if abs(total - 1.0) > WEIGHT_SUM_TOLERANCE:
                raise ValueError(
                    f"{branch} gate weights ({' + '.join(names)}) sum to {total:.12g}, expected 1; "
                    f"change one of them by {1.0 - total:+.12g}"
                )


DEFAULT_WEIGHTS: Final = GateWeights()
