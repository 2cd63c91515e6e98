"""Answers about spoken rules."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from api.routing.schemas import SupersededOut


class GuidanceOut(BaseModel):
    id: str
    collection: str
    namespace: str
    session_id: str
    turn_id: str
    speaker: str | None = Field(description="Who said it, where the turn has a name.")
    text: str
    modalities: list[str]
    stability_weight: float
    stated_at: datetime
    superseded_by: str | None
    forgotten_at: datetime | None
    expires_at: datetime | None
    corrected_at: datetime | None
    superseded: SupersededOut | None = Field(default=None, description="What stands in its place, and why.")


class GuidancePageOut(BaseModel):
    guidance: list[GuidanceOut]
    next_cursor: UUID | None


class OverruledOut(BaseModel):
    """An authored rule that a spoken one contradicts, and on what they disagree."""

    rule: str
    action: str
    is_whole: bool
