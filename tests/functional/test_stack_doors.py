"""Claims about the API's sockets: they outlive its process, so that whoever connects meanwhile waits and is answered."""

import json
import select
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from api.stack.home.layout import plan_layout
from api.stack.sockets.doors import Keeper, keep_socket, take_socket
from api.stack.supervision.supervisor import Supervisor
from api.stack.throwaway import ThrowawayStack, await_true

SECONDS = 300.0


@pytest.fixture(scope="module")
def hurt() -> Iterator[ThrowawayStack]:
    """A stack whose API is killed and stopped."""
    with ThrowawayStack({"LONGTAIL_ENCODER": "toy", "LONGTAIL_RPC_LISTEN": "unix,tcp:127.0.0.1:0"}) as stack:
        yield stack


def supervisor_of(stack: ThrowawayStack) -> Supervisor:
    return Supervisor(plan_layout(stack.home, "nobody").control_socket)


def ask_health(path: Path) -> dict[str, object]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(path))
        connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"health"}\n')
        found: dict[str, object] = json.loads(connection.recv(65536))["result"]
        return found


def test_calls_made_right_after_a_crash_are_answered(hurt: ThrowawayStack) -> None:
    listed = hurt.status()["rpc"]["endpoints"]
    for _ in range(2):
        api = psutil.Process(supervisor_of(hurt).processes()["api"].pid)
        api.send_signal(signal.SIGKILL)
        api.wait(timeout=SECONDS)
        assert ask_health(hurt.home / "run" / "rpc.sock") == {"ok": True, "message": "ok"}
        answer = httpx.get(f"{hurt.settings.service_url()}/readyz", timeout=SECONDS)
        assert answer.status_code == 200
    assert hurt.status()["rpc"]["endpoints"] == listed, "a port of the kernel's choice stays the same"


def test_calls_made_while_the_api_is_stopped_wait_until_it_is_started(hurt: ThrowawayStack) -> None:
    supervisor = supervisor_of(hurt)
    supervisor.stop("api")
    await_true(lambda: supervisor.processes()["api"].state == "STOPPED")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(hurt.home / "run" / "rpc.sock"))
        connection.sendall(b'{"jsonrpc":"2.0","id":7,"method":"health"}\n')
        supervisor.start("api")
        assert json.loads(connection.recv(65536))["id"] == 7


def test_the_end_of_the_stack_leaves_no_socket(hurt: ThrowawayStack) -> None:
    hurt.run(["down"])
    assert not [path for path in (hurt.home / "run").iterdir() if path.is_socket()]
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{hurt.settings.service_url()}/healthz", timeout=SECONDS)


def test_a_keeper_hands_out_what_it_was_given_last_and_survives_nonsense(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(f"/tmp/longtail-doors-{tmp_path_factory.getbasetemp().name}")
    folder.mkdir(mode=0o700)
    path = folder / "doors.sock"
    keeper = Keeper(path)
    try:
        assert path.stat().st_mode & 0o777 == 0o600
        assert take_socket("http") is None, "nobody keeps anything where the variable is not set"
        monkeypatch.setenv("LONGTAIL_DOORS", str(path))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
            for letter in (b"", b"[]", b"nonsense", b'{"keep": "x"}', b'{"take": "x"}'):
                stranger.sendto(letter, str(path))
                keeper.handle_read_event()
        for _ in range(2):
            with socket.create_server(("127.0.0.1", 0)) as listening:
                assert keep_socket("http", listening)
                keeper.handle_read_event()
                address = listening.getsockname()
        answers = _answer_one(keeper)
        taken = take_socket("http")
        answers.join()
        assert taken is not None and taken.getsockname() == address
        with taken, socket.create_connection(address, timeout=SECONDS):
            taken.accept()[0].close()
    finally:
        keeper.close()
        folder.rmdir()


def _answer_one(keeper: Keeper) -> threading.Thread:
    def wait_and_answer() -> None:
        select.select([keeper], [], [], SECONDS)
        keeper.handle_read_event()

    thread = threading.Thread(target=wait_and_answer)
    thread.start()
    return thread
