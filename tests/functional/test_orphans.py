"""Claims about what a killed supervisor leaves behind: found by what it is, and ended as politely as time allows."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.stack.home.layout import Layout, plan_layout
from api.stack.supervision.orphans import find_orphans, stop_orphans
from api.stack.supervision.parts import API, PART_VARIABLE

SAYS_GOODBYE = """
import pathlib, signal, sys, time
def leave(*_):
    pathlib.Path(sys.argv[1]).write_text("goodbye")
    sys.exit()
signal.signal(signal.SIGTERM, leave)
print("here", flush=True)
time.sleep(600)
"""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return plan_layout(tmp_path, "nobody")


@pytest.fixture
def orphan(layout: Layout) -> Iterator[subprocess.Popen[bytes]]:
    """An API as this stack would have started it; it writes a word when it is asked to leave."""
    process = subprocess.Popen(
        [sys.executable, "-c", SAYS_GOODBYE, str(layout.home / "word")],
        env={**os.environ, "LONGTAIL_HOME": str(layout.home), PART_VARIABLE: API},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    with process:
        yield process
        process.kill()


def test_orphans_are_asked_to_leave(layout: Layout, orphan: subprocess.Popen[bytes]) -> None:
    assert [one.pid for one in find_orphans(layout)[API]] == [orphan.pid]
    assert stop_orphans(layout, service_seconds=300) == [API]
    assert find_orphans(layout) == {}
    assert (layout.home / "word").read_text() == "goodbye"


def test_a_guardian_in_a_hurry_does_not_ask(layout: Layout, orphan: subprocess.Popen[bytes]) -> None:
    assert stop_orphans(layout, service_seconds=0) == [API]
    assert find_orphans(layout) == {}
    assert not (layout.home / "word").exists()
