"""Claims about export and import: everything comes out, everything goes back in, lineage holds, or nothing happens."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from api.stack.throwaway import ThrowawayStack
from models.errors import Conflict, Forbidden, InvalidInput
from models.store.engine import open_engine

RULES = "# House\n\n- Never use semicolons.\n\n> You should be brief.\n\nThe office is in Ghent.\n"


def lines_of(tenant: Any, **filters: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(tenant.client.export(**filters)).splitlines()]


def raw_export(tenant: Any, **filters: str) -> bytes:
    return b"".join(tenant.client.export(**filters))


def without_header(exported: bytes) -> list[bytes]:
    return exported.splitlines()[1:]


def fill(tenant: Any) -> None:
    """A tenant with everything an export can hold: a compacted session, a correction, something forgotten."""
    tenant.client.put_document("house.md", RULES)
    tenant.client.put_document("ann.md", "- Call her Ann.\n", user_id="ann")
    tenant.say("s1", "My dog is called Bramble and she is a seven year old border collie.", user_id="ann")
    tenant.say(
        "s1",
        "From now on always answer in French.",
        "I work as a beekeeper in Toulouse and I own forty hives.",
        user_id="ann",
    )
    tenant.say(
        "s1",
        *[f"Meeting {n} was about pier {n} of the harbour, budget {n}00 euros." for n in range(40)],
        user_id="ann",
    )
    tenant.say("s2", "Bob has a yellow bicycle from 1987.", user_id="bob")
    for text, collection in (("a note of its own", "notes"), ("Ann said this over JSON-RPC.", "user:ann")):
        call = {"jsonrpc": "2.0", "id": 1, "method": "insert_text"}
        answer = tenant.client.call(
            "POST",
            "/rpc",
            json={**call, "params": {"collection": collection, "id": collection, "text": text}},
        )
        assert "result" in answer, answer
    tenant.settle()
    tenant.client.compact("s1", force=True)
    memories = tenant.client.call("GET", "/v1/memories", params={"limit": "1000"})["memories"]
    by_text = {memory["text"]: memory for memory in memories}
    dog = by_text["My dog is called Bramble and she is a seven year old border collie."]
    job = by_text["I work as a beekeeper in Toulouse and I own forty hives."]
    tenant.client.call("PATCH", f"/v1/memories/{job['id']}", json={"text": "I work as a baker in Nantes."})
    tenant.client.call("DELETE", f"/v1/memories/{dog['id']}")
    other = next(one for one in memories if one["id"] not in {dog["id"], job["id"]})
    tenant.client.call("POST", "/v1/feedback", json={"labels": [{"id": other["id"], "useful": True}]})
    tenant.settle()
    tenant.client.compact("s1", force=True)
    tenant.settle()


@pytest.fixture(scope="module")
def filled(stack: ThrowawayStack, owner: Engine, tenant_on: Callable[..., Any]) -> Iterator[Any]:
    tenant = tenant_on(stack, owner)
    fill(tenant)
    yield tenant
    tenant.client.__exit__()


def test_an_export_holds_every_kind_with_its_lineage_and_counts_itself(filled: Any) -> None:
    records = lines_of(filled)
    assert records[0]["type"] == "header"
    assert records[0]["version"] == 1
    kinds = {record["type"] for record in records}
    assert kinds == {
        *("header", "session", "turn", "decision", "memory", "guidance", "forgotten"),
        *("summary", "document", "feedback", "record", "end"),
    }
    counted = {kind: sum(one["type"] == kind for one in records) for kind in kinds - {"header", "end"}}
    assert records[-1]["counts"] == counted
    turns = {one["id"] for one in records if one["type"] == "turn"}
    assert len(turns) >= 44
    for memory in (one for one in records if one["type"] == "memory"):
        assert {source["turn_id"] for source in memory["sources"]} <= turns
    for summary in (one for one in records if one["type"] == "summary" and one["level"] == 1):
        assert {edge["turn_id"] for edge in summary["turns"]} <= turns


def test_filters_export_one_namespace_or_one_session_and_what_rests_on_it(filled: Any) -> None:
    bob = lines_of(filled, namespace="bob")
    assert {one["session_id"] for one in bob if one["type"] == "turn"} == {"s2"}
    assert [one["name"] for one in bob if one["type"] == "document"] == []
    ann = lines_of(filled, namespace="ann")
    assert [one["name"] for one in ann if one["type"] == "document"] == ["ann.md"]
    assert {one["session_id"] for one in lines_of(filled, session_id="s1") if one["type"] == "turn"} == {"s1"}


def test_a_whole_tenant_moves_to_another_server_and_back_out_unchanged(
    filled: Any, tenant_on: Callable[..., Any]
) -> None:
    exported = raw_export(filled)
    with ThrowawayStack({"LONGTAIL_SWEEP_SECONDS": "1", "LONGTAIL_ENCODER_THREADS": "1"}) as other:
        owner = open_engine(other.owner_url)
        target = tenant_on(other, owner)
        imported = target.client.import_([exported[:70_000], exported[70_000:]])
        assert imported["records"] == imported["new"]
        target.settle()
        assert without_header(raw_export(target)) == without_header(exported)
        proof = target.client.verify_lineage()
        assert proof["sessions"] == 1
        assert proof["summaries"] > 0
        assert proof["violations"] == []
        again = target.client.import_([exported])
        assert sum(again["new"].values()) == 0
        target.settle()
        assert without_header(raw_export(target)) == without_header(exported)
        found = target.client.search(query="where does Ann work as a baker?", user_id="ann")["results"]
        assert "I work as a baker in Nantes." in [hit["text"] for hit in found]
        assert not [hit for hit in found if "Bramble" in hit["text"]]
        prompt = target.client.assemble(session_id="s1", query="harbour pier 7", budget_tokens=4000)["text"]
        assert "semicolons" in prompt
        assert "French" in prompt
        target.client.__exit__()
        owner.dispose()


def test_another_tenant_of_the_same_server_takes_it_with_new_ids(
    filled: Any, new_tenant: Callable[[], Any]
) -> None:
    exported = raw_export(filled)
    other = new_tenant()
    with pytest.raises(Conflict) as refused:
        other.client.import_([exported])
    assert refused.value.code == "id_taken"
    assert other.one("SELECT count(*) FROM longtail.sessions WHERE tenant_id = :tenant") == 0
    first = other.client.import_([exported], ids="new")
    assert first["new"] == first["records"]
    assert sum(other.client.import_([exported], ids="new")["new"].values()) == 0
    other.settle()
    assert other.client.verify_lineage()["violations"] == []
    kinds = [json.loads(line)["type"] for line in without_header(raw_export(other))]
    assert kinds == [json.loads(line)["type"] for line in without_header(exported)]


def test_a_broken_line_is_named_and_nothing_is_imported(filled: Any, new_tenant: Callable[[], Any]) -> None:
    other = new_tenant()
    lines = raw_export(filled).splitlines(keepends=True)
    turn = next(number for number, line in enumerate(lines) if b'"type": "turn"' in line) + 3
    bad = json.loads(lines[turn])
    cases = [
        (b"{not json\n", "malformed_json"),
        (json.dumps({**bad, "role": "robot"}).encode() + b"\n", "unknown_value"),
        (json.dumps({**bad, "colour": "red"}).encode() + b"\n", "unknown_field"),
        (b'{"type": "ghost"}\n', "unknown_record"),
    ]
    for line, code in cases:
        with pytest.raises(InvalidInput) as refused:
            other.client.import_([*lines[:turn], line, *lines[turn + 1 :]], ids="new")
        assert refused.value.code == code
        assert f"line {turn + 1}" in refused.value.detail
    assert other.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 0


def test_a_cut_off_export_is_refused_whole(filled: Any, new_tenant: Callable[[], Any]) -> None:
    other = new_tenant()
    lines = raw_export(filled).splitlines(keepends=True)
    for cut in (lines[:-1], [*lines[:-2], lines[-1]], lines[:10], []):
        with pytest.raises(InvalidInput) as refused:
            other.client.import_(cut, ids="new")
        assert refused.value.code in {"import_truncated", "import_malformed"}
    assert other.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 0


def test_lineage_to_turns_that_are_not_there_is_refused_by_line(
    filled: Any, new_tenant: Callable[[], Any]
) -> None:
    other = new_tenant()
    records = lines_of(filled, namespace="bob")
    kept = [one for one in records if one["type"] not in {"turn", "decision", "feedback"}]
    kept[-1]["counts"] = {
        kind: sum(one["type"] == kind for one in kept) for kind in {one["type"] for one in kept[1:-1]}
    }
    with pytest.raises(InvalidInput) as refused:
        other.client.import_([json.dumps(one).encode() + b"\n" for one in kept], ids="new")
    assert refused.value.code == "unknown_turn"
    assert "line " in refused.value.detail


def test_a_bound_token_exports_its_own_namespace_and_imports_nothing(filled: Any) -> None:
    with filled.enter(namespaces=["bob"], scopes=["read", "write", "admin"]) as bob:
        mine = [json.loads(line) for line in b"".join(bob.export()).splitlines()]
        assert {one["namespace"] for one in mine if one["type"] == "turn"} == {"bob"}
        with pytest.raises(Forbidden):
            list(bob.export(namespace="ann"))
        with pytest.raises(Forbidden):
            list(bob.export(session_id="s1"))
        with pytest.raises(Forbidden):
            bob.import_([b"{}"])


def test_a_line_without_end_is_cut_off_early(tenant: Any) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(64):
            yield b"x" * 1_000_000

    headers = {"Authorization": f"Bearer {tenant.token}"}
    try:
        answer = httpx.post(tenant.client.url + "/v1/import", content=endless(), headers=headers, timeout=300)
    except httpx.WriteError:
        return  # the server hung up before everything was sent, as it should
    assert answer.status_code == 413
    assert answer.json()["code"] == "line_too_large"
