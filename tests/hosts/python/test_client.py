"""The client against the real service: what it sends is kept once, what it is told is typed, what fails says why."""

import asyncio
import inspect
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from longtail_client import (
    AsyncClient,
    Client,
    Invalid,
    NotFound,
    TooLarge,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    calls,
    find_config,
)


def say(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def test_a_fact_of_one_session_is_in_the_prompt_of_another(memory: Client, tenant: Any) -> None:
    accepted = memory.post_turns("s1", [say("I moved to Lisbon in March.", id="m1")], user_id="ann")
    assert len(accepted.accepted) == 1 and accepted.duplicates == [] and accepted.skipped == []
    tenant.settle()
    prompt = memory.assemble("s2", "where do I live?", budget_tokens=2000, user_id="ann")
    assert "Lisbon" in prompt.text
    assert prompt.budget.used <= prompt.budget.total == 2000
    assert any(item.source_turn_ids == accepted.accepted for item in prompt.items)
    hits = memory.search("Lisbon", user_id="ann", k=3)
    assert hits.results[0].ts is not None and hits.results[0].ts.tzinfo is not None


def test_the_async_client_has_the_same_calls_with_the_same_answers(home: Path, tenant: Any) -> None:
    built = (
        one for one in vars(calls).values() if inspect.isfunction(one) and one.__module__ == calls.__name__
    )
    names = {one.__name__ for one in built if not one.__name__.startswith("_")}
    assert names and all(hasattr(Client, name) and hasattr(AsyncClient, name) for name in names)

    async def drive() -> None:
        async with AsyncClient(timeout_seconds=20) as memory:
            await memory.post_turns("s1", [say("My sister is called Ines.", id="m1")], user_id="ann")
            page = await memory.list_turns("s1")
            assert [turn.content for turn in page.turns] == ["My sister is called Ines."]
            with pytest.raises(NotFound):
                await memory.get_session("no such session")

    asyncio.run(drive())


def test_every_read_of_the_surface_is_typed(memory: Client, tenant: Any) -> None:
    turns = [
        say(f"Remember: the pump of hall {n} fails at {n} bar, order part P-{n}.", id=f"m{n}")
        for n in range(12)
    ]
    memory.post_turns("s/1", turns, user_id="ann")
    tenant.settle()
    assert memory.get_session("s/1").turns == 12
    found = memory.grep("P-7", session_id="s/1")
    assert [match.excerpt[match.match_start : match.match_end] for match in found.matches] == ["P-7"]
    compacted = memory.compact("s/1", wait=True, force=True)
    assert compacted.is_done
    for summary_id in compacted.summary_ids:
        summary = memory.get_summary(summary_id)
        assert {turn.id for turn in memory.expand(summary_id).turns} >= set(summary.source_turn_ids)
    listed = memory.list_memories(namespace="ann").memories
    if listed:
        assert memory.get_memory(listed[0].id, explain=True).explain is not None
        assert memory.forget_memory(listed[0].id, reason="test").id == listed[0].id
    document = memory.put_document("rules.md", "# Rules\n\nYou must never delete files without asking.\n")
    assert document.nodes == document.hard + document.soft == 1
    memory.delete_document("rules.md")
    assert memory.post_lifecycle("session_end", "s/1", reason="done").id
    prompt = memory.assemble("s/1", "pump", budget_tokens=500, explain=True, user_id="ann")
    labelled = [{"id": item.id, "useful": True} for item in prompt.items if item.kind == "turn"]
    assert memory.post_feedback(labelled, assembly_id=prompt.assembly_id).accepted >= 0
    assert memory.get_status(counts=True).counts is not None
    assert memory.erase_namespace("ann", confirm="ann").counts["turns"] == 12


def test_the_same_turn_twice_is_kept_once(memory: Client) -> None:
    first = memory.post_turns("s1", [say("one", id="a"), say("two", id="b")])
    again = memory.post_turns("s1", [say("two", id="b"), say("one", id="a")])  # and out of order
    assert again.accepted == [] and {one.turn_id for one in again.duplicates} == set(first.accepted)
    moment = datetime.now(UTC)
    memory.post_turns("s1", [say("three", ts=moment)])
    assert memory.post_turns("s1", [say("three", ts=moment)]).accepted == []
    assert [turn.content for turn in memory.list_turns("s1").turns] == ["one", "two", "three"]


def test_words_said_twice_without_an_id_are_two_turns(memory: Client) -> None:
    memory.post_turns("s1", [say("yes")])
    memory.post_turns("s1", [say("yes")])
    assert [turn.content for turn in memory.list_turns("s1").turns] == ["yes", "yes"]


def test_turns_that_come_out_of_order_keep_their_own_time(memory: Client) -> None:
    now = datetime.now(UTC)
    memory.post_turns("s1", [say("second", id="2", ts=now)])
    memory.post_turns("s1", [say("first", id="1", ts=now - timedelta(minutes=5))])
    kept = {turn.content: turn.ts for turn in memory.list_turns("s1").turns}
    assert kept["second"] - kept["first"] == timedelta(minutes=5)


def test_an_edited_message_is_named_and_the_first_words_stay(memory: Client) -> None:
    memory.post_turns("s1", [say("the door code is 1111", id="m1")])
    again = memory.post_turns("s1", [say("the door code is 2222", id="m1")])
    assert [one.content_differs for one in again.duplicates] == [True]
    assert [turn.content for turn in memory.list_turns("s1").turns] == ["the door code is 1111"]


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_an_hour_off_is_taken_as_it_is(memory: Client, hours: int) -> None:
    moment = datetime.now(UTC) + timedelta(hours=hours)
    memory.post_turns("s1", [say("my clock is off", id="m1", ts=moment)])
    assert memory.list_turns("s1").turns[0].ts == moment


@pytest.mark.parametrize("name", ["a/b/c", "a/turns", "ß 漢字 %2F?#", "../../etc", "x" * 512])
def test_a_session_is_found_under_any_name(memory: Client, name: str) -> None:
    memory.post_turns(name, [say("hello", id="m1")])
    assert [turn.content for turn in memory.list_turns(name).turns] == ["hello"]


@pytest.mark.parametrize(
    ("turn", "kind", "code"),
    [
        (say("half a \ud83d"), Invalid, "lone_surrogate"),
        (say("nul \x00"), Invalid, "nul_character"),
        (say("   "), Invalid, "empty_text"),
        (say("x" * 5_000_000), TooLarge, "turn_too_large"),
        ({"role": "wizard", "content": "abracadabra"}, Invalid, "unknown_value"),
        (say("tomorrow's", ts=datetime.now(UTC) + timedelta(days=3)), Invalid, "timestamp_in_future"),
    ],
    ids=["lone surrogate", "NUL", "blank", "5 MB", "unknown role", "clock days ahead"],
)
def test_what_cannot_be_kept_is_refused_with_a_reason(
    memory: Client, turn: dict[str, Any], kind: type[Exception], code: str
) -> None:
    with pytest.raises(kind) as caught:
        memory.post_turns("s1", [say("good", id="good"), turn])
    error = caught.value
    assert isinstance(error, Invalid | TooLarge)
    assert error.code == code and error.remedy and error.detail in str(error)
    assert error.field is not None and error.field.startswith("turns.1.")
    with pytest.raises(NotFound):  # a call that is refused has changed nothing
        memory.get_session("s1")


def test_fields_that_a_later_version_adds_are_ignored(home: Path) -> None:
    answer = calls.get_status().read(
        {"version": "9", "pending": 0, "lag_seconds": 0.0, "dead_letters": 0, "moon_phase": "full"}
    )
    assert answer.version == "9"
    with pytest.raises(UnexpectedAnswer, match="pending"):
        calls.get_status().read({"version": "9"})


def test_the_token_is_found_where_the_command_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "token").write_text("lt_abc\n")
    (tmp_path / "run" / "state.json").write_text('{"api_url": "http://127.0.0.1:4242/"}')
    found = find_config(env={"LONGTAIL_HOME": str(tmp_path)})
    assert (found.url, found.token) == ("http://127.0.0.1:4242", "lt_abc")
    told = {
        "LONGTAIL_HOME": str(tmp_path),
        "LONGTAIL_API_URL": "http://10.0.0.1:1",
        "LONGTAIL_TOKEN": "lt_other",
    }
    assert find_config(env=told).url == "http://10.0.0.1:1"
    nowhere = {"LONGTAIL_HOME": str(tmp_path / "none"), "LONGTAIL_PORT": "0"}
    assert find_config(env=nowhere).url == "", "what listens on the default port may be another's"
    assert find_config(
        env={"HOME": str(tmp_path), "XDG_DATA_HOME": "/none", "LONGTAIL_PORT": "99"}
    ).url.endswith(":99")
    assert "lt_abc" not in repr(found)


def test_the_client_finds_a_local_stack_as_the_command_does(
    stack: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LONGTAIL_API_URL", "LONGTAIL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LONGTAIL_HOME", str(stack.home))
    with Client(timeout_seconds=20) as memory:
        assert memory.url == stack.settings.service_url()
        assert memory.get_status().version


def test_nobody_there_is_said_within_the_deadline(nobody: str, silence: str) -> None:
    for address in (nobody, silence):
        with (
            Client(url=address, token="x", timeout_seconds=0.5) as memory,
            pytest.raises(Unavailable) as caught,
        ):
            memory.get_status()
        assert caught.value.code == "unreachable" and "longtail up" in str(caught.value)


def test_a_wrong_token_is_not_tried_again(home: Path) -> None:
    with Client(token="lt_wrong") as memory, pytest.raises(Unauthorized) as caught:
        memory.get_status()
    assert caught.value.status == 401 and caught.value.code == "unauthorized"


class Flaky(BaseHTTPRequestHandler):
    """Answers 503 once, then with an empty result; counts what arrives."""

    seen: list[str]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).seen.append(f"{self.path} {body.decode()}")
        is_first = len(type(self).seen) == 1
        self.send_response(503 if is_first else 200)
        payload = b'{"code":"try_again"}' if is_first else b'[{"id":0,"result":{"ok":true}}]'
        if self.path != "/rpc" and not is_first:
            payload = b'{"accepted":[],"duplicates":[],"pending":0}'
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def flaky() -> Any:
    handler = type("OneFlaky", (Flaky,), {"seen": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler.seen
    server.shutdown()
    thread.join()
    server.server_close()


def test_only_what_is_idempotent_is_sent_again(flaky: Any) -> None:
    url, seen = flaky
    with Client(url=url, token="x") as memory:
        memory.post_turns("s1", [say("yes")])
        assert (
            len(seen) == 2 and seen[0] == seen[1] and "idempotency_key" in seen[0]
        )  # the same key, so kept once
        seen.clear()
        with pytest.raises(Exception, match="503"):
            memory.call_rpc([("flush", {})], is_idempotent=False)
        assert len(seen) == 1
