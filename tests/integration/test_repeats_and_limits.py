"""Claims about repeated calls, request limits, and an API that is told to stop while it works."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.stack.sockets.ports import find_free


@pytest.fixture
def http(tenant: Any) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {tenant.token}"}
    with httpx.Client(base_url=tenant.client.url, headers=headers, timeout=300) as client:
        yield client


def hint(http: httpx.Client, key: str, **more: Any) -> httpx.Response:
    body = {"event": "session_end", "session_id": "s1", **more}
    return http.post("/v1/lifecycle", json=body, headers={"Idempotency-Key": key})


def test_a_repeated_write_is_done_once_and_answered_the_same(tenant: Any, http: httpx.Client) -> None:
    first = hint(http, "k1")
    again = hint(http, "k1")
    assert first.status_code == again.status_code == 202
    assert again.content == first.content
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert tenant.one("SELECT count(*) FROM longtail.journal WHERE tenant_id = :tenant") == 1
    assert hint(http, "k2").json()["id"] != first.json()["id"]


def test_a_key_used_for_something_else_is_refused(http: httpx.Client) -> None:
    assert hint(http, "k1").status_code == 202
    for other in (
        hint(http, "k1", reason="another"),
        http.put("/v1/documents/a.md", content=b"- x\n", headers={"Idempotency-Key": "k1"}),
    ):
        assert other.status_code == 409
        assert other.json()["code"] == "idempotency_key_reused"
        assert other.json()["field"] == "Idempotency-Key"


def test_a_refused_call_leaves_its_key_free(tenant: Any, http: httpx.Client) -> None:
    assert hint(http, "k1", event="nonsense").status_code == 422
    assert hint(http, "k1").status_code == 202
    key = {"Idempotency-Key": "k2"}
    assert http.delete("/v1/documents/none.md", headers=key).status_code == 404
    assert http.put("/v1/documents/none.md", content=b"- x\n", headers=key).status_code == 200


def test_many_at_once_under_one_key_are_one(tenant: Any, http: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: hint(http, "k1"), range(24)))
    assert {answer.status_code for answer in answers} <= {202, 409}
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {
        "idempotency_key_in_use"
    }
    assert len({answer.json()["id"] for answer in answers if answer.status_code == 202}) == 1
    assert tenant.one("SELECT count(*) FROM longtail.journal WHERE tenant_id = :tenant") == 1


def test_keys_belong_to_a_tenant_and_a_token(http: httpx.Client, new_tenant: Callable[[], Any]) -> None:
    first = hint(http, "k1")
    other = new_tenant()
    answer = other.client.call(
        "POST",
        "/v1/lifecycle",
        json={"event": "session_end", "session_id": "s1"},
        headers={"Idempotency-Key": "k1"},
    )
    assert answer["id"] != first.json()["id"]


def test_old_answers_are_dropped(tenant: Any, http: httpx.Client) -> None:
    first = hint(http, "k1").json()
    with tenant.owner.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE longtail.idempotency_keys SET begun_at = begun_at - interval '25 hours' WHERE tenant_id = %s",
            (tenant.id,),
        )
    hint(http, "k2")
    assert tenant.one("SELECT count(*) FROM longtail.idempotency_keys WHERE tenant_id = :tenant") == 1
    assert hint(http, "k1").json()["id"] != first["id"]


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "a b"])
def test_keys_that_are_none_are_refused(http: httpx.Client, key: str) -> None:
    answer = hint(http, key)
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_idempotency_key"


def test_turns_take_their_key_from_the_header_too(tenant: Any, http: httpx.Client) -> None:
    body = {"turns": [{"role": "user", "content": "yes"}, {"role": "user", "content": "yes"}]}
    first, again = (
        http.post("/v1/sessions/s1/turns", json=body, headers={"Idempotency-Key": "k1"}).json()
        for _ in range(2)
    )
    assert len(first["accepted"]) == 2
    assert [one["turn_id"] for one in again["duplicates"]] == first["accepted"]
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 2


@contextmanager
def own_server(tenant: Any, **settings: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[bytes]]]:
    """Another API process over the same database."""
    port = find_free()
    env = {
        **tenant.stack.env,
        "LONGTAIL_DATABASE_URL": tenant.stack.owner_url,
        "LONGTAIL_PORT": str(port),
        **settings,
    }
    process = subprocess.Popen([sys.executable, "-m", "api.server"], env=env, stderr=subprocess.DEVNULL)
    headers = {"Authorization": f"Bearer {tenant.token}"}
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=300)
    try:
        deadline = time.monotonic() + 300
        while True:
            try:
                if client.get("/readyz").status_code == 200:
                    break
            except httpx.TransportError:
                assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield client, process
    finally:
        client.close()
        process.kill()
        process.wait()


def test_a_token_that_calls_too_often_is_told_when_to_come_back(tenant: Any) -> None:
    limits = {"LONGTAIL_RATE_LIMIT_PER_SECOND": "0.5", "LONGTAIL_RATE_LIMIT_BURST": "5"}
    with own_server(tenant, **limits) as (http, _):
        answers = [http.get("/v1/status") for _ in range(12)]
        assert [answer.status_code for answer in answers[:5]] == [200] * 5
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.json()["code"] == "rate_limited"
        assert refused.headers["content-type"] == "application/problem+json"
        time.sleep(int(refused.headers["Retry-After"]))
        assert http.get("/v1/status").status_code == 200
        assert {http.get("/healthz").status_code for _ in range(20)} == {200}


def test_told_to_stop_it_finishes_what_runs_and_refuses_the_rest_without_a_500(tenant: Any) -> None:
    tenant.say("s1", *[f"Meeting {n} was about pier {n}." for n in range(50)], user_id="ann")
    tenant.settle()
    statuses: list[int | str] = []
    lock = threading.Lock()
    stopped_at = float("inf")
    with own_server(tenant) as (http, process):

        def work(number: int) -> None:
            with httpx.Client(base_url=http.base_url, headers=http.headers, timeout=300) as client:
                while True:
                    kind = number % 3
                    began = time.monotonic()
                    try:
                        if kind == 0:
                            turn = {"role": "user", "content": f"during {number}", "id": str(uuid4())}
                            answer = client.post(f"/v1/sessions/d{number}/turns", json={"turns": [turn]})
                        elif kind == 1:
                            answer = client.post(
                                "/v1/assemble",
                                json={
                                    "session_id": "s1",
                                    "query": "pier",
                                    "budget_tokens": 2000,
                                    "user_id": "ann",
                                },
                            )
                        else:
                            answer = client.get("/v1/export")
                        outcome: int | str = answer.status_code
                    except httpx.TransportError as error:
                        outcome = type(error).__name__ if began > stopped_at - 0.05 else f"torn: {error!r}"
                    with lock:
                        statuses.append(outcome)
                    if not isinstance(outcome, int):
                        return

        waiting: list[httpx.Response] = []

        def wait_for_nothing() -> None:
            with httpx.Client(base_url=http.base_url, headers=http.headers, timeout=300) as client:
                waiting.append(client.post("/v1/sessions/s1/compact", json={"wait": True}))

        tenant.rows("SELECT 1")
        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        threads.append(threading.Thread(target=wait_for_nothing))
        for thread in threads:
            thread.start()
        time.sleep(1.5)
        stopped_at = time.monotonic()
        os.kill(process.pid, signal.SIGTERM)
        for thread in threads:
            thread.join(timeout=300)
        assert process.wait(timeout=300) == 0 or process.returncode == -signal.SIGTERM
    answered = [status for status in statuses if isinstance(status, int)]
    assert len(answered) > 10
    assert set(answered) <= {200, 202}, set(answered)
    assert not [status for status in statuses if isinstance(status, str) and status.startswith("torn")]
    assert [answer.status_code for answer in waiting] == [200]
