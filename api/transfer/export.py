"""Export: a tenant's memory as lines of JSON, from one moment, however much it is."""

import json
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime

from api.access.decisions import check_session, choose_namespace
from api.runtime import Runtime
from api.transfer.schemas import FORMAT, VERSION
from models.domain.records import Identity
from models.errors import TransientError
from models.store.engine import tenant_transaction
from models.store.tenancy.tokens import Caller
from models.store.transfer.export import stream_export

TRANSFER_TIMEOUT_MS = 3_600_000
BYTES_AT_ONCE = 64 * 1024


def export(runtime: Runtime, caller: Caller, *, asked: Identity, session_id: str | None) -> Generator[bytes]:
    """The lines of an export, several at once; the first ones are read before this returns."""
    wanted = choose_namespace(caller, asked)
    if session_id is not None:
        check_session(runtime, caller, session_id, asked)
    chunks = _in_chunks(_lines(runtime, caller, wanted, session_id))
    first = next(chunks)  # what goes wrong at the beginning is answered as a problem, not as a torn stream

    def whole() -> Generator[bytes]:
        with closing(chunks):
            yield first
            yield from chunks

    return whole()


def _lines(runtime: Runtime, caller: Caller, namespace: str | None, session_id: str | None) -> Generator[str]:
    counts: Counter[str] = Counter()
    header = {
        "type": "header",
        "format": FORMAT,
        "version": VERSION,
        "exported_at": datetime.now(UTC).isoformat(),
        "namespace": namespace,
        "session_id": session_id,
    }
    with (
        transfer_slot(runtime),
        tenant_transaction(
            runtime.engine, caller, timeout_ms=TRANSFER_TIMEOUT_MS, is_snapshot=True
        ) as connection,
    ):
        yield json.dumps(header)
        for kind, record in stream_export(
            connection, tenant_id=caller.tenant_id, namespace=namespace, session_id=session_id
        ):
            counts[kind] += 1
            yield f'{{"type": "{kind}", {record[1:]}'
        yield json.dumps({"type": "end", "counts": counts})


def _in_chunks(lines: Generator[str]) -> Generator[bytes]:
    waiting = bytearray()
    with closing(lines):
        for line in lines:
            waiting += line.encode()
            waiting += b"\n"
            if len(waiting) >= BYTES_AT_ONCE:
                yield bytes(waiting)
                waiting.clear()
        yield bytes(waiting)


def transfer_slot(runtime: Runtime) -> AbstractContextManager[None]:
    """One of the few transfers that may run at once: each holds a connection as long as it lasts."""

    @contextmanager
    def held() -> Iterator[None]:
        if not runtime.transfers.acquire(blocking=False):
            raise TransientError(
                "too many exports and imports are running",
                code="too_many_transfers",
                remedy="repeat the call when one of them has ended",
            )
        try:
            yield
        finally:
            runtime.transfers.release()

    return held()
