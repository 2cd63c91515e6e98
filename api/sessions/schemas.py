"""Answers about sessions."""

from datetime import datetime

from pydantic import BaseModel, Field


class SessionOut(BaseModel):
    session_id: str
    namespace: str
    user_id: str | None
    session_key: str | None
    agent_id: str | None
    is_shared: bool = Field(description="Opened for every identity, as a group chat is.")
    created_at: datetime
    last_turn_at: datetime
    turns: int
    tokens: int = Field(description="What its turns cost by the `chars` counter.")
    covered_turns: int = Field(description="Turns that a summary covers.")
    summaries: int
    active_summaries: int
    uncompacted_tokens: int
    generation: int = Field(description="How many compactions changed it.")
    compacted_at: datetime | None
    is_compaction_requested: bool


class SessionPageOut(BaseModel):
    sessions: list[SessionOut]
    next_cursor: str | None
