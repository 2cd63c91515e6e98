"""Claims about the report of a busy machine: there is always one."""

import json
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from xmlrpc.server import SimpleXMLRPCDispatcher, SimpleXMLRPCRequestHandler

import pytest

from api.stack.home.layout import plan_layout, prepare_folders
from api.stack.reports.status import gather_status
from models.settings import Settings


class _Busy(socketserver.UnixStreamServer, SimpleXMLRPCDispatcher):
    """A supervisord that says who it is, and then has no time."""

    def __init__(self, path: str) -> None:
        SimpleXMLRPCDispatcher.__init__(self, allow_none=True)
        self.logRequests = False
        self.register_function(lambda: "longtail", "supervisor.getIdentification")
        super().__init__(path, _Handler)


class _Handler(SimpleXMLRPCRequestHandler):
    disable_nagle_algorithm = False  # there is none on a unix socket


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("LONGTAIL_API_URL", "LONGTAIL_DATABASE_URL", "LONGTAIL_REDIS_URL", "LONGTAIL_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LONGTAIL_HOME", str(tmp_path))
    monkeypatch.setenv("LONGTAIL_API_URL", "http://127.0.0.1:9")
    layout = plan_layout(tmp_path, "nobody")
    prepare_folders(layout, with_servers=False)
    with _Busy(str(layout.control_socket)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield tmp_path
        server.shutdown()
        thread.join()


def test_a_supervisor_that_answers_only_once_is_a_problem_in_the_report(home: Path) -> None:
    report = gather_status(Settings(), plan_layout(home, "nobody"))
    assert json.dumps(report)
    assert report["healthy"] is False
    assert any("supervisord" in problem for problem in report["problems"])
