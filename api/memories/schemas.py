"""Requests and answers about memories, and why they are there."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field, PrivateAttr, model_validator

from api.routing.schemas import Name, Reason, Strict, SupersededOut, UserId, refuse
from api.screening import REMEDY, SecretOut, screen_text
from api.turns.schemas import Content, check_metadata
from models.errors import InvalidInput


class RevisionOut(BaseModel):
    """What a memory said until it was corrected."""

    text: str
    reason: str | None
    replaced_at: datetime


class SourceOut(BaseModel):
    """A turn that made or confirmed a memory, word for word."""

    turn_id: str
    session_id: str
    position: int
    ts: datetime
    text: str
    similarity: float


class DecisionOut(BaseModel):
    """What the gate decided on the turn, with every signal (memory-model section 5)."""

    keep: bool
    threshold: float
    signals: dict[str, float]
    reasons: list[str]
    decided_at: datetime


class MemoryExplainOut(BaseModel):
    decision: DecisionOut | None
    sources: list[SourceOut]
    revisions: list[RevisionOut]


class MemoryOut(BaseModel):
    id: str
    namespace: str
    text: str
    gate_score: float
    mention_count: int
    turn_id: str
    session_id: str
    first_seen_at: datetime
    last_seen_at: datetime
    corrected_at: datetime | None
    forgotten_at: datetime | None
    superseded: SupersededOut | None = Field(
        default=None, description="What is so now instead; null: it stands."
    )
    explain: MemoryExplainOut | None = None
    secrets: list[SecretOut] = Field(default=[], description="What was found in the words sent, and masked.")


class MemoryPageOut(BaseModel):
    memories: list[MemoryOut]
    next_cursor: UUID | None


class CorrectionIn(Strict):
    """Other words for a memory. The raw turn is not altered; the old words stay in the memory's history."""

    text: Content
    reason: Reason | None = None
    _secrets: list[SecretOut] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _screen(self) -> Self:
        try:
            self.text, self._secrets = screen_text(self.text, "text")
        except InvalidInput as error:
            raise refuse(error.code, error.detail, REMEDY) from error
        return self

    @property
    def secrets(self) -> list[SecretOut]:
        """What was found in it, and by the policy masked."""
        return self._secrets


class MemoryIn(Strict):
    """A memory put in directly: of one user, or of everybody in the tenant. The same `id` and words are kept once."""

    text: Content
    scope: Literal["user", "global"] = "user"
    user_id: UserId | None = None
    id: Name | None = None
    metadata: Annotated[dict[str, Any], AfterValidator(check_metadata)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_owner(self) -> Self:
        if (self.user_id is None) is (self.scope == "user"):
            raise refuse(
                "invalid_value",
                "a memory is one user's, or everybody's",
                "send user_id, or scope global without one",
            )
        return self


class EchoOut(BaseModel):
    """A turn that says the same as a memory: an assistant's repetition, a tool's output, another turn."""

    turn_id: str
    role: str
    text: str
    similarity: float


class ForgottenOut(BaseModel):
    id: str
    forgotten_at: datetime
    echoes: list[EchoOut] = Field(
        default=[],
        description="Turns that say the same and are still recalled; repeat the call with `also` to forget them too.",
    )
    also_forgotten: int = Field(default=0, description="Turns of `also` that are recalled no more.")
