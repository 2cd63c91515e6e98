"""Answers about authored documents."""

from datetime import datetime

from pydantic import BaseModel, Field


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


class ConflictOut(BaseModel):
    action: str
    obligation: str
    prohibition: str


class DocumentOut(BaseModel):
    id: str
    name: str
    binding: str
    nodes: int
    hard: int
    soft: int
    lore: int
    hard_tokens: int
    soft_tokens: int
    lore_tokens: int
    hard_cap_tokens: int
    demotions: list[str]
    conflicts: list[ConflictOut]
