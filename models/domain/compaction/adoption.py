"""Another system's summaries as coverage here: which may stand for turns, and why others may not.

What is adopted keeps every rule that the proof of losslessness checks (memory-model.md section 8): one summary over a
turn, one level at a time, cheaper than its sources, and never over the base tail.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from models.domain.compaction.summaries import makes_progress
from models.domain.prompt.tail import TailTurn, find_base_start
from models.domain.prompt.tokens import CharsCounter

EMPTY: Final = "has no words"
MIXED: Final = "covers turns and summaries at once"
NOTHING: Final = "covers nothing that is kept"
TAIL: Final = "covers the newest turns, which stay word for word"
TAKEN: Final = "covers what another summary covers"
SILENCED: Final = "covers what was forgotten"
UNFOUNDED: Final = "rests on a summary that is not there"
UNEVEN: Final = "covers summaries of several levels"
LONG: Final = "costs no less than what it covers"
count_tokens = CharsCounter().count


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSummary:
    """A summary as another system kept it: over turns, or over summaries."""

    id: str
    text: str
    turns: Sequence[str] = ()
    children: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverableTurn:
    """A raw turn of the session; in the order of the record."""

    turn: TailTurn
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedSummary:
    """A summary with the edges it keeps; `id` and `children` are the other system's."""

    id: str
    text: str
    level: int
    turns: Sequence[str]
    children: Sequence[str]
    summary_tokens: int
    source_tokens: int
    turn_count: int
    turn_tokens: int
    below: Sequence[str]  # every turn it leads to


@dataclass(slots=True, kw_only=True)
class Adoption:
    """What was adopted, what it covers before what covers it; and why the others were not."""

    adopted: dict[str, AdoptedSummary] = field(default_factory=dict)
    declined: dict[str, str] = field(default_factory=dict)

    def list_active(self) -> set[str]:
        """Ids of the summaries that no other one covers."""
        return set(self.adopted) - {child for one in self.adopted.values() for child in one.children}


def adopt_summaries(
    turns: Sequence[CoverableTurn],
    summaries: Iterable[ForeignSummary],
    *,
    min_turns: int,
    covered: AbstractSet[str] = frozenset(),
    silenced: AbstractSet[str] = frozenset(),
) -> Adoption:
    """Take each summary whose edges hold here; of two that cover the same, the first that is given.

    Turns that are not here (they were noise) cost a summary nothing but that edge. One whose part was declined is
    declined with it: its words would stand for more than it leads to.
    """
    given = {one.id: one for one in summaries}
    costs = {one.turn.id: one.tokens for one in turns}
    start = find_base_start([one.turn for one in turns], min_turns=min_turns)
    tail = {one.turn.id for one in turns[start:]}
    result = Adoption()
    taken = set(covered)
    for summary in _order(given):
        known = [turn for turn in dict.fromkeys(summary.turns) if turn in costs]
        parts = [
            result.adopted[child] for child in dict.fromkeys(summary.children) if child in result.adopted
        ]
        reason = _find_reason(summary, known, parts, tail=tail, taken=taken, silenced=silenced)
        made = None if reason else _describe(summary, known, parts, costs)
        if made is not None and not makes_progress(made.summary_tokens, made.source_tokens):
            made, reason = None, LONG
        if made is None:
            result.declined[summary.id] = reason or NOTHING
            continue
        result.adopted[summary.id] = made
        taken |= {*known, *(part.id for part in parts)}
    return result


def _order(given: Mapping[str, ForeignSummary]) -> list[ForeignSummary]:
    """Parts before what covers them, else as given; in a cycle nothing is before anything, so all of it stays declined."""
    done: dict[str, None] = {}
    stack = list(given)[::-1]
    entered: set[str] = set()
    while stack:
        current = stack[-1]
        if current in entered:
            stack.pop()
            done.setdefault(current)
            continue
        entered.add(current)
        stack += [
            child for child in reversed(given[current].children) if child in given and child not in entered
        ]
    return [given[name] for name in done]


def _find_reason(
    summary: ForeignSummary,
    known: Sequence[str],
    parts: Sequence[AdoptedSummary],
    *,
    tail: AbstractSet[str],
    taken: AbstractSet[str],
    silenced: AbstractSet[str],
) -> str | None:
    """Why a summary cannot be adopted, as far as its edges tell."""
    covers = {*known, *(part.id for part in parts)}
    claims = (
        (bool(summary.text.strip()), EMPTY),
        (not (summary.turns and summary.children), MIXED),
        (len(parts) == len(set(summary.children)), UNFOUNDED),
        (bool(covers), NOTHING),
        (not tail & covers, TAIL),
        (not taken & covers, TAKEN),
        (not silenced & covers, SILENCED),
        (len({part.level for part in parts}) <= 1, UNEVEN),
    )
    return next((reason for holds, reason in claims if not holds), None)


def _describe(
    summary: ForeignSummary, known: Sequence[str], parts: Sequence[AdoptedSummary], costs: Mapping[str, int]
) -> AdoptedSummary:
    own = sum(costs[turn] for turn in known)
    return AdoptedSummary(
        id=summary.id,
        text=summary.text,
        level=parts[0].level + 1 if parts else 1,
        turns=known,
        children=[part.id for part in parts],
        summary_tokens=count_tokens(summary.text),
        source_tokens=own + sum(part.summary_tokens for part in parts),
        turn_count=len(known) + sum(part.turn_count for part in parts),
        turn_tokens=own + sum(part.turn_tokens for part in parts),
        below=[*known, *(turn for part in parts for turn in part.below)],
    )
