"""Claims about memories one by one: looking, explaining, correcting, forgetting, and that it lasts."""

from collections.abc import Callable
from typing import Any

import pytest

from models.errors import Conflict, Forbidden, InvalidInput, NotFound

DOG = "My dog is called Bramble and she is a seven year old border collie."
JOB = "I work as a beekeeper in Toulouse and I own forty hives."
RULE = "From now on always answer me in French, please."


@pytest.fixture
def ann(tenant: Any) -> Any:
    """A tenant in which Ann has said a few things about herself."""
    tenant.say("s1", DOG, JOB, RULE, user_id="ann")
    tenant.settle()
    return tenant


def memory_of(tenant: Any, text: str) -> dict[str, Any]:
    found = tenant.client.call("GET", "/v1/memories", params={"namespace": "ann", "forgotten": "true"})
    return next(memory for memory in found["memories"] if memory["text"] == text)


def found_texts(tenant: Any, query: str, **more: Any) -> list[str]:
    return [hit["text"] for hit in tenant.client.search(query=query, user_id="ann", k=50, **more)["results"]]


def test_a_memory_explains_why_it_was_kept_and_which_turn_said_it(ann: Any) -> None:
    memory = memory_of(ann, DOG)
    shown = ann.client.call("GET", f"/v1/memories/{memory['id']}", params={"explain": "true"})
    assert shown["explain"]["decision"]["keep"] is True
    assert shown["explain"]["decision"]["signals"]["score"] == pytest.approx(memory["gate_score"])
    row = ann.rows("SELECT * FROM reporting.gate WHERE turn_id = :turn_id", turn_id=memory["turn_id"])[0]
    signals = shown["explain"]["decision"]["signals"]
    assert len(signals) == 14
    assert signals == {
        name: pytest.approx(row._mapping[name]) for name in signals
    }  # the words of reports, and their numbers
    assert [source["text"] for source in shown["explain"]["sources"]] == [DOG]
    assert shown["explain"]["sources"][0]["turn_id"] == memory["turn_id"]
    assert shown["explain"]["revisions"] == []


def test_pages_of_memories_follow_each_other_and_filters_narrow_them(ann: Any) -> None:
    everything = ann.client.call("GET", "/v1/memories")["memories"]
    assert len(everything) >= 2
    walked: list[str] = []
    cursor = None
    while True:
        parameters = {"limit": "1"} | ({"cursor": cursor} if cursor else {})
        page = ann.client.call("GET", "/v1/memories", params=parameters)
        walked += [memory["id"] for memory in page["memories"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert walked == [memory["id"] for memory in everything]
    best = max(memory["gate_score"] for memory in everything)
    narrow = ann.client.call("GET", "/v1/memories", params={"min_score": str(best)})["memories"]
    assert {memory["gate_score"] for memory in narrow} == {best}
    assert ann.client.call("GET", "/v1/memories", params={"namespace": "bob"})["memories"] == []
    early = {"until": "2001-01-01T00:00:00Z"}
    assert ann.client.call("GET", "/v1/memories", params=early)["memories"] == []


def test_a_correction_is_recalled_and_the_raw_turn_and_the_old_words_stay(ann: Any) -> None:
    memory = memory_of(ann, JOB)
    corrected = "I work as a clockmaker in Lyon."
    shown = ann.client.call(
        "PATCH", f"/v1/memories/{memory['id']}", json={"text": corrected, "reason": "changed jobs"}
    )
    assert shown["text"] == corrected
    assert [(one["text"], one["reason"]) for one in shown["explain"]["revisions"]] == [(JOB, "changed jobs")]
    ann.settle()
    found = found_texts(ann, "what is the clockmaker's job in Lyon?")
    assert corrected in found
    assert JOB not in found_texts(ann, "beekeeper in Toulouse with forty hives")
    raw = ann.client.list_turns("s1")["turns"]
    assert JOB in [turn["content"] for turn in raw]
    assert ann.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 3


def test_the_same_correction_twice_changes_nothing(ann: Any) -> None:
    memory = memory_of(ann, JOB)
    for _ in range(2):
        shown = ann.client.call(
            "PATCH", f"/v1/memories/{memory['id']}", json={"text": "I keep goats in Lyon."}
        )
    assert len(shown["explain"]["revisions"]) == 1


def sweep_again(tenant: Any) -> None:
    """Every turn goes through the whole pipeline once more, as after a restored backup."""
    with tenant.owner.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE longtail.work SET stage = 'accepted', attempts = 0, not_before = now() WHERE tenant_id = %s",
            (tenant.id,),
        )
    tenant.settle()


def test_what_was_forgotten_is_not_recalled_even_when_its_turn_is_processed_again(ann: Any) -> None:
    memory = memory_of(ann, DOG)
    assert DOG in found_texts(ann, "what is my dog called?")
    forgotten = ann.client.call("DELETE", f"/v1/memories/{memory['id']}", params={"reason": "asked to"})
    assert forgotten["id"] == memory["id"]
    assert DOG not in found_texts(ann, "what is my dog called?")
    sweep_again(ann)
    assert DOG not in found_texts(ann, "what is my dog called?")
    assembled = ann.client.assemble(session_id="s2", query="my dog?", budget_tokens=2000, user_id="ann")
    assert "Bramble" not in assembled["text"]
    assert DOG in [turn["content"] for turn in ann.client.list_turns("s1")["turns"]]
    listed = ann.client.call("GET", "/v1/memories")["memories"]
    assert memory["id"] not in [one["id"] for one in listed]
    assert memory_of(ann, DOG)["forgotten_at"] == forgotten["forgotten_at"]
    recorded = ann.rows("SELECT reason FROM longtail.forgotten WHERE tenant_id = :tenant")
    assert [row.reason for row in recorded] == ["asked to"]


def test_a_correction_survives_another_sweep(ann: Any) -> None:
    memory = memory_of(ann, JOB)
    ann.client.call("PATCH", f"/v1/memories/{memory['id']}", json={"text": "I carve boats in Brest."})
    ann.settle()
    sweep_again(ann)
    assert "I carve boats in Brest." in found_texts(ann, "carve boats in Brest")
    assert memory_of(ann, "I carve boats in Brest.")["id"] == memory["id"]
    assert ann.one("SELECT count(*) FROM longtail.gate_decisions WHERE tenant_id = :tenant") == 3


def test_a_forgotten_memory_cannot_be_corrected(ann: Any) -> None:
    memory = memory_of(ann, DOG)
    ann.client.call("DELETE", f"/v1/memories/{memory['id']}")
    with pytest.raises(Conflict) as refused:
        ann.client.call("PATCH", f"/v1/memories/{memory['id']}", json={"text": "A cat."})
    assert refused.value.code == "memory_forgotten"


def test_what_was_forgotten_may_be_said_and_remembered_anew(ann: Any) -> None:
    ann.client.call("DELETE", f"/v1/memories/{memory_of(ann, DOG)['id']}")
    ann.say("s9", DOG, user_id="ann")
    ann.settle()
    assert DOG in found_texts(ann, "what is my dog called?")


def test_a_spoken_rule_can_be_forgotten(ann: Any) -> None:
    rules = ann.client.call("GET", "/v1/guidance", params={"namespace": "ann"})["guidance"]
    assert [rule["text"] for rule in rules] == [RULE]
    ask = {"session_id": "s2", "query": "hello", "budget_tokens": 2000, "user_id": "ann"}
    assert "French" in ann.client.assemble(**ask)["text"]
    ann.client.call("DELETE", f"/v1/guidance/{rules[0]['id']}")
    assert "French" not in ann.client.assemble(**ask)["text"]
    sweep_again(ann)
    assert "French" not in ann.client.assemble(**ask)["text"]
    assert ann.client.call("GET", "/v1/guidance")["guidance"] == []


def test_summaries_no_longer_quote_what_was_forgotten(tenant: Any) -> None:
    tenant.say("s1", "I moved to Bordeaux in March 2024.", DOG, user_id="ann")
    tenant.say(
        "s1", *[f"The meeting number {n} was about the harbour project." for n in range(40)], user_id="ann"
    )
    tenant.settle()
    tenant.client.compact("s1", force=True)
    memory = memory_of(tenant, DOG)
    tenant.client.call("DELETE", f"/v1/memories/{memory['id']}")
    tenant.client.compact("s1", force=True)
    bodies = tenant.rows("SELECT body FROM longtail.summaries WHERE tenant_id = :tenant")
    assert bodies
    assert not [row.body for row in bodies if "Bramble" in row.body or "collie" in row.body]
    proof = tenant.client.verify_lineage(session_id="s1")
    assert proof["violations"] == []
    covered = tenant.one(
        "SELECT is_protected FROM longtail.summary_turns WHERE turn_id = :turn", turn=memory["turn_id"]
    )
    assert covered is True


def test_memories_of_other_tenants_and_namespaces_are_out_of_reach(
    ann: Any, new_tenant: Callable[[], Any]
) -> None:
    memory = memory_of(ann, DOG)
    path = f"/v1/memories/{memory['id']}"
    other = new_tenant()
    for method, options in (("GET", {}), ("PATCH", {"json": {"text": "x"}}), ("DELETE", {})):
        with pytest.raises(NotFound):
            other.client.call(method, path, **options)
    with ann.enter(namespaces=["bob"]) as bob:
        assert bob.call("GET", "/v1/memories")["memories"] == []
        assert bob.call("GET", "/v1/guidance")["guidance"] == []
        for method, options in (("GET", {}), ("PATCH", {"json": {"text": "x"}}), ("DELETE", {})):
            with pytest.raises(NotFound):
                bob.call(method, path, **options)
        with pytest.raises(Forbidden):
            bob.call("GET", "/v1/memories", params={"namespace": "ann"})
        judged = bob.call("POST", "/v1/feedback", json={"labels": [{"id": memory["id"], "useful": False}]})
        assert judged == {"accepted": 0, "unknown": [memory["id"]]}
    assert memory_of(ann, DOG)["forgotten_at"] is None


def test_a_memory_that_is_not_there_and_words_that_are_none_are_refused(tenant: Any) -> None:
    nowhere = "/v1/memories/00000000-0000-7000-8000-000000000000"
    with pytest.raises(NotFound):
        tenant.client.call("GET", nowhere)
    with pytest.raises(InvalidInput) as refused:
        tenant.client.call("PATCH", nowhere, json={"text": " "})
    assert refused.value.code == "empty_text"
