"""Turns in, turns out, and the search over them."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, PrivateAttr, StrictBool, model_validator

from api.routing.schemas import Asking, Moment, Name, Strict, Text, check_text, refuse
from api.screening import REMEDY, TAG, SecretOut, screen_text, screen_values
from models.domain.records import NewTurn, Role
from models.errors import InvalidInput
from models.settings import get_settings


class TurnOut(BaseModel):
    id: str
    session_id: str
    position: int
    role: str
    content: str
    ts: datetime
    name: str | None
    host_message_id: str | None
    metadata: dict[str, Any]
    summary_id: str | None = Field(description="The summary that covers it, if one does.")


class TurnPageOut(BaseModel):
    turns: list[TurnOut]
    next_cursor: str | None


class GrepIn(Asking):
    """What to look for in the raw record, newest turns first."""

    pattern: Annotated[Text, Field(min_length=1, max_length=1000)]
    regex: StrictBool = False
    ignore_case: StrictBool = False
    session_id: Name | None = None
    role: Literal["user", "assistant", "system", "tool"] | None = None
    limit: Annotated[int, Field(gt=0, le=1000, strict=True)] = 50
    cursor: Annotated[str, Field(max_length=32, pattern=r"^\d+$")] | None = None


class GrepHit(BaseModel):
    turn_id: str
    session_id: str
    position: int
    role: str
    name: str | None
    ts: datetime
    excerpt: str
    match_start: int
    match_end: int
    summary_id: str | None


class GrepOut(BaseModel):
    matches: list[GrepHit]
    scanned: int = Field(description="Turns looked at by this call.")
    is_complete: bool = Field(description="False: more may match; go on with `next_cursor`.")
    next_cursor: str | None


MAX_METADATA_CHARS = 65_536
MAX_METADATA_DEPTH = 32  # deeper ones cannot be read back by every reader of JSON


def _check_content(text: str) -> str:
    if not text.strip():
        raise refuse("empty_text", "the text is empty", "leave empty turns out")
    limit = get_settings().max_turn_bytes
    size = len(check_text(text).encode())
    if size > limit:
        raise refuse(
            "turn_too_large",
            f"the turn has {size} bytes; a turn may have {limit}",
            "split it into several turns, or raise LONGTAIL_MAX_TURN_BYTES",
            status=413,
        )
    return text


def check_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata, if it can be kept and read back."""
    if _is_deeper(metadata, MAX_METADATA_DEPTH):
        raise refuse(
            "metadata_too_deep",
            f"the metadata is nested more than {MAX_METADATA_DEPTH} levels deep",
            "keep deep structures elsewhere and refer to them, or send them as one string of JSON",
        )
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
        check_text(found)
    return metadata


def _is_deeper(value: object, levels: int) -> bool:
    """Whether objects and lists lie in one another more than so many times; looks no deeper than that."""
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not layer:
            return False
    return True


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


Content = Annotated[str, AfterValidator(_check_content)]


class TurnIn(Strict):
    """One message of the conversation."""

    role: Role
    content: Content
    id: Name | None = None
    ts: Moment | None = None
    name: Name | None = None
    metadata: Annotated[dict[str, Any], AfterValidator(check_metadata)] = Field(default_factory=dict)
    heartbeat: StrictBool = Field(default=False, description="What the host says to itself: it is not kept.")

    _secrets: list[SecretOut] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _screen(self) -> Self:
        """From here on nobody has the secrets: whoever accepts a turn, by whatever way, makes one of these."""
        if self.heartbeat:
            return self
        try:
            self.content, in_content = screen_text(self.content, "content")
            self.metadata, in_metadata = screen_values(self.metadata, "metadata")
        except InvalidInput as error:
            raise refuse(error.code, error.detail, REMEDY) from error
        self._secrets = [*in_content, *in_metadata]
        if self._secrets and get_settings().secrets == "tag":
            self.metadata = {**self.metadata, TAG: sorted({one.kind for one in self._secrets})}
        return self

    @property
    def secrets(self) -> list[SecretOut]:
        """What was found in it, and by the policy masked or tagged."""
        return self._secrets

    def to_domain(self) -> NewTurn:
        """The turn as the domain knows it."""
        return NewTurn(
            role=self.role,
            content=self.content,
            ts=self.ts,
            host_message_id=self.id,
            name=self.name,
            metadata=self.metadata,
            is_heartbeat=self.heartbeat,
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


class TurnsIn(Asking):
    """Turns to append to a session."""

    turns: Annotated[list[TurnIn], Field(min_length=1), AfterValidator(_check_count)]
    idempotency_key: Name | None = None
    shared: StrictBool = Field(
        default=False,
        description="Opens the session for every identity, as a group chat is: each turn feeds the memory of the "
        "identity it is sent for, `name` tells speakers apart. Only the first turns of a session can say so.",
    )


class DuplicateOut(BaseModel):
    index: int
    turn_id: str
    content_differs: bool = Field(description="The id was known, but with other words; the first are kept.")


class TurnSecretOut(SecretOut):
    index: int = Field(description="Place of the turn in the call.")


class TurnsOut(BaseModel):
    accepted: list[str]
    duplicates: list[DuplicateOut]
    skipped: list[int] = Field(description="Places of turns that are not kept: heartbeats, ignored sessions.")
    erased: list[int] = Field(
        default=[],
        description="Places of turns that are not kept: the same was erased from this session, and stays erased.",
    )
    pending: int = Field(
        description="Accepted items of this namespace that the workers have not finished yet."
    )
    secrets: list[TurnSecretOut] = Field(
        default=[],
        description="Keys, tokens and passwords that were found, and masked (kept nowhere) or tagged."
        " `LONGTAIL_SECRETS` says which.",
    )
