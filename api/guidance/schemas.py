"""Answers about spoken rules."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel


class GuidanceOut(BaseModel):
    id: str
    collection: str
    namespace: str
    session_id: str
    turn_id: str
    text: str
    modalities: list[str]
    stability_weight: float
    stated_at: datetime
    superseded_by: str | None
    forgotten_at: datetime | None


class GuidancePageOut(BaseModel):
    guidance: list[GuidanceOut]
    next_cursor: UUID | None
