"""What requests and answers share (Pydantic, at the edge only). Unknown fields are refused."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from api.screening import screen_note
from models.domain.records import RESERVED_NAMESPACE_PREFIXES, Identity

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
CLOCK_SKEW = timedelta(days=1)
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")


def refuse(code: str, message: str, remedy: str, *, status: int = 422) -> PydanticCustomError:
    """An error that carries its own code, remedy and status to the problem document."""
    context = {"code": code, "remedy": remedy, "status": status}
    return PydanticCustomError("refused", message, context)


def check_text(text: str) -> str:
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


def _check_user(text: str) -> str:
    for prefix in RESERVED_NAMESPACE_PREFIXES:
        if text.startswith(prefix):
            raise refuse(
                "reserved_name", f"a user id may not start with '{prefix}'", "choose another user id"
            )
    return check_text(text)


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


Name = Annotated[str, Field(min_length=1, max_length=512), AfterValidator(check_text)]
UserId = Annotated[str, Field(min_length=1, max_length=512), AfterValidator(_check_user)]
Text = Annotated[str, AfterValidator(check_text)]
Moment = Annotated[datetime, BeforeValidator(_check_timestamp), AfterValidator(_check_moment)]
Instant = Annotated[AwareDatetime, BeforeValidator(_check_timestamp)]  # any moment with a zone, for filters
Reason = Annotated[Text, Field(max_length=2000), AfterValidator(screen_note)]
ItemKind = Literal["turn", "memory", "summary", "rule", "lore"]


class Strict(BaseModel):
    """A request: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid")


class Asking(Strict):
    """A request about somebody's memory: who, by the first that is given."""

    user_id: UserId | None = None
    session_key: Name | None = None
    agent_id: Name | None = None

    def identity(self) -> Identity:
        """Who is asked about, as far as the request says."""
        return Identity(user_id=self.user_id, session_key=self.session_key, agent_id=self.agent_id)


class SupersededOut(BaseModel):
    """What says how it is now, and why that is believed."""

    by_turn_id: str
    at: datetime = Field(description="When that was said.")
    says: str = Field(description="The sentence that replaces it.")
    instead_of: str = Field(description="The sentence that is replaced.")
    reason: str = Field(description="denied, number, value, revoked, changed or renamed.")
    about: str = Field(description="On what the two disagree.")
    similarity: float | None = Field(
        description="Cosine of the two sentences; null: decided by what two rules ask."
    )


class DegradedOut(BaseModel):
    code: str
    detail: str
