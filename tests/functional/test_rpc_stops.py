"""Claims about the line server's life: it drains, cleans up, survives a kill, and never stands in the API's way."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

SECONDS = 300.0


class Server:
    """`python -m api.server` of its own, on the shared stack's database, with a home and sockets of its own."""

    def __init__(self, stack: Any, home: Path, listen: str) -> None:
        self.home = home
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.env = {
            **stack.env,
            "LONGTAIL_HOME": str(home),
            "LONGTAIL_PORT": str(self.port),
            "LONGTAIL_API_DATABASE_URL": stack.settings.role_database_url("longtail_api"),
            "LONGTAIL_REDIS_URL": stack.settings.broker_url(),
            "LONGTAIL_RPC_LISTEN": listen,
            "LONGTAIL_LOG_LEVEL": "INFO",
        }
        (home / "token").write_text((stack.home / "token").read_text())
        self.log = home / "api.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, path: str = "/readyz") -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "api.server"], env=self.env, stdout=log, stderr=log
            )
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}{path}").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            assert time.monotonic() < deadline, self.log.read_text()[-2000:]
            time.sleep(0.1)

    def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(timeout=SECONDS)

    def endpoints(self) -> list[str]:
        found: list[str] = json.loads((self.home / "run" / "rpc.json").read_text())["endpoints"]
        return found


@pytest.fixture
def server(stack: Any, tmp_path: Path) -> Iterator[Any]:
    made: list[Server] = []

    def make(listen: str, path: str = "/readyz", **env: str) -> Server:
        home = Path(f"/tmp/longtail-rpc-{os.getpid()}-{len(made)}")  # a socket's path has little room
        home.mkdir(mode=0o700)
        made.append(Server(stack, home, listen))
        made[-1].env |= env
        made[-1].start(path)
        return made[-1]

    yield make
    for one in made:
        if one.process is not None and one.process.poll() is None:
            one.process.kill()
            one.process.wait()
        subprocess.run(["rm", "-rf", str(one.home)], check=True)


def dial(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(SECONDS)
    connection.connect(str(path))
    return connection


def test_a_stopping_server_answers_what_arrived_and_takes_its_socket_away(server: Any) -> None:
    running = server("unix")
    path = running.home / "run" / "rpc.sock"
    busy, idle, half = dial(path), dial(path), dial(path)
    calls = 40
    insert = {
        "jsonrpc": "2.0",
        "method": "insert_text",
        "params": {"collection": "drain", "id": "x", "text": "many words " * 200, "metadata": {}},
    }
    busy.sendall(b"".join(json.dumps({**insert, "id": n}).encode() + b"\n" for n in range(calls)))
    half.sendall(b'{"jsonrpc":"2.0","id":1,')
    first = busy.recv(65536)
    assert first
    stopped: list[int] = []
    stopping = threading.Thread(target=lambda: stopped.append(running.stop()))
    stopping.start()
    received = first
    while data := busy.recv(65536):
        received += data
    stopping.join()
    answers = [json.loads(line) for line in received.decode().splitlines()]
    assert [one["id"] for one in answers] == list(range(calls))
    assert all(one["result"] == {"ok": True} for one in answers)
    assert idle.recv(100) == b"" and half.recv(100) == b""
    assert stopped in ([0], [-signal.SIGTERM])
    assert not path.exists() and not (running.home / "run" / "rpc.json").exists()
    assert "Traceback" not in running.log.read_text()
    for one in (busy, idle, half):
        one.close()


def test_a_socket_left_by_a_kill_is_taken_over_and_one_in_use_is_not(server: Any) -> None:
    running = server("unix")
    path = running.home / "run" / "rpc.sock"
    running.stop(signal.SIGKILL)
    assert path.exists()
    running.start()
    with dial(path) as connection:
        connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"health"}\n')
        assert json.loads(connection.recv(65536))["result"]["ok"] is True
        second = server(f"unix:{path}")  # its API works; the socket stays with whoever has it
        assert not (second.home / "run" / "rpc.json").exists()
        assert "rpc.not_listening" in second.log.read_text()
        second.stop()
        connection.sendall(b'{"jsonrpc":"2.0","id":2,"method":"health"}\n')
        assert json.loads(connection.recv(65536))["id"] == 2
    assert path.exists()


def test_off_listens_nowhere_and_http_answers_all_the_same(server: Any) -> None:
    running = server("off")
    assert not (running.home / "run" / "rpc.sock").exists()
    token = (running.home / "token").read_text().strip()
    message = {"jsonrpc": "2.0", "id": 1, "method": "health"}
    answer = httpx.post(
        f"http://127.0.0.1:{running.port}/rpc", json=message, headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.json()["result"]["ok"] is True


def test_while_the_encoder_is_away_a_search_goes_by_words_and_says_so(server: Any, tenant: Any) -> None:
    tenant.client.call(
        "POST", "/v1/sessions/s/turns", json={"turns": [{"role": "user", "content": "Bees hum."}]}
    )
    running = server("off", path="/healthz", LONGTAIL_ENCODER_CACHE="/dev/null/nowhere")
    answer = httpx.post(
        f"http://127.0.0.1:{running.port}/rpc",
        json={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "search_text",
            "params": {"collection": "session:s", "text": "who keeps bees?", "k": 2},
        },
        headers={"Authorization": f"Bearer {tenant.token}"},
        timeout=SECONDS,
    ).json()["result"]
    assert [one["text"] for one in answer["results"]] == ["Bees hum."]
    assert "encoder" in answer["missing"] and "words" in answer["missing"]


def test_tcp_that_was_opened_on_purpose_knows_its_callers_and_hangs_up_on_browsers(server: Any) -> None:
    running = server("open-tcp:127.0.0.1:0")
    host, _, port = running.endpoints()[0].removeprefix("tcp:").rpartition(":")
    health = b'{"jsonrpc":"2.0","id":1,"method":"health"}\n'
    with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
        connection.sendall(health)
        assert json.loads(connection.recv(65536))["result"]["ok"] is True
    with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n\r\n" + health)
        assert connection.recv(65536) == b""


def test_the_daemons_own_socket_is_one_word_away(server: Any, tmp_path: Path) -> None:
    home = Path(f"/tmp/longtail-user-{os.getpid()}")
    try:
        server("daemon", HOME=str(home))
        with dial(home / ".clawdb" / "run" / "libravdb.sock") as connection:
            connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"health"}\n')
            assert json.loads(connection.recv(65536))["result"]["ok"] is True
    finally:
        subprocess.run(["rm", "-rf", str(home)], check=True)


def test_the_first_answer_of_a_new_server_is_a_good_one(server: Any) -> None:
    running = server("unix", path="/healthz")
    with dial(running.home / "run" / "rpc.sock") as connection:
        connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"health"}\n')
        assert json.loads(connection.recv(65536))["result"] == {"ok": True, "message": "ok"}


def test_an_address_beyond_loopback_is_refused_at_start(stack: Any) -> None:
    env = {**stack.env, "LONGTAIL_RPC_LISTEN": "tcp:0.0.0.0:9999"}
    done = subprocess.run(
        [sys.executable, "-m", "api", "up", "--detach"],
        env=env | {"LONGTAIL_HOME": str(stack.home) + "-refused"},
        text=True,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 2
    assert "not on loopback" in done.stderr and "LONGTAIL_RPC_LISTEN" in done.stderr
    assert not Path(str(stack.home) + "-refused").exists()


def test_status_names_the_endpoints(stack: Any) -> None:
    status = stack.status()
    listed = status["rpc"]["endpoints"]
    assert [one.partition(":")[0] for one in listed] == ["unix", "tcp"]
    assert listed[1].startswith("tcp:127.0.0.1:")
