"""Traces in a real stack, read by a collector of our own: whole, in order, without text; and nobody misses the collector."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from api.stack.throwaway import ThrowawayStack, await_true
from models.store.engine import open_engine

SECRETS = ("Kestrelworth", "ann-of-traces", "session-of-traces", "tenant-of-traces")
ATTRIBUTES = {
    "accept": {"longtail.batch"},
    "ingest": {"longtail.batch", "longtail.attempt"},
    "embed": {"longtail.batch", "longtail.attempt"},
    "gate": {"longtail.batch", "longtail.attempt"},
    "assemble": {
        "longtail.budget_tokens",
        "longtail.used_tokens",
        "longtail.items",
        "longtail.pending",
        "longtail.degraded",
    },
}


class Collector:
    """Takes OTLP over HTTP on loopback and keeps every span with the service it came from."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, Any]] = []
        self.bodies: list[bytes] = []
        self.others: list[str] = []
        self.port = 0
        self._server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        """Listen, on the same port as before."""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.take(self.path, body)
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.end_headers()
                self.wfile.write(ExportTraceServiceResponse().SerializeToString())

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Be away."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def take(self, path: str, body: bytes) -> None:
        if path != "/v1/traces":
            self.others.append(path)
            return
        request = ExportTraceServiceRequest.FromString(body)
        self.bodies.append(body)
        for part in request.resource_spans:
            names = {one.key: one.value.string_value for one in part.resource.attributes}
            for scope in part.scope_spans:
                self.spans += [(names["service.name"], span) for span in scope.spans]

    def find(self, trace: str, count: int, seconds: float = 300) -> dict[str, tuple[str, Any]]:
        """The spans of a trace by name, once there are as many."""
        deadline = time.monotonic() + seconds
        while True:
            found = [one for one in list(self.spans) if one[1].trace_id == UUID(trace).bytes]
            if len(found) >= count:
                assert len({span.name for _, span in found}) == len(found) == count, found
                return {span.name: (service, span) for service, span in found}
            assert time.monotonic() < deadline, [(service, span.name) for service, span in found]
            time.sleep(0.1)


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    """Listens from the start."""
    listening = Collector()
    listening.start()
    yield listening
    listening.stop()


@pytest.fixture(scope="module")
def traced_stack(collector: Collector) -> Iterator[ThrowawayStack]:
    """A stack that tells this collector everything."""
    with ThrowawayStack(
        {
            "LONGTAIL_ENCODER": "toy",
            "LONGTAIL_SWEEP_SECONDS": "1",
            "LONGTAIL_TRACES_ENDPOINT": f"http://127.0.0.1:{collector.port}",
            # what makes FastAPI itself tell paths, and so names of sessions, where it is not forbidden
            "FASTAPI_OTEL_AUTO_CONFIGURE": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.port}",
            "OTEL_METRIC_EXPORT_INTERVAL": "1000",
        }
    ) as stack:
        yield stack


@pytest.fixture(scope="module")
def traced(traced_stack: ThrowawayStack, tenant_on: Callable[..., Any]) -> Iterator[Any]:
    """A tenant there."""
    owner = open_engine(traced_stack.owner_url)
    tenant = tenant_on(traced_stack, owner, "tenant-of-traces")
    yield tenant
    tenant.client.__exit__()
    owner.dispose()


def say(tenant: Any, *texts: str) -> list[str]:
    accepted: list[str] = tenant.say("session-of-traces", *texts, user_id="ann-of-traces")["accepted"]
    return accepted


def test_a_turns_trace_leads_from_accept_to_searchable_and_the_gate(
    traced: Any, collector: Collector
) -> None:
    turns = say(traced, "I moved to Kestrelworth in May.", "My flat there has two rooms.")
    traced.settle()
    for turn in turns:
        found = collector.find(turn, 4)
        assert {name: service for name, (service, _) in found.items()} == {
            "accept": "longtail-api",
            "ingest": "longtail-workers",
            "embed": "longtail-workers",
            "gate": "longtail-workers",
        }
        accept, *stages = (found[name][1] for name in ("accept", "ingest", "embed", "gate"))
        assert accept.parent_span_id == b""
        assert accept.span_id == UUID(turn).bytes[8:]
        assert [stage.parent_span_id for stage in stages] == [accept.span_id] * 3
        begun = [span.start_time_unix_nano for span in (accept, *stages)]
        assert begun == sorted(begun)
        assert all(
            span.start_time_unix_nano <= span.end_time_unix_nano < time.time_ns()
            for span in (accept, *stages)
        )
        assert {span.name: [event.name for event in span.events] for span in stages} == {
            "ingest": [],
            "embed": ["searchable"],
            "gate": [],
        }
    batch = {one.key: one.value.int_value for one in collector.find(turns[0], 4)["accept"][1].attributes}
    assert batch == {"longtail.batch": 2}


def test_an_assemblys_trace_has_a_span_for_every_stage_of_its_timings(
    traced: Any, collector: Collector
) -> None:
    answer = traced.client.assemble(
        session_id="session-of-traces", query="Kestrelworth?", budget_tokens=1500, user_id="ann-of-traces"
    )
    timings = answer["timings_ms"]
    found = collector.find(answer["assembly_id"], len(timings))
    root = found.pop("assemble")[1]
    assert set(found) == set(timings) - {"total"}
    assert {"rules_tail", "recall", "fit"} <= set(found)
    for stage, (service, span) in found.items():
        assert service == "longtail-api"
        assert span.parent_span_id == root.span_id
        took = (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6
        assert took == pytest.approx(timings[stage], abs=0.001)
        assert root.start_time_unix_nano <= span.start_time_unix_nano
        assert (
            span.end_time_unix_nano <= root.end_time_unix_nano + 2000
        )  # timings are rounded to microseconds
    told = {one.key: one.value for one in root.attributes}
    assert told["longtail.budget_tokens"].int_value == 1500
    assert told["longtail.used_tokens"].int_value == answer["budget"]["used"]
    assert told["longtail.items"].int_value == len(answer["items"])
    codes = [one.string_value for one in told["longtail.degraded"].array_value.values]
    assert codes == [one["code"] for one in answer["degraded"]]


def test_no_span_holds_a_text_or_a_name(traced: Any, collector: Collector) -> None:
    turns = say(traced, "Kestrelworth again.")
    traced.settle()
    collector.find(turns[0], 4)
    for _, span in collector.spans:
        assert {one.key for one in span.attributes} == ATTRIBUTES.get(span.name, set())
    assert collector.others == []
    sent = b"".join(collector.bodies)
    assert not [word for word in (*SECRETS, traced.token, str(traced.id)) if word.encode() in sent]


def test_with_the_collector_away_everything_goes_on_and_its_return_is_noticed(
    traced: Any, traced_stack: ThrowawayStack, collector: Collector
) -> None:
    collector.stop()
    turns = say(traced, *(f"Note {number} of the time without it." for number in range(30)))
    traced.settle()
    answer = traced.client.assemble(
        session_id="session-of-traces", query="note", budget_tokens=1500, user_id="ann-of-traces"
    )
    assert answer["pending"] == 0
    assert traced.one("SELECT count(*) FROM longtail.dead_letters WHERE tenant_id = :tenant") == 0
    log = traced_stack.home / "logs" / "api.log"
    await_line(log, "traces.not_taken")
    collector.start()
    deadline = time.monotonic() + 300
    while "traces.taken_again" not in log.read_text():
        assert time.monotonic() < deadline
        traced.client.assemble(
            session_id="session-of-traces", query="n", budget_tokens=500, user_id="ann-of-traces"
        )
        time.sleep(0.5)
    assert log.read_text().count("traces.not_taken") == 1, "said once, not for every batch"
    assert not [
        span for _, span in collector.spans if span.trace_id == UUID(turns[0]).bytes and span.name == "accept"
    ]
    assert traced_stack.status()["healthy"]


def test_a_stage_that_failed_says_so_with_a_code_and_those_beside_it_do_not(
    traced: Any, collector: Collector
) -> None:
    ghost = str(uuid4())
    traced.one(
        "INSERT INTO longtail.work (item_id, tenant_id, kind, namespace) VALUES (:id, :tenant, 'turn', 'x') RETURNING 1",
        id=ghost,
    )
    turn = say(traced, "An ordinary turn beside a ghost.")[0]
    traced.settle()
    span = collector.find(ghost, 1)["ingest"][1]
    assert (span.status.code, span.status.message) == (Status.STATUS_CODE_ERROR, "not_found")
    beside = [one for _, one in collector.find(turn, 4).values()]
    assert {one.status.code for one in beside} == {Status.STATUS_CODE_UNSET}


def await_line(log: Path, word: str) -> None:
    await_true(lambda: word in log.read_text(), told=lambda: log.read_text()[-2000:])


def test_a_stack_that_is_told_to_trace_without_the_packages_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'opentelemetry.sdk' or name == 'opentelemetry.exporter':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
    )
    stack = ThrowawayStack({"LONGTAIL_TRACES_ENDPOINT": "http://127.0.0.1:4318", "PYTHONPATH": str(tmp_path)})
    try:
        whole = stack.run(["up", "--detach"], check=False)
        alone = subprocess.run(
            [sys.executable, "-m", "api.server"], env=stack.env, text=True, capture_output=True, check=False
        )
    finally:
        stack.remove()
    for result in (whole, alone):
        assert result.returncode in {1, 2}
        assert "pip install 'longtail[traces]'" in result.stderr
        assert "Traceback" not in result.stderr
