"""Spoken rules one by one: look, forget."""

from datetime import datetime
from uuid import UUID

from api.access import check_owner, choose_namespace
from api.guidance.schemas import GuidanceOut, GuidancePageOut
from api.memories.schemas import ForgottenOut
from api.runtime import Runtime
from models.domain.records import Identity
from models.errors import NotFound
from models.store.engine import repeat_if_overtaken, tenant_transaction
from models.store.forgetting import forget_guidance
from models.store.guidance import SpokenRule, find_spoken_rule, list_spoken_rules
from models.store.memories import LAST_ID
from models.store.tokens import Caller


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
    with tenant_transaction(
        runtime.engine, caller, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        found = list_spoken_rules(
            connection,
            tenant_id=caller.tenant_id,
            namespace=wanted,
            collection=collection,
            only_standing=only_standing,
            before_id=cursor or LAST_ID,
            count=limit + 1,
        )
    return GuidancePageOut(
        guidance=[_show_rule(rule) for rule in found[:limit]],
        next_cursor=found[limit - 1].id if len(found) > limit else None,
    )


def forget_rule(
    runtime: Runtime, caller: Caller, guidance_id: UUID, *, asked: Identity, reason: str | None
) -> ForgottenOut:
    """A spoken rule stands no more, and nothing recalls the turn that spoke it."""

    def leave() -> datetime | None:
        with tenant_transaction(
            runtime.engine, caller, timeout_ms=runtime.settings.statement_timeout_ms
        ) as connection:
            rule = find_spoken_rule(connection, tenant_id=caller.tenant_id, guidance_id=guidance_id)
            missing = NotFound(
                f"no guidance {guidance_id} in this tenant", remedy="GET /v1/guidance lists what stands"
            )
            if rule is None:
                raise missing
            check_owner(caller, rule.namespace, asked, missing=missing)
            return forget_guidance(
                connection, tenant_id=caller.tenant_id, guidance_id=guidance_id, reason=reason
            )

    since = repeat_if_overtaken(leave)
    assert since is not None
    return ForgottenOut(id=str(guidance_id), forgotten_at=since)


def _show_rule(rule: SpokenRule) -> GuidanceOut:
    return GuidanceOut(
        id=str(rule.id),
        collection=rule.collection,
        namespace=rule.namespace,
        session_id=rule.session_id,
        turn_id=str(rule.turn_id),
        text=rule.body,
        modalities=list(rule.modalities),
        stability_weight=rule.stability_weight,
        stated_at=rule.stated_at,
        superseded_by=str(rule.superseded_by) if rule.superseded_by else None,
        forgotten_at=rule.forgotten_at,
    )
