"""Deleted stays deleted: of a namespace, a session, a memory or a document nothing is left, and nothing comes back."""

import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import redis

from api.client import ServiceClient
from api.stack.throwaway import await_true
from models.errors import InvalidInput, NotFound
from models.tables import TENANT_TABLES

WORD = "zanzibar"
SAID = f"My locker at the {WORD} harbour has the number nine, and I rent it until June."
# Tables of a tenant, and why nothing of what is erased can be in one that erasing leaves alone.
LEFT_ALONE = {
    "tokens": "who may ask, not what was said",
    "namespaces": "a name and two numbers; goes with its namespace",
    "lexicon": "words go when nothing says them any more",
    "postings": "go with their items, by the trigger",
    "embeddings_minilm": "go with their items, by the foreign key",
    "embeddings_toy": "go with their items, by the foreign key",
    "statements": "go with their items, by the foreign key",
    "supersessions": "go with the items of either turn, by the foreign keys",
    "document_nodes": "go with their documents, by the foreign key",
    "lineage_checks": "numbers",
    "erasures": "the record of erasures itself",
    "tombstones": "hashes with a salt",
    "tombstone_salts": "a random word",
}


def fill(tenant: Any, session: str = "s1", user: str = "ann") -> str:
    """A session with everything that is made of turns; returns the id of the memory."""
    client = tenant.client
    tenant.say(session, SAID, f"Always call the {WORD} harbour office first.", user_id=user)
    tenant.say(
        session,
        f"Noted: your {WORD} locker is number nine, rented until June.",
        role="assistant",
        user_id=user,
    )
    older = [
        {"role": "user", "content": f"Beam {n} of the {WORD} bridge was measured today. " * 8}
        for n in range(40)
    ]
    client.post_turns(session, older, user_id=user)
    client.put_document("rules.md", f"- Always mention {WORD}.\n\nLore of {WORD}.", user_id=user)
    tenant.settle()
    client.compact(session, force=True)
    made = client.assemble(session_id=session, query=f"{WORD} locker", budget_tokens=2000, user_id=user)
    client.call("GET", f"/v1/assemblies/{made['assembly_id']}")
    client.call("POST", "/v1/lifecycle", json={"event": "session_end", "session_id": session, "reason": WORD})
    wait_for_compaction(tenant)  # which the hint asked for
    found = client.call("GET", "/v1/memories", params={"user_id": user})["memories"]
    memory = next(one for one in found if one["text"] == SAID)
    client.call("PATCH", f"/v1/memories/{memory['id']}", json={"text": SAID + " Corrected."})
    client.call("POST", "/v1/feedback", json={"labels": [{"id": memory["id"], "useful": True}]})
    tenant.settle()
    node = tenant.one("SELECT id FROM longtail.document_nodes WHERE tenant_id = :tenant LIMIT 1")
    turn = tenant.one("SELECT turn_id FROM longtail.memories WHERE tenant_id = :tenant LIMIT 1")
    for item in (node, turn):
        tenant.rows(
            "INSERT INTO longtail.dead_letters (tenant_id, item_id, stage, reason, attempts) "
            f"VALUES (:tenant, :item, 'embedded', 'said {WORD}', 1) RETURNING id",
            item=item,
        )
    return str(memory["id"])


def wait_for_compaction(tenant: Any) -> None:
    asked = "SELECT count(*) FROM longtail.compactions WHERE tenant_id = :tenant AND requested_at IS NOT NULL"
    await_true(lambda: not tenant.one(asked), told="a compaction is still asked for")


def holding(tenant: Any, word: str = WORD) -> list[str]:
    return [
        table
        for table in TENANT_TABLES
        if tenant.one(
            f"SELECT count(*) FROM longtail.{table} AS one WHERE tenant_id = :tenant AND one::text LIKE :word",
            word=f"%{word}%",
        )
    ]


def erase(tenant: Any, kind: str, name: str, **more: Any) -> Any:
    return tenant.client.call(
        "POST", "/v1/erasures", json={"kind": kind, "name": name, "confirm": name, **more}
    )


def test_every_table_is_erased_from_or_has_a_reason(tenant: Any) -> None:
    fill(tenant)
    counts = erase(tenant, "namespace", "ann", dry_run=True)["counts"]
    assert set(counts) | set(LEFT_ALONE) == set(TENANT_TABLES)
    assert not set(counts) & set(LEFT_ALONE)


def test_a_rehearsal_counts_what_the_deed_then_takes_and_changes_nothing(tenant: Any) -> None:
    fill(tenant)
    before = tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant")
    counted = erase(tenant, "namespace", "ann", dry_run=True)["counts"]
    assert (
        tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant")
        == before
        == counted["turns"]
    )
    with pytest.raises(InvalidInput, match="would remove") as refused:
        tenant.client.call("POST", "/v1/erasures", json={"kind": "session", "name": "s1"})
    assert refused.value.code == "confirmation_needed"
    done = erase(tenant, "namespace", "ann")["counts"]
    assert {**done, "idempotency_keys": 0} == {**counted, "idempotency_keys": 0}
    assert holding(tenant) == []


def test_an_erased_session_leaves_nothing_and_does_not_come_back(
    tenant: Any, new_tenant: Callable[[], Any]
) -> None:
    fill(tenant)
    tenant.say("s2", "The other session is about apples and pears.", user_id="ann")
    tenant.settle()
    exported = b"".join(tenant.client.export())
    erase(tenant, "session", "s1", reason="she asked")
    erase(tenant, "document", "rules.md", user_id="ann")
    assert holding(tenant) == []
    assert tenant.client.verify_lineage()["violations"] == []
    replayed = tenant.say("s1", SAID, "Something new is said here as well.", "yes", user_id="ann")
    assert (replayed["erased"], len(replayed["accepted"])) == ([0], 2)
    imported = tenant.client.import_([exported])
    assert imported["erased"]["turn"] == 43
    assert imported["erased"]["document"] == 1
    tenant.settle()
    assert holding(tenant) == []
    assert tenant.client.verify_lineage()["violations"] == []
    assert len(tenant.client.list_turns("s2")["turns"]) == 1
    audit = tenant.client.call("GET", "/v1/erasures")["erasures"]
    assert [(one["kind"], one["target"]) for one in audit] == [
        ("document", "user:ann rules.md"),
        ("session", "s1"),
    ]
    elsewhere = new_tenant()  # nothing was erased there
    assert elsewhere.client.import_([exported], ids="new")["erased"] == {}


def test_a_bound_token_does_not_bring_back_its_own_and_learns_nothing_of_anothers(tenant: Any) -> None:
    """Whoever guesses words that somebody else had erased gets the answer of one who says them first."""
    tenant.client.post_turns("s1", [{"role": "user", "content": SAID, "id": "m1"}], user_id="ann")
    erase(tenant, "namespace", "ann")
    answers = {}
    for who in ("bob", "ann"):
        with tenant.enter(namespaces=[who]) as client:
            turns = [
                {"role": "user", "content": SAID},
                {"role": "user", "content": "Now other words.", "id": "m1"},
            ]
            if who == "ann":
                erase(tenant, "namespace", "bob")  # so that the session is free again
            answers[who] = client.post_turns("s1", turns)
    assert (answers["bob"]["erased"], len(answers["bob"]["accepted"])) == ([], 2)
    assert (answers["ann"]["erased"], answers["ann"]["accepted"]) == ([0, 1], [])


def test_an_erased_memory_takes_its_turn_and_leaves_the_session(tenant: Any) -> None:
    memory_id = fill(tenant)
    erase(tenant, "memory", memory_id)
    tenant.settle()
    assert SAID not in [turn["content"] for turn in tenant.client.list_turns("s1")["turns"]]
    assert len(tenant.client.list_turns("s1")["turns"]) == 42
    assert holding(tenant, "rent it until June") == []
    assert tenant.client.verify_lineage()["violations"] == []
    with pytest.raises(NotFound):
        erase(tenant, "memory", memory_id)


def test_a_shared_session_forgets_whose_it_was(tenant: Any) -> None:
    first = {"role": "user", "content": SAID, "name": "Ann"}
    tenant.client.post_turns("group", [first], user_id="ann", shared=True)
    tenant.say("group", "Bob is here too, and likes apples.", user_id="bob")
    tenant.settle()
    erase(tenant, "namespace", "ann")
    row = tenant.rows("SELECT namespace, user_id, is_shared FROM longtail.sessions WHERE tenant_id = :tenant")
    assert [tuple(one) for one in row] == [("bob", None, True)]
    assert holding(tenant) == []


def test_a_bad_request_is_refused_in_a_sentence(tenant: Any) -> None:
    tenant.say("s1", SAID, user_id="ann")
    with pytest.raises(InvalidInput, match="no memory's id"):
        erase(tenant, "memory", "nonsense")
    with pytest.raises(NotFound):
        erase(tenant, "session", "nowhere")
    with pytest.raises(NotFound):
        erase(tenant, "document", "nothing.md")
    with pytest.raises(InvalidInput, match="whose a document is"):
        erase(tenant, "session", "s1", user_id="ann")


def test_forgetting_offers_what_says_the_same_and_takes_it_with_consent(tenant: Any) -> None:
    tenant.say("s1", SAID, user_id="ann")
    tenant.say(
        "s1",
        "Noted: your locker at the zanzibar harbour is number nine, rented until June.",
        role="assistant",
        user_id="ann",
    )
    tenant.say("s1", "What should we cook for dinner tonight?", user_id="ann")
    tenant.settle()
    found = tenant.client.call("GET", "/v1/memories", params={"user_id": "ann"})["memories"]
    memory = next(one for one in found if one["text"] == SAID)
    offered = tenant.client.call("DELETE", f"/v1/memories/{memory['id']}")
    (echo,) = offered["echoes"]
    assert echo["role"] == "assistant"
    assert offered["also_forgotten"] == 0
    taken = tenant.client.call("DELETE", f"/v1/memories/{memory['id']}", params={"also": echo["turn_id"]})
    assert taken["also_forgotten"] == 1
    made = tenant.client.assemble(
        session_id="s2", query="locker at the harbour", budget_tokens=2000, user_id="ann"
    )
    assert "number nine" not in made["text"]


def follow(tenant: Any, begun: Any) -> list[Any]:
    """What a job says of itself until it is done."""
    seen = [begun]
    deadline = time.monotonic() + 300
    while not seen[-1]["is_done"]:
        assert time.monotonic() < deadline
        seen.append(tenant.client.call("GET", f"/v1/erasures/{begun['id']}"))
    return seen


def test_kept_answers_go_with_what_they_may_hold_and_others_stay(tenant: Any) -> None:
    """A call whose key was dropped is done again when it is sent again: an erasure costs nobody else theirs."""

    def remember(token: str, user: str) -> httpx.Response:
        return httpx.post(
            f"{tenant.client.url}/v1/memories",
            json={"text": f"{user} keeps a {WORD}.", "user_id": user},
            headers={"Authorization": f"Bearer {token}", "Idempotency-Key": f"call-of-{user}"},
            timeout=300,
        )

    rights = {"scopes": ["read", "write", "admin"]}
    tokens = {user: tenant.issue(namespaces=[user], **rights) for user in ("ann", "bob")}
    for user, token in tokens.items():
        assert remember(token, user).status_code == 201
    assert remember(tenant.token, "ann").status_code == 201  # may hold anything of anybody
    with ServiceClient(url=tenant.client.url, token=tokens["ann"]) as ann:
        body = {"kind": "namespace", "name": "ann", "confirm": "ann"}
        assert ann.call("POST", "/v1/erasures", json=body)["counts"]["idempotency_keys"] == 2
    assert remember(tokens["bob"], "bob").headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in remember(tokens["ann"], "ann").headers


def test_an_erasure_is_a_job_that_tells_how_far_it_is(tenant: Any) -> None:
    for start in range(0, 600, 200):
        tenant.say(
            "s", *[f"Turn {n} is about the harbour." for n in range(start, start + 200)], user_id="ann"
        )
    body = {"kind": "namespace", "name": "ann", "confirm": "ann", "wait": False}
    begun = tenant.client.call("POST", "/v1/erasures", json=body)
    assert (begun["counts"], begun["kind"], begun["name"]) == ({}, "namespace", "ann") or begun["is_done"]
    seen = follow(tenant, begun)
    done = seen[-1]
    assert done["counts"]["turns"] == 600
    assert done["step"] == done["steps"] == 21 + 2 * 2, (
        "a step a table; raw turns and their index in portions"
    )
    assert [one["step"] for one in seen] == sorted(one["step"] for one in seen)
    audit = tenant.client.call("GET", "/v1/erasures")["erasures"]
    assert [(one["id"], one["counts"]) for one in audit] == [(begun["id"], done["counts"])]


def test_what_keeps_a_job_from_being_done_is_told_and_an_unknown_one_was_never_done(tenant: Any) -> None:
    body = {"kind": "session", "name": "never there", "confirm": "never there", "wait": False}
    begun = tenant.client.call("POST", "/v1/erasures", json=body)
    with pytest.raises(NotFound, match="no session 'never there'"):
        follow(tenant, begun)
    with pytest.raises(NotFound, match="is as it was"):
        tenant.client.call("GET", "/v1/erasures/00000000-0000-4000-8000-000000000000")


def test_nobody_follows_anothers_erasure(tenant: Any, new_tenant: Callable[[], Any]) -> None:
    tenant.say("s", "The harbour is closed in winter.", user_id="ann")
    body = {"kind": "namespace", "name": "ann", "dry_run": True, "wait": False}
    begun = tenant.client.call("POST", "/v1/erasures", json=body)
    with pytest.raises(NotFound):
        new_tenant().client.call("GET", f"/v1/erasures/{begun['id']}")


def test_erasing_a_namespace_costs_no_more_than_what_it_holds(tenant: Any) -> None:
    """Items that share words: each posting is read a bounded number of times, not once an item."""
    for start in range(0, 600, 200):
        tenant.say(
            "s",
            *[f"The harbour master of Brest said {n} again." for n in range(start, start + 200)],
            user_id="ann",
        )
    tenant.settle(600)
    held = tenant.one("SELECT count(*) FROM longtail.postings")
    read = "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'ix_postings_by_impact'"
    before = _settled(tenant, read)
    erase(tenant, "namespace", "ann")
    assert _settled(tenant, read) - before < 20 * held
    assert holding(tenant, "harbour") == []


def _settled(tenant: Any, query: str) -> int:
    """A counter of PostgreSQL's, when every backend has reported what it did."""
    seen = -1
    while (now := tenant.one(query)) != seen:
        seen = now
        time.sleep(1.5)
    return seen


def test_redis_holds_no_word_of_anybody(tenant: Any) -> None:
    fill(tenant)
    broker = redis.from_url(tenant.stack.settings.broker_url())
    kept = b"".join(broker.dump(key) or b"" for key in broker.keys("*"))
    with_bells = b"".join(broker.keys("*"))
    broker.close()
    assert WORD.encode() not in kept + with_bells
    assert b"ann" not in with_bells


def test_every_reference_to_what_can_be_erased_has_an_index(tenant: Any) -> None:
    """Else each row that goes costs a look at a whole table, everybody's rows included."""
    without = tenant.rows(
        "SELECT refers.conname FROM pg_constraint AS refers WHERE refers.contype = 'f' "
        "AND refers.connamespace = CAST('longtail' AS regnamespace) "
        "AND refers.confrelid <> CAST('longtail.tenants' AS regclass) AND NOT EXISTS (SELECT FROM pg_index "
        "WHERE indrelid = refers.conrelid AND indpred IS NULL AND indkey[0] = ANY (refers.conkey))"
    )
    assert [row[0] for row in without] == []
