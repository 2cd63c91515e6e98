"""Answers about where things are kept: sessions, namespaces, documents, and what was erased."""

from datetime import datetime

from pydantic import BaseModel, Field


class SessionOut(BaseModel):
    session_id: str
    namespace: str
    user_id: str | None
    session_key: str | None
    agent_id: str | None
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


class NamespaceOut(BaseModel):
    namespace: str
    sessions: int
    turns: int
    memories: int
    guidance: int
    indexed: int = Field(description="Items that recall can find.")
    last_turn_at: datetime | None


class NamespacePageOut(BaseModel):
    namespaces: list[NamespaceOut]
    next_cursor: str | None


class ErasedOut(BaseModel):
    namespace: str
    counts: dict[str, int] = Field(description="Rows that went, by table.")


class ErasureOut(BaseModel):
    id: str
    namespace: str
    token_id: str | None
    reason: str | None
    counts: dict[str, int]
    erased_at: datetime


class ErasuresOut(BaseModel):
    erasures: list[ErasureOut]


class LoadedDocumentOut(BaseModel):
    id: str
    name: str
    binding: str
    bytes: int
    hard_tokens: int
    nodes: int
    hard: int
    soft: int
    lore: int
    loaded_at: datetime
    text: str | None = Field(default=None, description="Only when one document is asked for.")


class DocumentPageOut(BaseModel):
    documents: list[LoadedDocumentOut]
    next_cursor: str | None
