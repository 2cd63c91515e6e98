"""The scheduled proof: every compacted session of every tenant, checked on the live rows, counted and logged."""

import time
from uuid import UUID

import structlog
from sqlalchemy import Engine

from models.domain.compaction.lineage import Violation
from models.domain.compaction.verification import verify_session
from models.settings import Settings
from models.store.compaction.lineage import (
    list_compacted_sessions,
    list_compacted_tenants,
    load_lineage,
    record_check,
)
from models.store.engine import plain_transaction, tenant_transaction
from models.store.index.encoders import require_active

log = structlog.get_logger(__name__)
SESSIONS_AT_ONCE = 100


def verify_tenants(engine: Engine, *, settings: Settings) -> int:
    """Check all tenants; returns the number of violations, which should be 0."""
    with plain_transaction(engine) as connection:
        tenants = list_compacted_tenants(connection)
    return sum(_verify_tenant(engine, tenant_id, settings) for tenant_id in tenants)


def _verify_tenant(engine: Engine, tenant_id: UUID, settings: Settings) -> int:
    start = time.monotonic()
    sessions = summaries = turns = 0
    found: list[Violation] = []
    after = ""
    while True:
        with tenant_transaction(engine, tenant_id) as connection:
            names = list_compacted_sessions(
                connection, tenant_id=tenant_id, after=after, count=SESSIONS_AT_ONCE
            )
        if not names:
            break
        after = names[-1]
        for name in names:
            with tenant_transaction(engine, tenant_id, is_snapshot=True) as connection:
                encoder = require_active(connection).name
                lineage = load_lineage(connection, tenant_id=tenant_id, session_id=name, encoder=encoder)
            sessions, summaries = sessions + 1, summaries + len(lineage.summaries)
            turns += len(lineage.turns)
            found += verify_session(lineage, min_turns=settings.tail_min_turns)
    with tenant_transaction(engine, tenant_id) as connection:
        record_check(
            connection,
            tenant_id=tenant_id,
            sessions=sessions,
            summaries=summaries,
            turns=turns,
            violations=found,
            seconds=time.monotonic() - start,
        )
    report = log.error if found else log.info
    report(
        "lineage.checked",
        tenant_id=str(tenant_id),
        sessions=sessions,
        summaries=summaries,
        violations=len(found),
    )
    return len(found)
