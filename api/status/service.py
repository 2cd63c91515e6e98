"""How the service is: its parts, what waits, what was given up, what runs on a clock."""

from importlib.metadata import version
from typing import Final
from uuid import UUID

from sqlalchemy import text

from api.access.decisions import check_whole_tenant
from api.runtime import Runtime
from api.status.schemas import StatusOut
from models.errors import NotFound, ServiceError
from models.messages import INGEST
from models.store.engine import plain_transaction, tenant_transaction
from models.store.tenancy.tokens import Caller
from models.store.work import count_dead_letters, count_kept, measure_backlog, revive_work

STATUS_TIMEOUT_MS: Final = 30_000  # counting reads every row
REDIS_AWAY: Final = "not reached; work waits in PostgreSQL"


def read_status(
    runtime: Runtime, caller: Caller, *, counts: bool, timeout_ms: int = STATUS_TIMEOUT_MS
) -> StatusOut:
    """What waits, how long, and what was given up, in the caller's tenant or the one namespace its token opens."""
    with tenant_transaction(runtime.engine, caller, timeout_ms=timeout_ms) as connection:
        backlog = measure_backlog(connection, tenant_id=caller.tenant_id, namespace=caller.namespace)
        dead = count_dead_letters(connection, tenant_id=caller.tenant_id)
        kept = (
            count_kept(connection, tenant_id=caller.tenant_id, namespace=caller.namespace) if counts else None
        )
    serving = runtime.serving
    return StatusOut(
        version=version("longtail"),
        uptime_seconds=round(runtime.uptime_seconds(), 1),
        redis="ok" if runtime.doorbell.is_working else REDIS_AWAY,
        counts=kept,
        pending=backlog.pending,
        lag_seconds=backlog.lag_seconds,
        dead_letters=dead,
        encoder=serving.name,
        encoder_fingerprint=serving.fingerprint,
    )


def check_parts(runtime: Runtime) -> dict[str, str]:
    """Each part the service rests on: ok, or what is wrong with it."""
    parts = {"encoder": runtime.encoder_problem or "ok"}
    try:
        with plain_transaction(runtime.engine, timeout_ms=1000) as connection:
            connection.execute(text("SELECT 1"))
        parts["postgres"] = "ok"
    except ServiceError as error:
        parts["postgres"] = error.detail
    parts["redis"] = "ok" if runtime.doorbell.is_working else REDIS_AWAY
    return parts


def replay_dead_letters(runtime: Runtime, caller: Caller, item_id: UUID | None) -> int:
    """Give one row, or all that the tenant's workers gave up, to them again; how many."""
    if item_id is None:
        check_whole_tenant(caller)
    with tenant_transaction(runtime.engine, caller) as connection:
        revived = revive_work(connection, tenant_id=caller.tenant_id, item_id=item_id)
    if not revived:
        raise NotFound(
            "nothing of that was given up", remedy="look at the list again: it may have been replayed"
        )
    runtime.doorbell.ring(INGEST)
    return revived
