"""Prompts: assembled live, explained by their receipts, compared, and made again."""

from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import ValidationError

from api.access.decisions import RuntimeOf
from api.assemble.schemas import MAX_BUDGET_TOKENS, AssembleIn, AssembleOut
from api.assemble.service import assemble_prompt
from api.inspector.charts import Part
from api.inspector.pages import ROOT, PageRoute, render
from api.inspector.visitors import Replaying, Visiting
from api.receipts.schemas import CandidateOut, ReceiptOut
from api.receipts.service import compare_two, read_newest, read_receipt, replay
from api.runtime import Runtime
from models.errors import InvalidInput
from models.store.tenancy.tokens import Caller

router = APIRouter(route_class=PageRoute, include_in_schema=False)
TIERS: Final = ("hard", "soft", "tail", "guidance", "recall")
STABLE_TIERS: Final = ("hard", "soft", "tail")  # what a prompt cache can keep, in the order of the prompt
RECEIPTS_LISTED: Final = 30
DROPPED_LISTED: Final = 12  # candidates of a tier that are not in; the rest unfold
# Terms of a score by their names in the memory model; the rest are in the receipt.
TERMS: Final = (
    "cosine",
    "lexical",
    "echo",
    "context",
    "load",
    "time_fit",
    "teller",
    "recency",
    "frequency",
    "authority",
    "quality",
)


@router.get(ROOT + "/prompt")
def get_prompt(
    runtime: RuntimeOf,
    visitor: Visiting,
    session_id: str = "",
    query: str | None = None,
    budget: Annotated[int, Query(gt=0, le=MAX_BUDGET_TOKENS)] = 2000,
    user_id: str = "",
) -> Response:
    """The form, the newest receipts, and once it was sent the prompt that a host would get now.

    An empty query is what a host sends at a session's start; an address without one only fills the form.
    """
    caller = visitor.caller
    made = receipt = previous = None
    newest = read_newest(runtime, caller, session_id=None, count=RECEIPTS_LISTED)
    if session_id and query is not None:
        previous = next((one for one in newest if one.session_id == session_id), None)
        made, receipt = _assemble(runtime, caller, session_id, query, budget, user_id or None)
    return render(
        "prompt.html",
        view="prompt",
        visitor=visitor,
        asked={"session_id": session_id, "query": query or "", "budget": budget, "user_id": user_id},
        made=made,
        previous=previous,
        newest=newest,
        **(_describe(receipt) if receipt else {"receipt": None}),
    )


def _assemble(
    runtime: Runtime, caller: Caller, session_id: str, query: str, budget: int, user_id: str | None
) -> tuple[AssembleOut, ReceiptOut]:
    try:
        request = AssembleIn(
            session_id=session_id, query=query, budget_tokens=budget, user_id=user_id, explain=True
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else None
        raise InvalidInput(first["msg"], field=field, remedy="correct the form") from error
    made = assemble_prompt(runtime, caller, request, is_inspection=True)
    return made, read_receipt(runtime, caller, UUID(made.assembly_id))


def _describe(receipt: ReceiptOut) -> dict[str, Any]:
    """What every page about one receipt shows."""
    spent = receipt.budget.model_dump()
    return {
        "receipt": receipt,
        "parts": [Part(tier, spent[tier], f"t-{tier}") for tier in TIERS],
        "terms": TERMS,
        "most_dropped": DROPPED_LISTED,
        "by_tier": [
            (tier, found)
            for tier in TIERS
            if (found := [one for one in receipt.candidates if one.tier == tier])
        ],
    }


@router.get(ROOT + "/receipts/{assembly_id}")
def get_receipt(assembly_id: UUID, runtime: RuntimeOf, visitor: Visiting) -> Response:
    """How one prompt came about."""
    receipt = read_receipt(runtime, visitor.caller, assembly_id)
    return _show_receipt(runtime, visitor, receipt, replayed=None)


@router.post(ROOT + "/receipts/{assembly_id}/replay")
def post_replay(assembly_id: UUID, runtime: RuntimeOf, visitor: Replaying) -> Response:
    """Make the prompt again from what is stored now, and say what changed."""
    replayed = replay(runtime, visitor.caller, assembly_id)
    receipt = read_receipt(runtime, visitor.caller, assembly_id)
    return _show_receipt(runtime, visitor, receipt, replayed=replayed)


def _show_receipt(runtime: Runtime, visitor: Visiting, receipt: ReceiptOut, *, replayed: Any) -> Response:
    newest = read_newest(runtime, visitor.caller, session_id=receipt.session_id, count=RECEIPTS_LISTED)
    others = [one for one in newest if str(one.id) != receipt.assembly_id]
    return render(
        "receipt.html", view="prompt", visitor=visitor, others=others, replayed=replayed, **_describe(receipt)
    )


@router.get(ROOT + "/compare")
def get_comparison(runtime: RuntimeOf, visitor: Visiting, a: UUID, b: UUID) -> Response:
    """Two prompts side by side: what changed, and what a prompt cache keeps from one to the other."""
    caller = visitor.caller
    left, right = read_receipt(runtime, caller, a), read_receipt(runtime, caller, b)
    return render(
        "compare.html",
        view="prompt",
        visitor=visitor,
        sides=[_describe(left), _describe(right)],
        changes=compare_two(runtime, caller, a, b),
        cache=measure_cache(left, right),
        rows=_pair(left, right),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKept:
    """What stays byte for byte at the beginning of the second prompt: whole items of its stable part."""

    items: int
    tokens: int
    share: float  # of what the second prompt costs
    is_exact: bool  # False: a tier is kept in part, and counted by its share of items


def measure_cache(earlier: ReceiptOut, later: ReceiptOut) -> CacheKept:
    """The items that both prompts begin with, in order; a cache keeps these and nothing behind them.

    A tier costs as a whole: where a part of it is kept, its items are taken to cost alike.
    """
    items, tokens, is_exact = 0, 0.0, True
    for tier in STABLE_TIERS:
        was, now = _list_chosen(earlier, tier), _list_chosen(later, tier)
        kept = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(was, now, strict=False))))
        items += kept
        if now:
            tokens += getattr(later.budget, tier) * kept / len(now)
            is_exact = is_exact and kept in {0, len(now)}
        if kept < max(len(was), len(now)):
            break
    share = tokens / max(later.budget.used, 1)
    return CacheKept(items=items, tokens=round(tokens), share=share, is_exact=is_exact)


def _list_chosen(receipt: ReceiptOut, tier: str) -> list[str]:
    return [one.id for one in receipt.candidates if one.tier == tier and one.fate == "chosen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """A candidate in two prompts; None where it was not thought of."""

    tier: str
    id: str
    text: str | None
    left: CandidateOut | None
    right: CandidateOut | None

    @property
    def is_news(self) -> bool:
        """Whether one prompt has it and the other has not."""
        return (self.left is not None and self.left.fate == "chosen") is not (
            self.right is not None and self.right.fate == "chosen"
        )


def _pair(left: ReceiptOut, right: ReceiptOut) -> list[Paired]:
    """Whatever is in at least one of two prompts, by tier."""
    was = {(one.tier, one.id): one for one in left.candidates}
    now = {(one.tier, one.id): one for one in right.candidates}
    chosen = [key for key in dict.fromkeys((*was, *now)) if _is_in(was.get(key)) or _is_in(now.get(key))]
    pairs = [
        Paired(
            tier=tier,
            id=key,
            text=(was.get((tier, key)) or now[tier, key]).text,
            left=was.get((tier, key)),
            right=now.get((tier, key)),
        )
        for tier, key in chosen
    ]
    return sorted(pairs, key=lambda one: (not one.is_news, TIERS.index(one.tier)))


def _is_in(one: CandidateOut | None) -> bool:
    return one is not None and one.fate == "chosen"
