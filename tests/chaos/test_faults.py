"""Claims about faults: whatever is killed, every accepted turn exists once, embedded and gated, in the end."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
import redis
from sqlalchemy import Engine

from api.client import ServiceClient
from api.stack.home.layout import plan_layout
from api.stack.supervision.supervisor import Supervisor
from api.stack.throwaway import ThrowawayStack, await_true
from models.store.engine import open_engine

DONE = "SELECT count(*) FROM longtail.work WHERE tenant_id = :tenant AND stage = 'done'"
VECTORS = "SELECT count(*) FROM longtail.embeddings_minilm WHERE tenant_id = :tenant AND kind = 'turn'"
WAITING_FOR_VECTORS = (
    "SELECT count(*) FROM longtail.work WHERE tenant_id = :tenant AND stage IN ('accepted', 'ingested')"
)
DECIDED = "SELECT count(*) FROM longtail.gate_decisions WHERE tenant_id = :tenant"
QUICK = {
    "LONGTAIL_SWEEP_SECONDS": "1",
    "LONGTAIL_LEASE_SECONDS": "3",
    "LONGTAIL_WORKER_NICENESS": "0",
    "LONGTAIL_RETRY_BACKOFF_SECONDS": "0.2",
    "LONGTAIL_ENCODER_THREADS": "1",
    "LONGTAIL_EMBED_BATCH_TURNS": "16",
}


@pytest.fixture(scope="module")
def stack() -> Iterator[ThrowawayStack]:
    """A stack that may be hurt."""
    with ThrowawayStack(QUICK) as running:
        yield running


@pytest.fixture(scope="module")
def owner(stack: ThrowawayStack) -> Iterator[Engine]:
    """Its database; a fixture of its own, or the shared stack's tests would be given this one."""
    engine = open_engine(stack.owner_url)
    yield engine
    engine.dispose()


def processes(stack: ThrowawayStack, *words: str) -> list[psutil.Process]:
    """This stack's processes whose command line holds all the words; nobody else's."""
    found = []
    for process in psutil.process_iter():
        try:
            line = " ".join(process.cmdline())
            ours = process.environ().get("LONGTAIL_HOME") == str(stack.home) or str(stack.home) in line
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if ours and all(word in line for word in words) and "supervisord" not in line:
            found.append(process)
    return found


def expect_everything_remembered(tenant: Any, count: int) -> None:
    tenant.settle()
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == count
    assert tenant.one(DONE) == count
    assert tenant.one(VECTORS) == count
    assert tenant.one(DECIDED) == count
    assert tenant.one("SELECT count(*) FROM longtail.dead_letters WHERE tenant_id = :tenant") == 0


def send(tenant: Any, count: int) -> None:
    said = [f"Turn {n}: on {n % 28 + 1} May we fixed error E{n} in src/module_{n}.py." for n in range(count)]
    tenant.say("s", *said)


def test_killing_the_workers_in_the_middle_of_a_drain_loses_nothing(tenant: Any) -> None:
    send(tenant, 300)
    await_true(lambda: 0 < tenant.one(VECTORS) < 300)
    victims = processes(tenant.stack, "celery", "worker")
    assert victims
    for victim in victims:
        victim.send_signal(signal.SIGKILL)
    assert tenant.one(VECTORS) < 300
    expect_everything_remembered(tenant, 300)


def test_flushing_redis_with_work_queued_loses_nothing(tenant: Any) -> None:
    client = redis.Redis.from_url(tenant.stack.settings.broker_url())
    for _ in range(5):
        send(tenant, 40)
        client.flushall()
    expect_everything_remembered(tenant, 200)


def test_turns_are_accepted_while_redis_is_stopped(tenant: Any) -> None:
    servers = processes(tenant.stack, "redis.sock") or processes(tenant.stack, "valkey")
    assert servers
    for server in servers:
        server.send_signal(signal.SIGSTOP)
    try:
        for number in range(20):
            tenant.say("s", f"said while the broker was away, number {number}, on 3 May")
        answer = tenant.client.assemble(session_id="s", query="broker", budget_tokens=1000)
        assert "number 19" in answer["text"]
        assert answer["pending"] > 0
    finally:
        for server in servers:
            server.send_signal(signal.SIGCONT)
    expect_everything_remembered(tenant, 20)


def test_no_row_is_blamed_for_a_bell_that_could_not_be_rung(tenant: Any) -> None:
    """What is being drained when Redis goes away is drained all the same: once, and without an error on any row."""
    supervisor = Supervisor(plan_layout(tenant.stack.home, "nobody").control_socket)
    send(tenant, 300)
    await_true(lambda: 0 < tenant.one(VECTORS) < 300)
    supervisor.stop("redis")
    try:
        await_true(lambda: supervisor.processes()["redis"].state == "STOPPED")
        waiting = tenant.one(WAITING_FOR_VECTORS)
        await_true(lambda: tenant.one(WAITING_FOR_VECTORS) < max(waiting - 16, 1))
        blamed = tenant.rows(
            "SELECT DISTINCT last_error FROM longtail.work WHERE tenant_id = :tenant AND last_error IS NOT NULL"
        )
    finally:
        supervisor.start("redis")
    assert blamed == []
    expect_everything_remembered(tenant, 300)


def test_redis_killed_and_back_is_only_a_delay(tenant: Any) -> None:
    for server in processes(tenant.stack, "valkey-server"):
        server.send_signal(signal.SIGKILL)
    send(tenant, 30)
    expect_everything_remembered(tenant, 30)


def test_without_postgres_assemble_returns_the_messages_and_says_so(tenant: Any) -> None:
    tenant.client.put_document("a.md", "- Never panic.")
    ask = {"session_id": "s", "query": "what now?", "budget_tokens": 500}
    shown = [{"role": "user", "content": "hello"}]
    assert "Never panic" in tenant.client.assemble(**ask)["text"]
    postmaster = next(p for p in processes(tenant.stack, "postgres") if p.parent() and "-D" in p.cmdline())
    everyone = [postmaster, *postmaster.children(recursive=True)]
    for process in everyone:
        process.send_signal(signal.SIGSTOP)
    try:
        answer = tenant.client.assemble(messages=shown, deadline_ms=500, **ask)
        again = tenant.client.assemble(messages=shown, deadline_ms=500, format="messages", **ask)
    finally:
        for process in everyone:
            if process.is_running():
                process.send_signal(signal.SIGCONT)
    assert any(miss["code"] in {"database_unavailable", "deadline_exceeded"} for miss in answer["degraded"])
    assert answer["messages"] == shown
    assert "Never panic" in answer["text"]
    assert again["degraded"][0]["code"] == "database_unavailable"
    assert "Never panic" in again["messages"][0]["content"]
    assert again["messages"][1:] == shown
    await_true(lambda: not tenant.client.assemble(**ask)["degraded"])


def test_an_api_that_starts_while_postgres_is_away_knows_the_rules_that_another_process_read(
    stack: ThrowawayStack,
) -> None:
    """The machine's own token: any other may be anybody's until PostgreSQL can be asked."""
    token = (stack.home / "token").read_text().strip()
    with ServiceClient(url=stack.status()["api"]["url"], token=token, retry_seconds=60) as client:
        client.put_document("a.md", "- Never dawdle.")
        client.put_document("b.md", "- Never hurry.", user_id="ann")
        await_true(lambda: "Never dawdle" in kept_rules(stack) and "Never hurry" in kept_rules(stack))
        client.call("GET", "/v1/status")
        postmaster = next(p for p in processes(stack, "postgres") if p.parent() and "-D" in p.cmdline())
        everyone = [postmaster, *postmaster.children(recursive=True)]
        before = processes(stack, "api.server")
        for process in everyone:
            process.send_signal(signal.SIGSTOP)
        try:
            for process in before:
                process.send_signal(signal.SIGKILL)
            ask = {"session_id": "new", "query": "what now?", "budget_tokens": 500}
            hers = client.assemble(user_id="ann", **ask)
            his = client.assemble(user_id="bob", **ask)
        finally:
            for process in everyone:
                if process.is_running():
                    process.send_signal(signal.SIGCONT)
        assert {one.pid for one in processes(stack, "api.server")}.isdisjoint({one.pid for one in before})
        assert "Never dawdle" in hers["text"] and "Never hurry" in hers["text"]
        assert "Never dawdle" in his["text"] and "Never hurry" not in his["text"]
        assert his["degraded"][0]["code"] == "database_unavailable"
        await_true(lambda: not client.assemble(user_id="ann", **ask)["degraded"])
        client.delete_document("a.md")
        erasing = {"kind": "document", "name": "b.md", "confirm": "b.md", "user_id": "ann"}
        client.call("POST", "/v1/erasures", json=erasing)
        assert "Never dawdle" not in kept_rules(stack), "what was removed is not kept for an outage"
        assert "Never hurry" not in kept_rules(stack), "nor what was erased"


def kept_rules(stack: ThrowawayStack) -> str:
    """What an API of this stack would say without PostgreSQL, whoever's it is."""
    return "".join(file.read_text() for file in (stack.home / "last-known").glob("*.rules.json"))


def test_postgres_killed_comes_back_with_every_turn(tenant: Any) -> None:
    send(tenant, 50)
    postmaster = next(p for p in processes(tenant.stack, "postgres") if "-D" in p.cmdline())
    os.kill(postmaster.pid, signal.SIGKILL)
    await_true(lambda: tenant.stack.status()["healthy"])
    tenant.owner.dispose()
    expect_everything_remembered(tenant, 50)


def test_killing_the_api_brings_it_back(tenant: Any) -> None:
    for process in processes(tenant.stack, "api.server"):
        process.send_signal(signal.SIGKILL)
    tenant.say("s", "are you there?")
    assert "are you there?" in tenant.client.assemble(session_id="s", query="x", budget_tokens=500)["text"]
