"""Filling a prompt: five tiers in order of precedence, each within its share (memory-model.md 1 and 2).

Hard rules and the base tail first, whole or not at all; then soft rules, the rest of the tail, guidance,
recall. What is measured is what is rendered, so the sum of the parts is the cost of the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from models.domain.prompt import budget as shares
from models.domain.prompt.budget import Reserves
from models.domain.prompt.fate import IN, Fate, decide_fate
from models.domain.prompt.filling import Fill, Said
from models.domain.prompt.parts import Part, render_parts
from models.domain.prompt.rendering import AUTHORED, RECENT, Layout
from models.domain.prompt.supply import TIERS, Block, Supply, TailBlock, TierName
from models.domain.prompt.tail import choose_start, extend_tail, find_base_start
from models.domain.prompt.tokens import TokenCounter, start_count
from models.domain.prompt.volatile import put_volatile


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """The prompt and its arithmetic: used ≤ total whenever `needed` is None."""

    parts: tuple[Part, ...]  # one for each section that has something, as they stand in the text
    used: int
    total: int
    tokens: dict[TierName, int]
    caps: dict[str, int]  # what the base tail cost, and what each tier after it might cost
    chosen: dict[TierName, tuple[str, ...]]
    fates: Mapping[TierName, Mapping[str, Fate]]  # of everything that was supplied, in the order given
    costs: dict[str, int]  # what each chosen block added
    visible: tuple[str, ...]
    quotes: Mapping[str, str] = field(
        default_factory=dict
    )  # of chosen blocks that hold passages, not the whole
    tail_from: int | None = None  # the position at which the tail begins, to be held by the next prompt
    needed: int | None = None  # set when hard rules and base tail do not fit: what they cost

    @property
    def wants_room(self) -> bool:
        """Whether something recalled is out for want of room alone."""
        return any(fate.wants_room for fate in self.fates["recall"].values())

    @property
    def stable(self) -> str:
        return "".join(part.text for part in self.parts if part.section.is_stable)

    @property
    def volatile(self) -> str:
        return "".join(part.text for part in self.parts if not part.section.is_stable)

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def assemble(
    supply: Supply,
    *,
    total: int,
    counter: TokenCounter,
    reserves: Reserves,
    min_turns: int,
    marker: str = "",
    layout: Layout = "two",
    held: int | None = None,
) -> Assembly:
    """The prompt for one model call; over `total` only when the mandatory part alone is, and then it says so.

    `held` is where the tail of the session's last prompt began (`tail_from`): it stays there while that fits.
    """
    fill = Fill(measure=start_count(counter), total=total, marker=marker, layout=layout)
    turns = [block.turn for block in supply.tail]
    base_start = find_base_start(turns, min_turns=min_turns)
    fill.put_mandatory("hard", AUTHORED, supply.hard)
    fill.put_mandatory("tail", RECENT, [block for block in supply.tail[base_start:] if not block.is_visible])
    hard, base = fill.spent["hard"], fill.spent["tail"]
    if not shares.is_feasible(total=total, hard=hard, base=base):
        too_much = decide_fate(is_feasible=False)
        fill.leave_out("soft", supply.soft, too_much)
        fill.leave_out("guidance", supply.guidance, too_much)
        fill.leave_out("recall", [*supply.recovered, *supply.recall], too_much)
        return _finish(fill, supply, counter, is_feasible=False, caps={"base": base})

    soft_cap = shares.soft_capacity(total=total, hard=hard, base=base, reserves=reserves)
    _put_prefix(fill, supply.soft, capacity=soft_cap)
    soft = fill.spent["soft"]
    tail_cap = shares.tail_capacity(total=total, hard=hard, base=base, soft=soft, reserves=reserves)
    tail_start = _put_tail(fill, supply.tail, base_start=base_start, capacity=tail_cap, held=held)
    shown = {block.id for index, block in enumerate(supply.tail) if index >= tail_start or block.is_visible}
    shown |= supply.shown
    said = Said(turns=set(shown), keys=shown)
    said.keys.update(block.id for tier in ("hard", "soft") for block in fill.chosen(tier))
    tail = fill.spent["tail"]
    reserve = shares.guidance_capacity(total=total, hard=hard, soft=soft, tail=tail, reserves=reserves)
    fill, volatile_caps = put_volatile(fill, said, supply, reserve=reserve)
    caps = {"base": base, "soft": soft_cap, "tail": tail_cap, **volatile_caps}
    tail_from = turns[tail_start].position if turns else None
    return _finish(fill, supply, counter, is_feasible=True, caps=caps, tail_from=tail_from)


def _put_tail(
    fill: Fill, tail: Sequence[TailBlock], *, base_start: int, capacity: int, held: int | None
) -> int:
    """The base tail, extended as far as it fits, then back to the start that is held, or to a step behind it."""
    if not tail:
        return 0
    reached = {base_start: fill.mark()}

    def take(start: int, end: int) -> bool:
        unseen = [block for block in tail[start:end] if not block.is_visible]
        if unseen and not fill.try_put("tail", RECENT, unseen, capacity=capacity):
            return False
        reached[start] = fill.mark()
        return True

    turns = [block.turn for block in tail]
    extend_tail(turns, base_start=base_start, take=take)
    starts = sorted(reached)
    costs = [reached[start].tail for start in starts]
    chosen = choose_start(turns, starts, costs, cap=capacity, held=held)
    fill.go_back_to(reached[chosen])
    return chosen


def _put_prefix(fill: Fill, blocks: Sequence[Block], *, capacity: int) -> None:
    """Soft rules in source order up to the first that does not fit: a prefix, never a selection."""
    for index, block in enumerate(blocks):
        if not fill.try_put("soft", AUTHORED, [block], capacity=capacity):
            fill.leave_out("soft", blocks[index:], decide_fate(reserve=capacity))
            return


def _finish(
    fill: Fill,
    supply: Supply,
    counter: TokenCounter,
    *,
    is_feasible: bool,
    caps: dict[str, int],
    tail_from: int | None = None,
) -> Assembly:
    """The text in prompt order, counted whole; should it count more than its parts, the last steps go back."""
    place = {block.id: index for index, block in enumerate(supply.tail)}
    while True:
        chosen = {tier: fill.chosen(tier) for tier in TIERS}
        chosen["tail"].sort(key=lambda block: place[block.id])
        parts = render_parts(chosen, marker=fill.marker, layout=fill.layout)
        used = counter.count("".join(part.text for part in parts))
        if used <= fill.total or not fill.optional:
            break
        fill.take_back()
    return Assembly(
        parts=parts,
        used=used,
        total=fill.total,
        tokens=dict(fill.spent),
        caps=caps,
        chosen={tier: tuple(block.id for block in fill.chosen(tier)) for tier in TIERS},
        fates=_list_fates(fill, supply, frozenset(block.id for block in chosen["tail"])),
        costs={
            put.blocks[0].id: put.cost for put in (*fill.mandatory, *fill.optional) if len(put.blocks) == 1
        },
        visible=(*sorted(supply.shown), *(block.id for block in supply.tail if block.is_visible)),
        quotes={block.id: block.quote for block in fill.chosen("recall") if block.quote},
        tail_from=tail_from,
        needed=None if is_feasible and used <= fill.total else used,
    )


def _list_fates(fill: Fill, supply: Supply, in_tail: frozenset[str]) -> dict[TierName, dict[str, Fate]]:
    """The fate of every block that was supplied."""
    by_tier: dict[TierName, Sequence[Block]] = {
        "hard": supply.hard,
        "soft": supply.soft,
        "guidance": supply.guidance,
        "recall": [*supply.recovered, *supply.recall],
    }
    fates = {
        tier: {block.id: fill.out.get((tier, block.id), IN) for block in blocks}
        for tier, blocks in by_tier.items()
    }
    fates["tail"] = {
        block.id: fill.out.get(("tail", block.id))
        or decide_fate(is_shown=block.is_visible, is_before_tail=block.id not in in_tail)
        for block in supply.tail
    }
    return fates
