"""The request for a search, and the answer."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool

from api.routing.schemas import DegradedOut, Instant, ItemKind, Moment, Name, Strict, Text, UserId
from models.domain.recall.scoring import ProfileName, Scope
from models.domain.records import Role


class SearchIn(Strict):
    query: Annotated[Text, Field(min_length=1, max_length=200_000)]
    k: Annotated[int, Field(gt=0, le=200, strict=True)] = 10
    user_id: UserId | None = None
    session_key: Name | None = None
    agent_id: Name | None = None
    session_id: Name | None = None
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=8)] | None = Field(
        default=None,
        description="session: turns of `session_id`; durable: the rest of the namespace; global; lore; summary.",
    )
    kinds: Annotated[list[ItemKind], Field(min_length=1, max_length=8)] | None = None
    roles: Annotated[list[Role], Field(min_length=1, max_length=8)] | None = None
    since: Instant | None = Field(default=None, description="Said from this moment on.")
    until: Instant | None = Field(default=None, description="Said before this moment.")
    group_by: Literal["session"] | None = Field(
        default=None,
        description="session: one result a session, its best; sessions by the strongest match in them, answers included.",
    )
    cursor: Annotated[Text, Field(min_length=1, max_length=20_000)] | None = Field(
        default=None, description="`next_cursor` of the page before; the rest of the request stays the same."
    )
    explain: StrictBool = False
    now: Moment | None = None
    profile: ProfileName | None = None


class SearchHit(BaseModel):
    id: str
    kind: str
    text: str
    score: float
    source_turn_ids: list[str]
    role: str | None
    session_id: str | None
    ts: datetime
    similarity: float | None
    superseded_by: str | None = None  # a later statement of the same speaker that says otherwise


class SearchOut(BaseModel):
    results: list[SearchHit]
    next_cursor: str | None = Field(
        description="The rest of this ranking: pages that follow it never repeat or skip a result."
    )
    degraded: list[DegradedOut]
    pending: int
    lag_seconds: float
    explain: dict[str, Any] | None = None
