"""What the stages leave for OpenTelemetry: for every turn of a batch a span in the turn's own trace."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

import structlog
from celery import signals

from models.errors import Misconfigured, ServiceError, TransientError
from models.settings import get_settings
from models.store.work import Claim
from models.traces import Span, Traces, open_traces

log = structlog.get_logger(__name__)
SPAN_OF_STAGE: Final[Mapping[str, str]] = {"accepted": "ingest", "ingested": "embed", "embedded": "gate"}
ENDING_OF_STAGE: Final[Mapping[str, str]] = {"ingested": "searchable"}  # by meaning, from then on


@lru_cache(maxsize=1)
def process_traces() -> Traces | None:
    """This process's; None where nobody asked for traces, or they cannot be sent: the work goes on."""
    settings = get_settings()
    try:
        return open_traces(settings.traces_endpoint, share=settings.traces_share, service="longtail-workers")
    except Misconfigured as error:
        log.error("traces.refused", reason=str(error))
        return None


@contextmanager
def traced(stage: str, claims: Sequence[Claim]) -> Iterator[None]:
    """Tell the work on a batch, once for each turn of it; not where it failed and each row is tried alone next."""
    traces = process_traces()
    if traces is None:
        yield
        return
    began_ns = time.time_ns()
    try:
        yield
    except Exception as error:
        if len(claims) == 1 or isinstance(error, TransientError):
            code = error.code if isinstance(error, ServiceError) else type(error).__name__
            _tell(traces, stage, claims, began_ns=began_ns, error=code)
        raise
    _tell(traces, stage, claims, began_ns=began_ns)


def _tell(
    traces: Traces, stage: str, claims: Sequence[Claim], *, began_ns: int, error: str | None = None
) -> None:
    ended_ns = time.time_ns()
    for claim in claims:
        if claim.kind == "turn" and traces.wants(claim.item_id):
            span = Span(
                name=SPAN_OF_STAGE[stage],
                began_ns=began_ns,
                ended_ns=ended_ns,
                attributes={"longtail.batch": len(claims), "longtail.attempt": claim.attempts},
                events=[ENDING_OF_STAGE[stage]] if stage in ENDING_OF_STAGE and error is None else [],
                error=error,
            )
            traces.add_child(claim.item_id, span)


@signals.worker_process_shutdown.connect
def _close(**_: Any) -> None:
    if process_traces.cache_info().currsize and (traces := process_traces()) is not None:
        traces.close()
