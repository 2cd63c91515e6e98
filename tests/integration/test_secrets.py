"""Secrets at the door: whatever way a text comes in, the secret in it is kept nowhere, and the answer says so."""

import json
import secrets as random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from redis import Redis

from api.host.spool import Spool
from api.turns.schemas import TurnIn
from models.settings import get_settings
from models.tables import metadata


@pytest.fixture(scope="module")
def filled(stack: Any, owner: Any, tenant_on: Any) -> Any:
    """One secret sent through every door; what each answered."""
    tenant = tenant_on(stack, owner)
    secret = f"hunter2-{random.token_hex(8)}"
    said = f"The staging database password is {secret}."
    client = tenant.client

    def rpc(method: str, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return client.call("POST", "/rpc", json=body)

    answers = {
        "turns": client.post_turns(
            "s1", [{"role": "user", "content": said, "metadata": {"db": {"password": secret}}}], user_id="ann"
        )
    }
    answers["again"] = client.post_turns("s1", [{"role": "user", "content": said, "id": "x1"}], user_id="ann")
    answers["repeated"] = client.post_turns(
        "s1", [{"role": "user", "content": said, "id": "x1"}], user_id="ann"
    )
    answers["memory"] = client.call("POST", "/v1/memories", json={"text": said, "user_id": "ann"})
    memory_id = answers["memory"]["id"]
    answers["document"] = client.put_document("rules.md", f"- Always be kind.\n\n{said}\n", user_id="ann")
    answers["rpc turn"] = rpc(
        "insert_session_turn", sessionId="s2", id="r1", text=said, metadata={"token": secret}
    )
    for number, collection in enumerate(
        ("user:ann", "turns:ann", "elevated:user:ann", "own:things", "dream:ann", "global")
    ):
        answers[collection] = rpc(
            "insert_text", collection=collection, id=f"c{number}", text=said, metadata={"password": secret}
        )
    rpc("ingest_markdown_document", sourceDoc="a.md", text=f"- Be kind.\n\n{said}", coreDoc=True)
    rpc("session_lifecycle_hint", hook="session_end", sessionId="s2", reason=said)
    client.call(
        "POST",
        "/v1/lifecycle",
        json={"event": "session_end", "session_id": "s1", "reason": said, "metadata": {"password": secret}},
    )
    made = client.assemble(
        session_id="s1", query=f"{said} What is it for?", budget_tokens=2000, user_id="ann"
    )
    client.call("GET", f"/v1/assemblies/{made['assembly_id']}")
    tenant.settle()
    answers["correction"] = client.call(
        "PATCH", f"/v1/memories/{memory_id}", json={"text": said + " Now.", "reason": said}
    )
    answers["assembly"] = made
    tenant.settle()
    yield tenant, secret, answers
    client.__exit__()


def test_no_table_holds_the_secret(filled: Any) -> None:
    tenant, secret, _ = filled
    for table in metadata.tables.values():
        found = tenant.one(
            f"SELECT count(*) FROM longtail.{table.name} AS one WHERE one::text LIKE :secret",
            secret=f"%{secret}%",
        )
        assert found == 0, table.name


def test_no_key_of_redis_and_no_file_of_the_stack_holds_the_secret(filled: Any, stack: Any) -> None:
    """The write-ahead log of PostgreSQL and every log are among the files."""
    _, secret, _ = filled
    broker = Redis.from_url(stack.settings.broker_url())
    for key in broker.scan_iter():
        assert secret.encode() not in key + (broker.dump(key) or b"")
    broker.close()
    holding = [
        path
        for path in Path(stack.settings.home).rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]
    assert holding == []


def test_every_answer_names_what_was_masked_and_none_repeats_it(filled: Any) -> None:
    _, secret, answers = filled
    assert secret not in json.dumps({name: one for name, one in answers.items() if name != "assembly"})
    assert answers["turns"]["secrets"] == [
        {"index": 0, "field": "content", "kind": "password", "count": 1},
        {"index": 0, "field": "metadata", "kind": "password", "count": 1},
    ]
    for name in ("memory", "document", "correction"):
        assert [one["kind"] for one in answers[name]["secrets"]] == ["password"], name


def test_a_masked_turn_sent_again_is_still_the_same_turn(filled: Any) -> None:
    _, _, answers = filled
    (again,) = answers["repeated"]["duplicates"]
    assert again["turn_id"] == answers["again"]["accepted"][0]
    assert not again["content_differs"]


def test_the_rest_of_the_sentence_is_remembered(filled: Any) -> None:
    tenant, _, _ = filled
    made = tenant.client.assemble(
        session_id="s9", query="staging database password", budget_tokens=2000, user_id="ann"
    )
    assert "The staging database password is [masked: password]" in made["text"]


def test_an_import_masks_what_an_older_export_holds(tenant: Any, new_tenant: Any) -> None:
    secret = f"hunter2-{random.token_hex(8)}"
    tenant.client.post_turns(
        "s1",
        [{"role": "user", "content": "The password is PLACE", "ts": "2026-01-02T03:04:05Z"}],
        user_id="ann",
    )
    tenant.settle()
    exported = b"".join(tenant.client.export())
    assert b"PLACE" in exported
    target = new_tenant()
    counts = target.client.import_([exported.replace(b"PLACE", secret.encode())], ids="new")
    assert counts["secrets"]["password"] >= 1
    target.settle()
    for table in metadata.tables.values():
        found = tenant.one(
            f"SELECT count(*) FROM longtail.{table.name} AS one WHERE one::text LIKE :secret",
            secret=f"%{secret}%",
        )
        assert found == 0, table.name


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    def choose(name: str) -> None:
        monkeypatch.setenv("LONGTAIL_SECRETS", name)
        get_settings.cache_clear()

    yield choose
    get_settings.cache_clear()


GIVEN: dict[str, Any] = {"role": "user", "content": "The password is hunter2-prod."}


def test_each_policy_does_what_it_says(policy: Callable[[str], None]) -> None:
    policy("tag")
    turn = TurnIn(**GIVEN)
    assert (turn.content, turn.metadata) == (GIVEN["content"], {"longtail_secrets": ["password"]})
    policy("off")
    assert TurnIn(**GIVEN).metadata == {}
    policy("refuse")
    with pytest.raises(ValidationError, match="password in content") as refused:
        TurnIn(**GIVEN)
    assert refused.value.errors()[0]["ctx"]["code"] == "secret_refused"
    policy("mask")
    assert TurnIn(**GIVEN).content == "The password is [masked: password]."


def test_what_waits_in_the_spool_holds_no_secret(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), max_bytes=100_000)
    assert spool.append({"path": "/v1/sessions/s/turns", "body": {"turns": [GIVEN]}})
    spool.put_aside("refused", b"The password is hunter2-prod.")
    for name in ("queue", "aside"):
        lying = (tmp_path / "spool" / name).read_text()
        assert "hunter2" not in lying
        assert "The password is [masked: password]" in lying
