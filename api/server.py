"""`python -m api.server`: the API on loopback, until told to stop."""

import os
import socket
import sys
from types import FrameType

import uvicorn
from fastapi import FastAPI

from api.routing.patience import UNREAD_SECONDS, HeaderDeadline
from api.stack.sockets.doors import VARIABLE, keep_socket, take_socket
from api.stack.sockets.endpoints import Endpoint, open_socket
from models.errors import Misconfigured
from models.loading import begin_loading, end_loading
from models.settings import Settings, get_settings
from models.traces import check_installed

# How long one thread may compute while others wait: a request must not wait Python's default 5 ms for its turn.
THREAD_TURN_SECONDS = 0.001
DRAIN_SECONDS = 15  # longer than any request but a transfer takes; the supervisor waits longer than this


class DrainingServer(uvicorn.Server):
    """Tells the application at once that it was told to stop: whoever only waits for something answers then."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app: FastAPI = self.config.app  # type: ignore[assignment]
        if (runtime := getattr(app.state, "runtime", None)) is not None:
            runtime.draining.set()
        super().handle_exit(sig, frame)


def main() -> None:
    """Serve; a stop signal closes the door and lets running requests finish."""
    begin_loading()
    from api.app import create_app

    settings = get_settings()
    try:
        check_installed(settings.traces_endpoint)
    except Misconfigured as error:
        sys.exit(f"error: {error.detail}\nwhat to do: {error.remedy}")
    sys.setswitchinterval(THREAD_TURN_SECONDS)
    app = create_app(settings)
    end_loading()
    HeaderDeadline.unread_seconds = max(UNREAD_SECONDS, settings.transfer_stall_seconds)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        http=HeaderDeadline,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        h11_max_incomplete_event_size=64 * 1024,
    )
    listening = open_door(settings)
    DrainingServer(config).run(sockets=[listening] if listening else None)


def open_door(settings: Settings) -> socket.socket | None:
    """The socket that the supervisor keeps for us, so that callers wait while this process is replaced.

    None where nobody keeps sockets: the server then opens its own.
    """
    name = f"http:{settings.host}:{settings.port}"
    kept = take_socket(name)
    if kept is not None or VARIABLE not in os.environ:
        return kept
    listening = open_socket(Endpoint(host=settings.host, port=settings.port))
    keep_socket(name, listening)
    return listening


if __name__ == "__main__":
    main()
