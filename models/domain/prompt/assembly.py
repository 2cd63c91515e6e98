"""Filling a prompt: five tiers in order of precedence, each within its share (memory-model.md 1 and 2).

Hard rules and the base tail first, whole or not at all; then soft rules, the rest of the tail, guidance,
recall. What is measured is what is rendered, so the sum of the parts is the cost of the answer.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from models.domain.prompt import budget as shares
from models.domain.prompt.budget import Reserves
from models.domain.prompt.markers import CLOSE_BLOCK, open_block
from models.domain.prompt.rendering import (
    AUTHORED,
    GUIDANCE,
    RECALLED,
    RECENT,
    SECTIONS,
    Layout,
    Section,
    name_block,
    render_heading,
)
from models.domain.prompt.tail import KEPT_SHARE, TailTurn, choose_start, extend_tail, find_base_start
from models.domain.prompt.tokens import RunningCount, SummedCount, TokenCounter, start_count

TierName = Literal["hard", "soft", "tail", "guidance", "recall"]
TIERS: Final[tuple[TierName, ...]] = get_args(TierName)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One thing that may enter the prompt, already rendered."""

    id: str
    rendered: str
    says: str | None = None  # the turn whose words these are: nothing is said twice
    repeats: str | None = None  # another block that says nearly the same, and better
    heading: str = ""  # what it stands under, with others that have the same
    said_at: float | None = None  # seconds since 1970: the order under a heading, and of headings
    covers: frozenset[str] = frozenset()  # turns a summary stands for: never both in one prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class TailBlock(Block):
    """A turn of the active session. A visible one is on the host's screen already: it costs nothing here."""

    turn: TailTurn
    is_visible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Everything that wants to be in the prompt, each tier in the order in which it is to be tried."""

    hard: Sequence[Block] = ()
    soft: Sequence[Block] = ()
    tail: Sequence[TailBlock] = ()  # oldest first
    guidance: Sequence[Block] = ()
    recall: Sequence[Block] = ()
    recall_limit_tokens: int | None = None  # when nothing matched well, recall takes no more than this
    shown: frozenset[str] = frozenset()  # turns older than the tail that the host shows anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Something that was left out, and why."""

    tier: TierName
    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section as it stands in the text: in pieces that stay as they are while the text grows at its end."""

    section: Section
    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """The prompt and its arithmetic: used ≤ total whenever `needed` is None."""

    parts: tuple[Part, ...]  # one for each section that has something, as they stand in the text
    used: int
    total: int
    tokens: dict[TierName, int]
    caps: dict[str, int]  # what the base tail cost, and what each tier after it might cost
    chosen: dict[TierName, tuple[str, ...]]
    costs: dict[str, int]  # what each chosen block added
    visible: tuple[str, ...]
    drops: tuple[Drop, ...]
    needed: int | None = None  # set when hard rules and base tail do not fit: what they cost

    @property
    def stable(self) -> str:
        return "".join(part.text for part in self.parts if part.section.is_stable)

    @property
    def volatile(self) -> str:
        return "".join(part.text for part in self.parts if not part.section.is_stable)

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Put:
    """One step of filling, so that the last steps can be taken back."""

    tier: TierName
    blocks: Sequence[Block]
    cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """A state of the filling, while the tail is put in."""

    measure: RunningCount | SummedCount
    opened: frozenset[str]
    steps: int
    tail: int


@dataclass(slots=True)
class _Fill:
    """The prompt while it grows."""

    measure: RunningCount | SummedCount
    total: int
    marker: str
    layout: Layout
    opened: set[str] = field(default_factory=set)  # sections, and the blocks they stand in
    headings: set[str] = field(default_factory=set)
    mandatory: list[_Put] = field(default_factory=list)
    optional: list[_Put] = field(default_factory=list)  # in order of precedence: the last is the first to go
    spent: dict[TierName, int] = field(default_factory=lambda: dict.fromkeys(TIERS, 0))
    drops: list[Drop] = field(default_factory=list)

    def _text(self, section: Section, blocks: Sequence[Block]) -> str:
        if len(blocks) == 1 and section.name in self.opened and blocks[0].heading in self.headings:
            return blocks[0].rendered  # the common case, a hundred times a prompt
        frame = "" if section.name in self.opened else section.opening + section.closing
        if f"block:{name_block(section, self.layout)}" not in self.opened:
            frame += open_block(self.marker) + CLOSE_BLOCK
        headings = {block.heading for block in blocks} - self.headings
        return "".join((frame, *map(render_heading, headings), *(block.rendered for block in blocks)))

    def _put(self, tier: TierName, section: Section, blocks: Sequence[Block], text: str) -> _Put:
        before = self.measure.total
        self.measure.add(text)
        if section.name not in self.opened:
            self.opened |= {section.name, f"block:{name_block(section, self.layout)}"}
        self.headings.update([block.heading for block in blocks])
        cost = self.measure.total - before
        self.spent[tier] += cost
        return _Put(tier=tier, blocks=blocks, cost=cost)

    def put_mandatory(self, tier: TierName, section: Section, blocks: Sequence[Block]) -> None:
        if blocks:
            self.mandatory.append(self._put(tier, section, blocks, self._text(section, blocks)))

    def try_put(self, tier: TierName, section: Section, blocks: Sequence[Block], *, capacity: int) -> bool:
        text = self._text(section, blocks)
        would_be = self.measure.would_be(text)
        if self.spent[tier] + would_be - self.measure.total > capacity or would_be > self.total:
            return False
        self.optional.append(self._put(tier, section, blocks, text))
        return True

    def mark(self) -> _Mark:
        """Where the filling of the tail stands, to go back to."""
        return _Mark(
            measure=copy(self.measure),
            opened=frozenset(self.opened),
            steps=len(self.optional),
            tail=self.spent["tail"],
        )

    def go_back_to(self, mark: _Mark) -> None:
        self.measure, self.opened = mark.measure, set(mark.opened)
        del self.optional[mark.steps :]
        self.spent["tail"] = mark.tail

    def take_back(self) -> None:
        """Undo the last optional step."""
        undone = self.optional.pop()
        self.spent[undone.tier] -= undone.cost
        reason = "the whole text counts more than its parts"
        self.drops.extend(Drop(tier=undone.tier, id=block.id, reason=reason) for block in undone.blocks)

    def chosen(self, tier: TierName) -> list[Block]:
        return [
            block for put in (*self.mandatory, *self.optional) if put.tier == tier for block in put.blocks
        ]


def assemble(
    supply: Supply,
    *,
    total: int,
    counter: TokenCounter,
    reserves: Reserves,
    min_turns: int,
    marker: str = "",
    layout: Layout = "two",
) -> Assembly:
    """The prompt for one model call; over `total` only when the mandatory part alone is, and then it says so."""
    fill = _Fill(measure=start_count(counter), total=total, marker=marker, layout=layout)
    turns = [block.turn for block in supply.tail]
    base_start = find_base_start(turns, min_turns=min_turns)
    fill.put_mandatory("hard", AUTHORED, supply.hard)
    fill.put_mandatory("tail", RECENT, [block for block in supply.tail[base_start:] if not block.is_visible])
    hard, base = fill.spent["hard"], fill.spent["tail"]
    if not shares.is_feasible(total=total, hard=hard, base=base):
        return _render(fill, supply, counter, is_feasible=False)

    soft_cap = shares.soft_capacity(total=total, hard=hard, base=base, reserves=reserves)
    _put_prefix(fill, supply.soft, capacity=soft_cap)
    soft = fill.spent["soft"]
    tail_cap = shares.tail_capacity(total=total, hard=hard, base=base, soft=soft, reserves=reserves)
    tail_start = _put_tail(fill, supply.tail, base_start=base_start, capacity=tail_cap)
    shown = {block.id for index, block in enumerate(supply.tail) if index >= tail_start or block.is_visible}
    shown |= supply.shown
    said = _Said(turns=set(shown), keys=shown)
    said.keys.update(block.id for tier in ("hard", "soft") for block in fill.chosen(tier))
    tail = fill.spent["tail"]
    guidance_cap = shares.guidance_capacity(total=total, hard=hard, soft=soft, tail=tail, reserves=reserves)
    _put_ranked(fill, "guidance", GUIDANCE, supply.guidance, capacity=guidance_cap, said=said)
    # A wish quotes a sentence of its turn; a summary may still stand for the rest of that turn.
    guidance = fill.spent["guidance"]
    recall_cap = shares.recall_capacity(total=total, hard=hard, soft=soft, tail=tail, guidance=guidance)
    if supply.recall_limit_tokens is not None:
        recall_cap = min(recall_cap, supply.recall_limit_tokens)
    _put_ranked(fill, "recall", RECALLED, supply.recall, capacity=recall_cap, said=said)
    caps = {"base": base, "soft": soft_cap, "tail": tail_cap, "guidance": guidance_cap, "recall": recall_cap}
    return _render(fill, supply, counter, is_feasible=True, caps=caps)


def _put_tail(fill: _Fill, tail: Sequence[TailBlock], *, base_start: int, capacity: int) -> int:
    """The base tail, extended as far as it fits, then cut back to a start that will hold for many turns."""
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
    chosen = choose_start(turns, starts, costs, floor=int(KEPT_SHARE * capacity))
    fill.go_back_to(reached[chosen])
    return chosen


def _put_prefix(fill: _Fill, blocks: Sequence[Block], *, capacity: int) -> None:
    """Soft rules in source order up to the first that does not fit: a prefix, never a selection."""
    for index, block in enumerate(blocks):
        if not fill.try_put("soft", AUTHORED, [block], capacity=capacity):
            reason = f"soft reserve of {capacity} tokens is used up"
            fill.drops.extend(Drop(tier="soft", id=late.id, reason=reason) for late in blocks[index:])
            return


@dataclass(slots=True)
class _Said:
    """What the prompt holds already: by key, as raw turns, and as turns that a summary in it stands for."""

    turns: set[str]
    keys: set[str]
    covered: set[str] = field(default_factory=set)

    def find_repetition(self, block: Block) -> str | None:
        """Why a block would say something twice, if it would."""
        key = block.says or block.id
        if key in self.keys:
            return "already in the prompt"
        if key in self.covered:
            return "a summary in the prompt stands for it"
        if not block.covers.isdisjoint(self.turns):
            return "the prompt holds turns that it stands for"
        if not block.covers.isdisjoint(self.covered):
            return "another summary in the prompt stands for the same turns"
        return None

    def add(self, block: Block, *, is_turn: bool) -> None:
        key = block.says or block.id
        self.keys.add(key)
        self.covered |= block.covers
        if is_turn:
            self.turns.add(key)


def _put_ranked(
    fill: _Fill, tier: TierName, section: Section, blocks: Sequence[Block], *, capacity: int, said: _Said
) -> None:
    """Best first; what does not fit is skipped and the next tried; nothing is said twice."""
    for block in blocks:
        repetition = said.find_repetition(block)
        if repetition is not None:
            fill.drops.append(Drop(tier=tier, id=block.id, reason=repetition))
        elif block.repeats is not None:
            reason = f"nearly the same as {block.repeats}, which ranks higher"
            fill.drops.append(Drop(tier=tier, id=block.id, reason=reason))
        elif fill.try_put(tier, section, [block], capacity=capacity):
            said.add(block, is_turn=tier == "recall")
        else:
            reason = f"does not fit what is left of {capacity} tokens"
            fill.drops.append(Drop(tier=tier, id=block.id, reason=reason))


def _render(
    fill: _Fill,
    supply: Supply,
    counter: TokenCounter,
    *,
    is_feasible: bool,
    caps: dict[str, int] | None = None,
) -> Assembly:
    """The text in prompt order, counted whole; should it count more than its parts, the last steps go back."""
    while True:
        parts = _render_parts(fill, supply)
        used = counter.count("".join(part.text for part in parts))
        if used <= fill.total or not fill.optional:
            break
        fill.take_back()
    puts = (*fill.mandatory, *fill.optional)
    return Assembly(
        parts=parts,
        used=used,
        total=fill.total,
        tokens=dict(fill.spent),
        caps=caps or {"base": fill.spent["tail"]},
        chosen={tier: tuple(block.id for block in fill.chosen(tier)) for tier in TIERS},
        costs={put.blocks[0].id: put.cost for put in puts if len(put.blocks) == 1},
        visible=(*sorted(supply.shown), *(block.id for block in supply.tail if block.is_visible)),
        drops=tuple(fill.drops),
        needed=None if is_feasible and used <= fill.total else used,
    )


def _render_parts(fill: _Fill, supply: Supply) -> tuple[Part, ...]:
    """The sections in the order of the prompt; the first and last of each block carry the block's own tags."""
    place = {block.id: index for index, block in enumerate(supply.tail)}
    rendered: dict[str, list[str]] = {
        AUTHORED.name: [block.rendered for tier in ("hard", "soft") for block in fill.chosen(tier)],
        RECENT.name: [
            block.rendered for block in sorted(fill.chosen("tail"), key=lambda block: place[block.id])
        ],
        GUIDANCE.name: [block.rendered for block in fill.chosen("guidance")],
        RECALLED.name: _under_headings(fill.chosen("recall")),
    }
    present = [section for section in SECTIONS if rendered[section.name]]
    blocks = [name_block(section, fill.layout) for section in present]
    parts = []
    for index, section in enumerate(present):
        opens = index == 0 or blocks[index - 1] != blocks[index]
        closes = index == len(present) - 1 or blocks[index + 1] != blocks[index]
        parts.append(
            Part(
                section=section,
                pieces=(
                    (open_block(fill.marker) if opens else "") + section.opening,
                    *rendered[section.name],
                    section.closing + (CLOSE_BLOCK if closes else ""),
                ),
            )
        )
    return tuple(parts)


def _under_headings(blocks: Sequence[Block]) -> list[str]:
    """What was recalled, by its headings: the newest first, and under each in the order it was said."""
    groups: dict[str, list[Block]] = {}
    for block in sorted(blocks, key=lambda block: (block.said_at or 0.0, block.id)):
        groups.setdefault(block.heading, []).append(block)
    newest_first = sorted(groups, key=lambda heading: (-(groups[heading][-1].said_at or 0.0), heading))
    return [
        text
        for heading in newest_first
        for text in (render_heading(heading), *(block.rendered for block in groups[heading]))
    ]
