"""The records of an export, one JSON object a line; what an import does not know, it refuses."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter

from api.routing.schemas import Instant, Name, Strict, Text
from api.turns.schemas import check_metadata
from models.domain.records import Role

FORMAT = "longtail-export"
VERSION = 1
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Position = Annotated[int, Field(ge=0, lt=2**62)]
Count = Annotated[int, Field(ge=0, lt=2**31)]
Words = Annotated[list[Text], Field(max_length=1000)]


class HeaderRecord(Strict):
    type: Literal["header"]
    format: Literal["longtail-export"]
    version: Literal[1]
    exported_at: datetime
    namespace: str | None = None
    session_id: str | None = None


class EndRecord(Strict):
    type: Literal["end"]
    counts: dict[str, int]


class SessionRecord(Strict):
    type: Literal["session"]
    session_id: Name
    namespace: Name
    user_id: Name | None
    session_key: Name | None
    agent_id: Name | None
    next_position: Position
    created_at: Instant
    last_turn_at: Instant


class TurnRecord(Strict):
    type: Literal["turn"]
    id: UUID
    session_id: Name
    position: Position
    namespace: Name
    role: Role
    content: Annotated[Text, Field(min_length=1)]
    name: Text | None
    host_message_id: Text | None
    dedup_key: Text
    ts: Instant
    accepted_at: Instant
    metadata: Annotated[dict[str, Any], AfterValidator(check_metadata)]


class DecisionRecord(Strict):
    type: Literal["decision"]
    turn_id: UUID
    namespace: Name
    keep: bool
    threshold: float
    g: Unit
    t: Unit
    h: Unit
    r: Unit
    d: Unit
    input_freq: Unit
    mem_saturation: Unit
    p: Unit
    a: Unit
    dtech: Unit
    gconv: Unit
    gtech: Unit
    worth: Unit | None = None  # exports of before have neither: G decided alone
    score: Unit | None = None
    reasons: Words
    memory_id: UUID | None
    is_reinforcement: bool
    decided_at: Instant


class SourceRecord(Strict):
    turn_id: UUID
    similarity: Annotated[float, Field(allow_inf_nan=False)]
    linked_at: Instant


class RevisionRecord(Strict):
    id: UUID
    body: Text
    reason: Text | None
    replaced_at: Instant


class MemoryRecord(Strict):
    type: Literal["memory"]
    id: UUID
    namespace: Name
    turn_id: UUID
    body: Text
    gate_score: Unit
    mention_count: Count
    first_seen_at: Instant
    last_seen_at: Instant
    corrected_at: Instant | None
    forgotten_at: Instant | None
    sources: list[SourceRecord]
    revisions: list[RevisionRecord]


class GuidanceRecord(Strict):
    type: Literal["guidance"]
    id: UUID
    collection: Name
    turn_id: UUID
    body: Text
    modalities: Words
    stability_weight: Unit
    stated_at: Instant
    superseded_by: UUID | None
    forgotten_at: Instant | None
    expires_at: Instant | None = None
    corrected_at: Instant | None = None


class ForgottenRecord(Strict):
    type: Literal["forgotten"]
    item_id: UUID
    namespace: Name
    reason: Text | None
    forgotten_at: Instant


class EdgeRecord(Strict):
    turn_id: UUID
    tokens: Count
    is_protected: bool


class SummaryRecord(Strict):
    type: Literal["summary"]
    id: UUID
    session_id: Name
    namespace: Name
    level: Annotated[int, Field(ge=1, le=64)]
    body: Text
    method: Literal["abstractive", "extractive"]
    attempt: Literal["normal", "aggressive", "fallback"]
    backend: Text
    confidence: Unit
    align: Annotated[float, Field(ge=-1, le=1)]
    cover: Unit
    prior_ids: list[UUID]
    summary_tokens: Count
    source_tokens: Position
    turn_count: Count
    turn_tokens: Position
    first_position: Position
    last_position: Position
    earliest_at: Instant
    latest_at: Instant
    made_at: Instant
    generation: Position
    is_active: bool
    turns: list[EdgeRecord]
    children: list[UUID]


class NodeRecord(Strict):
    id: UUID
    position: Count
    kind: Text
    tier: Annotated[int, Field(ge=0, le=2)]
    start_byte: Count
    end_byte: Count
    body: Text
    heading_path: Words
    modalities: Words
    links: list[Any]


class DocumentRecord(Strict):
    type: Literal["document"]
    id: UUID
    name: Name
    binding: Name
    body: Text
    rules_version: Text
    hard_tokens: Count
    loaded_at: Instant
    nodes: list[NodeRecord]


class FeedbackRecord(Strict):
    type: Literal["feedback"]
    id: UUID
    turn_id: UUID
    item_id: UUID
    assembly_id: Text
    is_useful: bool
    given_at: Instant


class NamedRecord(Strict):
    """What a JSON-RPC client calls a turn of ours, or a text of its own, with the vector it is found by."""

    type: Literal["record"]
    collection: Name
    id: Name
    namespace: Text | None
    item_id: UUID | None
    body: Annotated[Text, Field(min_length=1)] | None
    metadata: Annotated[dict[str, Any], AfterValidator(check_metadata)]
    encoder: Text | None
    embedding: Annotated[str, Field(pattern=r"^\[[-+0-9.eE, ]+\]$", max_length=100_000)] | None
    access_count: Count
    created_at: Instant
    updated_at: Instant


Record = Annotated[
    HeaderRecord
    | EndRecord
    | SessionRecord
    | TurnRecord
    | DecisionRecord
    | MemoryRecord
    | GuidanceRecord
    | ForgottenRecord
    | SummaryRecord
    | DocumentRecord
    | FeedbackRecord
    | NamedRecord,
    Field(discriminator="type"),
]
RECORDS: TypeAdapter[Record] = TypeAdapter(Record)


class ImportOut(BaseModel):
    lines: int
    records: dict[str, int] = Field(description="Records read, by kind.")
    new: dict[str, int] = Field(description="Of these, records that were not here before.")
    erased: dict[str, int] = Field(
        default={}, description="Left out, because it was erased here once; by kind."
    )
    secrets: dict[str, int] = Field(
        default={}, description="Keys, tokens and passwords that were masked, by kind."
    )
