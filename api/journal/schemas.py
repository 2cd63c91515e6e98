"""Lifecycle hints and the journal of them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field

from api.routing.schemas import Asking, Name, Reason
from api.screening import screen_notes
from api.turns.schemas import check_metadata

Event = Literal["before_reset", "session_end", "before_compaction"]


class LifecycleIn(Asking):
    """A hint about a session's life. It schedules compaction and is written down; it decides nothing."""

    event: Event
    session_id: Name
    reason: Reason | None = None
    metadata: Annotated[dict[str, Any], AfterValidator(check_metadata), AfterValidator(screen_notes)] = Field(
        default_factory=dict
    )


class LifecycleOut(BaseModel):
    id: str
    compaction_scheduled: bool


class JournalEntryOut(BaseModel):
    id: str
    event: str
    session_id: str
    reason: str | None
    metadata: dict[str, Any]
    recorded_at: datetime


class JournalOut(BaseModel):
    entries: list[JournalEntryOut]
    next_cursor: UUID | None
