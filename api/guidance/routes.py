"""The HTTP surface of spoken rules and wishes."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.access.decisions import Reader, RuntimeOf, Writer
from api.guidance.schemas import GuidanceOut, GuidancePageOut
from api.guidance.service import correct_rule, forget_rule, page_guidance
from api.idempotency import IdempotentRoute
from api.memories.schemas import CorrectionIn, ForgottenOut
from api.routing.parameters import PROBLEM, Asked, Limit, PageCursor, Why
from api.routing.schemas import Name

router = APIRouter(responses=PROBLEM, route_class=IdempotentRoute, tags=["memories"])


@router.get("/v1/guidance")
def get_guidance(
    runtime: RuntimeOf,
    caller: Reader,
    asked: Asked,
    collection: Annotated[Name | None, Query(description="elevated:user:… or elevated:session:…")] = None,
    standing: Annotated[bool, Query(description="False: superseded, ended and forgotten ones too.")] = True,
    cursor: PageCursor = None,
    limit: Limit = 100,
) -> GuidancePageOut:
    """Rules and wishes spoken in conversation, those noted last first."""
    return page_guidance(
        runtime,
        caller,
        asked=asked,
        collection=collection,
        only_standing=standing,
        cursor=cursor,
        limit=limit,
    )


@router.patch("/v1/guidance/{guidance_id}")
def patch_guidance(
    guidance_id: UUID, body: CorrectionIn, runtime: RuntimeOf, caller: Writer, asked: Asked
) -> GuidanceOut:
    """Give a spoken rule other words; the turn that spoke it is not altered."""
    return correct_rule(runtime, caller, guidance_id, body, asked=asked)


@router.delete("/v1/guidance/{guidance_id}")
def delete_guidance(
    guidance_id: UUID, runtime: RuntimeOf, caller: Writer, asked: Asked, reason: Why = None
) -> ForgottenOut:
    """Forget a spoken rule: it stands no more, and nothing recalls the turn that spoke it."""
    return forget_rule(runtime, caller, guidance_id, asked=asked, reason=reason)
