"""Claims about tokens and tenants: issued by who may, hashed, bound, ended, and gone for good once revoked."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.client import ServiceClient
from models.errors import Forbidden, NotFound, Unauthorized
from models.settings import Settings
from models.store.tenancy.tokens import ensure_token


def issue(tenant: Any, **rights: Any) -> tuple[ServiceClient, str]:
    answer = tenant.client.call("POST", "/v1/tokens", json=rights)
    return ServiceClient(url=tenant.client.url, token=answer["token"]), answer["id"]


def listed(tenant: Any, token_id: str) -> dict[str, Any]:
    found = tenant.client.call("GET", "/v1/tokens")["tokens"]
    one: dict[str, Any] = next(token for token in found if token["id"] == token_id)
    return one


def test_a_token_opens_what_it_was_issued_for_and_only_its_hash_is_kept(tenant: Any) -> None:
    client, token_id = issue(tenant, scopes=["read"], namespaces=["ann"], label="dashboard")
    with client:
        client.status()
        with pytest.raises(Forbidden):
            client.post_turns("s", [{"role": "user", "content": "x"}])
        with pytest.raises(Forbidden):
            client.search(query="x", user_id="bob")
    shown = listed(tenant, token_id)
    assert (shown["scopes"], shown["namespaces"], shown["label"]) == (["read"], ["ann"], "dashboard")
    assert shown["last_used_at"] is not None
    assert "token" not in shown
    kept = tenant.rows("SELECT * FROM longtail.tokens WHERE id = :id", id=token_id)
    assert client._http.headers["Authorization"].removeprefix("Bearer ") not in str(kept)


def test_a_revoked_token_opens_nothing_and_starting_again_does_not_bring_it_back(tenant: Any) -> None:
    token = "lt_default_" + tenant.name
    ensure_token(tenant.stack.owner_url, tenant=tenant.name, token=token)
    with ServiceClient(url=tenant.client.url, token=token) as client:
        client.status()
        token_id = str(tenant.one("SELECT max(id::text) FROM longtail.tokens WHERE tenant_id = :tenant"))
        tenant.client.call("DELETE", f"/v1/tokens/{token_id}")
        ensure_token(tenant.stack.owner_url, tenant=tenant.name, token=token)  # what `longtail up` does
        with pytest.raises(Unauthorized):
            client.status()


def test_rotating_gives_a_new_token_the_same_rights_and_ends_the_old_one(tenant: Any) -> None:
    client, token_id = issue(tenant, namespaces=["ann"])
    answer = tenant.client.call("POST", f"/v1/tokens/{token_id}/rotate")
    with client, pytest.raises(Unauthorized):
        client.status()
    assert listed(tenant, answer["id"])["namespaces"] == ["ann"]
    with pytest.raises(NotFound):
        tenant.client.call("POST", f"/v1/tokens/{token_id}/rotate")


def test_a_token_ends_when_it_was_to_end(tenant: Any) -> None:
    client, token_id = issue(tenant, expires_at="2100-01-01T00:00:00Z")
    with client:
        client.status()
        tenant.rows("UPDATE longtail.tokens SET expires_at = now() WHERE id = :id RETURNING 1", id=token_id)
        deadline = time.monotonic() + 300
        while True:
            try:
                client.status()
            except Unauthorized:
                break
            assert time.monotonic() < deadline
            time.sleep(0.2)


def test_a_bound_or_lesser_token_issues_none(tenant: Any) -> None:
    for rights in ({"scopes": ["read", "write"]}, {"scopes": ["admin"], "namespaces": ["ann"]}):
        client, _ = issue(tenant, **rights)
        with client:
            for method, path in (("GET", "/v1/tokens"), ("POST", "/v1/tokens")):
                with pytest.raises(Forbidden):
                    client.call(method, path, json={} if method == "POST" else None)


def test_the_operator_makes_and_removes_tenants_and_tokens_on_the_command_line(
    stack: Any, owner: Any
) -> None:
    def run(*words: str) -> Any:
        return json.loads(stack.run([*words, "--json"]).stdout)

    made = run("token", "create", "--tenant", "acme", "--scope", "read,write,admin", "--expires", "30d")
    with ServiceClient(url=stack.settings.service_url(), token=made["token"]) as client:
        client.post_turns("s", [{"role": "user", "content": "kept for acme"}], user_id="ann")
        shown = run("token", "list", "--tenant", "acme")["tokens"]
        assert [one["id"] for one in shown] == [made["id"]]
        assert shown[0]["expires_at"] is not None
        fresh = run("token", "rotate", made["id"])
        run("token", "revoke", fresh["id"])
        assert "acme" in [one["name"] for one in run("tenant", "list")["tenants"]]
        warned = stack.run(["tenant", "erase", "acme", "--json"], check=False)
        assert warned.returncode == 1
        assert json.loads(warned.stdout)["turns"] == 1
        gone = run("tenant", "erase", "acme", "--yes", "--reason", "the contract ended")
        assert gone["counts"]["turns"] == 1
        audit = run("tenant", "list", "--erased")["erased"][0]
        assert (audit["name"], audit["reason"], audit["counts"]) == (
            "acme",
            "the contract ended",
            gone["counts"],
        )
        assert "acme" not in [one["name"] for one in run("tenant", "list")["tenants"]]
    assert run("tenant", "create", "acme")["name"] == "acme"
    told = [stack.run(["tenant", "create", "two words"]).stdout for _ in range(2)]
    assert told[0] == "tenant 'two words' is made. Next: longtail token create --tenant 'two words'\n"
    assert "is there already" in told[1]
    made = [stack.run(["token", "create", "--tenant", "typo"]).stdout.splitlines()[-1] for _ in range(2)]
    assert made[0].endswith("of tenant 'typo', which is new"), "a slip of the pen is seen at once"
    assert made[1].endswith("of tenant 'typo'")


def test_while_postgresql_is_away_only_tokens_that_are_known_get_an_answer(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("lt_of_this_machine\n")
    settings = Settings(
        home=tmp_path, database_url="postgresql://nobody@127.0.0.1:1/none", encoder="toy", rpc_listen="off"
    )
    ask = {"session_id": "s", "query": "x", "budget_tokens": 100}
    with TestClient(create_app(settings)) as client:
        for token, status in (("lt_wrong", 503), ("lt_of_this_machine", 200)):
            answer = client.post("/v1/assemble", json=ask, headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == status, answer.text
        assert answer.json()["degraded"][0]["code"] == "database_unavailable"
