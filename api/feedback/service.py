"""Feedback in, a calibrated gate threshold out (memory-model.md section 5)."""

from dataclasses import asdict

from api.access.decisions import check_whole_tenant
from api.feedback.schemas import CalibrationOut, FeedbackIn, FeedbackOut
from api.runtime import Runtime
from models.domain.gate.calibration import choose_threshold, fit_isotonic, reliability_curve
from models.errors import InvalidInput
from models.store.engine import tenant_transaction
from models.store.memory.decisions import gate_threshold
from models.store.memory.feedback import (
    add_feedback,
    count_changes,
    count_usefulness,
    find_judged_turns,
    load_labels,
    set_gate_threshold,
)
from models.store.tenancy.tokens import Caller

FEWEST_LABELS = 20  # with fewer, a threshold says more about chance than about the gate


def take_feedback(runtime: Runtime, caller: Caller, body: FeedbackIn) -> FeedbackOut:
    """Keep the labels of items that the gate decided on, which rank by them from now on; name those it never saw."""
    with tenant_transaction(runtime.engine, caller) as connection:
        ids = [label.id for label in body.labels]
        judged = find_judged_turns(
            connection, tenant_id=caller.tenant_id, item_ids=ids, namespace=caller.namespace
        )
        for label in body.labels:
            if label.id in judged:
                add_feedback(
                    connection,
                    tenant_id=caller.tenant_id,
                    item_id=label.id,
                    turn_id=judged[label.id],
                    assembly_id=body.assembly_id or "",
                    is_useful=label.useful,
                )
        count_usefulness(connection, tenant_id=caller.tenant_id, turn_ids=list(judged.values()))
    unknown = [str(one) for one in ids if one not in judged]
    return FeedbackOut(accepted=len(ids) - len(unknown), unknown=unknown)


def report_calibration(runtime: Runtime, caller: Caller, *, wanted_precision: float) -> CalibrationOut:
    """What the labels say about the gate, and the threshold that reaches the wanted precision."""
    tenant_id = caller.tenant_id
    with tenant_transaction(runtime.engine, caller) as connection:
        labels = load_labels(connection, tenant_id=tenant_id)
        current = gate_threshold(connection, tenant_id=tenant_id)
        if not labels.scores:
            raise InvalidInput(
                "there are no usefulness labels yet",
                code="no_labels",
                remedy="send some with POST /v1/feedback: what was recalled, and whether it was useful",
            )
        fit = fit_isotonic(labels.scores, labels.useful)
        choice = choose_threshold(fit, labels.scores, labels.useful, wanted_precision)
        change = count_changes(connection, tenant_id=tenant_id, threshold=choice.threshold)
    return CalibrationOut(
        labels=len(labels.scores),
        is_enough=len(labels.scores) >= FEWEST_LABELS,
        current_threshold=runtime.settings.gate_threshold if current is None else current,
        wanted_precision=wanted_precision,
        chosen_threshold=choice.threshold,
        precision=choice.precision,
        kept_share=choice.kept_share,
        why=choice.why,
        curve=[asdict(one) for one in reliability_curve(labels.scores, labels.useful)],
        fit=[(x, y) for x, y in zip(fit.x, fit.y, strict=True)],
        decided=change.decided,
        would_be_promoted=change.would_be_promoted,
        would_be_rejected=change.would_be_rejected,
    )


def apply_threshold(runtime: Runtime, caller: Caller, threshold: float | None) -> None:
    """The tenant's gate decides by this threshold from now on."""
    check_whole_tenant(caller, remedy="the threshold is the tenant's: use a token of the whole tenant")
    with tenant_transaction(runtime.engine, caller) as connection:
        set_gate_threshold(connection, tenant_id=caller.tenant_id, threshold=threshold)
