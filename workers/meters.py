"""What this worker process counts, handed to Redis whenever a task ends; the API tells it to Prometheus."""

import time
from functools import lru_cache
from typing import Any, Final

import structlog
from celery import Task, signals
from redis import Redis, RedisError

from models.meters import HASH, Tally
from models.settings import get_settings

log = structlog.get_logger(__name__)
TALLY: Final = Tally()
TIMEOUT_SECONDS: Final = 1.0
_started: dict[str, float] = {}


@lru_cache(maxsize=1)
def _redis() -> "Redis | None":
    url = get_settings().broker_url()
    if url is None:
        return None
    return Redis.from_url(url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)


def hand_over() -> None:
    """Add this process's counts to everybody's; what cannot be handed over is kept for the next time."""
    redis = _redis()
    if redis is None:
        return
    added, newest = TALLY.take()
    try:
        with redis.pipeline(transaction=True) as calls:  # all or nothing: what failed is given back whole
            for field, value in added.items():
                calls.hincrbyfloat(HASH, field, value)
            if newest:
                calls.hset(HASH, mapping={field: repr(value) for field, value in newest.items()})
            calls.execute()
    except (RedisError, OSError) as error:
        TALLY.give_back(added, newest)
        log.debug("meters.not_handed_over", error=type(error).__name__)


@signals.task_prerun.connect
def _begin(task_id: str, **_: Any) -> None:
    _started[task_id] = time.perf_counter()


@signals.task_postrun.connect
def _end(task_id: str, task: Task[Any, Any], state: str | None = None, **_: Any) -> None:
    began = _started.pop(task_id, None)
    if began is not None:
        seconds = time.perf_counter() - began
        TALLY.observe("task_seconds", seconds, task=task.name, state=(state or "UNKNOWN").lower())
        TALLY.mark("task_ended", time.time(), task=task.name)
    hand_over()
