"""`longtail up` in a terminal: Ctrl-C, an impatient second one, and starts that fail."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from api.stack.home.layout import plan_layout
from api.stack.supervision.orphans import find_orphans
from api.stack.throwaway import ThrowawayStack


@pytest.fixture(scope="module")
def home() -> Iterator[ThrowawayStack]:
    """A home that is kept between the tests and holds no running stack."""
    stack = ThrowawayStack({"LONGTAIL_ENCODER": "toy"})
    try:
        yield stack
    finally:
        stack.__exit__()


class Foreground:
    """`longtail up` with its output in a file that can be read meanwhile."""

    def __init__(self, stack: ThrowawayStack, **environment: str) -> None:
        self.output = stack.home.with_suffix(".out")
        with open(self.output, "wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-u", "-m", "api", "up"],
                env={**stack.env, **environment},
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def read(self) -> str:
        return self.output.read_text(errors="replace")

    def await_text(self, text: str, seconds: float = 300) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.read():
            assert self.process.poll() is None, self.read()
            assert time.monotonic() < deadline, self.read()
            time.sleep(0.05)

    def finish(self) -> int:
        try:
            return self.process.wait(timeout=300)
        finally:
            self.process.kill()
            self.process.wait()
            self.output.unlink()


def left_of(stack: ThrowawayStack) -> list[int]:
    """Every process that belongs to this home: its parts, and supervisord."""
    parts = find_orphans(plan_layout(stack.home, "nobody"))
    conf = str(stack.home / "run" / "supervisord.conf")
    supervisors = [
        found.pid for found in psutil.process_iter(["cmdline"]) if conf in (found.info["cmdline"] or [])
    ]
    return [process.pid for processes in parts.values() for process in processes] + supervisors


def test_ctrl_c_stops_everything_and_a_second_one_does_not_hurry_it(home: ThrowawayStack) -> None:
    up = Foreground(home)
    up.await_text("Ctrl-C stops everything.")
    assert home.status()["healthy"] is True
    os.kill(up.process.pid, signal.SIGINT)
    up.await_text("stopping")
    os.kill(up.process.pid, signal.SIGINT)
    os.kill(up.process.pid, signal.SIGTERM)
    said = up.output
    assert up.process.wait(timeout=300) == 0
    words = said.read_text()
    order = [
        words.index(f"{part:<16} stopped") for part in ("beat", "worker-embed", "api", "redis", "postgres")
    ]
    assert order == sorted(order)
    assert up.finish() == 0
    assert left_of(home) == []


def test_an_interrupted_start_leaves_nothing_behind(home: ThrowawayStack) -> None:
    up = Foreground(home)
    up.await_text("redis            ready")
    os.kill(up.process.pid, signal.SIGINT)
    assert up.finish() == 130
    assert left_of(home) == []
    assert not (home.home / "run" / "state.json").exists()


def test_killing_the_foreground_command_leaves_a_stack_that_down_stops(home: ThrowawayStack) -> None:
    up = Foreground(home)
    up.await_text("Ctrl-C stops everything.")
    up.process.kill()
    assert up.finish() == -signal.SIGKILL
    assert home.status()["healthy"] is True
    assert home.run(["down"]).returncode == 0
    assert left_of(home) == []


def test_a_part_that_does_not_start_is_shown_with_its_log_and_everything_stops(home: ThrowawayStack) -> None:
    # An API that cannot be imported: the part starts, dies, and says why in its log.
    broken = home.home / "broken"
    (broken / "uvicorn").mkdir(parents=True)
    (broken / "uvicorn" / "__init__.py").write_text("raise ImportError(\"No module named 'lighthouse'\")\n")
    up = Foreground(home, PYTHONPATH=str(broken))
    up.process.wait(timeout=300)
    said = up.read()
    assert up.finish() == 1
    assert "last lines of 'longtail logs api'" in said
    assert "No module named 'lighthouse'" in said
    assert "error: api stops as soon as it starts: the installation is incomplete" in said
    assert "what to do:" in said
    assert left_of(home) == []


def test_a_taken_port_is_named_before_anything_starts(home: ThrowawayStack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        up = Foreground(home, LONGTAIL_PORT=str(port))
        up.process.wait(timeout=300)
        said = up.read()
        assert up.finish() == 2
    assert f"error: port {port} on 127.0.0.1 is taken by" in said
    assert "LONGTAIL_PORT=0" in said
    assert left_of(home) == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("LONGTAIL_PORT", "eighty", "LONGTAIL_PORT is 'eighty'"),
        ("LONGTAIL_HOME", "/dev/null/longtail", "cannot create /dev/null"),
        (
            "LONGTAIL_DATABASE_URL",
            "postgresql://me:pass@127.0.0.1:1/x",
            "postgresql://me:***@127.0.0.1:1/x does not",
        ),
        ("LONGTAIL_DATABASE_URL", "my database", "LONGTAIL_DATABASE_URL is not an address"),
        ("LONGTAIL_REDIS_URL", "redis://:pass@127.0.0.1:1/0", "redis://:***@127.0.0.1:1/0 does not answer"),
        ("LONGTAIL_REDIS_URL", "http://x", "LONGTAIL_REDIS_URL is not an address"),
    ],
)
def test_a_wrong_setting_is_named_with_a_remedy(
    home: ThrowawayStack, name: str, value: str, words: str
) -> None:
    up = Foreground(home, **{name: value})
    up.process.wait(timeout=300)
    said = up.read()
    assert up.finish() == 2
    assert "error: " in said
    assert words in said
    assert "what to do:" in said
    assert "Traceback" not in said
    assert left_of(home) == []


@pytest.mark.parametrize("arguments", [["--version"], ["hook", "no-such-host", "no-such-event"]])
def test_what_runs_inside_a_hosts_turn_loads_nothing_heavy_and_succeeds(arguments: list[str]) -> None:
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "api", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0
    for heavy in ("typer", "rich", "pydantic", "sqlalchemy", "celery", "numpy", "httpx"):
        assert f" {heavy}\n" not in result.stderr
