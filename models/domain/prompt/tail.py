"""The recent tail: which newest turns stay verbatim, and which belong together (memory-model.md section 2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

TAIL_STEP: Final = (
    0.5  # of its cap that the tail gives up when it is cut; recall has the room until it is full again
)
MAX_BUNDLE_TURNS = (
    32  # coupling is policy; past this a run of tool results may be cut rather than wedge the tail
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TailTurn:
    """What the tail needs to know of a turn."""

    id: str
    role: str
    position: int = 0  # its place in the session, from 0
    host_turn: str | None = None  # messages of one host turn carry the same value


def are_coupled(earlier: TailTurn, later: TailTurn) -> bool:
    """Whether a boundary may not fall between two neighbours. The one place where coupling is decided.

    A request and its response, a tool call and its result, and messages of one host turn are one unit.

    >>> are_coupled(TailTurn(id="1", role="user"), TailTurn(id="2", role="assistant"))
    True
    >>> are_coupled(TailTurn(id="2", role="assistant"), TailTurn(id="3", role="user"))
    False
    """
    if earlier.host_turn is not None and earlier.host_turn == later.host_turn:
        return True
    match earlier.role, later.role:
        case "user", "assistant" | "tool":
            return True
        case "assistant" | "tool", "tool":
            return True
        case _:
            return False


def bundle_starts(turns: Sequence[TailTurn]) -> tuple[int, ...]:
    """Indexes at which a bundle begins, in order; the first is 0 when there are turns.

    >>> roles = ["user", "assistant", "tool", "assistant", "user"]
    >>> bundle_starts([TailTurn(id=str(i), role=role) for i, role in enumerate(roles)])
    (0, 3, 4)
    """
    starts: list[int] = []
    for index, turn in enumerate(turns):
        coupled = index > 0 and are_coupled(turns[index - 1], turn)
        if not coupled or index - starts[-1] >= MAX_BUNDLE_TURNS:
            starts.append(index)
    return tuple(starts)


def find_base_start(turns: Sequence[TailTurn], *, min_turns: int) -> int:
    """Where the base tail begins: the shortest suffix with at least `min_turns` turns that splits no bundle.

    >>> roles = ["user", "assistant", "user", "assistant", "user"]
    >>> find_base_start([TailTurn(id=str(i), role=role) for i, role in enumerate(roles)], min_turns=2)
    2
    """
    wanted = len(turns) - min_turns
    return max((start for start in bundle_starts(turns) if start <= wanted), default=0)


def extend_tail(turns: Sequence[TailTurn], *, base_start: int, take: Callable[[int, int], bool]) -> int:
    """Where the recent tail begins: the base, extended backward one whole bundle at a time.

    `take(start, end)` is asked for each older bundle, newest first, whether turns[start:end] may join; the
    first refusal ends the tail, so that it stays a suffix.

    >>> turns = [TailTurn(id=str(i), role="user") for i in range(6)]
    >>> extend_tail(turns, base_start=4, take=lambda start, end: start >= 2)
    2
    """
    end = base_start
    for start in reversed([index for index in bundle_starts(turns) if index < base_start]):
        if not take(start, end):
            break
        end = start
    return end


def choose_start(
    turns: Sequence[TailTurn], starts: Sequence[int], costs: Sequence[int], *, cap: int, held: int | None
) -> int:
    """Where the tail begins, out of the starts that fit `cap` tokens (oldest first), costing `costs`.

    The longest tail would lose its first turn with every new one, and a prompt cache everything behind it. So it keeps
    the start it had (`held`, the position of that turn) as long as that fits; then it gives up a step of its cap at once.
    A session that fits is whole; a tail that held nothing yet is the longest.

    >>> turns = [TailTurn(id=str(i), role="user", position=100 + i) for i in range(8)]
    >>> known = turns, [1, 2, 3, 4, 5], [70, 60, 50, 40, 30]
    >>> [choose_start(*known, cap=80, held=position) for position in (None, 103, 100)]
    [1, 3, 4]
    """
    oldest = turns[starts[0]].position
    if held is None or oldest == 0:
        return starts[0]
    if held >= oldest:
        return next((start for start in starts if turns[start].position == held), starts[0])
    kept = (1 - TAIL_STEP) * cap
    return next((start for start, cost in zip(starts, costs, strict=True) if cost <= kept), starts[-1])
