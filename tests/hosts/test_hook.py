"""Claims about `longtail hook` as hosts start it: real processes, a real stack, and a stack that is away, hung or back."""

import json
import os
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.host.claude_install import build_commands

NOWHERE = "http://127.0.0.1:9"
COMMANDS = {
    event: shlex.split(command) for event, (command, _) in build_commands(home=None, user_id=None).items()
}
FORBIDDEN = {"typing", "re", "json", "socket", "collections", "enum", "http.client", "selectors", "pathlib"}


class Hooks:
    """A machine of its own (home, user) whose hooks speak to one tenant."""

    def __init__(self, tenant: Any, home: Path) -> None:
        self.tenant = tenant
        self.home = home
        self.url = tenant.stack.settings.service_url()
        base = {key: value for key, value in os.environ.items() if not key.startswith("LONGTAIL_")}
        self.env = {
            **base,
            "LONGTAIL_HOME": str(home),
            "LONGTAIL_TOKEN": tenant.token,
            "LONGTAIL_USER_ID": "ann",
            "LONGTAIL_API_URL": self.url,
            "LONGTAIL_HOOK_DEADLINE_MS": "20000",  # a busy machine must not decide what these tests see
            "LONGTAIL_HOOK_SEND_MS": "20000",
        }
        self.errors = b""

    def away(self) -> None:
        self.env["LONGTAIL_API_URL"] = NOWHERE

    def back(self) -> None:
        self.env["LONGTAIL_API_URL"] = self.url

    def start(self, command: list[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, input=given, env=self.env, capture_output=True, timeout=300, check=False
        )

    def call(self, event: str, **given: Any) -> dict[str, Any] | None:
        """One event of Claude Code; what it prints, checked for what every hook promises."""
        said = {"session_id": "s1", "cwd": "/project", "hook_event_name": event, **given}
        done = self.start(COMMANDS[event], json.dumps(said).encode())
        self.errors = done.stderr
        return self.check(done)

    def generic(self, event: str, given: Any) -> dict[str, Any] | None:
        command = [*COMMANDS["Stop"][:4], "hook", "generic", event]
        done = self.start(command, json.dumps(given).encode())
        self.errors = done.stderr
        return self.check(done)

    @staticmethod
    def check(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any] | None:
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr
        printed: dict[str, Any] | None = json.loads(done.stdout) if done.stdout else None
        return printed

    def say(self, prompt: str, answer: str, number: int) -> dict[str, Any] | None:
        """A turn: the prompt, then the answer to it."""
        added = self.call("UserPromptSubmit", prompt=prompt, prompt_id=f"p{number}")
        self.call("Stop", last_assistant_message=answer, prompt_id=f"p{number}")
        return added

    def longtail(self, *arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "api", *arguments, "--json"],
            env=self.env,
            capture_output=True,
            timeout=300,
            check=False,
        )
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed

    def spool(self) -> dict[str, Any]:
        return self.longtail("spool", "show")

    def stored(self, session: str = "s1") -> list[tuple[str, str]]:
        rows = self.tenant.rows(
            "SELECT role, content FROM longtail.turns WHERE tenant_id = :tenant AND session_id = :session ORDER BY seq",
            session=session,
        )
        return [tuple(row) for row in rows]


@pytest.fixture
def hooks(tenant: Any, tmp_path: Path) -> Hooks:
    return Hooks(tenant, tmp_path / "home")


@pytest.fixture
def hung() -> Iterator[str]:
    """A server that takes connections and never answers."""
    listening = socket.create_server(("127.0.0.1", 0))
    taken: list[socket.socket] = []

    def accept() -> None:
        try:
            while True:
                taken.append(listening.accept()[0])
        except OSError:
            return

    thread = threading.Thread(target=accept)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()
    for one in taken:
        one.close()


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Everything that one side says to the other."""
    while piece := source.recv(65_536):
        sink.sendall(piece)


@pytest.fixture
def relay(tenant: Any, tmp_path: Path) -> Iterator[str]:
    """A unix socket in front of the API, as a sandbox or a web server has it."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "api.sock"))
    listening.listen(8)
    host, port = tenant.stack.settings.service_url().removeprefix("http://").split(":")

    def serve() -> None:
        try:
            while True:
                caller = listening.accept()[0]
                with caller, socket.create_connection((host, int(port))) as api:
                    asking = threading.Thread(target=pump, args=(caller, api))
                    asking.start()
                    pump(api, caller)  # the API closes when it has answered
                    caller.shutdown(socket.SHUT_RDWR)
                    asking.join()
        except OSError:
            return

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"unix:{tmp_path / 'api.sock'}"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


def context_of(printed: dict[str, Any] | None) -> str:
    assert printed is not None
    found: str = printed["hookSpecificOutput"]["additionalContext"]
    return found


def test_a_hook_loads_nothing_that_costs_more_than_it_does(hooks: Hooks) -> None:
    for event in ("UserPromptSubmit", "Stop"):
        command = COMMANDS[event]
        watched = [command[0], "-X", "importtime", *command[1:]]
        given = {"session_id": "s1", "prompt": "hello", "prompt_id": "p1", "last_assistant_message": "hi"}
        done = hooks.start(watched, json.dumps(given).encode())
        loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
        assert "api.host.hook" in loaded
        assert not loaded & FORBIDDEN
    assert [role for role, _ in hooks.stored()] == ["user", "assistant"]


def test_a_fact_of_one_session_reaches_the_prompt_of_the_next(hooks: Hooks) -> None:
    hooks.call("SessionStart", source="startup")
    assert hooks.say("My dog Bramble is a seven year old border collie.", "Noted.", 1) is None
    hooks.tenant.settle()
    hooks.call("SessionEnd", reason="clear")
    hooks.call("SessionStart", session_id="s2", source="clear")
    printed = hooks.call(
        "UserPromptSubmit", session_id="s2", prompt="What kind of dog is Bramble?", prompt_id="p2"
    )
    assert printed is not None, hooks.errors
    assert printed["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "border collie" in context_of(printed)
    assert hooks.stored() == [
        ("user", "My dog Bramble is a seven year old border collie."),
        ("assistant", "Noted."),
    ]


def test_a_hook_reaches_the_api_over_a_unix_socket_too(hooks: Hooks, relay: str) -> None:
    hooks.env["LONGTAIL_API_URL"] = relay
    hooks.say("The keeper is called Ines.", "Noted.", 1)
    assert hooks.errors == b""
    assert hooks.stored() == [("user", "The keeper is called Ines."), ("assistant", "Noted.")]


def test_what_the_host_shows_anyway_is_not_repeated_until_a_compaction_takes_it_away(hooks: Hooks) -> None:
    for number in range(4):
        added = hooks.say(
            f"Step {number}: the lighthouse lamp burns {number} candles.", f"Step {number} done.", number
        )
        assert added is None or "candles" not in context_of(added)
    hooks.call("PreCompact", trigger="auto")
    assert "3 candles" in context_of(hooks.call("SessionStart", source="compact"))
    assert hooks.tenant.one("SELECT count(*) FROM longtail.journal WHERE tenant_id = :tenant") == 1


def test_rules_come_at_the_start_and_again_only_when_they_change(hooks: Hooks) -> None:
    hooks.tenant.client.put_document("AGENTS.md", "- Never deploy on Friday.\n")
    assert "Never deploy on Friday" in context_of(hooks.call("SessionStart", source="startup"))
    assert hooks.call("UserPromptSubmit", prompt="May I deploy?", prompt_id="p1") is None
    hooks.tenant.client.put_document("AGENTS.md", "- Never deploy on Monday.\n")
    assert "Monday" in context_of(hooks.call("UserPromptSubmit", prompt="May I deploy now?", prompt_id="p2"))
    assert "Monday" in context_of(
        hooks.call("UserPromptSubmit", session_id="other", prompt="May I?", prompt_id="p3")
    ), "a session that was given no rules at its start gets them with its first prompt"


def test_what_is_added_fits_what_the_host_shows_whole(hooks: Hooks) -> None:
    rules = "".join(f"- Never open door {number} of the northern tower at night.\n" for number in range(130))
    hooks.tenant.client.put_document("AGENTS.md", rules)
    for number in range(30):
        hooks.tenant.say("old", f"Door {number} of the tower is {'very ' * 40}blue 😀.", user_id="ann")
    hooks.tenant.settle()
    added = context_of(
        hooks.call("UserPromptSubmit", prompt="Which doors of the tower are blue?", prompt_id="p1")
    )
    assert 5000 < len(added.encode("utf-16-le")) // 2 <= 10_000


def test_what_we_added_is_not_remembered_when_the_host_sends_it_back(hooks: Hooks) -> None:
    hooks.tenant.client.put_document("AGENTS.md", "- Never deploy on Friday.\n")
    block = context_of(hooks.call("SessionStart", source="startup"))
    hooks.say(f"{block}\nThe harbour master is called Ines.", "I see.", 1)
    hooks.tenant.settle()
    bodies = [
        row[0]
        for row in hooks.tenant.rows(
            "SELECT coalesce(body, '') FROM longtail.items WHERE tenant_id = :tenant"
        )
    ]
    assert any("Ines" in body for body in bodies)
    assert not any("Friday" in body and "Ines" in body for body in bodies)


def test_a_turn_sent_twice_is_kept_once(hooks: Hooks) -> None:
    for _ in range(2):
        hooks.say("The keeper is called Ines.", "Noted.", 1)
    assert len(hooks.stored()) == 2
    hooks.say("yes", "ok", 2)
    hooks.say("yes", "ok", 3)
    assert len(hooks.stored()) == 6


def test_while_the_api_is_away_nothing_is_lost_and_the_next_call_sends_it_in_order(hooks: Hooks) -> None:
    hooks.away()
    for number in range(5):
        assert hooks.say(f"prompt {number}", f"answer {number}", number) is None
    hooks.call("SessionEnd", reason="other")
    report = hooks.spool()
    assert (report["waiting"], report["aside"], report["dropped"]) == (11, 0, 0)
    status = hooks.longtail("status")
    assert status["healthy"] is False and status["spool"]["waiting"] == 11
    hooks.back()
    calls = 0
    while hooks.spool()[
        "waiting"
    ]:  # a prompt waits for a backlog a moment only; the next call goes on with it
        assert calls < 20
        calls += 1
        hooks.call("SessionStart", session_id="s2", source="startup")
    assert hooks.stored() == [
        turn
        for number in range(5)
        for turn in (("user", f"prompt {number}"), ("assistant", f"answer {number}"))
    ]
    assert hooks.spool()["waiting"] == 0
    assert hooks.tenant.one("SELECT count(*) FROM longtail.journal WHERE tenant_id = :tenant") == 1


def test_flush_sends_what_waits_and_says_when_it_cannot(hooks: Hooks) -> None:
    hooks.away()
    hooks.say("prompt", "answer", 1)
    failed = hooks.longtail("spool", "flush")
    assert failed["sent"] == 0 and "no Longtail answers" in failed["stopped"] and failed["waiting"] == 2
    hooks.back()
    hooks.env["LONGTAIL_TOKEN"] = "lt_wrong"
    assert "401" in hooks.longtail("spool", "flush")["stopped"], "a wrong token costs nothing that waits"
    hooks.env["LONGTAIL_TOKEN"] = hooks.tenant.token
    assert hooks.longtail("spool", "flush") | {"folder": ""} == {
        "sent": 2,
        "skipped": 0,
        "refused": 0,
        "stopped": None,
        "waiting": 0,
        "bytes": 0,
        "oldest_at": None,
        "aside": 0,
        "dropped": 0,
        "folder": "",
        "max_bytes": 64 * 1024 * 1024,
    }
    assert hooks.stored() == [("user", "prompt"), ("assistant", "answer")]


def test_many_hooks_at_once_keep_every_turn_once(hooks: Hooks) -> None:
    hooks.away()
    hooks.say("before", "the outage ended", 0)
    hooks.back()
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda number: hooks.call(
                    "Stop", last_assistant_message=f"answer {number}", prompt_id=f"p{number}"
                ),
                range(1, 17),
            )
        )
    hooks.longtail("spool", "flush")
    stored = hooks.stored()
    assert stored[:2] == [("user", "before"), ("assistant", "the outage ended")]
    assert sorted(content for _, content in stored[2:]) == sorted(
        f"answer {number}" for number in range(1, 17)
    )


def test_a_hung_api_costs_no_more_than_the_deadline_and_no_turn(hooks: Hooks, hung: str) -> None:
    hooks.env["LONGTAIL_API_URL"] = hung
    hooks.env["LONGTAIL_HOOK_DEADLINE_MS"] = hooks.env["LONGTAIL_HOOK_SEND_MS"] = "700"
    said = hooks.start(
        COMMANDS["UserPromptSubmit"],
        json.dumps({"session_id": "s1", "prompt": "hello", "prompt_id": "p1"}).encode(),
    )
    assert hooks.check(said) is None
    assert b"no answer in time" in said.stderr or b"timed out" in said.stderr
    hooks.call("Stop", last_assistant_message="hi", prompt_id="p1")
    assert hooks.spool()["waiting"] == 2
    hooks.back()
    hooks.longtail("spool", "flush")
    assert hooks.stored() == [("user", "hello"), ("assistant", "hi")]


def test_a_host_that_never_closes_its_end_does_not_keep_the_hook_alive(hooks: Hooks) -> None:
    del hooks.env["LONGTAIL_HOOK_SEND_MS"]
    process = subprocess.Popen(
        COMMANDS["Stop"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=hooks.env
    )
    assert process.wait(timeout=300) == 0
    out, errors = process.communicate()
    assert out == b"" and b"not finished within" in errors


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (b"{broken", b"not JSON"),
        (b"\xff\xfe{}", b"not JSON: byte 0 is not UTF-8"),
        (b"[1, 2]", b"not a JSON object"),
        (b"", b"not JSON"),
        (b'{"prompt": "no session"}', b"session_id"),
        (b"[" * 200_000, b"not JSON"),
    ],
)
def test_bad_input_is_told_in_one_line_and_stops_nobody(hooks: Hooks, given: bytes, why: bytes) -> None:
    done = hooks.start(COMMANDS["UserPromptSubmit"], given)
    assert hooks.check(done) is None
    assert why in done.stderr and len(done.stderr.splitlines()) == 1
    assert hooks.spool()["aside"] == (1 if given and b"session" not in given else 0)


def test_a_huge_prompt_is_kept_whole_in_parts_and_one_beyond_all_bounds_is_put_aside(hooks: Hooks) -> None:
    words = f"tool output line{' ' * 4000}\n" * 500  # large, but few words: the encoder is not what is tested
    hooks.say(words, "long", 1)
    hooks.longtail("spool", "flush")
    assert "".join(content for role, content in hooks.stored() if role == "user") == words
    done = hooks.start(COMMANDS["Stop"], b'{"session_id": "s1", "x": "' + b"y" * 17_000_000 + b'"}')
    assert hooks.check(done) is None
    assert b"bytes" in done.stderr
    assert hooks.spool()["aside"] == 1


def test_what_cannot_be_stored_is_mended_and_what_is_odd_is_taken(hooks: Hooks) -> None:
    hooks.call(
        "UserPromptSubmit", session_id="a/b c?", prompt="lone \ud83d and nul \x00 here", prompt_id="p\n1"
    )
    hooks.call("Stop", session_id="a/b c?", last_assistant_message="fine")
    assert hooks.stored("a/b c?") == [("user", "lone \ufffd and nul \ufffd here"), ("assistant", "fine")]
    assert hooks.call("UserPromptSubmit", prompt="   ", prompt_id="p2") is None
    assert hooks.call("Stop", last_assistant_message=None, stop_hook_active=True) is None
    assert hooks.spool()["waiting"] == 0


def test_a_full_spool_keeps_the_oldest_and_says_what_was_lost(hooks: Hooks) -> None:
    hooks.away()
    hooks.env["LONGTAIL_SPOOL_MAX_BYTES"] = "3000"
    for number in range(12):
        hooks.say(f"prompt {number}", "answer", number)
    report = hooks.spool()
    assert report["dropped"] > 0 and report["waiting"] + report["dropped"] == 24
    assert hooks.longtail("status")["spool"]["dropped"] == report["dropped"]
    hooks.back()
    hooks.longtail("spool", "flush")
    assert len(hooks.stored()) == report["waiting"]
    assert hooks.stored()[0] == ("user", "prompt 0")
    assert hooks.spool()["dropped"] == report["dropped"], "a loss is told until somebody has seen it"


def test_a_call_that_the_api_refuses_is_put_aside_and_those_behind_it_go_on(hooks: Hooks) -> None:
    hooks.generic("turns", {"session_id": "s1", "turns": [{"role": "wizard", "content": "abracadabra"}]})
    hooks.generic("turns", {"session_id": "s1", "turns": [{"role": "user", "content": "hello"}]})
    assert hooks.stored() == [("user", "hello")]
    (aside,) = hooks.spool()["put_aside"]
    assert aside["why"].startswith("422")


def test_the_generic_host_takes_our_own_json(hooks: Hooks) -> None:
    turns = [{"role": "user", "content": "The harbour master is called Ines.", "id": "m1"}]
    assert hooks.generic("turns", {"session_id": "g1", "turns": turns}) is None
    assert hooks.generic("turns", {"session_id": "g1", "turns": turns}) is None
    hooks.generic("lifecycle", {"event": "session_end", "session_id": "g1"})
    hooks.tenant.settle()
    answer = hooks.generic(
        "assemble", {"session_id": "g2", "query": "who is the harbour master?", "budget_tokens": 500}
    )
    assert answer is not None and "Ines" in answer["text"] and answer["budget"]["used"] <= 500
    assert len(hooks.stored("g1")) == 1
    hooks.away()
    answer = hooks.generic("assemble", {"session_id": "g2", "query": "who?", "budget_tokens": 500})
    assert answer is not None and answer["text"] == ""
    assert answer["degraded"][0]["code"] == "unreachable"


@pytest.mark.parametrize(
    "arguments",
    [[], ["claude-code"], ["claude-code", "Nope"], ["nope", "Stop"], ["claude-code", "Stop", "--home"]],
)
def test_wrong_use_is_told_and_exits_0(hooks: Hooks, arguments: list[str]) -> None:
    done = hooks.start([*COMMANDS["Stop"][:4], "hook", *arguments], b"{}")
    assert hooks.check(done) is None
    assert b"longtail hook: " in done.stderr


def test_a_project_with_an_api_folder_of_its_own_does_not_come_between(hooks: Hooks, tmp_path: Path) -> None:
    (tmp_path / "project" / "api").mkdir(parents=True)
    (tmp_path / "project" / "api" / "__init__.py").write_text("raise SystemExit(2)")
    hooks.env["PYTHONPATH"] = str(tmp_path / "project")
    done = subprocess.run(
        COMMANDS["Stop"],
        input=b'{"session_id": "s1", "last_assistant_message": "hi"}',
        env=hooks.env,
        cwd=tmp_path / "project",
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert hooks.stored() == [("assistant", "hi")]


def test_a_home_that_cannot_be_written_stops_nobody(hooks: Hooks, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    hooks.env["LONGTAIL_HOME"] = str(tmp_path / "file" / "home")
    done = hooks.start(COMMANDS["Stop"], b'{"session_id": "s1", "last_assistant_message": "hi"}')
    assert hooks.check(done) is None and b"longtail hook: " in done.stderr


def test_a_sub_agent_writes_to_a_session_of_its_own(hooks: Hooks) -> None:
    hooks.call("Stop", last_assistant_message="found it", prompt_id="p1", agent_id="ab12")
    assert hooks.stored() == []
    assert hooks.stored("s1/agent-ab12") == [("assistant", "found it")]


def test_noise_is_skipped_and_told_in_a_line_and_what_stands_beside_it_is_kept(hooks: Hooks) -> None:
    wish = "From now on always polish the samovar."
    heartbeats = [
        {"role": "user", "content": wish, "heartbeat": True},
        {"role": "user", "content": wish, "metadata": {"isHeartbeat": True}},
        {"role": "assistant", "content": "HEARTBEAT_OK"},
    ]
    hooks.generic("turns", {"session_id": "n1", "turns": [*heartbeats, {"role": "user", "content": "hello"}]})
    assert b"3 turns were skipped" in hooks.errors
    for session in ("agent:main:cron:nightly", "agent:main:subagent:7"):
        hooks.generic("turns", {"session_id": session, "turns": [{"role": "user", "content": wish}]})
        assert b"1 turns were skipped" in hooks.errors
    kept = hooks.tenant.rows("SELECT content FROM longtail.turns WHERE tenant_id = :tenant")
    assert [row.content for row in kept] == ["hello"]
    assert (hooks.spool()["waiting"], hooks.spool()["aside"]) == (0, 0)


def test_a_host_that_repeats_reorders_edits_and_has_a_wrong_clock_loses_nothing_and_doubles_nothing(
    hooks: Hooks,
) -> None:
    session = "team/ann/2026 08"
    now = datetime.now(UTC)
    first = {"role": "user", "content": "one", "id": "m1", "ts": (now - timedelta(hours=1)).isoformat()}
    second = {"role": "assistant", "content": "two", "id": "m2", "ts": (now + timedelta(hours=1)).isoformat()}
    output = "".join(f"line {number}{' ' * 4000}\n" for number in range(1250))  # 5 MB
    third = {"role": "tool", "content": output, "id": "m3", "name": "read"}

    def send(*turns: dict[str, Any]) -> None:
        hooks.generic("turns", {"session_id": session, "turns": list(turns)})

    send(second)
    send(first)  # out of order
    send(first, second)  # again
    assert hooks.errors == b""
    send({**first, "content": "one, edited"})
    assert b"1 turns were kept before with other words" in hooks.errors
    send({"role": "wizard", "content": "abracadabra", "id": "m4"})
    send(third)
    hooks.longtail("spool", "flush")
    send(third)
    hooks.longtail("spool", "flush")
    kept = hooks.stored(session)
    assert kept[:2] == [("assistant", "two"), ("user", "one")]
    assert {role for role, _ in kept[2:]} == {"tool"} and len(kept[2:]) > 1
    assert "".join(content for _, content in kept[2:]) == output
    (aside,) = hooks.spool()["put_aside"]
    assert aside["why"].startswith("422") and hooks.spool()["waiting"] == 0
