"""The rules that are kept for an outage are true to a minute, whoever changed the documents."""

import threading
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import structlog
from sqlalchemy import Engine

from api.outage.last_known import LastKnown
from api.outage.waiting import Outage
from models.errors import ServiceError
from models.store.documents import load_rules
from models.store.engine import has_pass, tenant_transaction

log = structlog.get_logger(__name__)
CHECK_SECONDS: Final = 60.0  # how long rules that another process changed may be kept


class RuleKeeper:
    """A thread that reads kept rules again: at the start, when documents came or went, and now and then."""

    def __init__(self, engine: Engine, last_known: LastKnown, outage: Outage) -> None:
        self._engine = engine
        self._last_known = last_known
        self._outage = outage
        self._closing = threading.Event()
        self._changed = threading.Event()
        self._changed.set()  # what the files say may be old
        threading.Thread(target=self._run, name="rules", daemon=True).start()

    def drop(self, tenant_id: UUID, bindings: Sequence[str]) -> None:
        """Documents came or went: what was known of their rules is gone, and is read again soon."""
        self._last_known.drop(tenant_id, bindings)
        self._changed.set()

    def check(self) -> None:
        """Compare soon: a tenant's rules can be read from now on."""
        self._changed.set()

    def close(self) -> None:
        """Stop reading."""
        self._closing.set()
        self._changed.set()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._changed.wait(CHECK_SECONDS)
            self._changed.clear()
            if self._closing.is_set() or self._outage.is_on:
                continue
            try:
                self._read_again()
            except ServiceError as error:
                log.info("rules.not_checked", error=error.code)

    def _read_again(self) -> None:
        for tenant_id, bindings in self._last_known.bindings().items():
            if not has_pass(tenant_id):  # nobody of it has called since this process started
                continue
            changes = self._last_known.changes
            with tenant_transaction(self._engine, tenant_id) as connection:
                rules = load_rules(connection, tenant_id=tenant_id, bindings=bindings)
            self._last_known.keep(tenant_id, bindings, rules, changes=changes)
