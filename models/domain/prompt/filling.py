"""A prompt while it grows: what each block adds to the whole text, what was put in, and what the text says already."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from models.domain.prompt.fate import Fate, Repetition, decide_fate
from models.domain.prompt.markers import CLOSE_BLOCK, open_block
from models.domain.prompt.rendering import Layout, Section, name_block, render_heading
from models.domain.prompt.supply import TIERS, Block, Replaced, TierName
from models.domain.prompt.tokens import RunningCount, SummedCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """One step of filling, so that the last steps can be taken back."""

    tier: TierName
    blocks: Sequence[Block]
    cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A state of the filling, while the tail is put in."""

    measure: RunningCount | SummedCount
    opened: frozenset[str]
    steps: int
    tail: int


@dataclass(slots=True)
class Fill:
    """The prompt while it grows."""

    measure: RunningCount | SummedCount
    total: int
    marker: str
    layout: Layout
    opened: set[str] = field(default_factory=set)  # sections, and the blocks they stand in
    headings: set[str] = field(default_factory=set)
    mandatory: list[Put] = field(default_factory=list)
    optional: list[Put] = field(default_factory=list)  # in order of precedence: the last is the first to go
    spent: dict[TierName, int] = field(default_factory=lambda: dict.fromkeys(TIERS, 0))
    out: dict[tuple[TierName, str], Fate] = field(default_factory=dict)  # what is left out, and why

    def _text(self, section: Section, blocks: Sequence[Block]) -> str:
        if len(blocks) == 1 and section.name in self.opened and blocks[0].heading in self.headings:
            return blocks[0].rendered  # the common case, a hundred times a prompt
        frame = "" if section.name in self.opened else section.opening + section.closing
        if f"block:{name_block(section, self.layout)}" not in self.opened:
            frame += open_block(self.marker) + CLOSE_BLOCK
        headings = {block.heading for block in blocks} - self.headings
        return "".join((frame, *map(render_heading, headings), *(block.rendered for block in blocks)))

    def _put(self, tier: TierName, section: Section, blocks: Sequence[Block], text: str) -> Put:
        before = self.measure.total
        self.measure.add(text)
        if section.name not in self.opened:
            self.opened |= {section.name, f"block:{name_block(section, self.layout)}"}
        self.headings.update([block.heading for block in blocks])
        cost = self.measure.total - before
        self.spent[tier] += cost
        return Put(tier=tier, blocks=blocks, cost=cost)

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

    def leave_out(self, tier: TierName, blocks: Sequence[Block], fate: Fate) -> None:
        for block in blocks:
            self.out[tier, block.id] = block.fate or fate

    def mark(self) -> Mark:
        """Where the filling of the tail stands, to go back to."""
        return Mark(
            measure=copy(self.measure),
            opened=frozenset(self.opened),
            steps=len(self.optional),
            tail=self.spent["tail"],
        )

    def go_back_to(self, mark: Mark) -> None:
        self.measure, self.opened = mark.measure, set(mark.opened)
        del self.optional[mark.steps :]
        self.spent["tail"] = mark.tail

    def take_back(self) -> None:
        """Undo the last optional step."""
        undone = self.optional.pop()
        self.spent[undone.tier] -= undone.cost
        self.leave_out(undone.tier, undone.blocks, decide_fate(is_taken_back=True))

    def fork(self) -> "Fill":
        """The same prompt, to be filled in another way."""
        return replace(
            self,
            measure=copy(self.measure),
            opened=set(self.opened),
            headings=set(self.headings),
            mandatory=list(self.mandatory),
            optional=list(self.optional),
            spent=dict(self.spent),
            out=dict(self.out),
        )

    def chosen(self, tier: TierName) -> list[Block]:
        return [
            block for put in (*self.mandatory, *self.optional) if put.tier == tier for block in put.blocks
        ]


@dataclass(slots=True)
class Said:
    """What the prompt holds already: by key, as raw turns, and as turns that a summary in it stands for."""

    turns: set[str]
    keys: set[str]
    covered: set[str] = field(default_factory=set)
    excerpts: dict[str, str] = field(default_factory=dict)  # of turns that are there in part: what is there

    def fork(self) -> "Said":
        return Said(
            turns=set(self.turns),
            keys=set(self.keys),
            covered=set(self.covered),
            excerpts=dict(self.excerpts),
        )

    def tells(self, replaced: Replaced) -> bool:
        """Whether the prompt holds what was said since."""
        excerpt = self.excerpts.get(replaced.by)
        if excerpt is None:
            return replaced.by in self.keys
        return _flatten(replaced.words) in _flatten(excerpt)

    def find_repetition(self, block: Block) -> Repetition | None:
        """How a block would say something twice, if it would."""
        key = block.says or block.id
        if key in self.keys:
            return "said"
        if key in self.covered:
            return "covered"
        if not block.covers.isdisjoint(self.turns):
            return "covers_said"
        if not block.covers.isdisjoint(self.covered):
            return "covers_covered"
        return None

    def add(self, block: Block, *, is_turn: bool) -> None:
        key = block.says or block.id
        if block.quote or block.is_part:
            self.excerpts[key] = f"{self.excerpts.get(key, '')}\n{block.quote or block.rendered}"
        else:
            self.excerpts.pop(key, None)
        if block.is_part:
            return
        self.keys.add(key)
        self.covered |= block.covers
        if is_turn:
            self.turns.add(key)


def _flatten(text: str) -> str:
    return " ".join(text.split())
