"""Answers about authored documents."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from api.screening import SecretOut


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
    secrets: list[SecretOut] = Field(default=[], description="What was found in it, and masked.")


class NodeOut(BaseModel):
    """A node of a document: what it is promised, and what it costs."""

    id: str
    position: int
    kind: str
    tier: Literal["hard", "soft", "lore"]
    text: str
    heading_path: list[str]
    modalities: list[str]
    tokens: int


class PartitionOut(BaseModel):
    """A document as it was partitioned, and which of its rules contradict each other."""

    document: LoadedDocumentOut
    nodes: list[NodeOut]
    conflicts: list[ConflictOut]
