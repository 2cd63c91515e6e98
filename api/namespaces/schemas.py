"""Answers about namespaces, and what was erased."""

from datetime import datetime

from pydantic import BaseModel, Field


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
