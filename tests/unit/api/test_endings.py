"""Claims about waiting for processes: what has ended is gone, also where nobody takes note of it."""

import os
import signal
import subprocess
import sys

import psutil

from api.stack.supervision.endings import await_end, is_alive


def test_a_process_that_ended_is_gone_though_its_parent_never_looks() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = psutil.Process(child.pid)
    assert await_end([process], seconds=0.0) == [process]
    os.kill(child.pid, signal.SIGKILL)  # nobody waits for it: it stays as a zombie
    assert await_end([process], seconds=300.0) == []
    assert process.is_running() and not is_alive(process)
    child.communicate()
    assert not is_alive(process)


def test_those_that_live_on_are_named() -> None:
    me = psutil.Process()
    assert await_end([me], seconds=0.0) == [me]
    assert await_end([], seconds=0.0) == []
