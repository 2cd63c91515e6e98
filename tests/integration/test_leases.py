"""Claims about leases: work that takes longer than its lease is not taken away, work of the dead is."""

import time
from typing import Any

from sqlalchemy import text

from models.store.engine import plain_transaction
from models.store.work import Claim, claim_work
from workers.leases import held

LEASE_SECONDS = 0.6


def claim(tenant: Any) -> list[Claim]:
    """What another worker would get of this tenant's rows now."""
    with plain_transaction(tenant.as_role("longtail_worker")) as connection:
        claims = claim_work(connection, stage="accepted", batch=1000, lease_seconds=LEASE_SECONDS)
    return [one for one in claims if one.tenant_id == tenant.id]


def set_aside(tenant: Any) -> None:
    """Wait until the row is processed, then put it back where this test claims it before any worker is woken."""
    tenant.say("s", "A long story.")
    tenant.settle()
    with tenant.owner.begin() as connection:
        connection.execute(
            text(
                "UPDATE longtail.work SET stage = 'accepted', attempts = 1, not_before = now() WHERE tenant_id = :tenant"
            ),
            {"tenant": tenant.id},
        )


def take(tenant: Any) -> list[Claim]:
    """The row, before the sweep's bell brings a worker to it."""
    for _ in range(50):
        set_aside(tenant)
        if mine := claim(tenant):
            return mine
    raise AssertionError("a worker was faster every time")


def test_a_lease_is_renewed_while_the_work_goes_on_and_ends_with_the_worker(tenant: Any) -> None:
    mine = take(tenant)
    with held(
        tenant.as_role("longtail_worker"), tenant.id, mine, stage="accepted", lease_seconds=LEASE_SECONDS
    ):
        until = time.monotonic() + 3 * LEASE_SECONDS
        while time.monotonic() < until:
            assert claim(tenant) == []
            time.sleep(0.05)
    tenant.settle()  # nobody holds it any more: whoever comes next finishes it
