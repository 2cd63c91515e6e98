"""`python -m api.stack.supervision.guardian`: waits for supervisord, and brings the stack back should it be killed.

supervisord restarts every part, and nobody restarts supervisord: were it killed, its parts would run on as orphans that
nobody replaces. This process does nothing else but wait for it. Told to leave, supervisord ends with code 0, and so
does this; ended in any other way after a healthy start, the orphans are stopped and everything is started again.
"""

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api.stack.home.layout import Layout

TRY_AGAIN_SECONDS = 2.0
SERVER_SECONDS = 2.0  # that PostgreSQL may take to write down what it has, which saves it a recovery
LOCK_WAIT_SECONDS = 120.0


def run_supervisord(configuration: str) -> subprocess.Popen[bytes]:
    """Start it as our child."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "api.stack.supervision.steady", "-c", configuration, "-n"]
    )


def main() -> None:
    """Wait until the stack is stopped on purpose; the only argument is supervisord's configuration."""
    configuration = sys.argv[1]
    supervisord = run_supervisord(configuration)
    while code := supervisord.wait():
        revived = revive(configuration, supervisord.pid)
        if revived is None:
            sys.exit(code if code > 0 else 1)
        supervisord = revived


def revive(configuration: str, former: int) -> subprocess.Popen[bytes] | None:
    """Everything started again after supervisord's end; None where the stack is not ours, or was stopped meanwhile."""
    # Imported when it is needed: the process that only waits stays small.
    import structlog

    from api.stack.home.files import hold_lock
    from api.stack.home.layout import plan_layout
    from api.stack.home.state import read_state
    from models.errors import ServiceError
    from models.settings import get_settings

    log = structlog.get_logger(__name__)
    settings = get_settings()
    layout = plan_layout(settings.home, settings.run_as)
    while read_state(layout).get("supervisord_pid") == former:  # else `up` was still at it, or `down` is
        try:
            with hold_lock(layout.lock_file, wait_seconds=LOCK_WAIT_SECONDS):
                if read_state(layout).get("supervisord_pid") == former:
                    return _start_again(layout, configuration)
        except (ServiceError, OSError) as error:
            log.warning("stack.not_revived", error=str(error))
        time.sleep(TRY_AGAIN_SECONDS)
    return None


def _start_again(layout: "Layout", configuration: str) -> subprocess.Popen[bytes]:
    from api.stack.home.state import read_state, write_state
    from api.stack.supervision.orphans import stop_orphans
    from api.stack.supervision.supervisor import Supervisor, await_supervisord

    state = read_state(layout)
    # What serves is ended at once, however much it has begun: rows and hosts ask again, and every second is an outage.
    stop_orphans(layout, service_seconds=0.0, server_seconds=SERVER_SECONDS)
    supervisord = run_supervisord(configuration)
    try:
        await_supervisord(layout, supervisord)
        write_state(layout, {**state, "supervisord_pid": supervisord.pid})
        supervisor = Supervisor(layout.control_socket)
        for part in state.get("parts", []):
            supervisor.start(part)  # each waits for its servers by itself
    except BaseException:
        supervisord.kill()  # the state still names the former one: it is tried again
        supervisord.wait()
        write_state(layout, state)
        raise
    return supervisord


if __name__ == "__main__":
    os.umask(0o077)
    main()
