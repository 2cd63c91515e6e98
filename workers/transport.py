"""Redis as Celery's transport, with a look at every message before anything else sees it.

Celery trusts its broker: a message with a time limit of "abc", a body that is no list or a small file that unpacks to
hundreds of megabytes ends the worker that takes it, and is given to the next. Our messages are bells, so it is easy to
say what one looks like (`models/messages.py`): all others are dropped here, with a line in the log.
"""

from typing import Any

import structlog
from celery.app.amqp import AMQP
from kombu import Connection
from kombu.transport import TRANSPORT_ALIASES, redis

from models.messages import QUEUES, find_fault

log = structlog.get_logger(__name__)


class CheckedChannel(redis.Channel):
    """Drops what is not even JSON; the message has left its queue by then."""

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]  # its stubs leave it out
        except (ValueError, RecursionError) as error:
            log.warning("message.dropped", fault=type(error).__name__)
            return True


class CheckedTransport(redis.Transport):
    """Delivers to our queues only what we could have sent."""

    Channel = CheckedChannel

    def _deliver(self, message: Any, queue: str | None) -> None:
        if queue in QUEUES and (fault := find_fault(message, queue=queue)) is not None:
            log.warning("message.dropped", queue=queue, fault=fault)
            return
        super()._deliver(message, queue)


class PromptConnection(Connection):
    """Tries again at least every three seconds: a broker that was away for a minute is not waited for another half."""

    def _ensure_connection(  # type: ignore[override]  # what we do not change goes by name
        self,
        errback: Any = None,
        max_retries: Any = None,
        interval_start: Any = 0.5,
        interval_step: Any = 0.5,
        interval_max: Any = 3,
        **options: Any,
    ) -> Any:
        """Kombu's own, with other pauses; it gives them by position when it publishes again."""
        return super()._ensure_connection(
            errback, max_retries, interval_start, interval_step, interval_max, **options
        )


class PromptAMQP(AMQP):
    """Celery's way to its broker, over such connections."""

    Connection = PromptConnection


def check_messages() -> None:
    """From now on this process speaks to Redis through the transport above."""
    for alias in ("redis", "rediss"):
        TRANSPORT_ALIASES[alias] = "workers.transport:CheckedTransport"
