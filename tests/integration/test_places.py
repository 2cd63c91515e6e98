"""Claims about sessions, namespaces, documents and erasure: counts are true, erased is erased, others are untouched."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from models.errors import Forbidden, InvalidInput, NotFound
from models.store.engine import plain_transaction
from models.tables import TENANT_TABLES

RULES = "- Never use semicolons.\n\nThe office is in Ghent.\n"
SECRET = "My locker code at the Meridian gym is 48213."


def bound(tenant: Any, namespace: str) -> Any:
    return tenant.enter(namespaces=[namespace], scopes=["read", "write", "admin"])


def test_a_session_says_how_long_it_is_and_how_far_its_compaction_came(tenant: Any) -> None:
    tenant.say("s/1", *[f"Meeting {n} was about pier {n} of the harbour." for n in range(40)], user_id="ann")
    tenant.say("s2", "hello there", user_id="bob")
    tenant.settle()
    before = tenant.client.call("GET", "/v1/sessions/s%2F1")
    assert (before["turns"], before["covered_turns"], before["summaries"]) == (40, 0, 0)
    assert before["tokens"] == before["uncompacted_tokens"] > 300
    tenant.client.compact("s/1", force=True)
    after = tenant.client.call("GET", "/v1/sessions/s%2F1")
    assert 0 < after["covered_turns"] < 40
    assert after["active_summaries"] > 0
    assert after["generation"] > 0
    assert after["compacted_at"] is not None
    listed = tenant.client.call("GET", "/v1/sessions", params={"limit": "1"})
    assert [one["session_id"] for one in listed["sessions"]] == ["s/1"]
    rest = tenant.client.call("GET", "/v1/sessions", params={"cursor": listed["next_cursor"]})
    assert [one["session_id"] for one in rest["sessions"]] == ["s2"]
    assert rest["next_cursor"] is None
    only = tenant.client.call("GET", "/v1/sessions", params={"namespace": "bob"})["sessions"]
    assert [one["session_id"] for one in only] == ["s2"]


def test_pages_go_on_behind_the_longest_name(tenant: Any) -> None:
    names = ["ä" * 512, "ä" * 511 + "ö"]
    for name in names:
        tenant.say(name, "hello", user_id="ann")
    page = tenant.client.call("GET", "/v1/sessions", params={"limit": "1"})
    rest = tenant.client.call("GET", "/v1/sessions", params={"cursor": page["next_cursor"]})
    assert [one["session_id"] for one in [*page["sessions"], *rest["sessions"]]] == names


def test_namespaces_are_listed_with_what_they_hold(tenant: Any) -> None:
    tenant.say("s1", SECRET, "ok", user_id="ann")
    tenant.say("s2", "hello", user_id="bob")
    tenant.settle()
    found = {one["namespace"]: one for one in tenant.client.call("GET", "/v1/namespaces")["namespaces"]}
    assert set(found) == {"ann", "bob"}
    assert (found["ann"]["sessions"], found["ann"]["turns"], found["ann"]["indexed"]) == (1, 2, 2)
    with bound(tenant, "bob") as bob:
        assert [one["namespace"] for one in bob.call("GET", "/v1/namespaces")["namespaces"]] == ["bob"]


def test_documents_are_listed_read_word_for_word_and_taken_away(tenant: Any) -> None:
    tenant.client.put_document("team/rules.md", RULES)
    tenant.client.put_document("rules.md", "- Call her Ann.\n", user_id="ann")
    tenant.settle()
    listed = tenant.client.call("GET", "/v1/documents")["documents"]
    assert [(one["binding"], one["name"]) for one in listed] == [
        ("tenant", "team/rules.md"),
        ("user:ann", "rules.md"),
    ]
    one = tenant.client.call("GET", "/v1/documents/team%2Frules.md")
    assert one["text"] == RULES
    assert (one["hard"], one["lore"]) == (1, 1)
    ask = {"session_id": "s", "query": "where is the office?", "budget_tokens": 1000}
    assert "Ghent" in tenant.client.assemble(**ask)["text"]
    tenant.client.call("DELETE", "/v1/documents/team%2Frules.md")
    gone = tenant.client.assemble(**ask)["text"]
    assert "Ghent" not in gone
    assert "semicolons" not in gone
    with pytest.raises(NotFound):
        tenant.client.call("DELETE", "/v1/documents/team%2Frules.md")
    assert len(tenant.client.call("GET", "/v1/documents")["documents"]) == 1
    assert tenant.one("SELECT count(*) FROM longtail.items WHERE tenant_id = :tenant") == 0


def test_documents_that_share_words_are_replaced_and_removed_at_once_without_a_refusal(tenant: Any) -> None:
    def replace(number: int) -> None:
        words = " ".join(f"harbour{(number * 7 + n) % 40} pier{(number * 11 + n) % 40}" for n in range(60))
        body = "\n\n".join(f"{words} part {n}" for n in range(5))
        path = f"/v1/documents/d{number % 4}.md"
        with httpx.Client(
            base_url=tenant.client.url, headers={"Authorization": f"Bearer {tenant.token}"}
        ) as http:
            answers.append(http.put(path, content=body.encode(), timeout=300).status_code)
            if number % 5 == 0:
                answers.append(http.delete(path, timeout=300).status_code)

    answers: list[int] = []
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(replace, range(60)))
    assert set(answers) <= {200, 204, 404}, answers
    tenant.settle()
    assert tenant.one("SELECT count(*) FROM longtail.dead_letters WHERE tenant_id = :tenant") == 0
    counted, held = tenant.rows(
        "SELECT (SELECT coalesce(sum(item_count), 0) FROM longtail.namespaces WHERE tenant_id = :tenant), "
        "(SELECT count(*) FROM longtail.items WHERE tenant_id = :tenant)"
    )[0]
    assert counted == held


def test_a_bound_token_sees_and_deletes_only_its_own_documents_and_sessions(tenant: Any) -> None:
    tenant.client.put_document("house.md", RULES)
    tenant.client.put_document("ann.md", "- Call her Ann.\n", user_id="ann")
    tenant.say("s1", "hello", user_id="ann")
    with bound(tenant, "ann") as ann, bound(tenant, "bob") as bob:
        assert [one["name"] for one in ann.call("GET", "/v1/documents")["documents"]] == ["ann.md"]
        assert bob.call("GET", "/v1/documents")["documents"] == []
        assert bob.call("GET", "/v1/sessions")["sessions"] == []
        for method, path in (
            ("DELETE", "/v1/documents/house.md"),
            ("GET", "/v1/documents/ann.md?user_id=ann"),
            ("GET", "/v1/sessions/s1"),
            ("GET", "/v1/sessions?namespace=ann"),
            ("DELETE", "/v1/namespaces/ann?confirm=ann"),
            ("GET", "/v1/erasures"),
        ):
            with pytest.raises(Forbidden):
                bob.call(method, path)
        with pytest.raises(Forbidden):
            bob.call("PUT", "/v1/calibration", json={"threshold": 0.9})


def fill(tenant: Any, user: str) -> None:
    tenant.client.put_document(f"{user}.md", "- Call me by name.\n\nThe attic is cold.\n", user_id=user)
    tenant.say(f"{user}-1", SECRET, "From now on always answer in French.", user_id=user)
    tenant.say(f"{user}-1", *[f"Meeting {n} was about pier {n}." for n in range(30)], user_id=user)
    tenant.settle()
    tenant.client.compact(f"{user}-1", force=True)
    tenant.client.call("POST", "/v1/lifecycle", json={"event": "session_end", "session_id": f"{user}-1"})


def traces_of(tenant: Any, word: str) -> list[str]:
    """Tables of the tenant in which any row mentions the word."""
    return [
        table
        for table in TENANT_TABLES
        if tenant.one(
            f"SELECT count(*) FROM longtail.{table} AS found "
            "WHERE tenant_id = :tenant AND found::text LIKE '%' || :word || '%'",
            word=word,
        )
    ]


def test_erasing_a_namespace_takes_everything_of_it_and_nothing_else_and_is_written_down(tenant: Any) -> None:
    fill(tenant, "ann")
    fill(tenant, "bob")
    before = tenant.rows(
        "SELECT id, content FROM longtail.turns WHERE namespace = 'bob' AND tenant_id = :tenant"
    )
    counts = tenant.client.erase("ann", confirm="ann", reason="she asked")["counts"]
    assert counts["turns"] == 32
    assert counts["sessions"] == 1
    assert counts["documents"] == 1
    assert traces_of(tenant, "ann") == ["erasures"]
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 32
    after = tenant.rows(
        "SELECT id, content FROM longtail.turns WHERE namespace = 'bob' AND tenant_id = :tenant"
    )
    assert sorted(map(tuple, after)) == sorted(map(tuple, before))
    assert tenant.client.verify_lineage()["violations"] == []
    found = tenant.client.search(query="locker code", user_id="bob")["results"]
    assert SECRET in [hit["text"] for hit in found]
    audit = tenant.client.call("GET", "/v1/erasures")["erasures"]
    assert [(one["namespace"], one["reason"]) for one in audit] == [("ann", "she asked")]
    assert SECRET not in str(audit)
    tenant.say("ann-1", "I am back.", user_id="ann")
    tenant.settle()
    assert tenant.client.call("GET", "/v1/sessions/ann-1")["turns"] == 1


def test_a_shared_session_keeps_the_turns_of_the_other_namespace(tenant: Any) -> None:
    first = {"role": "user", "content": "before the login, about the harbour"}
    tenant.client.post_turns("s1", [first], session_key="guest", shared=True)
    tenant.say("s1", SECRET, user_id="ann")
    tenant.settle()
    tenant.client.erase("ann", confirm="ann")
    kept = tenant.client.list_turns("s1")["turns"]
    assert [turn["content"] for turn in kept] == ["before the login, about the harbour"]


def test_erasing_needs_its_confirmation_and_says_what_would_go(tenant: Any) -> None:
    tenant.say("s1", SECRET, user_id="ann")
    for confirm in (None, "an", "ANN"):
        with pytest.raises(InvalidInput) as refused:
            tenant.client.erase("ann", confirm=confirm)
        assert refused.value.code == "confirmation_needed"
        assert "1 raw turns" in refused.value.detail
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 1
    with pytest.raises(NotFound):
        tenant.client.erase("nobody", confirm="nobody")


def test_erasing_needs_the_admin_scope_and_stays_in_its_tenant(
    tenant: Any, new_tenant: Callable[[], Any]
) -> None:
    other = new_tenant()
    tenant.say("s1", SECRET, user_id="ann")
    other.say("s1", SECRET, user_id="ann")
    with tenant.enter(scopes=["read", "write"]) as writer, pytest.raises(Forbidden):
        writer.erase("ann", confirm="ann")
    tenant.client.erase("ann", confirm="ann")
    assert other.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 1


def test_even_the_owner_deletes_no_turn_outside_of_an_erasure(tenant: Any) -> None:
    tenant.say("s1", SECRET, user_id="ann")
    tenant.say("s2", SECRET, user_id="bob")
    with pytest.raises(DBAPIError, match="append-only"), plain_transaction(tenant.owner) as connection:
        connection.execute(text("DELETE FROM longtail.turns WHERE tenant_id = :id"), {"id": tenant.id})
    other_key = text(
        "WITH key AS MATERIALIZED (SELECT set_config('longtail.erasing', :key, true)) "
        "DELETE FROM longtail.turns USING key WHERE tenant_id = :id AND namespace = 'bob'"
    )
    with pytest.raises(DBAPIError, match="append-only"), plain_transaction(tenant.owner) as connection:
        connection.execute(other_key, {"id": tenant.id, "key": f"{tenant.id}:ann"})
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 2


def test_cursors_that_are_not_ours_are_refused(tenant: Any) -> None:
    for path in ("/v1/sessions", "/v1/namespaces", "/v1/documents"):
        for cursor in ("x", "!!!!", "WzFd", "W10", "bnVsbA"):
            with pytest.raises(InvalidInput) as refused:
                tenant.client.call("GET", path, params={"cursor": cursor})
            assert refused.value.code == "invalid_cursor", (path, cursor)


def test_the_journal_is_read_in_pages_by_session_and_by_event(tenant: Any) -> None:
    for number in range(5):
        event = "session_end" if number % 2 else "before_reset"
        tenant.client.call("POST", "/v1/lifecycle", json={"event": event, "session_id": f"s{number}"})
    walked: list[str] = []
    cursor = None
    while True:
        page = tenant.client.call(
            "GET", "/v1/journal", params={"limit": "2"} | ({"cursor": cursor} if cursor else {})
        )
        walked += [entry["session_id"] for entry in page["entries"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert walked == ["s4", "s3", "s2", "s1", "s0"]
    ends = tenant.client.call("GET", "/v1/journal", params={"event": "session_end"})["entries"]
    assert [entry["session_id"] for entry in ends] == ["s3", "s1"]


def test_status_counts_what_is_kept_in_the_namespace_a_token_opens(tenant: Any) -> None:
    tenant.say("s1", "one", "two", user_id="ann")
    tenant.say("s2", "three", user_id="bob")
    tenant.settle()
    assert tenant.client.status()["counts"] is None
    whole = tenant.client.call("GET", "/v1/status", params={"counts": "true"})
    assert (whole["counts"]["sessions"], whole["counts"]["turns"]) == (2, 3)
    assert whole["redis"] == "ok"
    with bound(tenant, "ann") as ann:
        mine = ann.call("GET", "/v1/status", params={"counts": "true"})
        assert (mine["counts"]["sessions"], mine["counts"]["turns"]) == (1, 2)
