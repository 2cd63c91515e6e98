"""A model's API on loopback that writes down what it was asked, and the proxy in a process of its own before it."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from api.stack.sockets.ports import find_free
from api.stack.throwaway import await_true

ANSWER = "Understood: noted for later."
PIECES = ("Understood: ", "noted ", "for later.")


@dataclass
class StubModel:
    """What a program would reach without the proxy."""

    url: str = ""
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)

    @property
    def newest(self) -> Any:
        return self.requests[-1][2]


def _sse(*events: dict[str, Any], done: bool = False, named: bool = False) -> bytes:
    lines = [
        (f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events
    ]
    return "".join(lines).encode() + (b"data: [DONE]\n\n" if done else b"")


def chat_answer(*, is_stream: bool) -> bytes:
    base = {"id": "c1", "created": 1, "model": "stub"}
    if not is_stream:
        message = {"role": "assistant", "content": ANSWER}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return json.dumps(
            {**base, "object": "chat.completion", "choices": [choice], "x_unknown": [1, 2]}
        ).encode()
    chunks = [
        {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": piece}}]}
        for piece in PIECES
    ]
    return _sse(*chunks, done=True)


def responses_answer(*, is_stream: bool) -> bytes:
    text = {"type": "output_text", "text": ANSWER, "annotations": []}
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [text]}
    answer = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "stub",
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    if not is_stream:
        return json.dumps(answer).encode()
    delta = {"type": "response.output_text.delta", "delta": ANSWER, "item_id": "m1", "output_index": 0}
    return _sse(
        {**delta, "content_index": 0, "sequence_number": 0, "logprobs": []},
        {"type": "response.completed", "response": answer, "sequence_number": 1},
        named=True,
    )


def anthropic_answer(*, is_stream: bool) -> bytes:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "stub", "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    if not is_stream:
        block = {"type": "text", "text": ANSWER}
        return json.dumps({**head, "content": [block], "stop_reason": "end_turn", "usage": usage}).encode()
    return _sse(
        {"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in PIECES
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
        named=True,
    )


ANSWERS: dict[str, Callable[..., bytes]] = {
    "/v1/chat/completions": chat_answer,
    "/v1/responses": responses_answer,
    "/v1/messages": anthropic_answer,
}


@pytest.fixture
def model() -> Iterator[StubModel]:
    stub = StubModel()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

        def do_GET(self) -> None:
            self._send(200, b'{"object": "list", "data": []}', "application/json")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            asked = json.loads(raw)
            stub.requests.append((self.path, dict(self.headers.items()), asked))
            if asked.get("model") == "broken":
                self._send(429, b'{"error": {"message": "slow down", "type": "rate"}}', "application/json")
                return
            is_stream = bool(asked.get("stream"))
            if asked.get("model") == "endless":
                self._talk_on()
                return
            body = ANSWERS[self.path](is_stream=is_stream)
            self._send(200, body, "text/event-stream" if is_stream else "application/json")

        def _talk_on(self) -> None:
            """Say something, and nothing more until the other side has gone."""
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(chat_answer(is_stream=True).split(b"\n\n")[0] + b"\n\n")
            self.connection.recv(1)
            self.close_connection = True

        def _send(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("x-request-id", "stub-1")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield stub
    server.shutdown()
    server.server_close()


@dataclass
class RunningProxy:
    url: str
    home: Path
    process: "subprocess.Popen[bytes]"


@pytest.fixture
def start_proxy(tmp_path: Path) -> Iterator[Callable[..., RunningProxy]]:
    """Starts proxies, with a home (and so a spool) of their own; they end with the test."""
    running: list[RunningProxy] = []

    def start(*, upstream: str, api_url: str, token: str, options: tuple[str, ...] = ()) -> RunningProxy:
        port = find_free()
        home = tmp_path / "home"
        env = {key: value for key, value in os.environ.items() if not key.startswith("LONGTAIL_")}
        env |= {"LONGTAIL_HOME": str(home), "LONGTAIL_API_URL": api_url, "LONGTAIL_TOKEN": token}
        command = [sys.executable, "-m", "api", "proxy", "--upstream", upstream, "--port", str(port)]
        patient = (
            "--user",
            "ann",
            "--deadline-ms",
            "30000",
        )  # a busy machine must not decide what is recalled
        process = subprocess.Popen([*command, *patient, *options], env=env)
        running.append(RunningProxy(url=f"http://127.0.0.1:{port}", home=home, process=process))
        await_true(lambda: _answers(port))
        return running[-1]

    yield start
    for proxy in running:
        proxy.process.terminate()
        proxy.process.wait(timeout=60)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
