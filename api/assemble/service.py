"""Assemble: from a request to a prompt. Every stage may fail; the answer names what is missing and is still one."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final
from uuid import UUID, uuid4

from api.assemble.formats import choose_layout, hash_text, measure_stable_prefix, shape_answer
from api.assemble.gathering import Gathered, gather
from api.assemble.salvage import read_guidance, read_rules_and_tail, recall_rules
from api.assemble.schemas import AssembleIn, AssembleOut, BudgetOut, ItemOut, StableOut, VolatileOut
from api.assemble.visibility import Shown, find_shown
from api.recall.explanation import explain_candidates
from api.recall.ranking import Recalled
from api.receipts.draft import Draft
from api.runtime import Runtime
from models.domain.prompt.assembly import Assembly, Block, Supply, TailBlock, TierName, assemble
from models.domain.prompt.markers import keep_what_was_said
from models.domain.prompt.rendering import name_speaker, render_item, render_rule, render_turn, render_wish
from models.domain.prompt.tail import TailTurn
from models.domain.prompt.tokens import TokenCounter
from models.domain.records import Identity, durable_namespace
from models.domain.rules.guidance import GuidanceCandidate, order_guidance
from models.domain.rules.overruling import AuthoredRule, find_overruled
from models.domain.rules.tiers import Tier
from models.store.guidance import Guidance
from models.store.tokens import Caller

SECONDS_A_DAY: Final = 86_400
ENCODERS_LEAD_SECONDS: Final = 0.0001
FIRST_DAY: Final = date(1970, 1, 1).toordinal()


def assemble_prompt(runtime: Runtime, caller: Caller | None, request: AssembleIn) -> AssembleOut:
    """The prompt for the next model call. `caller` is None when PostgreSQL could not say whose token it is."""
    start = time.perf_counter()
    now = request.now or datetime.now(UTC)
    deadline_ms = request.deadline_ms or runtime.settings.assemble_deadline_ms
    counter = runtime.counter(request.tokenizer)
    got = Gathered()
    if caller is None:
        got.miss("database_unavailable", "PostgreSQL does not answer, and the token was not seen before")
    else:
        _gather_in_time(runtime, caller, request, got, start=start, deadline_ms=deadline_ms, now=now)
    marker = caller.marker if caller else ""
    got.turns = keep_what_was_said(got.turns, marker)
    shown = find_shown(runtime, caller, request, got) if caller else Shown()
    with got.timed("fit"):
        assembly = fit_budget(runtime, request, got, shown, counter=counter, marker=marker)
    if assembly.needed is not None:
        got.miss(
            "budget_infeasible",
            f"hard rules and the newest turns need {assembly.needed} tokens; the budget is {assembly.total}",
        )
    if caller is not None:
        chosen = frozenset(assembly.chosen["recall"])
        read = (one.candidate for one in got.recalled if one.scored.id in chosen)
        runtime.reads.count(caller.tenant_id, [candidate.item_id for candidate in read])
    got.timings_ms["total"] = round((time.perf_counter() - start) * 1000, 3)
    answer = _answer(got, assembly, request, counter)
    if caller is not None and runtime.receipts.wants(is_asked=request.explain):
        runtime.receipts.keep(take_draft(runtime, caller, request, got, assembly, now=now, answer=answer))
    return answer


def _gather_in_time(
    runtime: Runtime,
    caller: Caller,
    request: AssembleIn,
    got: Gathered,
    *,
    start: float,
    deadline_ms: int,
    now: datetime,
) -> None:
    """Everything, or, where a stage took too long, what outranks it by itself."""
    if runtime.outage.is_on:
        got.miss(
            "database_unavailable", "PostgreSQL did not answer a moment ago: nothing stored is in this answer"
        )
        recall_rules(runtime, caller, request, got)
        return
    encoding = runtime.start_encoding([request.query])
    if encoding is not None and not encoding.done():
        # Everything waits for the encoder, so its thread goes first; else it would get its turn, and the interpreter's
        # lock, only when this one waits for PostgreSQL.
        time.sleep(ENCODERS_LEAD_SECONDS)
    gather(runtime, caller, request, got, encoding, start=start, deadline_ms=deadline_ms, now=now)
    missed = {miss.code for miss in got.degraded}
    if missed & {"database_unavailable", "database_busy"}:
        if "database_unavailable" in missed:
            runtime.outage.note()
        if got.namespace is None:
            recall_rules(runtime, caller, request, got)
    elif got.namespace is None:
        recall_rules(runtime, caller, request, got)
        read_rules_and_tail(runtime, caller, request, got)
    elif "deadline_exceeded" in missed and not got.is_guidance_read:
        left_ms = deadline_ms - int((time.perf_counter() - start) * 1000)
        if left_ms > 0:
            read_guidance(runtime, caller, request, got, timeout_ms=left_ms)


def fit_budget(
    runtime: Runtime, request: AssembleIn, got: Gathered, shown: Shown, *, counter: TokenCounter, marker: str
) -> Assembly:
    """What was gathered, as far as the budget goes."""
    return assemble(
        _supply(got, shown),
        total=request.budget_tokens,
        counter=counter,
        reserves=runtime.reserves,
        min_turns=runtime.settings.tail_min_turns,
        marker=marker,
        layout=choose_layout(request),
    )


def take_draft(
    runtime: Runtime,
    caller: Caller,
    request: AssembleIn,
    got: Gathered,
    assembly: Assembly,
    *,
    now: datetime,
    answer: AssembleOut,
) -> Draft:
    """All that the receipt of this assembly is made from."""
    identity = Identity(user_id=request.user_id, session_key=request.session_key, agent_id=request.agent_id)
    namespace = got.namespace or caller.namespace or durable_namespace(identity, request.session_id)
    return Draft(
        id=UUID(answer.assembly_id),
        tenant_id=caller.tenant_id,
        namespace=namespace,
        request=request,
        now=now,
        made_at=datetime.now(UTC),
        got=got,
        assembly=assembly,
        stable_sha256=answer.stable.sha256,
        stable_prefix_chars=answer.stable_prefix_chars,
        fingerprint=runtime.encoder.fingerprint.digest() if runtime.encoder else None,
    )


def _supply(got: Gathered, shown: Shown) -> Supply:
    """Everything rendered, each tier in the order in which it is to be tried."""
    got.overruled = find_overruled(
        [AuthoredRule(str(rule.id), rule.body, tuple(rule.heading_path)) for rule in got.rules],
        [(str(record.id), record.body) for record in got.guidance],
    )
    overruled_ids = {one.wish_id for one in got.overruled if one.is_whole}
    rules = {
        tier: [
            Block(id=str(rule.id), rendered=render_rule(rule.body, rule.heading_path))
            for rule in got.rules
            if rule.tier is tier
        ]
        for tier in (Tier.HARD, Tier.SOFT)
    }
    tail = [
        TailBlock(
            id=str(turn.id),
            rendered=render_turn(role=turn.role, text=turn.content, when=stamp(turn.ts), name=turn.name),
            turn=TailTurn(
                id=str(turn.id),
                role=turn.role,
                position=turn.position,
                host_turn=turn.metadata.get("host_turn"),
            ),
            is_visible=str(turn.id) in shown.tail,
        )
        for turn in got.turns
    ]
    return Supply(
        hard=rules[Tier.HARD],
        soft=rules[Tier.SOFT],
        tail=tail,
        guidance=_order_guidance([one for one in got.guidance if str(one.id) not in overruled_ids]),
        recall=[_recall_block(found) for found in got.recalled if not found.is_beyond],
        recall_limit_tokens=got.recall_limit_tokens,
        shown=shown.older,
    )


def _order_guidance(found: Sequence[Guidance]) -> list[Block]:
    """Relevant guidance by likeness, then what stands for every turn."""
    records = {str(record.id): record for record in found}
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
    return [
        Block(
            id=candidate.id,
            says=str(records[candidate.id].turn_id),
            rendered=render_wish(
                records[candidate.id].body,
                day=records[candidate.id].stated_at.astimezone(UTC).date().isoformat(),
            ),
        )
        for candidate, _why in ordered
    ]


def _recall_block(found: Recalled) -> Block:
    candidate = found.candidate
    is_authored = candidate.kind in {"rule", "lore"}
    role = "summary of earlier turns" if candidate.kind == "summary" else candidate.role or candidate.kind
    day = _day(candidate.said_at)
    newer = found.superseded_by
    return Block(
        id=candidate.id,
        says=candidate.item_id if candidate.kind == "memory" else None,  # its turn says the same words
        repeats=found.repeats,
        covers=found.covers,
        rendered=render_item(
            candidate.text,
            speaker=None if is_authored else name_speaker(candidate.name, role),
            note=f"said otherwise on {_day(newer.said_at)}" if newer else "",
        ),
        heading=candidate.name or day if is_authored else day,
        said_at=candidate.said_at,
    )


def _answer(got: Gathered, assembly: Assembly, request: AssembleIn, counter: TokenCounter) -> AssembleOut:
    stable = assembly.stable
    prefix_chars = measure_stable_prefix(assembly)
    shape = shape_answer(assembly, request)
    messages = shape.messages
    if messages is None and request.messages is not None and got.namespace is None:
        messages = [message.model_dump(exclude={"id"}) for message in request.messages]
    return AssembleOut(
        assembly_id=str(uuid4()),
        text=assembly.text,
        stable=StableOut(text=stable, sha256=hash_text(stable), chars=len(stable)),
        stable_prefix_chars=prefix_chars,
        stable_prefix_sha256=hash_text(stable[:prefix_chars]),
        volatile=VolatileOut(text=assembly.volatile),
        system=shape.system,
        messages=messages,
        parts=shape.parts,
        budget=BudgetOut(total=assembly.total, used=assembly.used, **assembly.tokens),
        items=_describe_items(got, assembly, counter),
        visible=list(assembly.visible),
        degraded=got.degraded,
        pending=got.backlog.pending,
        lag_seconds=got.backlog.lag_seconds,
        timings_ms=got.timings_ms,
        explain=_explain(got, assembly) if request.explain else None,
    )


def _describe_items(got: Gathered, assembly: Assembly, counter: TokenCounter) -> list[ItemOut]:
    """Every item of the prompt, in prompt order, with what it cost."""
    described: dict[str, ItemOut] = {}

    def add(
        tier: TierName, key: str, kind: str, text: str, sources: Sequence[UUID | str], score: float | None
    ) -> None:
        if key in wanted[tier]:
            tokens = assembly.costs[key] if key in assembly.costs else counter.count(text)
            described[key] = ItemOut(
                tier=tier,
                kind=kind,  # type: ignore[typeddict-item]  # one of the kinds by the table's own constraint
                id=key,
                source_turn_ids=[str(source) for source in sources],
                text=text,
                tokens=tokens,
                score=score,
            )

    wanted = {tier: frozenset(ids) for tier, ids in assembly.chosen.items()}
    for rule in got.rules:
        add("hard" if rule.tier is Tier.HARD else "soft", str(rule.id), "rule", rule.body, (), None)
    for turn in got.turns:
        add("tail", str(turn.id), "turn", turn.content, (turn.id,), None)
    for record in got.guidance:
        add("guidance", str(record.id), "rule", record.body, (record.turn_id,), record.similarity)
    for found in got.recalled:
        candidate = found.candidate
        key = candidate.id
        if key not in described:
            add("recall", key, candidate.kind, candidate.text, candidate.source_turn_ids, found.scored.score)
    order = [key for tier in ("hard", "soft", "tail", "guidance", "recall") for key in assembly.chosen[tier]]
    return [described[key] for key in order]


def _explain(got: Gathered, assembly: Assembly) -> dict[str, object]:
    """Every candidate of recall with every term of its score, and why it was left out."""
    chosen = frozenset(assembly.chosen["recall"])
    reasons = {drop.id: drop.reason for drop in assembly.drops if drop.tier == "recall"}
    return {
        "candidates": explain_candidates(got.recalled, chosen=chosen, reasons=reasons),
        "dropped": [asdict(drop) for drop in assembly.drops if drop.tier != "recall"],
        # Spoken wishes that an authored rule contradicts; one that has nothing else to say is not in the prompt.
        "overruled": [one._asdict() for one in got.overruled],
    }


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
