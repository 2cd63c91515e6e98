"""health, status, flush, ensure_collections: whether it works, how much it holds, and that it is kept."""

import time
from collections.abc import Mapping
from typing import Any

from pydantic import Field
from sqlalchemy import text

from api.rpc.access import open_for_reading
from api.rpc.collections import Collection
from api.rpc.dispatcher import Call, Method, Params
from models.errors import ServiceError
from models.store.collections.views import count_entries
from models.store.engine import plain_transaction
from models.store.memory.decisions import gate_threshold
from models.store.work import measure_backlog
from models.summarizers.registry import is_within_reach

FLUSH_SECONDS = 2.0
POLL_SECONDS = 0.05


class Nothing(Params):
    """No parameters."""


class CollectionsParams(Params):
    collections: list[Collection] = Field(max_length=1000)


def health(call: Call, _params: Nothing) -> Mapping[str, Any]:
    """Whether PostgreSQL and the encoder are there."""
    problems = [f"encoder: {call.runtime.encoder_problem}"] if call.runtime.encoder_problem else []
    try:
        with plain_transaction(call.runtime.engine, timeout_ms=1000) as connection:
            connection.execute(text("SELECT 1"))
    except ServiceError as error:
        problems.append(f"postgres: {error.detail}")
    return {"ok": not problems, "message": "; ".join(problems) or "ok"}


def status(call: Call, params: Nothing) -> Mapping[str, Any]:
    """Health, counts, and the settings a client decides by."""
    found: dict[str, Any] = {
        **health(call, params),
        "turnCount": 0,
        "memoryCount": 0,
        "lifecycleHintCount": 0,
        "gatingThreshold": call.runtime.settings.gate_threshold,
        "abstractiveReady": is_within_reach(call.runtime.settings),
        "embeddingProfile": call.runtime.serving.name,
    }
    try:
        with call.runtime.transaction(call.caller) as connection:
            counts = count_entries(
                connection, tenant_id=call.caller.tenant_id, namespace=call.caller.namespace
            )
            calibrated = gate_threshold(connection, tenant_id=call.caller.tenant_id)
    except ServiceError as error:
        return found | {"ok": False, "message": error.detail}
    found |= {"turnCount": counts.turns, "memoryCount": counts.memories, "lifecycleHintCount": counts.hints}
    return found | ({"gatingThreshold": calibrated} if calibrated is not None else {})


def flush(call: Call, _params: Nothing) -> Mapping[str, Any]:
    """Everything is kept when its call returns; this waits a little until it is remembered, too."""
    deadline = time.monotonic() + FLUSH_SECONDS
    while True:
        with call.runtime.transaction(call.caller) as connection:
            pending = measure_backlog(connection, tenant_id=call.caller.tenant_id).pending
        if not pending or time.monotonic() > deadline:
            return {"ok": True, "pending": pending}
        time.sleep(POLL_SECONDS)


def ensure_collections(call: Call, params: CollectionsParams) -> Mapping[str, Any]:
    """A collection is there as soon as it is named; this says whether the caller may use it."""
    with call.runtime.transaction(call.caller) as connection:
        for collection in params.collections:
            open_for_reading(connection, call, collection)
    return {"ok": True}


METHODS = (
    Method(name="health", params=Nothing, scope="read", run=health),
    Method(name="status", params=Nothing, scope="read", run=status),
    Method(name="flush", params=Nothing, scope="read", run=flush),
    Method(name="ensure_collections", params=CollectionsParams, scope="read", run=ensure_collections),
)
