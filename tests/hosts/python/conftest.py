"""Clients of the shared stack, each test with a tenant and a home of its own."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from longtail_client import Client


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tenant: Any) -> Path:
    """What a program of this tenant finds in its environment: an address, a token, and a folder for its outbox."""
    for name in ("LONGTAIL_PORT", "LONGTAIL_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LONGTAIL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LONGTAIL_API_URL", tenant.stack.settings.service_url())
    monkeypatch.setenv("LONGTAIL_TOKEN", tenant.token)
    monkeypatch.setenv(
        "LONGTAIL_HOOK_DEADLINE_MS", "20000"
    )  # a busy machine must not decide what a test sees
    return tmp_path / "home"


@pytest.fixture
def memory(home: Path) -> Iterator[Client]:
    """A client that found everything by itself; patient, because the machine may be busy."""
    with Client(timeout_seconds=20) as client:
        yield client


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address at which nobody answers, and nobody else will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def silence() -> Iterator[str]:
    """An address that takes connections and never says a word."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@dataclass
class StubModel:
    """A model on loopback that says what a test tells it to, and remembers what it was sent."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], dict[str, Any]] = lambda _: {"content": "Noted."}

    @property
    def prompts(self) -> list[str]:
        """Every request's messages as one text."""
        return [json.dumps(request["messages"], ensure_ascii=False) for request in self.requests]


@pytest.fixture
def model() -> Iterator[StubModel]:
    """An OpenAI-compatible server, streaming or not, as it is asked."""
    stub = StubModel()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say({"object": "list", "data": [{"id": "stub", "object": "model"}]})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.endswith("/chat/completions"):
                self.send_error(404)
                return
            stub.requests.append(request)
            said = {"role": "assistant", "content": None, **stub.answer(request)}
            reason = "tool_calls" if said.get("tool_calls") else "stop"
            head = {"id": "c1", "created": 1, "model": "stub"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            if not request.get("stream"):
                choice = {"index": 0, "message": said, "finish_reason": reason}
                self._say({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
                return
            for number, call in enumerate(said.get("tool_calls") or ()):
                call["index"] = number
            chunks = [
                {"choices": [{"index": 0, "delta": said, "finish_reason": None}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
            ]
            lines = [
                f"data: {json.dumps({**head, 'object': 'chat.completion.chunk', **one})}\n\n"
                for one in chunks
            ]
            self._send("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())

        def _say(self, body: dict[str, Any]) -> None:
            self._send("application/json", json.dumps(body).encode())

        def _send(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield stub
    server.shutdown()
    thread.join()
    server.server_close()
