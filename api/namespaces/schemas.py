"""Answers about namespaces, and what was erased."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field, StrictBool

from api.routing.schemas import Name, Reason, Strict


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


class ErasureIn(Strict):
    """What to erase for good. A document is named with its `user_id` or `agent_id`, as it was loaded."""

    kind: Literal["namespace", "session", "memory", "document"]
    name: Name
    user_id: Name | None = None
    agent_id: Name | None = None
    dry_run: StrictBool = Field(default=False, description="Only count what would go.")
    confirm: Name | None = Field(default=None, description="The name again; without it nothing is erased.")
    reason: Reason | None = None
    wait: StrictBool = Field(
        default=True,
        description="Answer when it is done; else at once, and `GET /v1/erasures/{id}` tells how far it is.",
    )


class RemovedOut(BaseModel):
    id: str = Field(description="Of the erasure: what `GET /v1/erasures/{id}` takes.")
    kind: str
    name: str
    dry_run: bool
    is_done: bool
    step: int = Field(description="Of `steps`; they are of about the same size.")
    steps: int = Field(description="0 until it has begun.")
    counts: dict[str, int] = Field(
        description="Rows that went, or would go, by table; empty until it is done."
    )


class ErasedOut(BaseModel):
    namespace: str
    counts: dict[str, int] = Field(description="Rows that went, by table.")


class ErasureOut(BaseModel):
    id: str
    kind: str
    target: str | None = Field(description="The session, memory or document; null for a namespace.")
    namespace: str
    token_id: str | None
    reason: str | None
    counts: dict[str, int]
    erased_at: datetime


class ErasuresOut(BaseModel):
    erasures: list[ErasureOut]
