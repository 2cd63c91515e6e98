"""The gate: how its score and signals are spread, where the threshold is, and what people say of its decisions."""

from typing import Final
from uuid import UUID

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from api.access.decisions import RuntimeOf
from api.feedback.schemas import CalibrationOut, FeedbackIn, LabelIn
from api.feedback.service import report_calibration, take_feedback
from api.inspector.pages import ROOT, PageRoute, render
from api.inspector.visitors import Form, Visiting, Writing
from api.runtime import Runtime
from models.errors import InvalidInput
from models.store.memory.decisions import gate_threshold, list_near, spread_signals
from models.store.tenancy.tokens import Caller

router = APIRouter(route_class=PageRoute, include_in_schema=False)
BINS: Final = 40
SMALL_BINS: Final = 20
DECISIONS_READ: Final = 20_000
EXAMPLES: Final = 8  # on each side of the threshold
WANTED_PRECISION: Final = 0.8
# The signals by their letters in the memory model (section 5), and in words.
MEANINGS: Final = {
    "worth": ("W", "how much the words tell"),
    "g": ("G", "novelty, repetition and load together"),
    "gconv": ("Gconv", "conversational score"),
    "gtech": ("Gtech", "technical score"),
    "t": ("T", "how technical the text is"),
    "h": ("H", "novelty: unlike durable memory"),
    "r": ("R", "repetition: the user says such things"),
    "d": ("Dnl", "preferences, dates, people, quantities"),
    "p": ("P", "specificity: paths, errors, references"),
    "a": ("A", "actionability: decisions, commands"),
    "dtech": ("Dtech", "technical load"),
    "input_freq": ("F", "share of like turns nearby"),
    "mem_saturation": ("S", "share of like memories nearby"),
}


@router.get(ROOT + "/gate")
def get_gate(runtime: RuntimeOf, visitor: Visiting) -> Response:
    """Distribution, threshold, examples around it, and what the labels say."""
    caller = visitor.caller
    with runtime.transaction(caller) as connection:
        own = gate_threshold(connection, tenant_id=caller.tenant_id)
        threshold = runtime.settings.gate_threshold if own is None else own
        fine = spread_signals(connection, tenant_id=caller.tenant_id, bins=BINS, most=DECISIONS_READ)
        coarse = spread_signals(connection, tenant_id=caller.tenant_id, bins=SMALL_BINS, most=DECISIONS_READ)
        examples = list_near(connection, tenant_id=caller.tenant_id, threshold=threshold, count=EXAMPLES)
    return render(
        "gate.html",
        view="gate",
        visitor=visitor,
        threshold=threshold,
        is_own=own is not None,
        spread=fine["score"],
        decided=fine["score"].total,
        signals=[(letter, meaning, coarse[name]) for name, (letter, meaning) in MEANINGS.items()],
        examples=examples,
        meanings=MEANINGS,
        calibration=_calibrate(runtime, caller),
    )


def _calibrate(runtime: Runtime, caller: Caller) -> CalibrationOut | None:
    try:
        return report_calibration(runtime, caller, wanted_precision=WANTED_PRECISION)
    except InvalidInput as error:
        if error.code != "no_labels":
            raise
        return None


@router.post(ROOT + "/gate/labels")
def post_label(runtime: RuntimeOf, visitor: Writing, form: Form) -> Response:
    """A person's word on one decision: it goes where a host's labels go."""
    label = LabelIn(id=_read_id(form.get("turn_id", "")), useful=form.get("useful") == "yes")
    found = take_feedback(runtime, visitor.caller, FeedbackIn(labels=[label], assembly_id="inspector"))
    if found.unknown:
        raise InvalidInput("the gate never decided on that turn", remedy="choose one of the examples")
    return RedirectResponse(f"{ROOT}/gate#e-{label.id}", status_code=303)


def _read_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidInput("that is no turn's id", remedy="use the buttons of the page") from error
