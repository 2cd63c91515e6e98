"""What an assembly leaves for OpenTelemetry: a trace of its own, with a span for every stage."""

from uuid import UUID

from api.assemble.schemas import AssembleOut
from api.routing.trail import Trail
from models.traces import Span, Traces

NANOSECONDS = 1_000_000  # of a millisecond


def trace_assembly(traces: Traces, trail: Trail, answer: AssembleOut) -> None:
    """Tell one answer, where it is in the share. The trace has the assembly's id, and so its receipt's."""
    trace = UUID(answer.assembly_id)
    if not traces.wants(trace):
        return
    traces.add_root(
        trace,
        Span(
            name="assemble",
            began_ns=trail.began_ns,
            ended_ns=trail.began_ns + round(answer.timings_ms["total"] * NANOSECONDS),
            attributes={
                "longtail.budget_tokens": answer.budget.total,
                "longtail.used_tokens": answer.budget.used,
                "longtail.items": len(answer.items),
                "longtail.pending": answer.pending,
                "longtail.degraded": [one.code for one in answer.degraded],
            },
        ),
    )
    for stage, began_ms in trail.began_ms.items():
        began_ns = trail.began_ns + round(began_ms * NANOSECONDS)
        ended_ns = began_ns + round(answer.timings_ms[stage] * NANOSECONDS)
        traces.add_child(trace, Span(name=stage, began_ns=began_ns, ended_ns=ended_ns))
