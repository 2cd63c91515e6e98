"""Filling the volatile part: standing wishes within their reserve, then recall (memory-model.md section 2).

What recall leaves free belongs to the wishes that their reserve had no room for: no wish is missing from a prompt that
has room for it. Recall gives up nothing for that but the turns that such a wish quotes whole.

A statement that was replaced says by what, where the prompt does not hold the turn that replaced it: the newer is tried
before the older, so that is known.
"""

from collections.abc import Sequence

from models.domain.prompt import budget as shares
from models.domain.prompt.fate import decide_fate
from models.domain.prompt.filling import Fill, Said
from models.domain.prompt.rendering import FOUND_RULES, GUIDANCE, RECALLED, Section
from models.domain.prompt.supply import Block, Supply, TierName


def put_volatile(fill: Fill, said: Said, supply: Supply, *, reserve: int) -> tuple[Fill, dict[str, int]]:
    """The prompt with guidance and recall, and what each of the two might cost.

    A round that ends with room for another wish is followed by one in which this wish comes before recall, as all
    wishes do; there are no more rounds than wishes, and nearly always one.
    """
    left = fill.total - sum(fill.spent.values())
    wishes, capacity, widened = supply.guidance, reserve, reserve
    late: set[str] = set()
    is_crowded: list[bool] = []
    while True:
        trial, heard = fill.fork(), said.fork()
        _put_ranked(trial, "guidance", GUIDANCE, wishes, capacity=capacity, said=heard)
        stated = heard.fork()  # what is said without recall
        # A wish quotes a sentence of its turn; a summary may still stand for the rest of that turn.
        spent = {tier: trial.spent[tier] for tier in ("hard", "soft", "tail", "guidance")}
        recall_cap = shares.recall_capacity(total=fill.total, **spent)
        recall = ((supply.recovered, min(recall_cap, supply.recovery_tokens)), (supply.recall, recall_cap))
        for place, (blocks, room) in enumerate(recall):
            if place == len(is_crowded):  # in the first round: wishes that come late change no quote
                is_crowded.append(_is_crowded(blocks, trial, room))
            _put_ranked(
                trial, "recall", RECALLED, blocks, capacity=room, said=heard, is_crowded=is_crowded[place]
            )
        waiting = _list_waiting(trial, supply.guidance)
        if waiting or late:
            widened = max(reserve, left - trial.spent["recall"])
        fitting = _put_late(trial, waiting, said=stated, capacity=left)
        if fitting <= late:
            for block in _list_waiting(trial, waiting):
                repetition = stated.find_repetition(block)
                trial.leave_out("guidance", [block], decide_fate(repetition=repetition, room=widened))
            return trial, {"guidance_reserved": reserve, "guidance": widened, "recall": recall_cap}
        late |= fitting
        out = {block.id for block in waiting} - late
        wishes, capacity = [block for block in supply.guidance if block.id not in out], left


def _put_ranked(
    fill: Fill,
    tier: TierName,
    section: Section,
    blocks: Sequence[Block],
    *,
    capacity: int,
    said: Said,
    is_crowded: bool = False,
) -> None:
    """Best first; what does not fit is skipped and the next tried; nothing is said twice."""
    for block in blocks:
        fate = block.fate or decide_fate(repetition=said.find_repetition(block), repeats=block.repeats)
        where = FOUND_RULES if block.is_rule else section
        put = block
        if fate.is_in and put.replaced and not said.tells(put.replaced):
            put = put.replaced.telling()
        if fate.is_in and is_crowded and put.quoted:
            put = put.quoted() or put
        if fate.is_in and not fill.try_put(tier, where, [put], capacity=capacity):
            fate = decide_fate(room=capacity)
        if fate.is_in:
            said.add(put, is_turn=tier == "recall")
        else:
            fill.leave_out(tier, [block], fate)


def _is_crowded(blocks: Sequence[Block], fill: Fill, capacity: int) -> bool:
    """Whether recall does not fit whole: then long turns are quoted, and others have room beside them."""
    if not any(block.quoted for block in blocks):
        return False
    text = "".join(block.rendered for block in blocks if not (block.fate or block.repeats))
    return fill.spent["recall"] + fill.measure.would_be(text) - fill.measure.total > capacity


def _list_waiting(fill: Fill, wishes: Sequence[Block]) -> list[Block]:
    """The wishes that are out for want of room alone."""
    chosen = {block.id for block in fill.chosen("guidance")}
    fates = {block.id: block.fate or fill.out.get(("guidance", block.id)) for block in wishes}
    return [
        block
        for block in wishes
        if block.id not in chosen and ((fate := fates[block.id]) is None or fate.wants_room)
    ]


def _put_late(fill: Fill, wishes: Sequence[Block], *, said: Said, capacity: int) -> set[str]:
    """Those of the wishes that fit behind recall, in their order."""
    fitting = set()
    for block in wishes:
        if said.find_repetition(block) is None and fill.try_put(
            "guidance", GUIDANCE, [block], capacity=capacity
        ):
            said.add(block, is_turn=False)
            fill.out.pop(("guidance", block.id), None)
            fitting.add(block.id)
    return fitting
