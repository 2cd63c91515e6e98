"""Every task, as a thin shell: its name, its limits, one call, and which bell it rings next."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from celery import Task

from models.errors import TransientError
from models.messages import EMBED_PENDING, GATE_PENDING, INGEST, SWEEP
from models.settings import get_settings
from models.store.engine import plain_transaction
from models.store.work import Claim, count_ready_work
from workers import process
from workers.app import app
from workers.draining import drain
from workers.embed import embed_items
from workers.gate import gate_turns
from workers.ingest import ingest_items

TASK_OF_STAGE = {"accepted": INGEST, "ingested": EMBED_PENDING, "embedded": GATE_PENDING}
retried = partial(
    app.task,
    bind=True,
    autoretry_for=(TransientError,),
    retry_backoff=1,
    retry_backoff_max=60,
    retry_jitter=True,
    max_retries=5,  # then the sweep takes over: it never gives up
)


def ring(task: str) -> None:
    """Tell whoever serves a task's queue that there is work."""
    app.send_task(task)


def run_stage(
    stage: str, work: Callable[[UUID, Sequence[Claim]], None], *, batch: int, next_task: str | None
) -> int:
    """Drain a stage, waking the next one after every batch so that both work at once."""

    def work_and_ring(tenant_id: UUID, claims: Sequence[Claim]) -> None:
        work(tenant_id, claims)
        if next_task:
            ring(next_task)

    count, more = drain(
        process.engine(), stage=stage, batch=batch, work=work_and_ring, settings=get_settings()
    )
    if more:
        ring(TASK_OF_STAGE[stage])
    return count


@retried(name=INGEST)
def ingest(_task: Task[Any, Any]) -> int:
    """accepted → ingested."""
    work = partial(ingest_items, process.engine())
    return run_stage("accepted", work, batch=200, next_task=EMBED_PENDING)


@retried(name=EMBED_PENDING)
def embed_pending(_task: Task[Any, Any]) -> int:
    """ingested → embedded (authored nodes: done)."""
    work = partial(embed_items, process.engine(), process.encoder())
    return run_stage("ingested", work, batch=get_settings().embed_batch_turns, next_task=GATE_PENDING)


@retried(name=GATE_PENDING)
def gate_pending(_task: Task[Any, Any]) -> int:
    """embedded → done."""
    settings = get_settings()
    work = partial(gate_turns, process.engine(), encoder=settings.encoder, settings=settings)
    return run_stage("embedded", work, batch=64, next_task=None)


@retried(name=SWEEP)
def sweep(_task: Task[Any, Any]) -> dict[str, int]:
    """Ring a bell for every stage at which rows wait that nobody holds."""
    with plain_transaction(process.engine()) as connection:
        ready = count_ready_work(connection)
    for stage in ready:
        ring(TASK_OF_STAGE[stage])
    return ready
