"""Waiting for processes to end.

One that has ended is gone once its parent has looked. Ours may be left to a first process that looks every two seconds, as
here, or never, as in a container without `--init`: what has ended counts as gone, whoever is still to look.
"""

import time
from collections.abc import Sequence
from typing import Final

import psutil

LOOK_SECONDS: Final = 0.02


def await_end(processes: Sequence[psutil.Process], *, seconds: float) -> list[psutil.Process]:
    """Wait until they have ended, `seconds` at most; return those that live on."""
    deadline = time.monotonic() + seconds
    while alive := [process for process in processes if is_alive(process)]:
        if time.monotonic() >= deadline:
            return alive
        time.sleep(LOOK_SECONDS)
    return []


def is_alive(process: psutil.Process) -> bool:
    """Whether it still runs; another that got its number does not count."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
