"""Labels, the calibration made of them, and the threshold."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StrictBool

from api.routing.schemas import Name, Strict


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
