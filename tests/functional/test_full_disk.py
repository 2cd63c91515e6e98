"""Claims about a full disk, tried on a real one: nothing accepted is lost, and freed space is all that is needed."""

import shutil
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from sqlalchemy import Engine

from api.stack.throwaway import ThrowawayStack, await_true
from bench.chaos.disk import SmallDisk
from models.store.engine import open_engine


@pytest.fixture(scope="module")
def disk() -> Iterator[SmallDisk]:
    made = SmallDisk(400 * 1024 * 1024)
    assert made.is_mounted, f"this test mounts a small file system, which root may: {made.problem}"
    yield made
    made.remove()


@pytest.fixture(scope="module")
def stack(disk: SmallDisk) -> Iterator[ThrowawayStack]:
    settings = {"LONGTAIL_ENCODER": "toy", "LONGTAIL_ENCODER_THREADS": "1", "LONGTAIL_SWEEP_SECONDS": "1"}
    with ThrowawayStack(settings, folder=disk.path) as running:
        yield running


@pytest.fixture(scope="module")
def owner(stack: ThrowawayStack) -> Iterator[Engine]:
    """Its database; a fixture of its own, or the shared stack's tests would be given this one."""
    engine = open_engine(stack.owner_url)
    yield engine
    engine.dispose()


def test_a_stack_on_a_full_disk_comes_back_by_itself_with_every_turn(
    disk: SmallDisk, stack: ThrowawayStack, tenant_on: Any, owner: Any
) -> None:
    tenant = tenant_on(stack, owner)
    tenant.say("s", *[f"said before, number {n}" for n in range(50)])
    supervisor = psutil.Process(int((stack.home / "run" / "supervisord.pid").read_text()))
    accepted = 50
    disk.fill()
    assert shutil.disk_usage(disk.path).free == 0
    started = time.monotonic()
    while time.monotonic() - started < 20:  # longer than supervisord used to live
        try:
            accepted += len(tenant.say("s", "x" * 5000)["accepted"])
        except Exception:  # noqa: BLE001 - a refusal in any form: what counts is what was accepted
            time.sleep(0.2)
    assert supervisor.is_running(), "supervisord ended"
    disk.free()
    await_true(lambda: stack.status()["healthy"])
    assert supervisor.is_running()
    owner.dispose()
    tenant.settle()
    kept = tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant")
    assert kept >= accepted
    assert len(tenant.say("s", "said afterwards")["accepted"]) == 1
    tenant.client.__exit__()
