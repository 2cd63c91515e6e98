"""Claims about leases: who works keeps its rows, who died loses them soon, who lost them writes nothing."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Connection, text

from models.encoders.toy import ToyEncoder
from models.errors import DatabaseUnavailable
from models.store.engine import plain_transaction, tenant_transaction
from models.store.work import Claim, LeaseLost, advance_work, claim_work, release_work
from workers.draining import PACES, drain
from workers.embed import embed_items
from workers.leases import held

LEASE_SECONDS = 2.0


def claim(tenant: Any) -> list[Claim]:
    """What another worker would get of this tenant's rows now."""
    with plain_transaction(tenant.as_role("longtail_worker")) as connection:
        claims = claim_work(connection, stage="accepted", batch=1000, lease_seconds=LEASE_SECONDS)
    return [one for one in claims if one.tenant_id == tenant.id]


def set_aside(tenant: Any) -> None:
    """Wait until the row is processed, then put it back where this test claims it before any worker is woken."""
    if not tenant.one("SELECT count(*) FROM longtail.work WHERE tenant_id = :tenant"):
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
    with held(tenant.as_role("longtail_worker"), mine, lease_seconds=LEASE_SECONDS):
        until = time.monotonic() + 3 * LEASE_SECONDS
        while time.monotonic() < until:
            assert claim(tenant) == []
            time.sleep(0.05)
    tenant.settle()  # nobody holds it any more: whoever comes next finishes it


class FrozenEncoder(ToyEncoder):
    """One whose worker stands still between reading and writing."""

    def __init__(self, while_frozen: Callable[[], None]) -> None:
        super().__init__()
        self._while_frozen = while_frozen

    def encode_windows(self, texts: Any) -> Any:
        self._while_frozen()
        return super().encode_windows(texts)


def test_a_worker_that_was_frozen_writes_nothing_once_another_has_its_row(tenant: Any) -> None:
    mine = take(tenant)
    others: list[Claim] = []

    def wait_until_another_takes_it() -> None:  # this test, or a worker of the stack that comes first
        still = "SELECT lease_id IS NOT DISTINCT FROM :mine FROM longtail.work WHERE tenant_id = :tenant"
        while not others and tenant.one(still, mine=mine[0].lease_id):
            others.extend(claim(tenant))
            time.sleep(0.05)

    worker = tenant.as_role("longtail_worker")
    before = tenant.one("SELECT count(*) FROM longtail.embeddings_toy WHERE tenant_id = :tenant")
    with pytest.raises(LeaseLost):
        embed_items(worker, FrozenEncoder(wait_until_another_takes_it), tenant.id, mine)
    assert tenant.one("SELECT count(*) FROM longtail.embeddings_toy WHERE tenant_id = :tenant") == before
    if others:
        with tenant_transaction(worker, tenant.id) as connection:
            advance_work(connection, claims=others, to_stage="done")
    tenant.settle()
    assert {
        row.stage for row in tenant.rows("SELECT stage FROM longtail.work WHERE tenant_id = :tenant")
    } == {"done"}


def test_rows_given_back_because_a_server_was_away_were_never_tried(tenant: Any) -> None:
    mine = take(tenant)
    with tenant_transaction(tenant.as_role("longtail_worker"), tenant.id) as connection:
        release_work(connection, claims=mine)
        rows = connection.execute(text("SELECT attempts, lease_id FROM longtail.work")).all()
    assert {(row.attempts, row.lease_id) for row in rows} == {(mine[0].attempts - 1, None)}


class Unseen(Exception):
    """Ends the transaction of `queue` without a trace."""


@contextmanager
def queue(*tenants: tuple[Any, int], attempts: int = 0, minutes: int = 0) -> Iterator[Connection]:
    """Rows that no worker sees: they exist inside this transaction alone."""
    owner = tenants[0][0].owner
    try:
        with plain_transaction(owner) as connection:
            for tenant, count in tenants:
                connection.execute(
                    text(
                        "INSERT INTO longtail.work (item_id, tenant_id, kind, namespace, stage, attempts, not_before) "
                        "VALUES (:id, :tenant, 'turn', 'n', 'embedded', :attempts, "
                        "now() + make_interval(mins => :minutes))"
                    ),
                    [
                        {"id": uuid4(), "tenant": tenant.id, "attempts": attempts, "minutes": minutes}
                        for _ in range(count)
                    ],
                )
            yield connection
            raise Unseen
    except Unseen:
        pass


def count_claimed(
    connection: Connection, tenants: Any, *, batch: int, lease_seconds: float = 5
) -> Counter[Any]:
    claims = claim_work(connection, stage="embedded", batch=batch, lease_seconds=lease_seconds)
    known = {tenant.id: tenant for tenant in tenants}
    return Counter(known[one.tenant_id].name for one in claims if one.tenant_id in known)


def test_one_tenants_flood_leaves_every_other_its_share_of_each_batch(new_tenant: Callable[[], Any]) -> None:
    flood, *small = (new_tenant() for _ in range(4))
    with queue((flood, 3000), (small[0], 5), (small[1], 1), (small[2], 40)) as connection:
        claimed = count_claimed(connection, [flood, *small], batch=64)
    assert claimed[small[0].name] == 5 and claimed[small[1].name] == 1
    assert claimed[small[2].name] >= 12  # a fifth of the batch at least, whoever else waits on this stack
    assert claimed[flood.name] >= 12 and claimed.total() <= 64


def test_a_batch_is_filled_by_whoever_has_more(new_tenant: Callable[[], Any]) -> None:
    flood, small = new_tenant(), new_tenant()
    with queue((flood, 100), (small, 1)) as connection:
        assert count_claimed(connection, [flood, small], batch=64).total() >= 60


def test_a_row_of_a_dead_worker_does_not_wait_for_the_end_of_a_flood(new_tenant: Callable[[], Any]) -> None:
    flood, other = new_tenant(), new_tenant()
    with queue((flood, 300)) as connection:
        connection.execute(
            text(
                "UPDATE longtail.work SET tenant_id = :other, attempts = 1, not_before = now() - interval '1 minute' "
                "WHERE item_id = (SELECT max(item_id::text)::uuid FROM longtail.work WHERE tenant_id = :flood)"
            ),
            {"flood": flood.id, "other": other.id},
        )
        assert count_claimed(connection, [flood, other], batch=64) == {other.name: 1}  # alone, and first
        assert count_claimed(connection, [flood, other], batch=64)[flood.name] > 0


def test_a_clock_that_was_set_back_holds_no_row(new_tenant: Callable[[], Any]) -> None:
    tenant = new_tenant()
    for attempts in (0, 1):
        with queue((tenant, 1), attempts=attempts, minutes=120) as connection:
            assert count_claimed(connection, [tenant], batch=64) == {tenant.name: 1}
    with queue((tenant, 1), attempts=1, minutes=1) as connection:  # a pause after a failure
        assert count_claimed(connection, [tenant], batch=64) == {}


def test_a_stage_whose_server_is_away_gives_its_rows_back_untried(tenant: Any) -> None:
    def fail(_tenant_id: Any, _claims: Any) -> None:
        raise DatabaseUnavailable("away")

    def drain_until_it_fails() -> None:
        while True:
            set_aside(tenant)
            drain(
                tenant.as_role("longtail_worker"),
                stage="accepted",
                batch=10,
                work=fail,
                settings=tenant.stack.settings,
            )

    for _ in range(tenant.stack.settings.max_attempts + 1):
        with pytest.raises(DatabaseUnavailable):
            drain_until_it_fails()
    tenant.settle()
    assert tenant.one("SELECT count(*) FROM longtail.dead_letters WHERE tenant_id = :tenant") == 0


def test_a_machine_too_slow_for_a_whole_batch_gets_on_in_smaller_ones(tenant: Any) -> None:
    engine, settings = tenant.as_role("longtail_worker"), tenant.stack.settings
    tenant.say("s", *(f"Part {number} of a long story." for number in range(40)))

    def try_once() -> list[int]:
        """How many rows came at a time; others' are given back."""
        tried: list[int] = []

        def work(tenant_id: Any, claims: Any) -> None:
            tried.append(len(claims))
            if len(claims) > 6 or tenant_id != tenant.id:
                raise DatabaseUnavailable("the answer took too long")
            with tenant_transaction(engine, tenant.id) as connection:
                advance_work(connection, claims=claims, to_stage="ingested")

        tenant.settle()
        with tenant.owner.begin() as connection:
            connection.execute(
                text(
                    "UPDATE longtail.work SET stage = 'accepted', attempts = 0, not_before = now() WHERE tenant_id = :tenant"
                ),
                {"tenant": tenant.id},
            )
        PACES.clear()
        for _ in range(4):
            with suppress(DatabaseUnavailable):
                drain(engine, stage="accepted", batch=40, work=work, settings=settings)
        return tried

    # Five are done at the fourth try, and then it dares more. Workers of the stack may come first: then again.
    assert any(try_once() == [40, 20, 10, 5, 10] for _ in range(20))
    PACES.clear()
    tenant.settle()
