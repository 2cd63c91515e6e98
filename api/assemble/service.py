"""Assemble: from a request to a prompt. Every stage may fail; the answer names what is missing and is still one."""

from datetime import UTC, datetime

from api.assemble.answer import make_answer
from api.assemble.blocks import make_supply
from api.assemble.formats import choose_layout
from api.assemble.gathering import Gathered, gather
from api.assemble.meters import Prefixes, count_assembly
from api.assemble.receipt import keep_receipt
from api.assemble.schemas import AssembleIn, AssembleOut
from api.assemble.traces import trace_assembly
from api.assemble.visibility import Shown, find_shown
from api.routing.trail import Trail
from api.runtime import Runtime
from models.domain.prompt.assembly import Assembly, assemble
from models.domain.prompt.supply import Supply
from models.store.tenancy.tokens import Caller

PREFIXES = Prefixes()


def assemble_prompt(
    runtime: Runtime, caller: Caller | None, request: AssembleIn, *, is_inspection: bool = False
) -> AssembleOut:
    """The prompt for the next model call. `caller` is None when PostgreSQL could not say whose token it is.

    An inspection shows what a host would get and leaves no trace but its receipt: reads are not counted, and the tail of
    the session's next prompt begins where it would have begun.
    """
    trail = Trail()
    now = request.now or datetime.now(UTC)
    counter = runtime.counter(request.tokenizer)
    if caller is None:
        trail.miss("database_unavailable", "PostgreSQL does not answer, and the token was not seen before")
        got, shown = Gathered(), Shown()
    else:
        deadline_ms = request.deadline_ms or runtime.settings.assemble_deadline_ms
        got = gather(runtime, caller, request, trail, deadline_ms=deadline_ms, now=now)
        shown = find_shown(runtime, caller, request, got, trail)
    with trail.timed("fit"):
        supply, overruled = make_supply(got, shown)
        tenant = caller.tenant_id if caller else None
        key = (tenant, request.session_id, request.budget_tokens, request.tokenizer, bool(request.messages))
        assembly = fit_budget(
            runtime,
            request,
            supply,
            marker=caller.marker if caller else "",
            held=runtime.tails.find(key),
        )
        if assembly.tail_from is not None and not is_inspection:
            runtime.tails.hold(key, assembly.tail_from)
    if assembly.needed is not None:
        trail.miss(
            "budget_infeasible",
            f"hard rules and the newest turns need {assembly.needed} tokens; the budget is {assembly.total}",
        )
    trail.timings_ms["total"] = round(trail.elapsed_ms(), 3)
    answer = make_answer(request, got, assembly, overruled, trail, counter)
    count_assembly(runtime.tally, PREFIXES, key, answer)
    if runtime.traces and not is_inspection:
        trace_assembly(runtime.traces, trail, answer)
    if caller is not None:
        if not is_inspection:
            chosen = frozenset(assembly.chosen["recall"])
            read = [one.candidate.item_id for one in got.recalled if one.candidate.id in chosen]
            runtime.reads.count(caller.tenant_id, read)
        if runtime.receipts.wants(is_asked=request.explain):
            keep_receipt(runtime, caller, request, got, assembly, trail, answer=answer, now=now)
    return answer


def fit_budget(
    runtime: Runtime, request: AssembleIn, supply: Supply, *, marker: str, held: int | None
) -> Assembly:
    """What was supplied, as far as the budget goes; the tail begins where it is held, while that fits."""
    return assemble(
        supply,
        total=request.budget_tokens,
        counter=runtime.counter(request.tokenizer),
        reserves=runtime.reserves,
        min_turns=runtime.settings.tail_min_turns,
        marker=marker,
        layout=choose_layout(request),
        held=held,
    )
