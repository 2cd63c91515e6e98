"""Claims about a run: whose memory turns become, that an interrupted run goes on, and that a dry run sends nothing."""

import json
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from api.client import ServiceClient
from api.importers.marks import ImportMarks
from api.importers.records import Finding, ImportedTurn, Report, Unit
from api.importers.runner import ImportRun


@pytest.fixture
def service() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server on loopback that takes every turn and remembers the requests."""
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append({"path": self.path, **body})
            answer = json.dumps(
                {"accepted": body["turns"], "duplicates": [], "skipped": [], "erased": []}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", requests
    server.shutdown()
    server.server_close()


def turn(number: int, session: str = "s1", **identity: str) -> ImportedTurn:
    return ImportedTurn(
        session_id=session, role="user", content=f"Words {number}", id=f"t{number}", identity=identity
    )


def run(
    url: str, home: Path, findings: list[Finding], *, user: str | None = None, is_dry: bool = False
) -> Report:
    report = Report(kind="test", path="x", is_dry_run=is_dry)
    marks = ImportMarks(home, "test", home, owner="ann")
    unit = Unit(name="one", size=1, changed=1, read=partial(iter, findings))
    with ServiceClient(url=url, token=None) as client:
        return ImportRun(
            report,
            client=None if is_dry else client,
            marks=marks,
            user_id=user or "login",
            agent_id="host",
            is_user_named=user is not None,
        ).run([unit], lambda _: None)


FINDINGS: list[Finding] = [turn(1), turn(2, user_id="dev"), turn(3, user_id="eve"), turn(4, agent_id="main")]


def whose(requests: list[dict[str, Any]]) -> list[tuple[str | None, str | None, list[str]]]:
    return [
        (one.get("user_id"), one.get("agent_id"), [turn["id"] for turn in one["turns"]]) for one in requests
    ]


def test_turns_go_to_whom_the_source_names_else_to_the_login(service: Any, tmp_path: Path) -> None:
    url, requests = service
    report = run(url, tmp_path, FINDINGS)
    assert report.accepted == 4
    assert whose(requests) == [
        ("login", "host", ["t1"]),
        ("dev", None, ["t2"]),
        ("eve", None, ["t3"]),
        (None, "main", ["t4"]),
    ]


def test_a_user_who_is_named_gets_everything(service: Any, tmp_path: Path) -> None:
    url, requests = service
    run(url, tmp_path, FINDINGS, user="ann")
    assert whose(requests) == [("ann", "host", ["t1", "t2", "t3", "t4"])]


def test_an_interrupted_run_goes_on_and_a_second_one_sends_nothing(service: Any, tmp_path: Path) -> None:
    url, requests = service

    def break_off() -> Iterator[Finding]:
        yield from FINDINGS[:3]
        raise KeyboardInterrupt

    class Broken(list[Finding]):
        def __iter__(self) -> Iterator[Finding]:
            return break_off()

    with pytest.raises(KeyboardInterrupt):
        run(url, tmp_path, Broken())
    sent = [id for *_, ids in whose(requests) for id in ids]
    assert sent == ["t1", "t2"]
    requests.clear()
    report = run(url, tmp_path, FINDINGS)
    assert [id for *_, ids in whose(requests) for id in ids] == ["t3", "t4"]
    assert report.resumed == 2
    requests.clear()
    assert run(url, tmp_path, FINDINGS).units_known == 1
    assert requests == []


def test_a_dry_run_counts_and_sends_nothing(service: Any, tmp_path: Path) -> None:
    url, requests = service
    report = run(url, tmp_path, FINDINGS, is_dry=True)
    assert report.kept == {"user": 4}
    assert requests == []
    assert list(tmp_path.iterdir()) == []
