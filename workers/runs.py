"""Writes down when a scheduled task ran, so that a page can show it; a task does not wait for it to succeed."""

import time
from datetime import UTC, datetime
from typing import Any

import structlog
from celery import Task, signals

from models.errors import ServiceError, describe_error
from models.schedule import list_ticks
from models.settings import get_settings
from models.store.engine import plain_transaction
from models.store.reporting.runs import record_run
from workers import process

log = structlog.get_logger(__name__)
_begun: dict[str, tuple[datetime, float]] = {}  # by the id of a task that runs in this process now


@signals.task_prerun.connect
def _note_begin(task_id: str, task: Task[Any, Any], **_: Any) -> None:
    if task.name in {tick.task for tick in list_ticks(get_settings())}:
        _begun[task_id] = (datetime.now(UTC), time.monotonic())


@signals.task_postrun.connect
def _note_end(task_id: str, task: Task[Any, Any], retval: Any, **_: Any) -> None:
    begun = _begun.pop(task_id, None)
    if begun is None:
        return
    error = describe_error(retval)[:200] if isinstance(retval, BaseException) else None
    try:
        with plain_transaction(process.engine()) as connection:
            record_run(
                connection,
                name=task.name,
                began_at=begun[0],
                seconds=round(time.monotonic() - begun[1], 3),
                error=error,
            )
    except ServiceError as failure:
        log.warning("runs.not_recorded", task=task.name, error=failure.code)
