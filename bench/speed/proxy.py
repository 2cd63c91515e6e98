"""`longtail bench proxy`: what the proxy adds to a model call, beside a bare pass-through, in the same run.

Every round makes each call once, in turn, against the same stub model: straight to it, through the proxy on a path that
memory has nothing to do with, and through the proxy with memory in it.
"""

import json
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from rich.console import Console

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack
from bench.speed.spine import spread
from models.store.tenancy.tokens import ensure_token

WARM_UP = 5
START_SECONDS = 60
KNOWN_TURNS = 40
ANSWER = json.dumps(
    {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Noted."}, "finish_reason": "stop"}
        ],
    }
).encode()


@contextmanager
def serve_model() -> Iterator[str]:
    """A model that answers at once, whatever it is asked."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def run_proxy(upstream: str, environment: Mapping[str, str]) -> Iterator[str]:
    """`longtail proxy` as a user starts it."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "api",
        "proxy",
        "--upstream",
        upstream,
        "--port",
        str(port),
        "--user",
        "ann",
    ]
    process = subprocess.Popen(command, env=dict(environment), stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise RuntimeError("the proxy did not start") from None
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def run(*, rounds: int) -> dict[str, Any]:
    """The three ways to the model, in turn."""
    with ThrowawayStack() as stack, tempfile.TemporaryDirectory() as home, serve_model() as model:
        token = f"lt_{secrets.token_urlsafe(16)}"
        ensure_token(stack.owner_url, tenant="bench", token=token)
        url = stack.settings.service_url()
        with ServiceClient(url=url, token=token) as client:
            said = [
                {"role": "user", "content": f"The settings of service {n} are in config/service_{n}.toml."}
                for n in range(KNOWN_TURNS)
            ]
            client.post_turns("before", said, user_id="ann")
            while client.status()["pending"]:
                time.sleep(0.1)
        environment = {**stack.env, "LONGTAIL_TOKEN": token, "LONGTAIL_API_URL": url, "LONGTAIL_HOME": home}
        with run_proxy(model, environment) as proxy, httpx.Client(trust_env=False, timeout=60) as http:

            def ask(where: str, number: int) -> float:
                words = f"Where are the settings of service {number % KNOWN_TURNS}? Round {number}."
                body = {"model": "stub", "messages": [{"role": "user", "content": words}]}
                start = time.perf_counter()
                http.post(where, json=body).raise_for_status()
                return (time.perf_counter() - start) * 1000

            ways = {
                "straight to the model": f"{model}/v1/chat/completions",
                "bare pass-through": f"{proxy}/v1/other",
                "with memory": f"{proxy}/v1/chat/completions",
            }
            samples: dict[str, list[float]] = {name: [] for name in ways}
            Console(stderr=True).print(f"{rounds} rounds of {len(ways)} calls")
            for number in range(-WARM_UP, rounds):
                for name, where in ways.items():
                    taken = ask(where, number)
                    if number >= 0:
                        samples[name].append(taken)
    found = {name: spread(values) for name, values in samples.items()}
    bare = found["bare pass-through"]
    added = {key: round(found["with memory"][key] - bare[key], 1) for key in ("p50", "p95")}
    return {"rounds": rounds, "ms": found, "added_ms": added}


def as_markdown(result: Mapping[str, Any]) -> str:
    """The result as a table."""
    lines = ["| way to the model | p50 ms | p95 ms |", "|---|--:|--:|"]
    lines += [f"| {name} | {numbers['p50']} | {numbers['p95']} |" for name, numbers in result["ms"].items()]
    added = result["added_ms"]
    lines.append(f"\nmemory adds {added['p50']} ms (p50), {added['p95']} ms (p95) to a bare pass-through")
    return "\n".join(lines)
