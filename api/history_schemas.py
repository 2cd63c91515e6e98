"""Requests and answers about history: compaction, summaries, raw turns, the search over them, and hints."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field, StrictBool

from api.schemas import Name, Strict, Text, check_metadata

Event = Literal["before_reset", "session_end", "before_compaction"]


class CompactIn(Strict):
    """Whether to wait for the result, and whether to go as near to the present as the base tail allows."""

    wait: StrictBool = False
    force: StrictBool = False


class CompactOut(BaseModel):
    did_compact: bool
    clusters_formed: int
    clusters_declined: int
    turns_covered: int
    summary_ids: list[str]
    mean_confidence: float | None
    reason: str | None = Field(description="Why nothing, or not everything, was compacted.")
    is_done: bool = Field(description="False: it was asked for and will run; the numbers are not known yet.")


class TurnOut(BaseModel):
    id: str
    session_id: str
    position: int
    role: str
    content: str
    ts: datetime
    name: str | None
    host_message_id: str | None
    metadata: dict[str, Any]
    summary_id: str | None = Field(description="The summary that covers it, if one does.")


class TurnPageOut(BaseModel):
    turns: list[TurnOut]
    next_cursor: str | None


class SummaryOut(BaseModel):
    id: str
    session_id: str
    level: int
    text: str
    is_active: bool
    parent_id: str | None
    source_turn_ids: list[str]
    source_summary_ids: list[str]
    prior_ids: list[str]
    method: str
    attempt: str
    backend: str
    confidence: float
    decay: float
    align: float
    cover: float
    tokens: int
    source_tokens: int
    turn_count: int
    turn_tokens: int
    first_position: int
    last_position: int
    earliest_at: datetime
    latest_at: datetime
    made_at: datetime


class ExpandOut(BaseModel):
    turns: list[TurnOut]
    summaries: list[SummaryOut]
    next_cursor: str | None


class GrepIn(Strict):
    """What to look for in the raw record, newest turns first."""

    pattern: Annotated[Text, Field(min_length=1, max_length=1000)]
    regex: StrictBool = False
    ignore_case: StrictBool = False
    session_id: Name | None = None
    user_id: Name | None = None
    role: Literal["user", "assistant", "system", "tool"] | None = None
    limit: Annotated[int, Field(gt=0, le=1000, strict=True)] = 50
    cursor: Annotated[str, Field(max_length=32, pattern=r"^\d+$")] | None = None


class GrepHit(BaseModel):
    turn_id: str
    session_id: str
    position: int
    role: str
    name: str | None
    ts: datetime
    excerpt: str
    match_start: int
    match_end: int
    summary_id: str | None


class GrepOut(BaseModel):
    matches: list[GrepHit]
    scanned: int = Field(description="Turns looked at by this call.")
    is_complete: bool = Field(description="False: more may match; go on with `next_cursor`.")
    next_cursor: str | None


class LifecycleIn(Strict):
    """A hint about a session's life. It schedules compaction and is written down; it decides nothing."""

    event: Event
    session_id: Name
    reason: Annotated[Text, Field(max_length=2000)] | None = None
    metadata: Annotated[dict[str, Any], AfterValidator(check_metadata)] = Field(default_factory=dict)


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


class VerifyIn(Strict):
    """Which sessions to prove lossless; all of the tenant's, a slice at a time, when none is named."""

    session_id: Name | None = None
    repair: StrictBool = False
    cursor: Name | None = None


class ViolationOut(BaseModel):
    kind: str
    session_id: str
    node: str
    detail: str


class VerifyOut(BaseModel):
    sessions: int
    summaries: int
    turns: int
    violations: list[ViolationOut]
    summaries_dropped: int
    next_cursor: str | None
