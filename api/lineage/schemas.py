"""The proof of losslessness and what it found."""

from pydantic import BaseModel, StrictBool

from api.routing.schemas import Name, Strict


class VerifyIn(Strict):
    """Which sessions to prove lossless; all of the tenant's, a slice at a time, when none is named."""

    session_id: Name | None = None
    repair: StrictBool = False
    cursor: Name | None = None


class ViolationOut(BaseModel):
    kind: str
    session_id: str
    node: str
    detail: str


class VerifyOut(BaseModel):
    sessions: int
    summaries: int
    turns: int
    violations: list[ViolationOut]
    summaries_dropped: int
    next_cursor: str | None
