"""Claims about throwaway stacks: they end with whoever started them, whatever ended that."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

SECONDS = 300.0
STARTER = """
import time
from api.stack.throwaway import ThrowawayStack
with ThrowawayStack({"LONGTAIL_ENCODER": "toy"}) as stack:
    print(stack.home, flush=True)
    time.sleep(600)
"""


def find_processes(home: Path) -> list[int]:
    """Every process that was started for this home."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("LONGTAIL_HOME") == str(home) or str(home) in " ".join(
                process.cmdline()
            ):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def wait_until_gone(home: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while left := find_processes(home):
        assert time.monotonic() < deadline, f"{left} still run"
        time.sleep(0.2)
    while home.exists():
        assert time.monotonic() < deadline, f"{home} is still there"
        time.sleep(0.2)


@pytest.mark.parametrize("is_whole_group", [False, True], ids=["itself", "its-group"])
def test_a_stack_whose_starter_is_killed_ends_and_leaves_nothing(is_whole_group: bool) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert starter.stdout is not None
    line = starter.stdout.readline().strip()
    assert line, "the stack did not start"
    home = Path(line)
    assert len(find_processes(home)) > 5, "PostgreSQL, Valkey, the API and the workers run"
    if is_whole_group:
        os.killpg(starter.pid, signal.SIGKILL)
    else:
        starter.kill()
    starter.wait()
    starter.stdout.close()
    wait_until_gone(home)
