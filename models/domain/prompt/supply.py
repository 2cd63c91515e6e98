"""What wants to be in a prompt: rendered blocks by tier, each tier in the order in which it is to be tried."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from models.domain.prompt.fate import Fate
from models.domain.prompt.tail import TailTurn

TierName = Literal["hard", "soft", "tail", "guidance", "recall"]
TIERS: Final[tuple[TierName, ...]] = get_args(TierName)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One thing that may enter the prompt, already rendered."""

    id: str
    rendered: str
    says: str | None = None  # the turn whose words these are: nothing is said twice
    is_part: bool = False  # it says a part of that turn, and there is more to it
    repeats: str | None = None  # another block that says nearly the same, and better
    heading: str = ""  # what it stands under, with others that have the same
    said_at: float | None = None  # seconds since 1970: the order under a heading, and of headings
    is_rule: bool = False  # authored: what recall found is a rule to follow, not history
    covers: frozenset[str] = frozenset()  # turns a summary stands for: never both in one prompt
    quoted: Callable[[], "Block | None"] | None = (
        None  # the same, by the passages that match; None: it is short
    )
    quote: str = ""  # the passages, of a block that holds them instead of the whole
    replaced: "Replaced | None" = None  # by what was said since
    fate: Fate | None = None  # of one that is out whatever room there is: overruled, or ranked too low


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What was said otherwise since: the turn, the sentence in it, and the block that tells it where the turn does not."""

    by: str
    words: str
    telling: Callable[[], Block]


@dataclass(frozen=True, slots=True, kw_only=True)
class TailBlock(Block):
    """A turn of the active session. A visible one is on the host's screen already: it costs nothing here."""

    turn: TailTurn
    is_visible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Everything that wants to be in the prompt."""

    hard: Sequence[Block] = ()
    soft: Sequence[Block] = ()
    tail: Sequence[TailBlock] = ()  # oldest first
    guidance: Sequence[Block] = ()
    recall: Sequence[Block] = ()
    recovered: Sequence[Block] = ()  # raw turns looked up because nothing matched well: tried before recall
    recovery_tokens: int = 0  # what these may cost
    shown: frozenset[str] = frozenset()  # turns older than the tail that the host shows anyway
