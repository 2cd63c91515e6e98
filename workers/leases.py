"""Holding on to claimed rows: a short lease, renewed by a heartbeat for as long as the worker lives.

A worker that dies stops renewing, and its rows come free within seconds. One that was only frozen or cut off may find
that another took them: `advance_work` refuses it then, and nothing is written twice. One that never ends is renewed up
to a bound, so that others get their turn.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import structlog
from sqlalchemy import Engine

from models.errors import ServiceError
from models.store.engine import plain_transaction
from models.store.work import Claim, hold_work

log = structlog.get_logger(__name__)
HEARTBEATS_A_LEASE = 4  # three may fail and the fourth still comes in time
LONGEST_HOLD_SECONDS = 3600.0


@contextmanager
def held(engine: Engine, claims: Sequence[Claim], *, lease_seconds: float) -> Iterator[None]:
    """While inside, the rows of a claim stay ours; those that are advanced or postponed meanwhile are let go."""
    is_done = threading.Event()
    until = time.monotonic() + LONGEST_HOLD_SECONDS

    def beat() -> None:
        while time.monotonic() < until and not is_done.wait(lease_seconds / HEARTBEATS_A_LEASE):
            try:
                with plain_transaction(engine, timeout_ms=round(lease_seconds * 1000)) as connection:
                    hold_work(connection, claims=claims, lease_seconds=lease_seconds)
            except ServiceError as error:
                log.warning("lease.not_renewed", error=error.code)

    heart = threading.Thread(target=beat, name="lease", daemon=True)
    heart.start()
    try:
        yield
    finally:
        is_done.set()
        heart.join()
