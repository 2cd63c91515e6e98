"""Holding on to claimed rows: a lease that is renewed for as long as the work on it goes on.

A batch of long turns can take longer than any fixed lease. A worker that dies stops renewing, and the rows come
free when the last renewal runs out; one that never ends is renewed up to a bound, so that others get their turn.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

import structlog
from sqlalchemy import Engine

from models.errors import ServiceError
from models.store.engine import tenant_transaction
from models.store.work import Claim, extend_leases

log = structlog.get_logger(__name__)
RENEWALS_A_LEASE = 3  # the second may fail and the third still comes in time
MOST_RENEWALS = 90  # with the default lease of two minutes: an hour


@contextmanager
def held(
    engine: Engine, tenant_id: UUID, claims: Sequence[Claim], *, stage: str, lease_seconds: float
) -> Iterator[None]:
    """While inside, the claimed rows stay ours."""
    is_done = threading.Event()

    def renew() -> None:
        for _ in range(MOST_RENEWALS):
            if is_done.wait(lease_seconds / RENEWALS_A_LEASE):
                return
            try:
                with tenant_transaction(engine, tenant_id) as connection:
                    extend_leases(
                        connection,
                        item_ids=[claim.item_id for claim in claims],
                        stage=stage,
                        lease_seconds=lease_seconds,
                    )
            except ServiceError as error:
                log.warning("lease.not_renewed", stage=stage, error=error.code)

    keeper = threading.Thread(target=renew, name="lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        is_done.set()
        keeper.join()
