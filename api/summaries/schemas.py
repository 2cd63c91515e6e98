"""Answers about summaries."""

from datetime import datetime

from pydantic import BaseModel

from api.turns.schemas import TurnOut


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
