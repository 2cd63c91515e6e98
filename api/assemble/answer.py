"""The answer of an assembly: its text in the shape the host asked for, its items, and its explanation."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from api.assemble.formats import hash_text, measure_stable_prefix, shape_answer
from api.assemble.gathering import Gathered
from api.assemble.schemas import AssembleIn, AssembleOut, BudgetOut, ItemOut, StableOut, VolatileOut
from api.recall.explanation import explain_candidates
from api.routing.trail import Trail
from models.domain.prompt.assembly import Assembly
from models.domain.prompt.supply import TierName
from models.domain.prompt.tokens import TokenCounter
from models.domain.rules.overruling import Overruling
from models.domain.rules.tiers import Tier


def make_answer(
    request: AssembleIn,
    got: Gathered,
    assembly: Assembly,
    overruled: Sequence[Overruling],
    trail: Trail,
    counter: TokenCounter,
) -> AssembleOut:
    """What the caller gets."""
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
        budget=BudgetOut(
            total=assembly.total,
            used=assembly.used,
            **assembly.tokens,
            exhausted=got.is_complete and not assembly.wants_room,
        ),
        items=_describe_items(got, assembly, counter),
        visible=list(assembly.visible),
        degraded=trail.degraded,
        pending=got.backlog.pending,
        lag_seconds=got.backlog.lag_seconds,
        timings_ms=trail.timings_ms,
        explain=_explain(got, assembly, overruled) if request.explain else None,
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
                is_quote=tier == "recall" and key in assembly.quotes,
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
            said = assembly.quotes.get(key, candidate.text)
            add("recall", key, candidate.kind, said, candidate.source_turn_ids, found.scored.score)
    order = [key for tier in ("hard", "soft", "tail", "guidance", "recall") for key in assembly.chosen[tier]]
    return [described[key] for key in order]


def _explain(got: Gathered, assembly: Assembly, overruled: Sequence[Overruling]) -> dict[str, Any]:
    """Every candidate of recall with every term of its score and its fate, and what the other tiers left out."""
    tiers: tuple[TierName, ...] = ("soft", "guidance")
    return {
        "candidates": explain_candidates(got.recalled, assembly.fates["recall"]),
        "dropped": [
            {"tier": tier, "id": key, "reason": fate.reason}
            for tier in tiers
            for key, fate in assembly.fates[tier].items()
            if not fate.is_in
        ],
        # Spoken wishes that an authored rule contradicts; one that has nothing else to say is not in the prompt.
        "overruled": [one._asdict() for one in overruled],
    }
