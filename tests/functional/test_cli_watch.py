"""Claims about `longtail watch`: a folder and the server stay in step, through changes, refusals and outages."""

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

SECONDS = 300.0


class Watcher:
    """`longtail watch --json` as a process, with its lines as they come."""

    def __init__(self, tenant: Any, folder: Path, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "api", "watch", str(folder), "--json", *options]
        env = {**tenant.stack.env, "LONGTAIL_TOKEN": tenant.token, **environment}
        self.process = subprocess.Popen(
            command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self.seen: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(json.loads(line))

    def wait_for(self, event: str, name: str | None = None) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                found = self._lines.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                pytest.fail(f"no '{event}' of {name}; seen {self.seen}")
            self.seen.append(found)
            if found["event"] == event and name in (None, found.get("name")):
                return found

    def interrupt(self, number: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        assert self.process.stderr is not None
        errors = self.process.stderr.read()
        return self.process.wait(timeout=SECONDS), errors

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


class Door:
    """A way to the API that can be shut: what a server that is away looks like to its clients."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname, parts.port)
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listening.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def open(self) -> None:
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    @staticmethod
    def _pump(one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        finally:
            one.close()
            other.close()

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def watch(tenant: Any, vault: Path) -> Iterator[Callable[..., Watcher]]:
    started: list[Watcher] = []

    def start(*options: str, **environment: str) -> Watcher:
        started.append(Watcher(tenant, vault, *options, **environment))
        return started[-1]

    yield start
    for one in started:
        one.__exit__()


def once(tenant: Any, vault: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    env = {**tenant.stack.env, "LONGTAIL_TOKEN": tenant.token}
    done = subprocess.run(
        [sys.executable, "-m", "api", "watch", str(vault), "--once", "--json", *options],
        env=env,
        text=True,
        capture_output=True,
        timeout=SECONDS * 2,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def documents(tenant: Any, binding: str = "tenant") -> dict[str, str]:
    rows = tenant.rows(
        "SELECT name, body FROM longtail.documents WHERE tenant_id = :tenant AND binding = :binding",
        binding=binding,
    )
    return dict(tuple(row) for row in rows)


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_once_brings_the_server_in_step_and_a_second_run_sends_nothing(tenant: Any, vault: Path) -> None:
    write(vault, "AGENTS.md", "- Never deploy on Friday.\n")
    write(vault, "notes/2026/day one.md", "- bought milk\n\nThe lighthouse keeper is called Ines.\n")
    code, events = once(tenant, vault)
    assert code == 0
    assert [(event["event"], event.get("name")) for event in events] == [
        ("loaded", "AGENTS.md"),
        ("loaded", "notes/2026/day one.md"),
        ("in_step", None),
    ]
    assert events[0]["answer"]["hard"] == 1
    assert (events[1]["answer"]["hard"], events[1]["answer"]["lore"]) == (0, 2)
    assert set(documents(tenant)) == {"AGENTS.md", "notes/2026/day one.md"}
    loaded_at = tenant.rows("SELECT loaded_at FROM longtail.documents WHERE tenant_id = :tenant ORDER BY 1")
    assert once(tenant, vault) == (0, [{"event": "in_step", "documents": 2, "refused": []}])
    assert loaded_at == tenant.rows(
        "SELECT loaded_at FROM longtail.documents WHERE tenant_id = :tenant ORDER BY 1"
    )


def test_what_is_noted_is_recalled_and_what_is_ruled_stands_in_every_prompt(tenant: Any, vault: Path) -> None:
    write(vault, "AGENTS.md", "- Never deploy on Friday.\n")
    write(vault, "people.md", "The lighthouse keeper is called Ines.\n")
    once(tenant, vault)
    tenant.settle()
    answer = tenant.client.assemble(session_id="s", query="who keeps the lighthouse?", budget_tokens=1000)
    tiers = {item["text"]: item["tier"] for item in answer["items"]}
    assert tiers["- Never deploy on Friday."] == "hard"
    assert tiers["The lighthouse keeper is called Ines."] == "recall"


def test_changes_renames_and_deletions_follow_while_it_watches(
    tenant: Any, vault: Path, watch: Callable[..., Watcher]
) -> None:
    write(vault, "a.md", "first")
    watcher = watch("--debounce-ms", "50")
    watcher.wait_for("in_step")
    write(vault, "a.md", "second")
    watcher.wait_for("loaded", "a.md")
    write(vault, "deep/new.md", "new")
    watcher.wait_for("loaded", "deep/new.md")
    (vault / "deep").rename(vault / "moved")
    renamed = watcher.wait_for("renamed", "moved/new.md")
    assert renamed["from_name"] == "deep/new.md"
    temporary = vault / ".a.md.swp"  # how many editors save
    temporary.write_text("third")
    temporary.replace(vault / "a.md")
    watcher.wait_for("loaded", "a.md")
    assert documents(tenant) == {"a.md": "third", "moved/new.md": "new"}
    (vault / "a.md").unlink()
    watcher.wait_for("deleted", "a.md")
    assert documents(tenant) == {"moved/new.md": "new"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_signal_ends_it_cleanly(vault: Path, watch: Callable[..., Watcher], number: int) -> None:
    write(vault, "a.md", "x")
    watcher = watch()
    watcher.wait_for("in_step")
    assert watcher.interrupt(number) == (0, "")
    assert watcher.wait_for("stopped") == {"event": "stopped", "documents": 1, "refused": []}


def test_rules_that_do_not_fit_are_refused_with_both_numbers_or_demoted(tenant: Any, vault: Path) -> None:
    plain = "".join(f"- item {n} of a long list: a blue bottle on the upper shelf\n" for n in range(400))
    write(vault, "AGENTS.md", plain)
    write(vault, "SOUL.md", "- Never lie.\n")
    write(vault, "list.md", plain)  # a note has no rules: its length is nobody's problem
    code, events = once(tenant, vault)
    assert code == 1
    (refused,) = [event for event in events if event["event"] == "refused"]
    assert (refused["name"], refused["code"]) == ("AGENTS.md", "hard_reserve_exceeded")
    hard = sum(-(-len(line) // 4) for line in plain.splitlines())
    assert f"cost {hard} tokens" in refused["detail"] and "2400" in refused["detail"]
    assert "demote" in refused["remedy"]
    assert set(documents(tenant)) == {"SOUL.md", "list.md"}
    code, events = once(tenant, vault, "--policy", "demote")
    assert code == 0
    assert set(documents(tenant)) == {"AGENTS.md", "SOUL.md", "list.md"}
    assert next(event for event in events if event.get("name") == "AGENTS.md")["answer"]["demotions"]


def test_a_file_that_is_no_text_is_named_and_stops_nobody(tenant: Any, vault: Path) -> None:
    (vault / "a.md").write_bytes(b"\xff\xfe\x00")
    write(vault, "b.md", "fine")
    code, events = once(tenant, vault)
    assert code == 1
    assert [(event["event"], event.get("code")) for event in events[:2]] == [
        ("refused", "not_utf8"),
        ("loaded", None),
    ]
    assert documents(tenant) == {"b.md": "fine"}


def test_while_the_api_is_away_changes_wait_and_then_arrive(
    tenant: Any, vault: Path, watch: Callable[..., Watcher]
) -> None:
    door = Door(tenant.stack.settings.service_url())
    try:
        write(vault, "a.md", "first")
        watcher = watch("--debounce-ms", "50", LONGTAIL_API_URL=door.url)
        assert "no Longtail answers" in watcher.wait_for("waiting")["detail"]
        write(vault, "a.md", "second")
        write(vault, "b.md", "other")
        time.sleep(0.5)
        door.open()
        assert watcher.wait_for("in_step")["documents"] == 2
        assert documents(tenant) == {"a.md": "second", "b.md": "other"}
        assert [one["event"] for one in watcher.seen] == ["waiting", "loaded", "loaded", "in_step"]
    finally:
        door.close()


def test_globs_choose_files_and_kinds_and_bindings_choose_whose_they_are(tenant: Any, vault: Path) -> None:
    for name in ("house.md", "drafts/x.md", "README.txt"):
        write(vault, name, "- Always knock.\n")
    code, events = once(
        tenant,
        vault,
        *("--include", "*.md", "--include", "*.txt", "--exclude", "drafts/", "--authored", "house.md"),
        *("--user", "ann"),
    )
    assert code == 0
    assert {event["name"]: event["kind"] for event in events[:-1]} == {
        "README.txt": "note",
        "house.md": "authored",
    }
    assert set(documents(tenant, "user:ann")) == {"README.txt", "house.md"}
    assert documents(tenant) == {}


def test_a_wrong_token_and_a_missing_folder_end_it_with_a_remedy(tenant: Any, vault: Path) -> None:
    write(vault, "a.md", "x")
    for arguments, token, words in (
        ([str(vault / "a.md")], tenant.token, "is a file"),
        ([str(vault)], "lt_nobody", "set LONGTAIL_TOKEN"),
        ([str(vault)], "lt_nobody", "token is not known"),
        ([str(vault / "missing")], tenant.token, "there is no folder"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "api", "watch", *arguments, "--once"],
            env={**tenant.stack.env, "LONGTAIL_TOKEN": token},
            text=True,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 2
        assert words in done.stderr and "what to do:" in done.stderr
        assert "Traceback" not in done.stderr


def test_people_read_lines_and_not_json(tenant: Any, vault: Path) -> None:
    write(vault, "AGENTS.md", "- Never deploy on Friday.\n")
    done = subprocess.run(
        [sys.executable, "-m", "api", "watch", str(vault), "--once"],
        env={**tenant.stack.env, "LONGTAIL_TOKEN": tenant.token, "COLUMNS": "200"},
        text=True,
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    assert "loaded  AGENTS.md  1 hard" in done.stdout
    assert "in step: 1 documents" in done.stdout
    assert os.linesep in done.stdout
