"""Writes that wait on disk: in order, once each, through kills, other processes and a full disk's worth of them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from longtail_client import Client, Unavailable, calls
from longtail_client.__main__ import main
from longtail_client.errors import TooLarge
from longtail_client.guard import Guard
from longtail_client.outbox import Flushed, Outbox

WRITER = """
import sys
from pathlib import Path
from longtail_client import calls
from longtail_client.outbox import Outbox
outbox = Outbox(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    turn = {"id": f"{sys.argv[2]}-{number}", "role": "user", "content": f"{sys.argv[2]} {number}"}
    outbox.append(calls.post_turns("s1", [turn]))
    print(number, flush=True)
"""


def turn(text: str) -> Any:
    return calls.post_turns("s1", [{"id": text, "role": "user", "content": text}])


def start_writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def contents(memory: Client) -> list[str]:
    return [one.content for one in memory.list_turns("s1", limit=1000).turns]


def test_what_waits_is_sent_in_order_and_once(memory: Client, tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "o" / "x.jsonl")
    outbox.append(turn("one"), turn("two"))
    outbox.append(turn("three"))
    copy = outbox.path.read_bytes()
    assert (outbox.path.stat().st_mode & 0o777, outbox.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert outbox.flush(memory.send) == Flushed(sent=3) and outbox.is_empty
    outbox.path.write_bytes(copy)  # sent, and killed before it was crossed out
    assert outbox.flush(memory.send) == Flushed(sent=3)
    assert contents(memory) == ["one", "two", "three"]


def test_it_stops_at_the_first_that_nobody_answers(memory: Client, tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "x.jsonl")
    outbox.append(turn("one"), turn("two"), turn("three"))
    sent: list[Any] = []

    def send(request: Any) -> None:
        if len(sent) == 1:
            raise Unavailable("gone", code="unreachable")
        sent.append(memory.send(request))

    assert outbox.flush(send) == Flushed(sent=1, waiting=2)
    assert outbox.flush(memory.send) == Flushed(sent=2)
    assert contents(memory) == ["one", "two", "three"]


def test_a_refused_write_is_kept_aside_and_blocks_nothing(memory: Client, tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "x.jsonl")
    outbox.append(calls.post_turns("s1", [{"role": "wizard", "content": "x"}]), turn("good"))
    assert outbox.flush(memory.send) == Flushed(sent=1, refused=1)
    aside = json.loads(outbox.refused_path.read_text())
    assert aside["error"] == "unknown_value" and "line" in aside
    assert contents(memory) == ["good"]


def test_half_a_line_costs_only_itself(memory: Client, tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "x.jsonl")
    outbox.append(turn("one"))
    whole = outbox.path.read_bytes()
    outbox.path.write_bytes(whole + whole[: len(whole) // 2])
    outbox.append(turn("two"))
    assert outbox.flush(memory.send) == Flushed(sent=2, refused=1)
    assert contents(memory) == ["one", "two"]


def test_everything_promised_before_a_kill_is_kept(memory: Client, tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "x.jsonl")
    writer = start_writer(outbox.path, "w", 100_000)
    assert writer.stdout is not None
    for _ in range(40):
        promised = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    promised = max([promised, *(int(line) for line in writer.stdout.read().split())])
    writer.wait()
    writer.stdout.close()
    flushed = outbox.flush(memory.send)
    assert flushed.waiting == 0
    assert contents(memory)[: promised + 1] == [f"w {n}" for n in range(promised + 1)]


def test_processes_that_write_and_flush_at_once_lose_and_mix_nothing(memory: Client, tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "x.jsonl")
    writers = [start_writer(outbox.path, name, 60) for name in ("a", "b", "c")]
    while any(writer.poll() is None for writer in writers):
        outbox.flush(memory.send)
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.close()
        assert writer.returncode == 0
    assert outbox.flush(memory.send).waiting == 0
    kept = contents(memory)
    for name in ("a", "b", "c"):
        assert [one for one in kept if one.startswith(name)] == [f"{name} {n}" for n in range(60)]


def test_a_full_outbox_refuses_the_newest_and_keeps_the_first(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "x.jsonl")
    outbox.append(turn("1"))
    full = Outbox(outbox.path, most_bytes=3 * outbox.path.stat().st_size)
    full.append(turn("2"), turn("3"))
    with pytest.raises(TooLarge, match="flush"):
        full.append(turn("4"))
    assert full.count() == 3


def test_nobody_waits_twice_for_a_service_that_says_nothing(
    home: Path, silence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longtail_client.guard.REST_SECONDS", 3600.0)
    asked: list[str] = []
    with Client(url=silence, token="x", timeout_seconds=0.3, retries=0) as client:
        send = client.send
        monkeypatch.setattr(client, "send", lambda request: [asked.append(request.path), send(request)][1])
        guard = Guard(client)
        for _ in range(50):
            assert guard.read(calls.search("anything"), None) is None  # type: ignore[arg-type]
        guard.write(turn("later"))
    assert asked == ["/v1/search"]
    assert guard.outbox.count() == 1


def test_the_command_says_what_waits_and_sends_it(
    memory: Client, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status"]) == 0
    Outbox.of(memory.config).append(turn("one"))
    assert main(["status"]) == 1 and "1 writes wait" in capsys.readouterr().out
    assert main(["flush"]) == 0 and "1 sent" in capsys.readouterr().out
    assert contents(memory) == ["one"]


def test_the_command_without_a_service_says_what_to_do(
    home: Path, nobody: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LONGTAIL_API_URL", nobody)
    assert main(["status"]) == 1
    assert "longtail up" in capsys.readouterr().err
    assert os.environ["LONGTAIL_API_URL"] == nobody
