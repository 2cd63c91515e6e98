"""What requests and answers look like (Pydantic, at the edge only). Unknown fields are refused."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from models.domain.records import RESERVED_NAMESPACE_PREFIXES, NewTurn, Role
from models.domain.scoring import ProfileName, Scope
from models.settings import get_settings

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
CLOCK_SKEW = timedelta(days=1)
MAX_BUDGET_TOKENS = 2_000_000
MAX_METADATA_CHARS = 65_536
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")


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


def _check_timestamp(value: object) -> object:
    """Only what reads like RFC 3339 is a time: a bare number could be seconds, milliseconds or a mistake."""
    if isinstance(value, datetime) or (isinstance(value, str) and TIMESTAMP.match(value)):
        return value
    raise refuse("invalid_value", "the time is not RFC 3339", "send it as 2026-01-31T12:00:00Z")


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
Moment = Annotated[datetime, BeforeValidator(_check_timestamp), AfterValidator(_check_moment)]
ItemKind = Literal["turn", "memory", "summary", "rule", "lore"]
Instant = Annotated[AwareDatetime, BeforeValidator(_check_timestamp)]  # any moment with a zone, for filters
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
    messages: Annotated[list[MessageIn], Field(max_length=10_000)] | None = Field(
        default=None,
        description="What the host shows the model anyway. Turns among them (by id, else by role and content) are neither "
        "repeated nor recalled, cost nothing here, and are listed in `visible`.",
    )
    tokenizer: Name = Field(
        default="chars", description="How tokens are counted: `chars`, or the name of a tokenizer file."
    )
    format: Literal["text", "messages", "anthropic", "parts"] = Field(
        default="text",
        description="`text`: `stable` and `volatile`, to be placed by the host. `messages`: the request's messages with "
        "the stable part at the end of the system message and the volatile part before the newest user message, as one "
        "string each (OpenAI). `anthropic`: `system` blocks with `cache_control` after the authored rules and after the "
        "newest turn of the tail, and `messages` with the volatile part as the first block of the newest user message. "
        "`parts`: every section a block of its own. What is injected is the same text in each of them.",
    )
    deadline_ms: Annotated[int, Field(gt=0, le=60_000, strict=True)] | None = Field(
        default=None,
        description="When the answer is wanted. What does not finish is left out, recall first, and named in `degraded`; "
        "rules and tail are read in any case.",
    )
    explain: StrictBool = False
    now: Moment | None = Field(default=None, description="The moment to assemble for; default: this one.")
    profile: ProfileName | None = Field(
        default=None, description="How recall is ranked; default: as the service is set."
    )


class StableOut(BaseModel):
    """Authored rules and recent turns: changes at its end only, but for rare cuts."""

    text: str
    sha256: str
    chars: int


class VolatileOut(BaseModel):
    """Guidance and recall: changes with every query."""

    text: str


class PartOut(BaseModel):
    section: Literal["authored", "recent_turns", "guidance", "recalled"]
    trust: Literal["authored", "conversation", "stated", "untrusted"]
    is_stable: bool
    text: str
    sha256: str
    chars: int


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
    stable_prefix_chars: int = Field(
        description="Characters of the stable part before its closing tags: where a cache breakpoint belongs."
    )
    stable_prefix_sha256: str
    volatile: VolatileOut
    system: list[dict[str, Any]] | None = Field(default=None, description="With format `anthropic`.")
    messages: list[dict[str, Any]] | None = Field(
        default=None,
        description="With format `messages` or `anthropic`; with the others only when nothing stored could be read: "
        "the request's own.",
    )
    parts: list[PartOut] | None = Field(default=None, description="With format `parts`.")
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
    uptime_seconds: float
    redis: Literal["ok", "not reached; work waits in PostgreSQL"]
    counts: dict[str, int] | None = Field(
        description="What is kept, with `?counts=true`: it reads every row."
    )
    pending: int
    lag_seconds: float
    dead_letters: int
    encoder: str
    encoder_fingerprint: str | None


class LabelIn(Strict):
    """Whether something recalled was useful."""

    id: UUID = Field(description="A memory or a user turn, as named in `items` of an assembly.")
    useful: StrictBool


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
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)] | None
