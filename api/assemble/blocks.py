"""What was gathered as blocks of the prompt, rendered, each tier in the order in which it is to be tried."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

from api.assemble.gathering import Gathered
from api.assemble.visibility import Shown
from api.recall.ranking import SAID_KINDS, Recalled
from api.recall.service import CHARS_PER_TOKEN
from models.domain.prompt.fate import decide_fate
from models.domain.prompt.quotes import choose_quote_tokens, quote_passages
from models.domain.prompt.rendering import (
    name_speaker,
    render_front_matter,
    render_item,
    render_rule,
    render_turn,
    render_wish,
)
from models.domain.prompt.supply import Block, Replaced, Supply, TailBlock
from models.domain.prompt.tail import TailTurn
from models.domain.recall.smalltalk import carries_nothing
from models.domain.records import Turn
from models.domain.rules.guidance import GuidanceCandidate, order_guidance
from models.domain.rules.overruling import AuthoredRule, Overruling, find_overruled
from models.domain.rules.tiers import Tier
from models.domain.text.sentences import clip_words
from models.store.documents import Rule
from models.store.memory.guidance import Guidance

SECONDS_A_DAY: Final = 86_400
NEWER_CHARS: Final = 120  # of what was said instead, where the turn that says it is not in the prompt
FIRST_DAY: Final = date(1970, 1, 1).toordinal()


def make_supply(got: Gathered, shown: Shown) -> tuple[Supply, tuple[Overruling, ...]]:
    """Everything that wants to be in the prompt; and the spoken wishes that an authored rule contradicts."""
    overruled = find_overruled(
        [AuthoredRule(str(rule.id), rule.body, tuple(rule.heading_path)) for rule in got.rules],
        [(str(record.id), record.body) for record in got.guidance],
    )
    supply = Supply(
        hard=_rule_blocks(got.rules, Tier.HARD),
        soft=_rule_blocks(got.rules, Tier.SOFT),
        tail=[_tail_block(turn, is_visible=str(turn.id) in shown.tail) for turn in got.turns],
        guidance=_guidance_blocks(got.guidance, overruled, got.recalled),
        recall=[_recall_block(found, got) for found in got.recalled if not found.is_recovered],
        recovered=[_recall_block(found, got) for found in got.recalled if found.is_recovered],
        recovery_tokens=got.recovery_tokens or 0,
        shown=shown.older,
    )
    return supply, overruled


def _rule_blocks(rules: Sequence[Rule], tier: Tier) -> list[Block]:
    return [
        Block(
            id=str(rule.id),
            rendered=render_front_matter(rule.body, rule.document)
            if rule.kind == "front_matter"
            else render_rule(rule.body, rule.heading_path),
        )
        for rule in rules
        if rule.tier is tier
    ]


def _tail_block(turn: Turn, *, is_visible: bool) -> TailBlock:
    key = str(turn.id)
    return TailBlock(
        id=key,
        rendered=render_turn(role=turn.role, text=turn.content, when=stamp(turn.ts), name=turn.name),
        turn=TailTurn(
            id=key, role=turn.role, position=turn.position, host_turn=turn.metadata.get("host_turn")
        ),
        is_visible=is_visible,
    )


def _guidance_blocks(
    found: Sequence[Guidance], overruled: Sequence[Overruling], recalled: Sequence[Recalled]
) -> list[Block]:
    """Relevant guidance by likeness, then what stands for every turn; overruled whole or said before, a wish is out."""
    turns = {
        one.candidate.item_id: one.candidate.text for one in recalled if one.candidate.kind in SAID_KINDS
    }
    records = {str(record.id): record for record in found}
    rule_of = {one.wish_id: one.rule_id for one in overruled if one.is_whole}
    ordered = order_guidance(
        GuidanceCandidate(
            id=key,
            tokens=0,  # what it costs is measured when it is put into the prompt
            cosine=record.similarity,
            score=record.similarity or 0.0,
            stability_weight=record.stability_weight,
            said_at=record.stated_at,
            is_standing=True,
        )
        for key, record in records.items()
    )
    first: dict[tuple[str | None, str], str] = {}  # of those of one speaker in the same words
    for candidate, _why in ordered:
        if candidate.id not in rule_of:
            first.setdefault(_fold(records[candidate.id]), candidate.id)
    return [
        Block(
            id=candidate.id,
            says=str(records[candidate.id].turn_id),
            is_part=_is_part(records[candidate.id].body, turns.get(str(records[candidate.id].turn_id), "")),
            rendered=render_wish(
                records[candidate.id].body,
                day=records[candidate.id].stated_at.astimezone(UTC).date().isoformat(),
                speaker=_name_wisher(records[candidate.id]),
            ),
            fate=decide_fate(overruled_by=rule_of[candidate.id]) if candidate.id in rule_of else None,
            repeats=_other(first.get(_fold(records[candidate.id])), candidate.id),
        )
        for candidate, _why in ordered
    ]


def _is_part(wish: str, turn: str) -> bool:
    """Whether a turn tells more than the wish that is quoted from it.

    >>> _is_part("Be brief.", "Thanks! Be brief."), _is_part("Be brief.", "I moved to Lyon. Be brief.")
    (False, True)
    """
    rest = turn
    for line in wish.splitlines():
        rest = rest.replace(line, " ")
    return len(rest) < len(turn) and not carries_nothing(rest)


def _name_wisher(record: Guidance) -> str | None:
    return name_speaker(record.name, "user") if record.name else None


def _fold(record: Guidance) -> tuple[str | None, str]:
    """Whose wish it is, and its words: two people may wish the same."""
    return record.name, " ".join(record.body.lower().strip(" \n\t()[]").split())


def _other(first: str | None, key: str) -> str | None:
    return first if first != key else None


def _recall_block(found: Recalled, got: Gathered) -> Block:
    candidate = found.candidate
    if found.fate is not None:  # it is out whatever room there is: nobody reads its words
        return Block(id=candidate.id, rendered="", fate=found.fate)
    if candidate.kind == "rule":
        return Block(
            id=candidate.id,
            is_rule=True,
            repeats=found.repeats,
            rendered=render_rule(candidate.text),
        )
    if candidate.superseded_by is None or candidate.superseded_at is None:
        return _said_block(found, got)
    note = f"said otherwise on {_day(candidate.superseded_at)}"
    words = candidate.superseded_by_words or ""
    told = f"{note}: “{clip_words(' '.join(words.split()), max_chars=NEWER_CHARS)}”" if words else note
    return replace(
        _said_block(found, got, note=note),
        replaced=Replaced(
            by=candidate.superseded_by, words=words, telling=lambda: _said_block(found, got, note=told)
        ),
    )


def _said_block(found: Recalled, got: Gathered, *, note: str = "") -> Block:
    """What was said or written, under its day or its document, with what is to be known of it."""
    candidate = found.candidate
    is_authored = candidate.kind == "lore"
    role = "summary of earlier turns" if candidate.kind == "summary" else candidate.role or candidate.kind
    day = _day(candidate.said_at)
    speaker = None if is_authored else name_speaker(candidate.name, role)
    block = Block(
        id=candidate.id,
        says=candidate.item_id if candidate.kind == "memory" else None,  # its turn says the same words
        repeats=found.repeats,
        covers=found.covers,
        rendered=render_item(candidate.text, speaker=speaker, note=note),
        heading=candidate.name or day if is_authored else day,
        said_at=candidate.said_at,
        fate=found.fate,
    )
    max_chars = CHARS_PER_TOKEN * choose_quote_tokens(
        got.budget_tokens, rank=found.rank, asks_for_answers=got.asks_for_answers
    )
    if candidate.kind not in SAID_KINDS or len(candidate.text) <= max_chars:
        return block
    return replace(block, quoted=lambda: _quote_block(block, found, got.keywords, speaker, note, max_chars))


def _quote_block(
    block: Block, found: Recalled, keywords: frozenset[str], speaker: str | None, note: str, max_chars: int
) -> Block | None:
    """The block with the passages that match in place of a long turn, and the turn's id to read it whole."""
    quote = quote_passages(found.candidate.text, keywords, max_chars=max_chars)
    if quote is None:
        return None
    source = f"excerpt of turn {found.candidate.item_id}"
    rendered = render_item(quote.text, speaker=speaker, note=f"{note}; {source}" if note else source)
    return replace(block, rendered=rendered, quoted=None, quote=quote.text)


def _day(seconds: float) -> str:
    return _name_day(int(seconds // SECONDS_A_DAY))


@lru_cache(maxsize=4096)  # a prompt has a hundred items of a few days
def _name_day(day: int) -> str:
    """A day by its number since 1970, as it is written.

    >>> _name_day(0), _name_day(-1)
    ('1970-01-01', '1969-12-31')
    """
    return date.fromordinal(FIRST_DAY + day).isoformat()


def stamp(moment: datetime) -> str:
    """A moment as the prompt shows it: UTC, to the minute."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
