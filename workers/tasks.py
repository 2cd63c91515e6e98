"""Every task, as a thin shell: its name, its limits, one call, and which bell it rings next."""

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

import structlog
from celery import Task
from kombu.exceptions import OperationalError

from models.errors import TransientError
from models.messages import (
    COMPACT_DUE,
    COMPACT_SESSION,
    EMBED_PENDING,
    GATE_PENDING,
    INGEST,
    PRUNE_JOURNAL,
    PRUNE_RECEIPTS,
    REEMBED,
    SWEEP,
    VERIFY_LINEAGE,
)
from models.settings import get_settings
from models.store.compaction.progress import ask_for_pass, claim_due
from models.store.conversation.journal import prune_journals
from models.store.engine import plain_transaction
from models.store.index.encoders import is_filling_free
from models.store.receipts import prune_receipts
from models.store.work import Claim, count_ready_work
from workers import process, runs  # noqa: F401 - runs listens
from workers.app import app
from workers.compaction.pace import Pace
from workers.compaction.passes import compact_session as compact
from workers.draining import drain
from workers.embed import embed_items
from workers.gate import gate_turns
from workers.ingest import ingest_items
from workers.reembed import fill_next, follow
from workers.verify import verify_tenants

log = structlog.get_logger(__name__)
COMPACTIONS_SENT = 200  # by one scan; the next finds the rest
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
    """Tell whoever serves a task's queue that there is work; where Redis is away, the sweep tells them later.

    A bell that stays silent is no fault of the rows it was about: what was done of them is done.
    """
    try:
        app.send_task(task)
    except OperationalError as error:
        log.warning("bell.not_rung", task=task, error=type(error).__name__)


def run_stage(
    stage: str,
    work: Callable[[UUID, Sequence[Claim]], None],
    *,
    batch: int,
    next_task: str | None,
    afterwards: Callable[[UUID, Sequence[Claim]], None] | None = None,
) -> int:
    """Drain a stage, waking the next one after every batch so that both work at once."""

    def work_and_ring(tenant_id: UUID, claims: Sequence[Claim]) -> None:
        work(tenant_id, claims)
        if next_task:
            ring(next_task)
        if afterwards:
            afterwards(tenant_id, claims)

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
    return run_stage(
        "ingested", work, batch=get_settings().embed_batch_turns, next_task=GATE_PENDING, afterwards=_follow
    )


def _follow(tenant_id: UUID, claims: Sequence[Claim]) -> None:
    follow(process.engine(), process.load, tenant_id, [claim.item_id for claim in claims])


@retried(name=REEMBED)
def reembed(_task: Task[Any, Any]) -> str:
    """Go on with filling another encoder's table, where somebody asked for it; ingest in between."""
    progress = fill_next(process.engine(), process.load)
    if progress == "ingest_waits":
        ring(EMBED_PENDING)
    if progress in ("ingest_waits", "more"):
        ring(REEMBED)
    return progress


@retried(name=GATE_PENDING)
def gate_pending(_task: Task[Any, Any]) -> int:
    """embedded → done."""
    settings = get_settings()
    work = partial(gate_turns, process.engine(), settings=settings, on_due=partial(ring, COMPACT_DUE))
    return run_stage("embedded", work, batch=64, next_task=None)


def is_ingest_deep() -> bool:
    """Whether so much waits to be remembered that compaction gives way."""
    with plain_transaction(process.engine()) as connection:
        waiting = sum(count_ready_work(connection).values())
    return waiting >= get_settings().compaction_yield_rows


@retried(name=COMPACT_DUE)
def compact_due(_task: Task[Any, Any]) -> int:
    """Send a compaction for every session that is due; while ingest is behind, those asked for and the largest."""
    settings = get_settings()
    is_deep = is_ingest_deep()
    with plain_transaction(process.engine()) as connection:
        due = claim_due(
            connection,
            threshold_tokens=settings.compaction_threshold_tokens,
            tail_tokens=settings.compaction_tail_tokens(),
            idle_seconds=settings.compaction_idle_seconds,
            count=COMPACTIONS_SENT,
            count_unasked=1 if is_deep else COMPACTIONS_SENT,
            claim_seconds=settings.compaction_claim_seconds,
        )
    for one in due:
        # Jitter: sessions that fell idle together are not compacted together.
        wait = 0.0 if one.is_requested else random.uniform(0, settings.compaction_jitter_seconds)  # noqa: S311
        app.send_task(COMPACT_SESSION, args=[str(one.tenant_id), one.session_id], countdown=wait)
    return len(due)


@lru_cache(maxsize=1)
def compaction_pace() -> Pace:
    """One for all sessions of this process: while ingest is behind, together they take their share."""
    return Pace(share=get_settings().compaction_yield_share, is_ingest_deep=is_ingest_deep)


@retried(name=COMPACT_SESSION)
def compact_session(_task: Task[Any, Any], tenant_id: str, session_id: str) -> int:
    """Cover what is outside the tail of one session; what is left after its slice is sent again."""
    settings = get_settings()
    ask_for_pass(process.engine(), tenant_id=UUID(tenant_id), session_id=session_id)
    outcome = compact(
        process.engine(),
        process.encoder(),
        UUID(tenant_id),
        session_id,
        settings=settings,
        abstractive=process.abstractive_summarizer(),
        pace=compaction_pace(),
        budget_seconds=settings.compaction_slice_seconds,
        only_with_news=True,
        only_remembered=True,
    )
    if outcome is None:
        return 0
    if not outcome.is_done and outcome.did_compact:  # one that was turned away is found by the schedule
        rest = compaction_pace().seconds_to_rest()
        app.send_task(COMPACT_SESSION, args=[tenant_id, session_id], countdown=rest)
    return outcome.clusters_formed


@retried(name=VERIFY_LINEAGE)
def verify_lineage(_task: Task[Any, Any]) -> int:
    """Prove on the live rows that nothing is lost; the number of violations is the metric."""
    return verify_tenants(process.engine(), settings=get_settings())


@retried(name=PRUNE_JOURNAL)
def prune_journal(_task: Task[Any, Any]) -> int:
    """Keep the newest entries of every journal."""
    with plain_transaction(process.engine()) as connection:
        return prune_journals(connection, kept=get_settings().journal_entries)


@retried(name=PRUNE_RECEIPTS)
def prune_old_receipts(_task: Task[Any, Any]) -> int:
    """Keep each tenant's newest receipts, and none that is too old."""
    settings = get_settings()
    oldest = datetime.now(UTC) - timedelta(days=settings.receipt_days)
    with plain_transaction(process.engine()) as connection:
        return prune_receipts(connection, kept=settings.receipts_kept, oldest=oldest)


@retried(name=SWEEP)
def sweep(_task: Task[Any, Any]) -> dict[str, int]:
    """Ring a bell for every stage at which rows wait that nobody holds, and for an encoder that is being filled."""
    with plain_transaction(process.engine()) as connection:
        ready = count_ready_work(connection)
        is_filling = is_filling_free(connection)
    for stage in ready:
        ring(TASK_OF_STAGE[stage])
    if is_filling:
        ring(REEMBED)
    return ready
