"""Claims about clients that leave, stall or flood: each takes its own share and nobody else's."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import text

from api.stack.throwaway import await_true
from models.errors import TransientError
from models.store.engine import plain_transaction


def open_socket(tenant: Any) -> socket.socket:
    """A connection to the API whose window is small, so that what is not read stays with the server."""
    address = urlsplit(tenant.client.url)
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect((address.hostname, address.port))
    return raw


@pytest.fixture
def long_memory(tenant: Any) -> Any:
    """More than the buffers of a connection hold, without anything for the workers to do."""
    tenant.say("s", "hello")
    with plain_transaction(tenant.owner) as connection:
        connection.execute(
            text(
                "INSERT INTO longtail.turns (tenant_id, session_id, position, namespace, role, content, dedup_key, "
                "content_sha256, ts, metadata, tokens) SELECT :tenant, 's', n, 'session:s', 'tool', "
                "repeat(md5(n::text), 3000), n::text, sha256(n::text::bytea), now(), '{}', 24000 "
                "FROM generate_series(1, 300) AS n"
            ),
            {"tenant": tenant.id},
        )
    return tenant


def export_status(tenant: Any) -> int:
    """What a whole export would be answered with now; of its lines only the first are read."""
    headers = {"Authorization": f"Bearer {tenant.token}"}
    with httpx.stream("GET", f"{tenant.client.url}/v1/export", headers=headers, timeout=300) as answer:
        return answer.status_code


def count_exported(tenant: Any) -> int:
    """Lines of a whole export; 0 while too many others run."""
    try:
        return b"".join(tenant.client.export()).count(b"\n")
    except TransientError:
        return 0


def begin_export(tenant: Any) -> socket.socket:
    raw = open_socket(tenant)
    raw.sendall(
        f"GET /v1/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {tenant.token}\r\n\r\n".encode()
    )
    assert raw.recv(1024).startswith(b"HTTP/1.1 200")
    return raw


@pytest.fixture
def exports(long_memory: Any) -> Iterator[list[socket.socket]]:
    begun = [begin_export(long_memory) for _ in range(4)]
    yield begun
    for one in begun:
        one.close()


def test_clients_that_leave_in_the_middle_of_an_export_leave_nothing_open(
    long_memory: Any, exports: list[socket.socket]
) -> None:
    assert export_status(long_memory) == 503
    for one in exports:
        one.close()
    await_true(lambda: count_exported(long_memory) > 300)


def test_clients_that_stop_reading_an_export_are_let_go(
    long_memory: Any, exports: list[socket.socket]
) -> None:
    assert export_status(long_memory) == 503
    await_true(lambda: count_exported(long_memory) > 300)


def test_a_client_that_stops_sending_an_import_is_let_go(tenant: Any) -> None:
    raw = open_socket(tenant)
    head = f"POST /v1/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {tenant.token}\r\nContent-Length: 9999\r\n\r\n"
    raw.sendall(head.encode())
    raw.settimeout(300)
    assert raw.recv(1024).startswith(b"HTTP/1.1 408")
    raw.close()


def test_a_stranger_is_refused_before_a_byte_of_the_body_is_read(tenant: Any) -> None:
    for authorization in ("", "Authorization: Bearer lt_unknown\r\n"):
        raw = open_socket(tenant)
        head = f"POST /v1/assemble HTTP/1.1\r\nHost: x\r\n{authorization}Content-Length: 9999999\r\n\r\n"
        raw.sendall(head.encode())
        raw.settimeout(300)
        assert raw.recv(1024).startswith(b"HTTP/1.1 401")
        raw.close()


@pytest.mark.parametrize("path", ["/v1/assemble", "/v1/sessions/s/turns", "/rpc"])
@pytest.mark.parametrize("shape", ["keys", "items", "brackets", "another encoding"])
def test_a_body_of_a_million_values_is_refused_unparsed(tenant: Any, path: str, shape: str) -> None:
    body = {
        "keys": b"{" + b",".join(b'"k%d":1' % n for n in range(1_000_000)) + b"}",
        "items": b'{"turns":[' + b"1," * 1_000_000 + b"1]}",
        "brackets": b'{"turns":' + b"[" * 1_000_000,
        "another encoding": ('{"name":"\\"","turns":[' + "1," * 1_000_000 + '1],"x":"\\""}').encode("utf-16"),
    }[shape]
    headers = {"Authorization": f"Bearer {tenant.token}", "Content-Type": "application/json"}
    answer = httpx.post(tenant.client.url + path, content=body, headers=headers, timeout=300)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_many_values")


def test_long_texts_full_of_punctuation_are_no_values(tenant: Any) -> None:
    said = '{"a": [1, 2, {"b": "c"}], \\' * 30_000
    shown = [{"role": "user", "content": said}]
    answer = tenant.client.assemble(session_id="s", query="what?", messages=shown, budget_tokens=500)
    assert answer["text"] is not None


@pytest.mark.parametrize("begun", ["", "POST /v1/assemble HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_connection_that_never_finishes_its_headers_is_closed(tenant: Any, begun: str) -> None:
    raw = open_socket(tenant)
    raw.sendall(begun.encode())
    raw.settimeout(300)
    assert raw.recv(1024) == b""
    raw.close()


def test_turns_are_accepted_while_forty_slow_patterns_run(tenant: Any) -> None:
    tenant.say("s", *("a" * 3001 + "b" for _ in range(20)))
    finished: list[int] = []

    def grep() -> None:
        headers = {"Authorization": f"Bearer {tenant.token}"}
        body = {"pattern": r"^(a+)(a+)(a+)\1\2\3b$", "regex": True}
        answer = httpx.post(f"{tenant.client.url}/v1/grep", json=body, headers=headers, timeout=300)
        finished.append(answer.status_code)

    threads = [threading.Thread(target=grep) for _ in range(40)]
    for thread in threads:
        thread.start()
    time.sleep(1)  # they are on their way, and the first ones at work for seconds
    assert len(tenant.say("s", "hello")["accepted"]) == 1
    was_in_time = (
        len(finished) < 20
    )  # without lanes, most of them come first: with an answer, or without a connection
    for thread in threads:
        thread.join()
    assert was_in_time
    assert set(finished) <= {422, 503}
