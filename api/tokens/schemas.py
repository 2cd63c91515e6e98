"""The request for a token, and what is told of one."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from api.routing.schemas import Instant, Name, Strict, Text

Scope = Literal["read", "write", "admin"]
Names = Annotated[list[Name], Field(min_length=1, max_length=1000)]


def _default_scopes() -> list[Scope]:
    return ["read", "write"]


class TokenIn(Strict):
    """What the token may do, where, and until when. With namespaces or agents it opens those and nothing else."""

    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)] = Field(default_factory=_default_scopes)
    namespaces: Names | None = None
    agents: Names | None = None
    label: Annotated[Text, Field(max_length=200)] | None = None
    expires_at: Instant | None = None


class TokenOut(BaseModel):
    id: str
    scopes: list[str]
    namespaces: list[str] | None
    agents: list[str] | None
    label: str | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute.")
    revoked_at: datetime | None


class TokensOut(BaseModel):
    tokens: list[TokenOut]


class NewTokenOut(BaseModel):
    token: str = Field(description="Shown once: only its hash is kept.")
    id: str


class RevokedOut(BaseModel):
    id: str
    revoked_at: datetime
