"""Claims about strangers: who holds no token takes no place, no memory and no time of those who do."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from api.access.callers import MOST_LOGIN_BYTES
from api.middleware.lanes import PLACES
from api.rpc.lines import STRANGER_LINE_BYTES, STRANGER_SECONDS, STRANGERS_SHARE

LONG_PAGE = "/static-offline-docs/swagger-ui-bundle.js"
Connect = Callable[[], socket.socket]


@pytest.fixture
def to_api(tenant: Any) -> Iterator[Connect]:
    """Connections to the API whose window is small, so that what is not read stays with the server."""
    address = urlsplit(tenant.client.url)
    with_end: list[socket.socket] = []

    def connect() -> socket.socket:
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.settimeout(300)
        raw.connect((address.hostname, address.port))
        with_end.append(raw)
        return raw

    yield connect
    for raw in with_end:
        raw.close()


@pytest.fixture
def to_lines(tenant: Any) -> Iterator[Connect]:
    """Connections to the line server over TCP, for which nobody vouches."""
    written = json.loads((tenant.stack.home / "run" / "rpc.json").read_text())["endpoints"]
    port = int(next(one for one in written if one.startswith("tcp:")).rpartition(":")[2])
    with_end: list[socket.socket] = []

    def connect() -> socket.socket:
        with_end.append(socket.create_connection(("127.0.0.1", port), timeout=300))
        return with_end[-1]

    yield connect
    for raw in with_end:
        raw.close()


def read_line(raw: socket.socket) -> dict[str, Any]:
    with raw.makefile("rb") as lines:
        found: dict[str, Any] = json.loads(lines.readline() or b'{"closed": true}')
    return found


def authenticate(raw: socket.socket, token: str) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": "authenticate", "params": {"token": token}}
    raw.sendall(json.dumps(message).encode() + b"\n")
    return read_line(raw)


def test_answers_that_nobody_reads_hold_no_place_of_those_who_wait(tenant: Any, to_api: Connect) -> None:
    for _ in range(2 * PLACES["other"]):
        to_api().sendall(f"GET {LONG_PAGE} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 20)
    time.sleep(1)  # by now the buffers of all of them are full
    for _ in range(3):
        assert tenant.client.call("GET", "/v1/sessions")["sessions"] == []


def test_a_client_that_never_reads_is_dropped(to_api: Connect) -> None:
    raw = to_api()
    raw.sendall(f"GET {LONG_PAGE} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 20)
    deadline = time.monotonic() + 300
    while True:  # what is sent to a connection that is gone is refused
        assert time.monotonic() < deadline, "the connection is still there"
        time.sleep(1)
        try:
            raw.sendall(b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            return


@pytest.mark.parametrize("length", [f"Content-Length: {MOST_LOGIN_BYTES + 1}", "Transfer-Encoding: chunked"])
def test_a_form_of_a_stranger_is_refused_before_a_byte_of_it_is_read(to_api: Connect, length: str) -> None:
    raw = to_api()
    raw.sendall(f"POST /inspector/login HTTP/1.1\r\nHost: x\r\n{length}\r\n\r\n".encode())
    assert raw.recv(1024).startswith(b"HTTP/1.1 413")


def test_a_login_fits_and_a_cookie_of_nobody_opens_no_larger_form(tenant: Any) -> None:
    url = f"{tenant.client.url}/inspector/login"
    origin = {"Origin": tenant.client.url}
    answer = httpx.post(url, data={"token": tenant.token}, headers=origin, timeout=300)
    assert answer.status_code == 303
    long = b"token=" + b"x" * MOST_LOGIN_BYTES
    forged = httpx.post(url, content=long, headers={**origin, "Cookie": "longtail_inspector=x"}, timeout=300)
    assert forged.status_code == 413


def test_strangers_over_tcp_leave_places_for_those_who_are_known(tenant: Any, to_lines: Connect) -> None:
    share = tenant.stack.settings.rpc_max_connections // STRANGERS_SHARE
    for _ in range(share):
        to_lines()
    time.sleep(1)
    assert read_line(to_lines())["error"]["data"]["code"] == "too_many_connections"
    with socket.socket(socket.AF_UNIX) as own:
        own.settimeout(300)
        own.connect(str(tenant.stack.home / "run" / "rpc.sock"))
        own.sendall(b'{"jsonrpc":"2.0","id":1,"method":"health"}\n')
        assert read_line(own)["result"]["ok"] is True


def test_whoever_says_who_it_is_takes_no_place_of_strangers(tenant: Any, to_lines: Connect) -> None:
    share = tenant.stack.settings.rpc_max_connections // STRANGERS_SHARE
    for _ in range(share + 2):
        assert authenticate(to_lines(), tenant.token)["result"]["ok"] is True


def test_a_stranger_that_says_nothing_is_closed_and_a_known_one_is_not(
    tenant: Any, to_lines: Connect
) -> None:
    known, stranger = to_lines(), to_lines()
    assert authenticate(known, tenant.token)["result"]["ok"] is True
    assert read_line(stranger)["error"]["message"] == f"nobody authenticated in {STRANGER_SECONDS:g} s"
    assert stranger.recv(1) == b""
    known.sendall(b'{"jsonrpc":"2.0","id":1,"method":"health"}\n')
    assert read_line(known)["result"]["ok"] is True


def test_a_line_of_a_stranger_is_short_and_a_known_ones_may_be_long(tenant: Any, to_lines: Connect) -> None:
    raw = to_lines()
    raw.sendall(b"x" * (STRANGER_LINE_BYTES + 10) + b"\n")
    assert read_line(raw)["error"]["data"]["code"] == "body_too_large"
    # both in one piece: the second is read as what its sender is by then
    first = {"jsonrpc": "2.0", "id": 1, "method": "authenticate", "params": {"token": tenant.token}}
    second = {"jsonrpc": "2.0", "id": "x" * 2 * STRANGER_LINE_BYTES, "method": "health"}
    raw.sendall(json.dumps(first).encode() + b"\n" + json.dumps(second).encode() + b"\n")
    with raw.makefile("rb") as lines:
        assert json.loads(lines.readline())["result"]["ok"] is True
        assert json.loads(lines.readline())["result"]["ok"] is True
