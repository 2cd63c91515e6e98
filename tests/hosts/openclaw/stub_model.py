"""A model that is none: an OpenAI-compatible server on loopback that remembers every prompt it was sent."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = dict[str, Any]  # {"text": …} or {"tool": name, "arguments": {…}} or {"overflow": message}


def text_of(message: dict[str, Any]) -> str:
    """The words of a message, whatever its shape."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


@dataclass
class Prompt:
    """One model call as it arrived."""

    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found

    @property
    def system(self) -> str:
        return "\n".join(text_of(m) for m in self.messages if m["role"] in ("system", "developer"))

    @property
    def conversation(self) -> list[dict[str, Any]]:
        return [m for m in self.messages if m["role"] not in ("system", "developer")]

    @property
    def text(self) -> str:
        return "\n".join(text_of(m) for m in self.messages)

    @property
    def size(self) -> int:
        """Characters of everything the model would read but for the tools."""
        return len(json.dumps(self.messages))


@dataclass
class StubModel:
    """What the server heard, and what it says next."""

    port: int
    prompts: list[Prompt] = field(default_factory=list)
    answer: Callable[[Prompt], Answer] = lambda _: {"text": "Understood."}

    def since(self, count: int) -> list[Prompt]:
        """The prompts that came after the first `count`."""
        return self.prompts[count:]


def _chunks(answer: Answer, model: str, number: int) -> Iterator[dict[str, Any]]:
    if "tool" in answer:
        call = {"name": answer["tool"], "arguments": json.dumps(answer["arguments"])}
        delta: dict[str, Any] = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": call}],
        }
        reason = "tool_calls"
    else:
        delta, reason = {"role": "assistant", "content": answer["text"]}, "stop"
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model}
    yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


@contextmanager
def stub_model() -> Iterator[StubModel]:
    """A stub that answers until the block ends."""
    model = StubModel(port=0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Quiet."""

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self._send(200, "application/json", b'{"object": "list", "data": [{"id": "stub"}]}')

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = Prompt(body)
            model.prompts.append(prompt)
            answer = model.answer(prompt)
            if "overflow" in answer:
                error = {"message": answer["overflow"], "type": "invalid_request_error"}
                error["code"] = "context_length_exceeded"
                self._send(400, "application/json", json.dumps({"error": error}).encode())
                return
            events = [json.dumps(chunk) for chunk in _chunks(answer, body["model"], len(model.prompts))] + [
                "[DONE]"
            ]
            self._send(200, "text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
