"""Spoken rules one by one: look, correct, forget."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Connection

from api.access.decisions import check_owner, choose_namespace
from api.guidance.schemas import GuidanceOut, GuidancePageOut, OverruledOut
from api.memories.schemas import CorrectionIn, ForgottenOut
from api.memories.service import correct
from api.routing.superseding import show_supersession
from api.runtime import Runtime
from models.domain.records import Identity, read_identity
from models.domain.rules.overruling import AuthoredRule, find_overruled
from models.domain.wishes.conversation import read_wish
from models.domain.wishes.lifetimes import find_lifetime
from models.errors import Conflict, NotFound
from models.store.documents import bindings_of, load_rules
from models.store.engine import repeat_if_overtaken
from models.store.memory.forgetting import forget_guidance
from models.store.memory.guidance import SpokenRule, correct_guidance, find_spoken_rule, list_spoken_rules
from models.store.memory.memories import LAST_ID, find_memories_of
from models.store.memory.updates import Supersession, load_supersessions
from models.store.tenancy.tokens import Caller


def page_guidance(
    runtime: Runtime,
    caller: Caller,
    *,
    asked: Identity,
    collection: str | None,
    only_standing: bool,
    cursor: UUID | None,
    limit: int,
) -> GuidancePageOut:
    """A page of spoken rules, those noted last first."""
    wanted = choose_namespace(caller, asked)
    with runtime.transaction(caller) as connection:
        found = list_spoken_rules(
            connection,
            tenant_id=caller.tenant_id,
            namespace=wanted,
            collection=collection,
            only_standing=only_standing,
            before_id=cursor or LAST_ID,
            count=limit + 1,
        )
        marks = load_supersessions(
            connection, tenant_id=caller.tenant_id, turn_ids=[rule.turn_id for rule in found]
        )
    return GuidancePageOut(
        guidance=[_show_rule(rule, marks) for rule in found[:limit]],
        next_cursor=found[limit - 1].id if len(found) > limit else None,
    )


def correct_rule(
    runtime: Runtime, caller: Caller, guidance_id: UUID, request: CorrectionIn, *, asked: Identity
) -> GuidanceOut:
    """A spoken rule in other words, and so the memory of its turn if there is one; the raw turn keeps its own."""
    with runtime.transaction(caller) as connection:
        rule = _find(connection, caller, guidance_id, asked)
        known = find_memories_of(connection, tenant_id=caller.tenant_id, turn_ids=[rule.turn_id])
    if rule.forgotten_at is not None:
        raise Conflict(
            f"guidance {guidance_id} was forgotten at {rule.forgotten_at.isoformat()}",
            code="memory_forgotten",
            remedy="send the wish as a new turn",
        )
    if rule.turn_id in known:
        correct(runtime, caller, known[rule.turn_id], request, asked=asked)
    reading = read_wish(request.text)
    with runtime.transaction(caller) as connection:
        correct_guidance(
            connection,
            tenant_id=caller.tenant_id,
            guidance_id=guidance_id,
            body=request.text,
            modalities=sorted(reading.modalities),
            claims=reading.claims,
            expires_at=find_lifetime(request.text, datetime.now(UTC)).expires_at,
        )
        changed = _find(connection, caller, guidance_id, asked)
        marks = load_supersessions(connection, tenant_id=caller.tenant_id, turn_ids=[changed.turn_id])
        return _show_rule(changed, marks)


def _find(connection: Connection, caller: Caller, guidance_id: UUID, asked: Identity) -> SpokenRule:
    rule = find_spoken_rule(connection, tenant_id=caller.tenant_id, guidance_id=guidance_id)
    missing = NotFound(
        f"no guidance {guidance_id} in this tenant", remedy="GET /v1/guidance lists what stands"
    )
    if rule is None:
        raise missing
    check_owner(caller, rule.namespace, asked, missing=missing)
    return rule


def forget_rule(
    runtime: Runtime, caller: Caller, guidance_id: UUID, *, asked: Identity, reason: str | None
) -> ForgottenOut:
    """A spoken rule stands no more, and nothing recalls the turn that spoke it."""

    def leave() -> datetime | None:
        with runtime.transaction(caller) as connection:
            _find(connection, caller, guidance_id, asked)
            return forget_guidance(
                connection, tenant_id=caller.tenant_id, guidance_id=guidance_id, reason=reason
            )

    since = repeat_if_overtaken(leave)
    assert since is not None
    return ForgottenOut(id=str(guidance_id), forgotten_at=since)


def find_contradicted(
    runtime: Runtime, caller: Caller, wishes: Sequence[GuidanceOut]
) -> dict[str, OverruledOut]:
    """Of these wishes, those that an authored rule contradicts, by id: in a prompt the document wins."""
    found: dict[str, OverruledOut] = {}
    by_namespace: dict[str, list[GuidanceOut]] = {}
    for wish in wishes:
        by_namespace.setdefault(wish.namespace, []).append(wish)
    with runtime.transaction(caller) as connection:
        for namespace, own in by_namespace.items():
            whose = read_identity(namespace)
            bindings = bindings_of(user_id=whose.user_id, agent_id=whose.agent_id)
            rules = load_rules(connection, tenant_id=caller.tenant_id, bindings=bindings)
            words = {str(rule.id): rule.body for rule in rules}
            overruled = find_overruled(
                [AuthoredRule(str(rule.id), rule.body, rule.heading_path) for rule in rules],
                [(wish.id, wish.text) for wish in own],
            )
            for one in overruled:
                found[one.wish_id] = OverruledOut(
                    rule=words[one.rule_id], action=one.action, is_whole=one.is_whole
                )
    return found


def _show_rule(rule: SpokenRule, marks: Mapping[UUID, Supersession]) -> GuidanceOut:
    return GuidanceOut(
        id=str(rule.id),
        collection=rule.collection,
        namespace=rule.namespace,
        session_id=rule.session_id,
        turn_id=str(rule.turn_id),
        speaker=rule.name,
        text=rule.body,
        modalities=list(rule.modalities),
        stability_weight=rule.stability_weight,
        stated_at=rule.stated_at,
        superseded_by=str(rule.superseded_by) if rule.superseded_by else None,
        forgotten_at=rule.forgotten_at,
        expires_at=rule.expires_at,
        corrected_at=rule.corrected_at,
        superseded=show_supersession(marks, rule.turn_id),
    )
