"""Asking for a compaction: the request is a row, the workers do it, and a caller may wait for the answer."""

import time

from api.access.decisions import check_session
from api.compaction.schemas import CompactIn, CompactOut
from api.runtime import Runtime
from models.messages import COMPACT_DUE
from models.store.compaction.progress import find_outcome, request_compaction
from models.store.engine import tenant_transaction
from models.store.tenancy.tokens import Caller

POLL_SECONDS = 0.05


def compact(runtime: Runtime, caller: Caller, session_id: str, request: CompactIn) -> CompactOut:
    """Ask for a compaction and, if wanted, wait for what comes of it."""
    check_session(runtime, caller, session_id, request.identity())
    with tenant_transaction(runtime.engine, caller) as connection:
        asked_at = request_compaction(
            connection, tenant_id=caller.tenant_id, session_id=session_id, force=request.force
        )
    runtime.doorbell.ring(COMPACT_DUE)
    deadline = time.monotonic() + (runtime.settings.compaction_wait_seconds if request.wait else 0)
    while time.monotonic() < deadline and not runtime.draining.is_set():
        with tenant_transaction(runtime.engine, caller) as connection:
            outcome = find_outcome(
                connection, tenant_id=caller.tenant_id, session_id=session_id, requested_at=asked_at
            )
        if outcome is not None:
            return CompactOut(is_done=True, **outcome)
        time.sleep(POLL_SECONDS)
    return CompactOut(
        did_compact=False,
        clusters_formed=0,
        clusters_declined=0,
        turns_covered=0,
        summary_ids=[],
        mean_confidence=None,
        reason="not finished in time; it goes on" if request.wait else "asked for; the workers do it",
        is_done=False,
    )
