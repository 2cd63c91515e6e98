"""The request for a compaction, and what came of it."""

from pydantic import BaseModel, Field, StrictBool

from api.routing.schemas import Asking


class CompactIn(Asking):
    """Whether to wait for the result, and whether to go as near to the present as the base tail allows."""

    wait: StrictBool = False
    force: StrictBool = False


class CompactOut(BaseModel):
    did_compact: bool
    clusters_formed: int
    clusters_declined: int
    turns_covered: int
    summary_ids: list[str]
    mean_confidence: float | None
    reason: str | None = Field(description="Why nothing, or not everything, was compacted.")
    is_done: bool = Field(description="False: it was asked for and will run; the numbers are not known yet.")
