"""How a prompt budget is shared between the five tiers (memory-model.md section 2).

All amounts are tokens of rendered text, so the arithmetic here is the arithmetic of the answer.
"""

from dataclasses import dataclass
from typing import Final

GUIDANCE_FLOOR_SHARE: Final = 0.30  # of a small budget: the floor of guidance takes no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserves:
    """Fractions of the budget: hard α1, soft α2, tail β, guidance ρE; each in [0, 1], α1 + α2 + β ≤ 1.

    `guidance_floor` G is in tokens: below it ρE of a small budget would not hold the frame and a wish.
    """

    hard: float = 0.30
    soft: float = 0.20
    tail: float = 0.30
    guidance: float = 0.15
    guidance_floor: int = 200

    def __post_init__(self) -> None:
        for name in ("hard", "soft", "tail", "guidance"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"reserve '{name}' is {value}; it is a fraction of the budget, from 0 to 1")
        if self.guidance_floor < 0:
            raise ValueError(
                f"the floor of guidance is {self.guidance_floor}; it is a number of tokens, 0 or more"
            )
        total = self.hard + self.soft + self.tail
        if total > 1 + 1e-9:
            raise ValueError(
                f"reserves hard + soft + tail add up to {total:.3f}; they share one budget, so lower one until the sum is 1"
            )


def is_feasible(*, total: int, hard: int, base: int) -> bool:
    """Whether any legal assembly exists: the hard rules and the base tail fit together.

    >>> is_feasible(total=100, hard=60, base=40), is_feasible(total=100, hard=60, base=41)
    (True, False)
    """
    return hard + base <= total


def soft_capacity(*, total: int, hard: int, base: int, reserves: Reserves) -> int:
    """What soft rules may use: max(0, min(α2·τ, τ − hard − base)).

    >>> soft_capacity(total=1000, hard=100, base=100, reserves=Reserves())
    200
    >>> soft_capacity(total=1000, hard=500, base=450, reserves=Reserves())
    50
    """
    return max(0, min(int(reserves.soft * total), total - hard - base))


def tail_capacity(*, total: int, hard: int, base: int, soft: int, reserves: Reserves) -> int:
    """What the recent tail may use: min(max(β·τ, base), τ − hard − soft). The base wins over the target.

    >>> tail_capacity(total=1000, hard=100, base=400, soft=50, reserves=Reserves())
    400
    >>> tail_capacity(total=1000, hard=100, base=80, soft=50, reserves=Reserves())
    300
    """
    return min(max(int(reserves.tail * total), base), total - hard - soft)


def guidance_capacity(*, total: int, hard: int, soft: int, tail: int, reserves: Reserves) -> int:
    """What is kept for elevated guidance: min(max(ρE·τ, min(G, 0.30·τ)), what hard, soft and tail left).

    >>> guidance_capacity(total=400, hard=0, soft=0, tail=0, reserves=Reserves())
    120
    >>> guidance_capacity(total=1000, hard=300, soft=200, tail=400, reserves=Reserves())
    100
    """
    floor = min(reserves.guidance_floor, int(GUIDANCE_FLOOR_SHARE * total))
    return max(0, min(max(int(reserves.guidance * total), floor), total - hard - soft - tail))


def recall_capacity(*, total: int, hard: int, soft: int, tail: int, guidance: int) -> int:
    """What ranked recall may use: all that is left, never negative.

    >>> recall_capacity(total=1000, hard=300, soft=100, tail=300, guidance=50)
    250
    """
    return max(0, total - hard - soft - tail - guidance)
