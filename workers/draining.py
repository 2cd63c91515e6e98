"""Draining a stage: claim rows, work on them a tenant at a time, advance them, survive what cannot be done.

A row that fails is tried again later, alone, with growing pauses; after `max_attempts` it becomes a dead
letter with its reason, and the rest go on. A batch that PostgreSQL or the encoder did not answer in time is nobody's
fault: the next one is half as large, so that a machine which is too slow for a whole batch still gets on.
"""

import time
from collections.abc import Callable, Sequence
from itertools import groupby
from uuid import UUID

import structlog
from sqlalchemy import Engine

from models.errors import PermanentError, ServiceError, TransientError, describe_error
from models.settings import Settings
from models.store.engine import plain_transaction, tenant_transaction
from models.store.work import Claim, LeaseLost, bury_work, claim_work, postpone_work, release_work
from workers.leases import held
from workers.meters import TALLY
from workers.traces import traced

log = structlog.get_logger(__name__)
Work = Callable[[UUID, Sequence[Claim]], None]
MAX_BACKOFF_SECONDS = 600.0
PACES: dict[
    str, int
] = {}  # rows a batch, by stage, where a whole batch was too much a moment ago; of this process


def drain(
    engine: Engine, *, stage: str, batch: int, work: Work, settings: Settings, budget_seconds: float = 60.0
) -> tuple[int, bool]:
    """Work until the stage is empty or the time is up; returns rows claimed, and whether more may wait."""
    deadline = time.monotonic() + budget_seconds
    total = 0
    while time.monotonic() < deadline:
        size = min(batch, PACES.get(stage, batch))
        with plain_transaction(engine) as connection:
            claims = claim_work(connection, stage=stage, batch=size, lease_seconds=settings.lease_seconds)
        if not claims:
            return total, False
        total += len(claims)
        TALLY.add("stage_items", len(claims), stage=stage)
        began = time.perf_counter()
        claims.sort(key=lambda claim: (str(claim.tenant_id), claim.seq))
        with held(engine, claims, lease_seconds=settings.lease_seconds):
            groups = [list(group) for _, group in groupby(claims, key=lambda claim: claim.tenant_id)]
            for number, group in enumerate(groups):
                try:
                    _work_together(engine, group, stage=stage, work=work, settings=settings)
                except (
                    TransientError
                ):  # the database or the encoder is away, or too slow: the sweep comes back
                    PACES[stage] = max(1, len(claims) // 2)
                    _release(engine, groups[number:])
                    raise
        PACES[stage] = 2 * size
        TALLY.observe("stage_seconds", time.perf_counter() - began, stage=stage)
    return total, True


def _work_together(
    engine: Engine, claims: list[Claim], *, stage: str, work: Work, settings: Settings
) -> None:
    """One tenant's rows at once; when that fails, each alone, so that one bad row costs only itself."""
    exhausted = [claim for claim in claims if claim.attempts > settings.max_attempts]
    for claim in exhausted:
        reason = f"a worker died or lost its lease {claim.attempts - 1} times while working on it"
        _bury(engine, claim, stage=stage, reason=reason)
    claims = [claim for claim in claims if claim.attempts <= settings.max_attempts]
    if not claims:
        return
    try:
        with traced(stage, claims):
            work(claims[0].tenant_id, claims)
    except TransientError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one row must not stop the others
        if len(claims) > 1:
            for claim in claims:
                _work_together(engine, [claim], stage=stage, work=work, settings=settings)
        elif isinstance(error, LeaseLost):
            log.warning(
                "work.lease_lost", stage=stage, item_id=str(claims[0].item_id)
            )  # its holder finishes it
        else:
            _fail(engine, claims[0], stage=stage, error=error, settings=settings)


def _release(engine: Engine, groups: Sequence[Sequence[Claim]]) -> None:
    """Give back what was not worked on; where even that fails, the leases run out by themselves."""
    try:
        for claims in groups:
            with tenant_transaction(engine, claims[0].tenant_id) as connection:
                release_work(connection, claims=claims)
    except ServiceError as error:
        log.warning("work.not_released", error=error.code)


def _fail(engine: Engine, claim: Claim, *, stage: str, error: Exception, settings: Settings) -> None:
    reason = describe_error(error)
    if isinstance(error, PermanentError) or claim.attempts >= settings.max_attempts:
        _bury(engine, claim, stage=stage, reason=reason)
        return
    delay = min(settings.retry_backoff_seconds * 2 ** (claim.attempts - 1), MAX_BACKOFF_SECONDS)
    log.warning(
        "work.postponed", stage=stage, item_id=str(claim.item_id), error=type(error).__name__, delay=delay
    )
    with tenant_transaction(engine, claim.tenant_id) as connection:
        postpone_work(connection, claim=claim, error=reason, delay_seconds=delay)


def _bury(engine: Engine, claim: Claim, *, stage: str, reason: str) -> None:
    log.error("work.dead_letter", stage=stage, item_id=str(claim.item_id), attempts=claim.attempts)
    with tenant_transaction(engine, claim.tenant_id) as connection:
        bury_work(connection, claim=claim, stage=stage, reason=reason)
