"""Claims about accepting turns: kept once, word for word, in order, in one step or not at all."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from models.errors import PermanentError
from models.store.engine import plain_transaction, tenant_transaction

STORED = "SELECT role, content, position FROM longtail.turns WHERE tenant_id = :tenant ORDER BY position"


def turn(number: int, content: str | None = None) -> dict[str, Any]:
    return {"role": "user", "content": content or f"turn number {number}", "id": f"m{number}"}


def test_turns_are_kept_word_for_word_and_in_order(tenant: Any) -> None:
    odd = [
        "  leading and trailing  ",
        "tab\tand\r\nline ends\n",
        "emoji 🙂 and 漢字 and \u200bzero width",
        '{"json": true}',
    ]
    answer = tenant.say("s", *odd)
    assert len(answer["accepted"]) == 4
    assert [row.content for row in tenant.rows(STORED)] == odd
    assert [row.position for row in tenant.rows(STORED)] == [0, 1, 2, 3]


def test_a_turn_sent_again_is_named_as_a_duplicate_and_kept_once(tenant: Any) -> None:
    first = tenant.client.post_turns("s", [turn(1), turn(2)])
    second = tenant.client.post_turns("s", [turn(2), turn(3)])
    assert second["duplicates"] == [{"index": 0, "turn_id": first["accepted"][1], "content_differs": False}]
    assert len(second["accepted"]) == 1
    assert len(tenant.rows(STORED)) == 3


def test_a_known_id_with_other_words_keeps_the_first_words_and_says_so(tenant: Any) -> None:
    tenant.client.post_turns("s", [turn(1, "first")])
    again = tenant.client.post_turns("s", [turn(1, "second")])
    assert again["duplicates"][0]["content_differs"] is True
    assert [row.content for row in tenant.rows(STORED)] == ["first"]


def test_the_same_id_twice_in_one_call_is_one_turn(tenant: Any) -> None:
    answer = tenant.client.post_turns("s", [turn(1), turn(1)])
    assert len(answer["accepted"]) == 1
    assert [one["index"] for one in answer["duplicates"]] == [1]


def test_turns_without_ids_are_never_taken_for_each_other(tenant: Any) -> None:
    tenant.say("s", "yes")
    tenant.say("s", "yes")
    assert len(tenant.rows(STORED)) == 2


def test_an_idempotency_key_makes_a_whole_call_repeatable(tenant: Any) -> None:
    turns = [{"role": "user", "content": "yes"}, {"role": "user", "content": "yes"}]
    for _ in range(3):
        tenant.client.post_turns("s", turns, idempotency_key="call-1")
    assert len(tenant.rows(STORED)) == 2


def test_the_same_turns_sent_five_times_at_once_exist_once_embedded_and_gated(tenant: Any) -> None:
    turns = [turn(number) for number in range(40)]
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda _: tenant.client.post_turns("s", turns), range(5)))
    accepted = [turn_id for answer in answers for turn_id in answer["accepted"]]
    assert len(accepted) == len(set(accepted)) == 40
    tenant.settle()
    assert len(tenant.rows(STORED)) == 40
    embedded = "SELECT count(*) FROM longtail.embeddings_minilm WHERE tenant_id = :tenant AND kind = 'turn'"
    assert tenant.one(embedded) == 40
    assert tenant.one("SELECT count(*) FROM longtail.gate_decisions WHERE tenant_id = :tenant") == 40
    assert tenant.one("SELECT count(*) FROM longtail.work WHERE tenant_id = :tenant AND stage = 'done'") == 40


def test_calls_to_one_session_at_once_give_every_turn_its_own_position(tenant: Any) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: tenant.client.post_turns("s", [turn(n)]), range(40)))
    assert len({row.position for row in tenant.rows(STORED)}) == 40


@pytest.mark.parametrize("role", ["longtail_api", "longtail_worker"])
@pytest.mark.parametrize(
    "statement", ["UPDATE turns SET content = 'x'", "DELETE FROM turns", "TRUNCATE turns CASCADE"]
)
def test_no_service_role_can_change_a_raw_turn(tenant: Any, role: str, statement: str) -> None:
    tenant.say("s", "precious")
    with (
        pytest.raises(DBAPIError, match="permission denied"),
        tenant_transaction(tenant.as_role(role), tenant.id) as connection,
    ):
        connection.execute(text(statement))
    assert [row.content for row in tenant.rows(STORED)] == ["precious"]


@pytest.mark.parametrize(
    "statement", ["UPDATE longtail.turns SET content = 'x'", "DELETE FROM longtail.turns"]
)
def test_even_the_owner_is_stopped_by_the_trigger(tenant: Any, statement: str) -> None:
    tenant.say("s", "precious")
    with pytest.raises(DBAPIError, match="append-only"), plain_transaction(tenant.owner) as connection:
        connection.execute(text(statement))


def test_the_namespace_is_the_first_identity_that_is_present(tenant: Any) -> None:
    tenant.say("a", "one", user_id="ann", session_key="k", agent_id="g")
    tenant.say("b", "two", session_key="k", agent_id="g")
    tenant.say("c", "three", agent_id="g")
    tenant.say("d", "four")
    found = tenant.rows(
        "SELECT session_id, namespace FROM longtail.turns WHERE tenant_id = :tenant ORDER BY seq"
    )
    assert dict(map(tuple, found)) == {"a": "ann", "b": "session-key:k", "c": "agent-id:g", "d": "session:d"}


def test_a_session_keeps_its_identity_when_later_calls_leave_it_out(tenant: Any) -> None:
    tenant.say("s", "one", user_id="ann")
    tenant.say("s", "two")
    found = tenant.rows("SELECT DISTINCT namespace FROM longtail.turns WHERE tenant_id = :tenant")
    assert [row.namespace for row in found] == ["ann"]


def test_a_host_that_repeats_reorders_edits_and_has_a_wrong_clock_is_told_and_nothing_is_lost_or_doubled(
    tenant: Any,
) -> None:
    session = "team/ann/2026 08"
    now = datetime.now(UTC)
    first = {"role": "user", "content": "one", "id": "m1", "ts": (now - timedelta(hours=1)).isoformat()}
    second = {"role": "assistant", "content": "two", "id": "m2", "ts": (now + timedelta(hours=1)).isoformat()}
    assert len(tenant.client.post_turns(session, [second])["accepted"]) == 1
    assert len(tenant.client.post_turns(session, [first])["accepted"]) == 1
    again = tenant.client.post_turns(session, [first, {**second, "content": "two, edited"}])
    assert again["accepted"] == []
    assert [one["content_differs"] for one in again["duplicates"]] == [False, True]
    third = {"role": "tool", "content": "ok", "id": "m3"}
    for bad in (
        {**third, "role": "wizard"},
        {**third, "content": "x" * 5_000_000},
        {**third, "ts": (now + timedelta(days=2)).isoformat()},
    ):
        with pytest.raises(PermanentError) as refused:
            tenant.client.post_turns(session, [third, bad])
        assert refused.value.field and refused.value.remedy
    found = tenant.client.list_turns(session)["turns"]
    assert [(turn["content"], turn["position"]) for turn in found] == [("two", 0), ("one", 1)]
