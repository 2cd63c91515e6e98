"""What a receipt and its replay look like to a caller."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from api.routing.schemas import DegradedOut


class CandidateOut(BaseModel):
    """Something that wanted to be in the prompt, and what became of it."""

    tier: Literal["hard", "soft", "tail", "guidance", "recall"]
    kind: str
    id: str
    turn_id: str | None = Field(description="The turn whose words these are, where it is not `id`.")
    fate: Literal["chosen", "dropped"]
    reason: str | None = Field(description="Why it was dropped.")
    tokens: int | None = Field(
        description="What it added to the prompt; null where it was put in with others."
    )
    scope: str | None
    vector_rank: int | None
    lexical_rank: int | None
    hop_from: str | None
    temporal: dict[str, Any] | None
    quoted_chars: int | None = Field(
        default=None,
        description="Of a long turn that is quoted by the passages that match: how long the quote is.",
    )
    superseded_by: str | None = None  # what says how it is now
    superseded_at: datetime | None = None  # since when
    terms: dict[str, float | None] = Field(description="Every term of its score, and the score itself.")
    text: str | None = Field(description="The beginning of its words, as they are stored now.")


class ReceiptBudgetOut(BaseModel):
    """The arithmetic of the budget, in tokens; fractions are of `total`."""

    total: int
    used: int
    needed: int | None
    is_feasible: bool
    hard_reserve: float
    soft_reserve: float
    tail_target: float
    guidance_reserve: float
    guidance_floor_tokens: int | None = None  # in receipts from before there was one
    hard: int
    base: int
    soft_capacity: int | None
    soft: int
    tail_capacity: int | None
    tail: int
    guidance_reserved: int | None = Field(
        default=None, description="What was kept for guidance, before recall."
    )
    guidance_capacity: int | None = Field(
        description="What guidance might cost: more than was kept where recall left room for wishes that did not fit."
    )
    guidance: int
    recall_capacity: int | None
    recovery_reserve: int | None = Field(
        default=None, description="Where nothing matched well: what raw turns under summaries might cost."
    )
    recall: int
    exhausted: bool = Field(default=False, description="Nothing else reached the floor of recall.")


class ReceiptOut(BaseModel):
    assembly_id: str
    session_id: str
    namespace: str
    made_at: datetime
    now: datetime
    request: dict[str, Any] = Field(description="As it was sent, without `messages`.")
    budget: ReceiptBudgetOut
    tail: dict[str, int | None]
    visible: list[str]
    stable: dict[str, Any]
    candidates: list[CandidateOut]
    degraded: list[DegradedOut]
    timings_ms: dict[str, float]
    pending: int
    lag_seconds: float
    encoder: dict[str, str | None]
    settings: dict[str, Any]
    settings_version: str


class ChangeOut(BaseModel):
    was: Any
    now: Any


class ChangedCandidateOut(BaseModel):
    id: str
    tier: str
    kind: str
    changes: dict[str, ChangeOut] = Field(description="By name: a term, `fate`, `reason` or `tokens`.")


class MovedCandidateOut(BaseModel):
    id: str
    tier: str
    kind: str
    fate: str
    score: float | None


class ReplayOut(BaseModel):
    """The same request at the same moment over what is stored now, and where it differs."""

    assembly_id: str
    is_same: bool
    settings: dict[str, ChangeOut]
    encoder: dict[str, ChangeOut]
    budget: dict[str, ChangeOut]
    stable: dict[str, ChangeOut]
    appeared: list[MovedCandidateOut]
    vanished: list[MovedCandidateOut]
    changed: list[ChangedCandidateOut]
    left_out: int = Field(
        description="Candidates that were said after the prompt was made: no part of the replay."
    )
    degraded: list[DegradedOut]
