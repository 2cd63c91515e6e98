"""`python -m api.stack.supervision.steady`: supervisord that outlives a full disk, and never pauses for long.

As it comes, supervisord ends when a log cannot be written, and the parts run on without it. Here a line that finds no
room is dropped, and the file is opened again for the next. Between tries of a part that keeps dying it waits longer and
longer; here no longer than ten seconds, so that the stack is back soon after its cause is gone.

Standard library and supervisor only.
"""

import contextlib
from typing import Any

from supervisor import loggers, supervisord
from supervisor.process import Subprocess
from supervisor.states import ProcessStates

LONGEST_PAUSE_SECONDS = 10


def emit_or_drop(log: Any, record: Any) -> None:
    """Write one record, or let go of a file that takes none; the next record tries again."""
    try:
        if log.stream.closed:
            log.stream = open(log.baseFilename, "ab")  # noqa: SIM115 - the handler closes it
        loggers.FileHandler.emit(log, record)
        log.doRollover()
    except (OSError, ValueError):
        let_go(log)


def let_go(log: Any) -> None:
    """Close the file; what it could not write is lost, and nobody is told: there is nowhere to write it."""
    with contextlib.suppress(OSError, ValueError):
        log.stream.close()


def pause_briefly(change_state: Any) -> Any:
    """supervisord's own change of state, with a bound on the pause that it begins."""

    def change(process: Any, new_state: int, expected: bool = True) -> Any:
        changed = change_state(process, new_state, expected)
        if new_state == ProcessStates.BACKOFF:
            process.delay -= max(0, process.backoff - LONGEST_PAUSE_SECONDS)
        return changed

    return change


def main() -> None:
    """Run supervisord with the arguments given."""
    loggers.FileHandler.handleError = let_go
    loggers.RotatingFileHandler.emit = emit_or_drop
    Subprocess.change_state = pause_briefly(Subprocess.change_state)
    supervisord.main()


if __name__ == "__main__":
    main()
