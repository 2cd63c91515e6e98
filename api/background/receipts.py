"""Receipts are written after the answer is sent, by a thread of their own: an assembly never waits for one.

A crash may lose the last second of them, and with PostgreSQL away for long the newest are dropped: a receipt explains a
prompt, nothing rests on it.
"""

import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy import Engine

from api.middleware.rates import RateLimiter
from models.errors import ServiceError
from models.settings import Settings
from models.store.engine import tenant_transaction
from models.store.receipts import NewReceipt, add_receipts, prune_tenant

log = structlog.get_logger(__name__)
PAUSE_SECONDS = 0.25  # the answer goes out first, and what comes together is written together
MOST_WAITING = 512
BATCH = 32
WRITE_TIMEOUT_MS = 5000
BURST = 32  # receipts that may be taken at once, before `receipts_per_second` counts


class Unwritten(NamedTuple):
    """A receipt that is not written yet: taking it down costs an assembly nothing."""

    id: UUID
    tenant_id: UUID
    make_row: Callable[[], NewReceipt]


class ReceiptWriter:
    """Takes drafts, keeps a share of them, and bounds how many of a tenant there are."""

    def __init__(self, engine: Engine, settings: Settings, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._engine = engine
        self._share = settings.receipt_share
        self._pace = RateLimiter(per_second=settings.receipts_per_second, burst=BURST)
        self._kept = settings.receipts_kept
        self._pause_seconds = pause_seconds
        self._waiting: deque[Unwritten] = deque()
        self._unwritten: set[UUID] = set()
        self._added: Counter[UUID] = Counter()  # by tenant, since its last pruning
        self._change = threading.Condition()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="receipts", daemon=True)
        self._thread.start()

    def wants(self, *, is_asked: bool) -> bool:
        """Whether this assembly's receipt is kept: always where somebody asks for an explanation, else by chance.

        A host that asks once a turn has all of them; a flood of calls is not slowed down by writing about each.
        """
        if is_asked:
            return True
        is_drawn = random.random() < self._share  # noqa: S311 - a sample, no secret
        return is_drawn and self._pace.wait_seconds("") == 0

    def keep(self, receipt_id: UUID, tenant_id: UUID, make_row: Callable[[], NewReceipt]) -> None:
        """Write this down later."""
        with self._change:
            if len(self._waiting) >= MOST_WAITING:
                return
            self._waiting.append(Unwritten(receipt_id, tenant_id, make_row))
            self._unwritten.add(receipt_id)
            self._change.notify_all()

    def wait_for(self, assembly_id: UUID, *, seconds: float) -> None:
        """Return when a receipt that was taken is written, or the time is up: who asks at once finds it."""
        with self._change:
            self._change.wait_for(lambda: assembly_id not in self._unwritten, timeout=seconds)

    def close(self) -> None:
        """Write what is left, then stop."""
        self._closing.set()
        with self._change:
            self._change.notify_all()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._waiting or self._closing.is_set())
                if not self._waiting:
                    return
            self._closing.wait(self._pause_seconds)
            with self._change:
                drafts = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            try:
                self._write(drafts)
            except Exception as error:  # one receipt that cannot be written must not end all others
                log.error("receipts.failed", error=type(error).__name__, receipts=len(drafts), exc_info=error)
            finally:
                with self._change:
                    self._unwritten.difference_update(draft.id for draft in drafts)
                    self._change.notify_all()

    def _write(self, drafts: Sequence[Unwritten]) -> None:
        for tenant_id in {draft.tenant_id for draft in drafts}:
            receipts = []
            for draft in drafts:
                if draft.tenant_id == tenant_id:
                    receipts.append(draft.make_row())
                    time.sleep(0)  # whoever answers a request goes first
            self._added[tenant_id] += len(receipts)
            try:
                with tenant_transaction(self._engine, tenant_id, timeout_ms=WRITE_TIMEOUT_MS) as connection:
                    add_receipts(connection, tenant_id=tenant_id, receipts=receipts)
                    if self._added[tenant_id] * 10 >= self._kept:  # a tenth over the bound at most
                        prune_tenant(connection, tenant_id=tenant_id, kept=self._kept)
                        self._added[tenant_id] = 0
            except ServiceError as error:
                log.warning("receipts.not_written", error=error.code, receipts=len(receipts))
