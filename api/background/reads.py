"""Counting what prompts are made of: how often each item was recalled, written down now and then.

The count is for reports alone and part of no score: being read is no evidence of being useful, feedback is. So it may
lag and a crash may lose the last seconds of it; what it must never do is make an assembly wait.
"""

import threading
from collections import Counter
from collections.abc import Iterable
from uuid import UUID

import structlog
from sqlalchemy import Engine

from models.errors import ServiceError
from models.store.engine import tenant_transaction
from models.store.index.items import add_reads

log = structlog.get_logger(__name__)
FLUSH_SECONDS = 5.0
MOST_WAITING = 100_000  # with PostgreSQL away for long, newer reads are not counted


class ReadCounter:
    """Adds up reads in memory; a thread of its own writes them."""

    def __init__(self, engine: Engine, *, flush_seconds: float = FLUSH_SECONDS) -> None:
        self._engine = engine
        self._flush_seconds = flush_seconds
        self._waiting: Counter[tuple[UUID, str]] = Counter()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reads", daemon=True)
        self._thread.start()

    def count(self, tenant_id: UUID, item_ids: Iterable[str]) -> None:
        """These items were put into a prompt."""
        with self._lock:
            if len(self._waiting) < MOST_WAITING:
                self._waiting.update((tenant_id, item_id) for item_id in item_ids)

    def close(self) -> None:
        """Write what is left, then stop."""
        self._closing.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._closing.wait(self._flush_seconds):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, Counter()
        for tenant_id in {tenant for tenant, _ in waiting}:
            reads = {item: count for (tenant, item), count in waiting.items() if tenant == tenant_id}
            try:
                with tenant_transaction(self._engine, tenant_id, timeout_ms=2000) as connection:
                    add_reads(connection, tenant_id=tenant_id, reads=reads)
            except ServiceError as error:
                log.warning("reads.not_counted", error=error.code, items=len(reads))
