"""`python -m api.server`: the API on loopback, until told to stop."""

import sys

import uvicorn

from api.app import create_app
from models.settings import get_settings

# How long one thread may compute while others wait: a request must not wait Python's default 5 ms for its turn.
THREAD_TURN_SECONDS = 0.001


def main() -> None:
    """Serve; a stop signal lets running requests finish."""
    settings = get_settings()
    sys.setswitchinterval(THREAD_TURN_SECONDS)
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=64 * 1024,
    )


if __name__ == "__main__":
    main()
