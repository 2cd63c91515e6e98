"""Claims about heartbeats at the door: not stored, never gated, never guidance, and the answer says so."""

from typing import Any

RULE = "From now on always answer me in French."


def test_heartbeats_among_turns_are_skipped_by_place_and_the_others_kept(tenant: Any) -> None:
    turns = [
        {"role": "user", "content": RULE, "heartbeat": True, "id": "h"},
        {"role": "user", "content": "I moved to Lisbon.", "id": "m1"},
        {"role": "assistant", "content": "HEARTBEAT_OK"},
        {"role": "user", "content": RULE, "metadata": {"isHeartbeat": True}},
        {"role": "assistant", "content": "Noted.", "id": "m2"},
    ]
    answer = tenant.client.post_turns("s", turns, user_id="ann")
    assert answer["skipped"] == [0, 2, 3]
    assert len(answer["accepted"]) == 2
    again = tenant.client.post_turns("s", turns, user_id="ann")
    assert [one["index"] for one in again["duplicates"]] == [1, 4]
    tenant.settle()
    found = tenant.rows("SELECT content FROM longtail.turns WHERE tenant_id = :tenant ORDER BY position")
    assert [row.content for row in found] == ["I moved to Lisbon.", "Noted."]
    assert tenant.one("SELECT count(*) FROM longtail.guidance WHERE tenant_id = :tenant") == 0
    assert tenant.one("SELECT count(*) FROM longtail.gate_decisions WHERE tenant_id = :tenant") == 1


def test_a_call_of_heartbeats_alone_opens_no_session(tenant: Any) -> None:
    answer = tenant.client.post_turns("s", [{"role": "user", "content": RULE, "heartbeat": True}])
    assert (answer["accepted"], answer["skipped"]) == ([], [0])
    assert tenant.one("SELECT count(*) FROM longtail.sessions WHERE tenant_id = :tenant") == 0


def test_sessions_of_scheduled_runs_and_sub_agents_are_not_kept(tenant: Any) -> None:
    for session, named in (("agent:main:cron:nightly", {}), ("s", {"session_key": "agent:main:subagent:4f"})):
        answer = tenant.client.post_turns(session, [{"role": "user", "content": RULE}], **named)
        assert answer["skipped"] == [0]
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 0


def test_json_rpc_skips_heartbeats_in_every_form(tenant: Any) -> None:
    def call(method: str, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return tenant.client.call("POST", "/rpc", json=body)["result"]

    skipped = {"ok": True, "skipped": True}
    turn = {"sessionId": "s", "id": "m", "text": RULE}
    assert call("insert_session_turn", **turn, isHeartbeat=True) == skipped
    assert call("insert_session_turn", **turn, metadata={"isHeartbeat": True}) == skipped
    assert call("insert_session_turn", **{**turn, "sessionId": "agent:main:cron:1"}) == skipped
    for collection in ("session:s", "turns:ann", "user:ann"):
        given = {"collection": collection, "id": "m", "text": RULE, "metadata": {"isHeartbeat": True}}
        assert call("insert_text", **given) == skipped
    assert call("insert_session_turn", **turn) == {"ok": True}
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 1
