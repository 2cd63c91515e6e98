"""Claims about the spool: nothing kept is lost, whoever is killed, however many write, however full it is."""

import contextlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from api.cli.memory.erase_commands import _forget_spooled
from api.host.private import open_private
from api.host.spool import Spool
from models.settings import get_settings

BIG = 64 * 1024 * 1024
WRITER = """
import sys
sys.path.insert(0, sys.argv[3])
from api.host.spool import Spool
spool = Spool(sys.argv[1], max_bytes=1 << 30)
number = 0
while True:
    spool.append({"path": "/v1", "body": {"writer": sys.argv[2], "number": number, "text": "x" * (number % 7) * 40_000}})
    print(number, flush=True)
    number += 1
"""
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(str(tmp_path), max_bytes=BIG)


def take(spool: Spool, most: int = 10**9) -> list[Any]:
    """The bodies of what waits, as a sender that stops after some of them."""
    taken = []
    replay = spool.replay(wait_seconds=0)
    assert replay is not None
    with replay:
        for call in replay.calls():
            if len(taken) >= most:
                break
            taken.append(call["body"])
    return taken


def put(spool: Spool, *bodies: object) -> None:
    for body in bodies:
        assert spool.append({"path": "/v1", "body": body})


def test_calls_come_out_in_the_order_they_went_in_and_once(spool: Spool) -> None:
    put(spool, *range(10))
    assert spool.measure()["waiting"] == 10
    assert take(spool, 4) == [0, 1, 2, 3]
    put(spool, 10)
    assert take(spool) == [4, 5, 6, 7, 8, 9, 10]
    assert take(spool) == []
    assert spool.is_empty() and spool.measure()["waiting"] == 0


def test_what_is_kept_is_private(spool: Spool) -> None:
    put(spool, "secret")
    spool.put_aside("why", b"secret")
    take(spool)
    for path in Path(spool.folder).iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE(os.stat(spool.folder).st_mode) == 0o700


def test_a_torn_line_is_put_aside_and_its_neighbours_are_sent(spool: Spool) -> None:
    put(spool, 1, 2)
    queue = Path(spool.folder) / "queue"
    whole = queue.read_bytes()
    for cut in (1, 9, 20, len(whole) // 2 - 2):
        queue.write_bytes(whole + whole[:cut])
        put(spool, 3)
        assert take(spool) == [1, 2, 3], cut
    assert spool.measure()["aside"] == 4
    assert all("torn" in note["why"] for note in spool.read_aside())


def test_a_torn_last_line_does_not_wait_for_ever(spool: Spool) -> None:
    put(spool, 1)
    queue = Path(spool.folder) / "queue"
    queue.write_bytes(queue.read_bytes() * 2 + b"0000")
    assert take(spool) == [1, 1]
    assert spool.is_empty() and spool.measure()["aside"] == 1


def test_a_line_that_lacks_nothing_but_its_end_is_sent(spool: Spool) -> None:
    put(spool, 1, 2)
    queue = Path(spool.folder) / "queue"
    queue.write_bytes(queue.read_bytes().rstrip())
    assert take(spool) == [1, 2]
    assert spool.measure()["aside"] == 0


def test_a_changed_byte_is_noticed(spool: Spool) -> None:
    put(spool, "first", "second")
    queue = Path(spool.folder) / "queue"
    queue.write_bytes(queue.read_bytes().replace(b"first", b"fIrst"))
    assert take(spool) == ["second"]
    assert spool.measure()["aside"] == 1


def test_a_full_spool_keeps_what_it_has_and_counts_what_it_could_not_keep(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), max_bytes=2000)
    kept = [spool.append({"path": "/v1", "body": number, "x": "y" * 200}) for number in range(20)]
    assert kept[0] and not kept[-1]
    assert os.path.getsize(Path(spool.folder) / "queue") <= 2000
    report = spool.measure()
    assert report["waiting"] == sum(kept) and report["dropped"] == kept.count(False)
    assert spool.read_dropped()["first_at"] <= spool.read_dropped()["last_at"]
    assert take(spool) == list(range(sum(kept)))
    assert spool.append({"path": "/v1", "body": "there is room again"})
    spool.clear_losses()
    assert spool.measure()["dropped"] == 0 and spool.measure()["waiting"] == 1


def test_what_is_put_aside_is_bounded_too(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), max_bytes=4000)
    for _ in range(50):
        spool.put_aside("why", b"x" * 100)
    assert os.path.getsize(Path(spool.folder) / "aside") <= 1000
    assert spool.measure()["aside"] + spool.measure()["dropped"] == 50


def test_space_of_what_was_sent_is_given_back_while_others_still_wait(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), max_bytes=10_000)
    put(spool, *("x" * 500 for _ in range(15)))
    before = os.path.getsize(Path(spool.folder) / "queue")
    assert len(take(spool, 12)) == 12
    assert os.path.getsize(Path(spool.folder) / "queue") < before / 3
    assert len(take(spool)) == 3


def test_a_mark_of_what_was_sent_that_makes_no_sense_is_not_believed(spool: Spool) -> None:
    for mark in (b"", b"rubbish", b"%020d" % 7, b"%020d" % 10**9):
        put(spool, 1, 2)
        (Path(spool.folder) / "sent").write_bytes(mark)
        assert take(spool) == [1, 2], mark


def test_only_one_sends_at_a_time(spool: Spool) -> None:
    put(spool, 1)
    first = spool.replay(wait_seconds=0)
    assert first is not None
    assert spool.replay(wait_seconds=0.02) is None
    with first:
        pass
    assert take(spool) == [1]


def start_writer(home: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-I", "-S", "-c", WRITER, str(home), name, str(ROOT)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_many_writers_killed_in_the_middle_lose_nothing_they_were_promised(
    spool: Spool, tmp_path: Path
) -> None:
    chance = random.Random(4)
    promised: dict[str, int] = {}
    for round_number in range(8):
        writers = {f"{round_number}-{n}": start_writer(tmp_path, f"{round_number}-{n}") for n in range(3)}
        for process in writers.values():
            assert process.stdout is not None
            process.stdout.readline()
        time.sleep(chance.uniform(0, 0.05))
        for name, process in writers.items():
            process.send_signal(signal.SIGKILL)
            printed = process.communicate()[0].split()
            promised[name] = int(printed[-1]) if printed else 0
    seen: dict[str, list[int]] = {}
    for body in take(spool):
        assert body["text"] == "x" * (body["number"] % 7) * 40_000
        seen.setdefault(body["writer"], []).append(body["number"])
    for name, last in promised.items():
        assert seen[name] == list(range(len(seen[name]))), "in order, none missing, none twice"
        assert len(seen[name]) > last
    assert spool.is_empty()


def test_a_sender_killed_in_the_middle_leaves_the_rest_for_the_next(spool: Spool, tmp_path: Path) -> None:
    put(spool, *range(300))
    sender = (
        "import sys, time; sys.path.insert(0, sys.argv[2])\n"
        "from api.host.spool import Spool\n"
        "with Spool(sys.argv[1], max_bytes=1 << 30).replay(wait_seconds=5) as replay:\n"
        "    for call in replay.calls():\n"
        "        print(call['body'], flush=True)\n"
        "        time.sleep(0.002)\n"
    )
    taken: list[int] = []
    for _ in range(6):
        command = [sys.executable, "-I", "-S", "-c", sender, str(tmp_path), str(ROOT)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        taken += [int(process.stdout.readline()) for _ in range(10)]
        process.send_signal(signal.SIGKILL)
        taken += [int(line) for line in process.communicate()[0].split()]
    taken += take(spool)
    assert sorted(set(taken)) == list(range(300)), "none is skipped"
    fresh = [number for place, number in enumerate(taken) if number not in taken[:place]]
    assert fresh == list(range(300)), "in order, but for what is sent again"


def test_the_report_is_json(spool: Spool) -> None:
    put(spool, {"é": "\ud83d\ude00"})
    assert json.loads(json.dumps(spool.measure()))["waiting"] == 1


def test_what_was_erased_leaves_the_queue_and_what_was_put_aside_and_nothing_else_does(
    tmp_path: Path,
) -> None:
    spool = Spool(str(tmp_path), max_bytes=100_000)
    for number, user in enumerate(("ann", "bob", "ann")):
        spool.append(
            {"path": f"/v1/sessions/s{number}/turns", "body": {"user_id": user, "said": f"{user}-{number}"}}
        )
    spool.put_aside(
        "refused", b'{"path": "/v1/sessions/s9/turns", "body": {"user_id": "ann", "said": "ann-9"}}'
    )
    spool.put_aside("refused", b"no json")
    assert spool.forget(lambda call: call["body"]["user_id"] == "ann") == 3
    assert b"ann" not in b"".join(path.read_bytes() for path in (tmp_path / "spool").iterdir())
    replay = spool.replay(wait_seconds=1)
    assert replay is not None
    with replay:
        assert [call["body"]["said"] for call in replay.calls()] == ["bob-1"]
    assert [note["bytes"] for note in spool.read_aside()] == [7]


@pytest.mark.parametrize(
    ("kind", "name", "left"), [("namespace", "ann", ["bob"]), ("session", "s 1", ["ann"])]
)
def test_the_command_that_erases_empties_the_spool_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str, left: list[str]
) -> None:
    monkeypatch.setenv("LONGTAIL_HOME", str(tmp_path))
    get_settings.cache_clear()
    spool = Spool(str(tmp_path), max_bytes=100_000)
    for session, user in (("s0", "ann"), ("s%201", "bob")):
        spool.append({"path": f"/v1/sessions/{session}/turns", "body": {"user_id": user, "turns": []}})
    assert _forget_spooled(kind, name) == 1
    replay = spool.replay(wait_seconds=1)
    assert replay is not None
    with replay:
        assert [call["body"]["user_id"] for call in replay.calls()] == left
    get_settings.cache_clear()


def test_a_link_in_the_spool_leads_nowhere_and_what_it_names_stays_whole(
    spool: Spool, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    for name in ("queue", "sent", "aside", "dropped", "lock"):
        put(spool, 1)
        precious.write_text("precious\n")
        Path(spool.folder, name).unlink(missing_ok=True)
        Path(spool.folder, name).symlink_to(precious)
        with contextlib.suppress(OSError):
            take(spool)
        with contextlib.suppress(OSError):
            spool.append({"path": "/v1", "body": 2})
        with contextlib.suppress(OSError):
            spool.put_aside("why", b"what")
        assert precious.read_text() == "precious\n", name
        Path(spool.folder, name).unlink()
        for left in Path(spool.folder).iterdir():
            assert "precious" not in left.read_text()


def test_the_spool_is_its_owners_alone_whatever_was_there_before(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "queue").touch()
    (folder / "queue").chmod(0o666)
    spool = Spool(str(tmp_path), max_bytes=BIG)
    put(spool, "words")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "queue").stat().st_mode) == 0o600
    assert take(spool) == ["words"]


def test_a_spool_on_another_disk_by_way_of_the_owners_own_link_works(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "spool").symlink_to(tmp_path / "disk")
    spool = Spool(str(tmp_path / "home"), max_bytes=BIG)
    put(spool, "words")
    assert take(spool) == ["words"]


def test_what_another_account_has_put_there_is_not_used(tmp_path: Path) -> None:
    theirs = Path("/etc/passwd")
    if os.geteuid() == 0:
        theirs = tmp_path / "theirs"
        theirs.touch()
        os.chown(theirs, 65534, -1)
    with pytest.raises(PermissionError, match="another user"):
        open_private(str(theirs), os.O_RDONLY)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(PermissionError, match="no regular file"):
        open_private(str(pipe), os.O_RDONLY)
