"""Claims about receipts: complete, bounded, private to their tenant and namespace, and repeatable."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from api.assemble.receipt import TERMS
from api.stack.throwaway import await_true
from models.errors import NotFound
from models.store.engine import plain_transaction, tenant_transaction
from models.store.receipts import prune_receipts, prune_tenant

RULES = (
    "- Never delete the archive.\n\n> Prefer short answers.\n\nThe archive was founded in 1846 by Jonas.\n"
)
ASK: dict[str, Any] = {
    "session_id": "s",
    "budget_tokens": 700,
    "user_id": "ann",
    "query": "what does my brother Tomas do?",
}


@pytest.fixture
def filled(tenant: Any) -> Any:
    tenant.client.put_document("AGENTS.md", RULES)
    tenant.say("old", "My brother Tomas repairs clocks in Ghent.", user_id="ann")
    tenant.say("old", "From now on, always give me prices in euros.", user_id="ann")
    tenant.say(
        "old", *[f"My brother's clock number {n} is from {1800 + n}." for n in range(30)], user_id="ann"
    )
    tenant.say("s", *[f"Today we talk about item {n} of the agenda." for n in range(6)], user_id="ann")
    tenant.settle()
    return tenant


def test_a_receipt_holds_every_number_of_the_budget_and_every_candidate(filled: Any) -> None:
    answer = filled.client.assemble(**ASK)
    receipt = filled.client.explain(answer["assembly_id"])
    budget = receipt["budget"]
    assert {key: budget[key] for key in answer["budget"]} == answer["budget"]
    assert budget["is_feasible"]
    assert budget["soft_capacity"] == min(int(0.2 * 700), 700 - budget["hard"] - budget["base"])
    assert budget["tail_capacity"] == min(
        max(int(0.3 * 700), budget["base"]), 700 - budget["hard"] - budget["soft"]
    )
    left = 700 - budget["hard"] - budget["soft"] - budget["tail"]
    assert budget["guidance_capacity"] == budget["guidance_reserved"] == min(200, left)
    assert budget["recall_capacity"] == left - budget["guidance"]
    candidates = receipt["candidates"]
    chosen = [one["id"] for one in candidates if one["fate"] == "chosen"]
    assert sorted(chosen) == sorted(item["id"] for item in answer["items"])
    assert all(one["reason"] for one in candidates if one["fate"] == "dropped")
    recalled = [one for one in candidates if one["tier"] == "recall"]
    assert any(one["fate"] == "dropped" for one in recalled)
    assert all(set(one["terms"]) == set(TERMS) and None not in one["terms"].values() for one in recalled)
    scores = {item["id"]: item["score"] for item in answer["items"] if item["tier"] == "recall"}
    assert all(
        abs(one["terms"]["score"] - scores[one["id"]]) < 1e-4 for one in recalled if one["id"] in scores
    )
    assert "clock" in recalled[0]["text"]
    assert receipt["timings_ms"] == answer["timings_ms"]
    assert receipt["stable"]["sha256"] == answer["stable"]["sha256"]
    assert receipt["encoder"]["fingerprint"] == filled.client.status()["encoder_fingerprint"]
    assert receipt["settings"]["tail_target"] == 0.3
    assert len(receipt["settings_version"]) == 16


def test_a_receipt_says_which_room_the_wishes_had_that_came_late_and_its_replay_agrees(tenant: Any) -> None:
    wishes = [
        f"From now on, always tell me the price of {what} in euros and in crowns, both rounded to tens."
        for what in ("clocks", "boats", "lamps", "ropes", "maps", "tents", "oars", "nets")
    ]
    tenant.say("old", *wishes, user_id="ann")
    tenant.settle()
    answer = tenant.client.assemble(session_id="s", query="", budget_tokens=700, user_id="ann", explain=True)
    assert all(wish in answer["volatile"]["text"] for wish in wishes)
    receipt = tenant.client.explain(answer["assembly_id"])
    budget = receipt["budget"]
    assert budget["guidance_reserved"] == 200 < budget["guidance"] == answer["budget"]["guidance"]
    assert budget["guidance_capacity"] == 700 - budget["recall"]
    assert answer["budget"]["used"] <= 700
    replayed = tenant.client.replay(answer["assembly_id"])
    assert replayed["is_same"], replayed


def test_a_receipt_says_what_was_missing_when_the_budget_was_infeasible(filled: Any) -> None:
    answer = filled.client.assemble(**{**ASK, "budget_tokens": 20})
    receipt = filled.client.explain(answer["assembly_id"])
    assert receipt["budget"]["needed"] == answer["budget"]["used"] > 20
    assert receipt["degraded"] == answer["degraded"]
    assert {one["reason"] for one in receipt["candidates"] if one["tier"] == "recall"} == {
        "the budget is infeasible"
    }


def test_a_wish_that_a_document_overrules_says_so_in_receipt_and_explanation(filled: Any) -> None:
    filled.client.put_document("style.md", "- Never use emojis.")
    filled.say("old", "From now on, use emojis in your replies.", user_id="ann")
    filled.settle()
    answer = filled.client.assemble(**{**ASK, "explain": True})
    (overruled,) = answer["explain"]["overruled"]
    reason = f"overruled by the authored rule {overruled['rule_id']}"
    assert {"tier": "guidance", "id": overruled["wish_id"], "reason": reason} in answer["explain"]["dropped"]
    receipt = filled.client.explain(answer["assembly_id"])
    fates = {one["id"]: one["reason"] for one in receipt["candidates"] if one["tier"] == "guidance"}
    assert fates[overruled["wish_id"]] == reason
    assert "the budget is infeasible" not in {one["reason"] for one in receipt["candidates"]}


def test_a_receipt_says_of_what_is_not_tried_why_and_not_that_the_budget_is_infeasible(tenant: Any) -> None:
    tenant.say("s", "Stamp 1 shows a bird.", "You too!", "Stamp 2 shows a bird.", user_id="ann")
    tenant.settle()
    ask = {"session_id": "new", "user_id": "ann", "budget_tokens": 1000, "explain": True}
    answer = tenant.client.assemble(query="which stamp shows a bird?", **ask)
    receipt = tenant.client.explain(answer["assembly_id"])
    explained = {one["id"]: one["reason"] for one in answer["explain"]["candidates"]}
    assert "carries nothing by itself" in explained.values()
    assert explained == {one["id"]: one["reason"] for one in receipt["candidates"] if one["tier"] == "recall"}


def test_a_receipt_keeps_no_text_but_the_query(filled: Any) -> None:
    answer = filled.client.assemble(**ASK, messages=[{"role": "user", "content": "a secret on the screen"}])
    filled.client.explain(answer["assembly_id"])
    kept = filled.one(
        "SELECT receipt::text FROM longtail.assemblies WHERE id = :id", id=answer["assembly_id"]
    )
    assert ASK["query"] in kept
    for words in ("Ghent", "archive", "euros", "agenda", "secret"):
        assert words not in kept
    assert len(kept) < 100_000


def test_nobody_reads_the_receipts_of_another_tenant_or_namespace(filled: Any, new_tenant: Any) -> None:
    assembly_id = filled.client.assemble(**ASK)["assembly_id"]
    filled.client.explain(assembly_id)
    other = new_tenant()
    for call in (other.client.explain, other.client.replay):
        with pytest.raises(NotFound):
            call(assembly_id)
    with filled.enter(namespaces=["bob"]) as bob:
        for call in (bob.explain, bob.replay):
            with pytest.raises(NotFound):
                call(assembly_id)
    with filled.enter(namespaces=["ann"]) as ann:
        assert ann.explain(assembly_id)["assembly_id"] == assembly_id
    with tenant_transaction(other.as_role("longtail_api"), other.id) as connection:
        assert connection.execute(text("SELECT count(*) FROM assemblies")).scalar_one() == 0


def test_an_unknown_assembly_is_named_with_what_to_do(tenant: Any) -> None:
    with pytest.raises(NotFound, match="LONGTAIL_RECEIPT_SHARE"):
        tenant.client.explain(str(uuid4()))


def test_a_replay_over_unchanged_data_finds_no_difference(filled: Any) -> None:
    # Reads of the first prompt are counted every five seconds: right after that, the rest happens before the next time.
    counted = "SELECT sum(access_count) FROM longtail.items WHERE tenant_id = :tenant"
    before = filled.one(counted, tenant=filled.id)
    filled.client.assemble(**ASK)
    await_true(lambda: filled.one(counted, tenant=filled.id) != before)
    assembly_id = filled.client.assemble(**{**ASK, "query": "which clocks are from 1812?"})["assembly_id"]
    found = filled.client.replay(assembly_id)
    assert found["is_same"], json.dumps(
        {key: found[key] for key in ("settings", "budget", "appeared", "changed")}
    )


def test_a_replay_looks_at_the_tail_of_then_and_leaves_out_what_was_said_later(filled: Any) -> None:
    answer = filled.client.assemble(**ASK)
    filled.client.explain(answer["assembly_id"])
    filled.say("s", *[f"Later we talk about brother Tomas, part {n}." for n in range(80)], user_id="ann")
    filled.settle()
    found = filled.client.replay(answer["assembly_id"])
    assert found["stable"] == {}
    assert found["left_out"] > 0
    assert not [one for one in (*found["appeared"], *found["vanished"]) if one["tier"] == "tail"]


def test_a_replay_says_which_candidates_terms_and_settings_changed(filled: Any) -> None:
    answer = filled.client.assemble(**ASK)
    assembly_id = answer["assembly_id"]
    before = filled.client.explain(assembly_id)
    best = next(one for one in before["candidates"] if one["tier"] == "recall")
    with plain_transaction(filled.owner) as connection:
        values = {"id": best["turn_id"] or best["id"], "tenant": filled.id, "assembly": assembly_id}
        connection.execute(text("UPDATE longtail.items SET useful_count = 500 WHERE id = :id"), values)
        connection.execute(
            text(
                "UPDATE longtail.assemblies SET receipt = jsonb_set(receipt, '{settings,tail_target}', '0.25') "
                "WHERE id = :assembly"
            ),
            values,
        )
    filled.client.put_document("more.md", "- Never whisper.")
    found = filled.client.replay(assembly_id)
    assert not found["is_same"]
    assert found["settings"] == {"tail_target": {"was": 0.25, "now": 0.3}}
    assert [one["tier"] for one in found["appeared"]] == ["hard"]
    assert found["budget"]["hard"]["now"] > found["budget"]["hard"]["was"]
    assert set(found["stable"]) == {"sha256", "chars", "prefix_chars"}
    changed = {one["id"]: one["changes"] for one in found["changed"]}
    assert changed[best["id"]]["frequency"]["now"] > changed[best["id"]]["frequency"]["was"]


def test_receipts_are_bounded_by_number_and_by_age(filled: Any) -> None:
    ids = [filled.client.assemble(**ASK)["assembly_id"] for _ in range(5)]
    filled.client.explain(ids[-1])
    count = "SELECT count(*) FROM longtail.assemblies WHERE tenant_id = :tenant"
    assert filled.one(count) == 5
    with tenant_transaction(filled.as_role("longtail_api"), filled.id) as connection:
        assert prune_tenant(connection, tenant_id=filled.id, kept=3) == 2
    with plain_transaction(filled.as_role("longtail_worker")) as connection:
        prune_receipts(connection, kept=10**6, oldest=datetime.now(UTC) - timedelta(days=300))
    assert filled.one(count) == 3
    with plain_transaction(filled.owner) as connection:
        connection.execute(
            text("UPDATE longtail.assemblies SET made_at = now() - interval '400 days' WHERE id = :id"),
            {"id": ids[2]},
        )
    with plain_transaction(filled.as_role("longtail_worker")) as connection:
        prune_receipts(connection, kept=10**6, oldest=datetime.now(UTC) - timedelta(days=300))
    left = {
        str(row[0]) for row in filled.rows("SELECT id FROM longtail.assemblies WHERE tenant_id = :tenant")
    }
    assert left == set(ids[3:])


def test_reports_see_the_numbers_of_receipts_and_no_text(filled: Any) -> None:
    answer = filled.client.assemble(**ASK)
    filled.client.explain(answer["assembly_id"])
    with plain_transaction(filled.as_role("longtail_report")) as connection:
        row = connection.execute(
            text("SELECT * FROM reporting.assemblies WHERE id = :id"), {"id": answer["assembly_id"]}
        ).one()
    assert (row.tenant, row.used_tokens, row.degraded) == (filled.name, answer["budget"]["used"], [])
    assert ASK["query"] not in repr(row)
