"""What requests and answers look like (Pydantic, at the edge only). Unknown fields are refused."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from models.domain.records import RESERVED_NAMESPACE_PREFIXES, NewTurn, Role
from models.domain.scoring import ProfileName
from models.settings import get_settings

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
CLOCK_SKEW = timedelta(days=1)
MAX_BUDGET_TOKENS = 2_000_000
MAX_METADATA_CHARS = 65_536


def refuse(code: str, message: str, remedy: str, *, status: int = 422) -> PydanticCustomError:
    """An error that carries its own code, remedy and status to the problem document."""
    context = {"code": code, "remedy": remedy, "status": status}
    return PydanticCustomError("refused", message, context)


def _check_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise refuse(
            "lone_surrogate",
            f"the text has an unpaired surrogate at character {error.start}",
            "replace unpaired surrogates, for example with U+FFFD",
        ) from error
    if "\x00" in text:
        raise refuse(
            "nul_character", "the text holds a NUL character", "remove or replace it: it cannot be stored"
        )
    return text


def _check_content(text: str) -> str:
    if not text.strip():
        raise refuse("empty_text", "the text is empty", "leave empty turns out")
    limit = get_settings().max_turn_bytes
    size = len(_check_text(text).encode())
    if size > limit:
        raise refuse(
            "turn_too_large",
            f"the turn has {size} bytes; a turn may have {limit}",
            "split it into several turns, or raise LONGTAIL_MAX_TURN_BYTES",
            status=413,
        )
    return text


def check_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(json.dumps(metadata, allow_nan=False))
    except ValueError as error:
        raise refuse("not_json", "the metadata holds NaN or an infinity", "send JSON numbers") from error
    if size > MAX_METADATA_CHARS:
        raise refuse(
            "metadata_too_large",
            f"the metadata has {size} characters of JSON; it may have {MAX_METADATA_CHARS}",
            "keep large things elsewhere and refer to them",
            status=413,
        )
    for found in _strings_in(metadata):
        _check_text(found)
    return metadata


def _strings_in(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, inner in value.items():
                yield key
                yield from _strings_in(inner)
        case list():
            for inner in value:
                yield from _strings_in(inner)


def _check_user(text: str) -> str:
    for prefix in RESERVED_NAMESPACE_PREFIXES:
        if text.startswith(prefix):
            raise refuse(
                "reserved_name", f"a user id may not start with '{prefix}'", "choose another user id"
            )
    return _check_text(text)


def _check_moment(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise refuse(
            "naive_timestamp", "the time has no zone", "send RFC 3339 in UTC, as 2026-01-31T12:00:00Z"
        )
    if moment < EARLIEST:
        raise refuse("timestamp_before_1970", "the time is before 1970", "send the time it was said, or none")
    if moment > datetime.now(UTC) + CLOCK_SKEW:
        raise refuse(
            "timestamp_in_future",
            "the time is more than a day ahead of this server's clock",
            "check the clock of the sender, or send no time",
        )
    return moment.astimezone(UTC)


Name = Annotated[str, Field(min_length=1, max_length=512), AfterValidator(_check_text)]
UserId = Annotated[str, Field(min_length=1, max_length=512), AfterValidator(_check_user)]
Text = Annotated[str, AfterValidator(_check_text)]
Content = Annotated[str, AfterValidator(_check_content)]
Moment = Annotated[datetime, AfterValidator(_check_moment)]
Budget = Annotated[int, Field(gt=0, le=MAX_BUDGET_TOKENS, strict=True)]


class Strict(BaseModel):
    """A request: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid")


class TurnIn(Strict):
    """One message of the conversation."""

    role: Role
    content: Content
    id: Name | None = None
    ts: Moment | None = None
    name: Name | None = None
    metadata: Annotated[dict[str, Any], AfterValidator(check_metadata)] = Field(default_factory=dict)

    def to_domain(self) -> NewTurn:
        """The turn as the domain knows it."""
        return NewTurn(
            role=self.role,
            content=self.content,
            ts=self.ts,
            host_message_id=self.id,
            name=self.name,
            metadata=self.metadata,
        )


def _check_count(turns: list[TurnIn]) -> list[TurnIn]:
    limit = get_settings().max_turns_per_call
    if len(turns) > limit:
        raise refuse(
            "too_many_turns",
            f"the call has {len(turns)} turns; a call may have {limit}",
            "send them in several calls; turns with an id may be sent again safely",
            status=413,
        )
    return turns


class TurnsIn(Strict):
    """Turns to append to a session."""

    turns: Annotated[list[TurnIn], Field(min_length=1), AfterValidator(_check_count)]
    user_id: UserId | None = None
    session_key: Name | None = None
    agent_id: Name | None = None
    idempotency_key: Name | None = None


class DuplicateOut(BaseModel):
    index: int
    turn_id: str
    content_differs: bool = Field(description="The id was known, but with other words; the first are kept.")


class TurnsOut(BaseModel):
    accepted: list[str]
    duplicates: list[DuplicateOut]
    pending: int = Field(
        description="Accepted items of this namespace that the workers have not finished yet."
    )


class MessageIn(Strict):
    """A message that the host shows the model anyway."""

    role: Name
    content: Text
    id: Name | None = None


class AssembleIn(Strict):
    """What the next model call is about, and how much room there is."""

    session_id: Name
    query: Annotated[Text, Field(max_length=200_000)]
    budget_tokens: Budget
    user_id: UserId | None = None
    session_key: Name | None = None
    agent_id: Name | None = None
    messages: Annotated[list[MessageIn], Field(max_length=10_000)] | None = None
    tokenizer: Name = "chars"
    format: Literal["text"] = "text"
    deadline_ms: Annotated[int, Field(gt=0, le=60_000)] | None = None
    explain: bool = False
    now: Moment | None = None
    profile: ProfileName | None = None  # how recall is ranked; None: as the service is set


class StableOut(BaseModel):
    text: str
    sha256: str
    chars: int


class VolatileOut(BaseModel):
    text: str


class BudgetOut(BaseModel):
    total: int
    used: int
    hard: int
    tail: int
    soft: int
    guidance: int
    recall: int


class ItemOut(TypedDict):  # a prompt has a hundred of them: a dictionary is made in a tenth of a model's time
    tier: Literal["hard", "tail", "soft", "guidance", "recall"]
    kind: Literal["turn", "memory", "summary", "rule", "lore"]
    id: str
    source_turn_ids: list[str]
    text: str
    tokens: int
    score: float | None


class DegradedOut(BaseModel):
    code: str
    detail: str


class AssembleOut(BaseModel):
    assembly_id: str
    text: str
    stable: StableOut
    volatile: VolatileOut
    messages: list[dict[str, str]] | None = None
    budget: BudgetOut
    items: list[ItemOut]
    visible: list[str]
    degraded: list[DegradedOut]
    pending: int
    lag_seconds: float
    timings_ms: dict[str, float]
    explain: dict[str, Any] | None = None


class SearchIn(Strict):
    query: Annotated[Text, Field(min_length=1, max_length=200_000)]
    k: Annotated[int, Field(gt=0, le=200)] = 10
    user_id: UserId | None = None
    session_key: Name | None = None
    agent_id: Name | None = None
    session_id: Name | None = None
    explain: bool = False
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
    degraded: list[DegradedOut]
    pending: int
    lag_seconds: float
    explain: dict[str, Any] | None = None


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


class StatusOut(BaseModel):
    version: str
    pending: int
    lag_seconds: float
    dead_letters: int
    encoder: str
    encoder_fingerprint: str | None


class LabelIn(Strict):
    """Whether something recalled was useful."""

    id: UUID = Field(description="A memory or a user turn, as named in `items` of an assembly.")
    useful: bool


class FeedbackIn(Strict):
    labels: Annotated[list[LabelIn], Field(min_length=1, max_length=1000)]
    assembly_id: Name | None = None


class FeedbackOut(BaseModel):
    accepted: int
    unknown: list[str] = Field(description="Ids on which the gate never decided; nothing was kept for them.")


class CalibrationOut(BaseModel):
    labels: int
    is_enough: bool
    current_threshold: float
    wanted_precision: float
    chosen_threshold: float
    precision: float
    kept_share: float
    why: str
    curve: list[dict[str, float]]
    fit: list[tuple[float, float]]
    decided: int
    would_be_promoted: int
    would_be_rejected: int


class ThresholdIn(Strict):
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None
