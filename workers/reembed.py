"""Vectors of everything under another encoder: filled in the background, then that encoder takes over (decision 46).

Rows are the truth. What is missing is asked of PostgreSQL, batch by batch, from where the last one ended; a worker that
dies loses its batch and, a lease later, its place. Live ingest goes first: between two batches its rows are looked for.
"""

import time
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final, Literal
from uuid import UUID

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from models.encoders.protocol import Encoder, EncoderUnavailable
from models.errors import ServiceError, describe_error
from models.store.engine import plain_transaction, tenant_transaction
from models.store.index.embeddings import add_vectors
from models.store.index.encoders import (
    FIRST,
    KnownEncoder,
    claim_filling,
    find_beside,
    find_unfilled,
    lock_switch,
    note_filling,
    take_over,
)
from models.store.index.items import load_item_texts
from models.store.memory.updates import add_statements
from models.store.work import count_ready_work
from workers.embed import encode_items

log = structlog.get_logger(__name__)
BATCH: Final = 32  # items; a second or two of a large model, and that long live ingest waits
MOST_AT_SWITCH: Final = (
    64  # may be missing when the switch is made: they are encoded while other writers wait
)
LEASE_SECONDS: Final = 30.0  # longer than a batch takes; so long nobody else goes on where a worker died
PAUSE_SECONDS: Final = 30.0  # after an error
SWITCH_TIMEOUT_MS: Final = 600_000
Load = Callable[[KnownEncoder], Encoder]
Progress = Literal["nothing", "more", "ingest_waits", "switched"]


def fill_next(engine: Engine, load: Load, *, budget_seconds: float = 20.0) -> Progress:
    """Go on with the encoder that is being filled, for a while; and have it take over when it lacks nothing."""
    with plain_transaction(engine) as connection:
        claimed = claim_filling(connection, lease_seconds=LEASE_SECONDS)
    if claimed is None:
        return "nothing"
    target, filled_to = claimed
    deadline = time.monotonic() + budget_seconds
    try:
        encoder = load(target)
        while time.monotonic() < deadline:
            with plain_transaction(engine, timeout_ms=SWITCH_TIMEOUT_MS) as connection:
                batch = find_unfilled(connection, name=target.name, behind=filled_to, count=BATCH)
            if batch:
                fill(engine, encoder, batch)
                filled_to = batch[-1][1]
            elif _switch(engine, encoder, target.name):
                log.info("encoder.switched", encoder=target.name)
                return "switched"
            else:  # it came in while the rest was filled: once more from the start
                filled_to = FIRST
            if not _note(engine, target.name, filled_to, lease_seconds=LEASE_SECONDS):
                return "nothing"
            if _does_ingest_wait(engine):
                _note(engine, target.name, filled_to, lease_seconds=0)
                return "ingest_waits"
    except Exception as error:
        problem = str(error) if isinstance(error, EncoderUnavailable) else describe_error(error)
        log.warning("reembed.paused", encoder=target.name, problem=problem)
        _note(engine, target.name, filled_to, lease_seconds=PAUSE_SECONDS, problem=problem)
        if not isinstance(error, ServiceError | EncoderUnavailable):
            raise
        return "nothing"
    _note(engine, target.name, filled_to, lease_seconds=0)
    return "more"


def fill(engine: Engine, encoder: Encoder, items: Sequence[tuple[UUID, UUID]]) -> None:
    """Vectors and statements of these items (tenant, item) under an encoder that does not serve yet, or no more."""
    for tenant_id, group in groupby(sorted(items), key=lambda one: one[0]):
        ids = [item_id for _, item_id in group]
        try:
            _fill_together(engine, encoder, tenant_id, ids)
        except IntegrityError:  # something was erased between reading and writing: it is not there any more
            for item_id in ids:
                _fill_together(engine, encoder, tenant_id, [item_id])


def _fill_together(engine: Engine, encoder: Encoder, tenant_id: UUID, ids: Sequence[UUID]) -> None:
    with tenant_transaction(engine, tenant_id) as connection:
        texts = load_item_texts(connection, tenant_id=tenant_id, ids=ids)
    vectors, statements = encode_items(encoder, texts)
    with tenant_transaction(engine, tenant_id) as connection:
        add_vectors(connection, tenant_id=tenant_id, encoder=encoder.name, items=vectors)
        add_statements(connection, tenant_id=tenant_id, encoder=encoder.name, statements=statements)


def follow(engine: Engine, load: Load, tenant_id: UUID, ids: Sequence[UUID]) -> None:
    """What was embedded a moment ago, for the encoder that served before: so the way back needs no waiting.

    Nothing waits for it. What it misses, `longtail reembed --roll-back` fills first.
    """
    try:
        with plain_transaction(engine) as connection:
            standby = find_beside(connection, duty="standby")
        if standby is not None:
            fill(engine, load(standby), [(tenant_id, item_id) for item_id in ids])
    except (ServiceError, EncoderUnavailable, IntegrityError) as error:
        log.warning("reembed.not_followed", items=len(ids), error=type(error).__name__)


def _switch(engine: Engine, encoder: Encoder, name: str) -> bool:
    """The last few while nobody else writes vectors, and the switch in the same breath; False where more is missing."""
    with plain_transaction(engine, timeout_ms=SWITCH_TIMEOUT_MS) as connection:
        lock_switch(connection)
        rest = find_unfilled(connection, name=name, behind=FIRST, count=MOST_AT_SWITCH + 1)
        if len(rest) > MOST_AT_SWITCH:
            return False
        fill(engine, encoder, rest)
        return take_over(connection, name=name)


def _note(
    engine: Engine, name: str, filled_to: UUID, *, lease_seconds: float, problem: str | None = None
) -> bool:
    with plain_transaction(engine) as connection:
        return note_filling(
            connection, name=name, filled_to=filled_to, lease_seconds=lease_seconds, problem=problem
        )


def _does_ingest_wait(engine: Engine) -> bool:
    with plain_transaction(engine) as connection:
        return bool({"accepted", "ingested"} & count_ready_work(connection).keys())
