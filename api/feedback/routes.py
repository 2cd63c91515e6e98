"""The HTTP surface of feedback and calibration."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from api.access.decisions import RuntimeOf, administrator, reader, writer
from api.feedback.schemas import CalibrationOut, FeedbackIn, FeedbackOut, ThresholdIn
from api.feedback.service import apply_threshold, report_calibration, take_feedback
from api.idempotency import IdempotentRoute
from api.routing.parameters import PROBLEM
from models.store.tenancy.tokens import Caller

router = APIRouter(route_class=IdempotentRoute)


@router.post("/v1/feedback", responses=PROBLEM, tags=["calibration"])
def post_feedback(
    body: FeedbackIn, runtime: RuntimeOf, caller: Annotated[Caller, Depends(writer)]
) -> FeedbackOut:
    """Say which recalled items were useful; the gate is calibrated on it."""
    return take_feedback(runtime, caller, body)


@router.get("/v1/calibration", responses=PROBLEM, tags=["calibration"])
def get_calibration(
    runtime: RuntimeOf,
    caller: Annotated[Caller, Depends(reader)],
    wanted_precision: Annotated[float, Query(gt=0, le=1)] = 0.8,
) -> CalibrationOut:
    """What the labels say about the gate, and which threshold would reach a precision."""
    return report_calibration(runtime, caller, wanted_precision=wanted_precision)


@router.put("/v1/calibration", status_code=204, responses=PROBLEM, tags=["calibration"])
def put_calibration(
    body: ThresholdIn, runtime: RuntimeOf, caller: Annotated[Caller, Depends(administrator)]
) -> None:
    """Set the tenant's gate threshold; null goes back to the configured one."""
    apply_threshold(runtime, caller, body.threshold)
