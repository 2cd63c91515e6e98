"""Sending spans with OpenTelemetry's SDK; imported only where traces are asked for.

Whoever measures something only puts it into a bounded queue. A thread makes the SDK's spans of it and hands them to the
collector: one that is slow or away costs spans, and nobody waits for it.
"""

import logging
import threading
import time
from collections import deque
from importlib.metadata import version
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

import requests
import structlog
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from models.settings import is_loopback
from models.traces import Span, find_root

log = structlog.get_logger(__name__)
MOST_WAITING: Final = 8192  # spans; the oldest are dropped
BATCH: Final = 512
PAUSE_SECONDS: Final = 1.0  # what comes together is sent together
EXPORT_SECONDS: Final = 3.0  # with all its tries; then the batch is dropped
CLOSE_SECONDS: Final = 2.0
FLAGS: Final = TraceFlags(TraceFlags.SAMPLED | TraceFlags.RANDOM_TRACE_ID)


class GivenIds(RandomIdGenerator):
    """The ids of a first span follow from its trace's; those of all others are random. For one thread alone."""

    def __init__(self) -> None:
        self.trace: UUID | None = None  # whose first span is next

    def generate_trace_id(self) -> int:
        """The given one; only a first span asks for it."""
        assert self.trace is not None
        return self.trace.int

    def generate_span_id(self) -> int:
        """What follows from the given trace, once."""
        trace, self.trace = self.trace, None
        return super().generate_span_id() if trace is None else find_root(trace)

    def is_trace_id_random(self) -> bool:
        """The last 56 bits are: of a turn's id (UUID version 7) and of an assembly's (version 4)."""
        return True


class Ended(SpanProcessor):
    """The spans that ended since they were last taken."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Keep it."""
        self.spans.append(span)

    def take(self) -> list[ReadableSpan]:
        """Hand them over."""
        taken, self.spans = self.spans, []
        return taken


class Sender:
    """One process's way to the collector; a provider of its own, so that no library's spans go along."""

    def __init__(self, endpoint: str, *, service: str) -> None:
        logging.getLogger("opentelemetry").setLevel(
            logging.CRITICAL
        )  # a line for every try; ours says it once
        self._waiting: deque[tuple[UUID, Span, bool]] = deque(maxlen=MOST_WAITING)
        self._closing = threading.Event()
        self._is_taken = True
        self._ids, self._ended = GivenIds(), Ended()
        names = {"service.name": service, "service.namespace": "longtail"}
        resource = Resource.create({**names, "service.version": version("longtail")})
        provider = TracerProvider(
            sampler=ALWAYS_ON, resource=resource, id_generator=self._ids, shutdown_on_exit=False
        )
        provider.add_span_processor(self._ended)
        self._tracer = provider.get_tracer("longtail", version("longtail"))
        session = requests.Session()
        # A proxy in the environment has no business between us and the loopback.
        session.trust_env = not is_loopback(urlsplit(endpoint).hostname or "")
        self._exporter: SpanExporter = OTLPSpanExporter(
            endpoint=endpoint, timeout=EXPORT_SECONDS, session=session
        )
        self._thread = threading.Thread(target=self._run, name="traces", daemon=True)
        self._thread.start()

    def send(self, trace: UUID, span: Span, *, is_root: bool) -> None:
        """Take a span that has ended; the first of its trace, or one under that."""
        self._waiting.append((trace, span, is_root))

    def close(self) -> None:
        """Send what is left; a collector that is away is not waited for."""
        self._closing.set()
        self._thread.join(timeout=CLOSE_SECONDS)
        self._exporter.shutdown()

    def _run(self) -> None:
        while not self._closing.wait(PAUSE_SECONDS):
            self._export_waiting()
        self._export_waiting()

    def _export_waiting(self) -> None:
        while self._waiting:
            try:
                for _ in range(min(BATCH, len(self._waiting))):
                    self._make(*self._waiting.popleft())
                    time.sleep(0)  # whoever answers a request goes first
                self._export(self._ended.take())
            except Exception as error:  # noqa: BLE001 - spans are lost, and the next ones are tried
                log.error("traces.failed", error=type(error).__name__)

    def _make(self, trace: UUID, span: Span, is_root: bool) -> None:
        above = Context()
        if is_root:
            self._ids.trace = trace
        else:
            parent = SpanContext(trace.int, find_root(trace), is_remote=True, trace_flags=FLAGS)
            above = set_span_in_context(NonRecordingSpan(parent), above)
        made = self._tracer.start_span(
            span.name,
            context=above,
            kind=SpanKind.SERVER if is_root else SpanKind.INTERNAL,
            attributes=span.attributes,
            start_time=span.began_ns,
        )
        for event in span.events:
            made.add_event(event, timestamp=span.ended_ns)
        if span.error is not None:
            made.set_status(Status(StatusCode.ERROR, span.error))
        made.end(end_time=span.ended_ns)

    def _export(self, spans: list[ReadableSpan]) -> None:
        """Hand a batch over; what is not taken is dropped. The log tells when that begins and when it is over."""
        is_taken = self._exporter.export(spans) is SpanExportResult.SUCCESS
        if self._is_taken and not is_taken:
            log.warning("traces.not_taken", spans=len(spans))
        elif is_taken and not self._is_taken:
            log.info("traces.taken_again")
        self._is_taken = is_taken
