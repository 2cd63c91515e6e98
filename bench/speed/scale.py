"""`longtail bench scale`: assemble as one user's memory grows, beside its floor, and the plans of its statements.

The memories are written into the tables by the functions of the pipeline, but not by its workers: encoding a million
texts takes hours, and what is measured is reading. The vectors of most texts are those of real ones with noise added, so
that their distances spread as real ones do. The graph index is built when all rows are there, as a restore would.
"""

import json
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from psycopg import sql
from rich.console import Console
from rich.progress import Progress
from sqlalchemy import Connection, Engine, text

from api.assemble.schemas import AssembleIn
from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack
from bench.speed.plans import explain_assembly, render_plans
from bench.speed.spine import measure_assemble
from bench.texts import load_texts
from models.domain.records import Identity, NewTurn
from models.encoders.protocol import Encoder
from models.encoders.registry import load_encoder
from models.store.conversation.turns import accept_turns, load_turns
from models.store.engine import open_engine, plain_transaction, tenant_transaction
from models.store.index.embeddings import Vector, table_of
from models.store.index.items import add_items
from models.store.tenancy.tokens import find_caller
from workers.ingest import NO_RULE, describe_turn

USER: Final = "scale"
PLANNED_QUERY: Final = "What did I say about the garden we planted last week?"
BATCH_TURNS: Final = 1000
SESSION_TURNS: Final = 100
REAL_VECTORS: Final = 3000
NOISE: Final = (
    0.6  # of a real vector's length: two texts made from one are about as like as two turns of one talk
)
BUILD_MEMORY: Final = "4GB"
STATISTICS_SECONDS: Final = 2.0  # until the server has counted what was read
MEMORY_SHARE: Final = 0.2  # of the turns that are durable memories
LARGE_TABLES: Final = ("turns", "items", "postings", "gate_decisions", "memories", "embeddings_minilm")

_DONE = text("UPDATE work SET stage = 'done' WHERE item_id = ANY(:ids)")
_GATED = text("""
INSERT INTO gate_decisions (turn_id, tenant_id, namespace, keep, threshold, g, t, h, r, d, input_freq, mem_saturation, p, a,
                            dtech, gconv, gtech, memory_id)
SELECT id, :tenant_id, :namespace, memory_id IS NOT NULL, 0.355, 0.4, 0, 0.5, 0, load, 0, 0, 0, 0, 0, 0.4, 0, memory_id
FROM unnest(CAST(:ids AS uuid[]), CAST(:loads AS float8[]), CAST(:memory_ids AS uuid[])) AS given (id, load, memory_id)
""")
_REMEMBERED = text("""
WITH kept AS (
    INSERT INTO memories (tenant_id, namespace, turn_id, body, gate_score, first_seen_at, last_seen_at)
    SELECT tenant_id, namespace, id, content, 0.4, ts, ts FROM turns WHERE id = ANY(:ids) RETURNING id, turn_id
), linked AS (
    INSERT INTO memory_sources (tenant_id, memory_id, turn_id, similarity) SELECT :tenant_id, id, turn_id, 1 FROM kept
)
SELECT id, turn_id FROM kept
""")


def make_vectors(real: Vector, count: int, *, seed: int) -> Vector:
    """So many unit vectors that lie among the real ones."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((count, real.shape[1])).astype(np.float32) / np.sqrt(real.shape[1])
    mixed = real[rng.integers(0, len(real), count)] + NOISE * noise
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), dtype=np.float32)


def write_turns(connection: Connection, tenant_id: UUID, texts: Sequence[str], *, first: int) -> list[UUID]:
    """A batch of turns as the pipeline leaves them, but for their vectors."""
    rng = np.random.default_rng(first)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    ids: list[UUID] = []
    for offset in range(0, len(texts), SESSION_TURNS):
        session = f"scale-{(first + offset) // SESSION_TURNS}"
        accepted = accept_turns(
            connection,
            whose=tenant_id,
            session_id=session,
            identity=Identity(user_id=USER),
            turns=[
                NewTurn(
                    role="user", content=body, ts=start + timedelta(seconds=30 * (first + offset + place))
                )
                for place, body in enumerate(texts[offset : offset + SESSION_TURNS])
            ],
        )
        ids += accepted.turn_ids
    connection.execute(_DONE, {"ids": ids})
    turns = load_turns(connection, tenant_id=tenant_id, ids=ids)
    add_items(connection, items=[describe_turn(turn, NO_RULE, is_verbatim=True) for turn in turns])
    kept = [turn_id for turn_id in ids if rng.random() < MEMORY_SHARE]
    memories = {
        row.turn_id: row.id for row in connection.execute(_REMEMBERED, {"tenant_id": tenant_id, "ids": kept})
    }
    connection.execute(
        _GATED,
        {
            "tenant_id": tenant_id,
            "namespace": USER,
            "ids": ids,
            "loads": rng.choice([0.0, 0.3, 0.6], len(ids)).tolist(),
            "memory_ids": [memories.get(turn_id) for turn_id in ids],
        },
    )
    return ids


def copy_vectors(
    connection: Connection, tenant_id: UUID, table: str, ids: Sequence[UUID], rows: Vector
) -> None:
    """The vectors of a batch, a window a turn."""
    driver: Any = connection.connection.driver_connection
    statement = sql.SQL(
        "COPY {} (tenant_id, item_id, window_no, kind, namespace, role, seq, embedding) FROM STDIN (FORMAT BINARY)"
    ).format(sql.Identifier(table))
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(["uuid", "uuid", "int4", "text", "text", "text", "int8", "halfvec"])
        for number, (item_id, row) in enumerate(zip(ids, rows, strict=True)):
            copy.write_row((tenant_id, item_id, 0, "turn", USER, "user", number, HalfVector(row)))


def fill(
    owner: Engine,
    tenant_id: UUID,
    *,
    encoder: Encoder,
    sizes: Sequence[int],
    data: Path | None,
    progress: Progress,
) -> Iterator[int]:
    """Grow the memory to each size in turn, and say when it is there."""
    table = table_of(encoder.name)
    texts = load_texts(sizes[-1], data=data)
    real = np.vstack(
        [encoder.encode(texts[at : at + 64]) for at in range(0, min(REAL_VECTORS, len(texts)), 64)]
    )
    with plain_transaction(owner) as connection:
        index = connection.execute(
            text("SELECT indexdef FROM pg_indexes WHERE indexname = :name"), {"name": f"ix_{table}_nearest"}
        ).scalar_one()
    done = 0
    for size in sizes:
        bar = progress.add_task(f"writing {size:,} memories", total=size, completed=done)
        with plain_transaction(owner) as connection:
            connection.execute(text(f"DROP INDEX IF EXISTS longtail.ix_{table}_nearest"))
        for first in range(done, size, BATCH_TURNS):
            some = texts[first : min(first + BATCH_TURNS, size)]
            vectors = make_vectors(real, len(some), seed=first)
            known = real[first : first + len(some)]
            vectors[: len(known)] = known
            with tenant_transaction(owner, tenant_id, timeout_ms=600_000) as connection:
                ids = write_turns(connection, tenant_id, some, first=first)
                copy_vectors(connection, tenant_id, table, ids, vectors)
            progress.advance(bar, len(some))
        progress.update(bar, description=f"building the graph over {size:,} vectors")
        with plain_transaction(owner, timeout_ms=7_200_000) as connection:
            connection.execute(text(f"SET LOCAL maintenance_work_mem = '{BUILD_MEMORY}'"))
            connection.execute(text(index))
        with owner.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
        progress.remove_task(bar)
        done = size
        yield size


def run(
    *,
    sizes: Sequence[int],
    calls: int,
    data: Path | None,
    output: Path | None,
    plans: Path | None,
    console: Console,
) -> dict[str, Any]:
    """Every size in one run, on a stack of its own; the plans are those of the largest."""
    sizes = sorted(set(sizes))
    result: dict[str, Any] = {"sizes": {}}
    # Compaction has nothing to do here: one user, sessions of a hundred turns, and none of them is measured.
    with (
        ThrowawayStack({"LONGTAIL_COMPACTION_IDLE_SECONDS": "1000000"}) as stack,
        Progress(console=console) as progress,
    ):
        settings = stack.settings
        encoder = load_encoder(settings.encoder, threads=1)
        owner, engine = open_engine(stack.owner_url), open_engine(settings.role_database_url("longtail_api"))
        with plain_transaction(engine) as connection:
            caller = find_caller(connection, token=settings.client_token() or "")
        assert caller is not None
        # Every call asks something new: the API keeps the vectors of what it was asked before.
        texts = load_texts(2 * calls * len(sizes), data=data)
        unasked = iter([f"What about {' '.join(body.split()[:8])}?" for body in texts])
        asked: Any = {"user": USER, "session": "asking", "is_exact": False}
        with ServiceClient.from_settings(settings) as client:
            for size in fill(
                owner, caller.tenant_id, encoder=encoder, sizes=sizes, data=data, progress=progress
            ):
                # The caches of the server are warm, as in use.
                measure_assemble(stack, client, list(islice(unasked, calls)), **asked)
                before = _count_scans(owner)
                found = measure_assemble(stack, client, list(islice(unasked, calls)), **asked)
                time.sleep(STATISTICS_SECONDS)
                after = _count_scans(owner)
                found["sequential_scans"] = {table: after[table] - before[table] for table in after}
                result["sizes"][str(size)] = found
                console.print(
                    f"{size:,}: assemble p95 {found['assemble_ms']['p95']} ms, {found['p95_ratio']} × floor"
                )
        owner.dispose()
        engine.dispose()
        if plans is not None:
            request = AssembleIn(session_id="asking", user_id=USER, query=PLANNED_QUERY, budget_tokens=4000)
            plans.write_text(render_plans(explain_assembly(stack, request), memories=sizes[-1]))
    first, last = (result["sizes"][str(size)]["assemble_ms"]["p95"] for size in (sizes[0], sizes[-1]))
    result["growth"] = {"from": sizes[0], "to": sizes[-1], "p95_ratio": round(last / first, 3)}
    if output is not None:
        output.write_text(json.dumps(result, indent=2, ensure_ascii=False))
    return result


def _count_scans(owner: Engine) -> dict[str, int]:
    """How often each large table was read from end to end so far, by the statistics of the server itself."""
    with plain_transaction(owner) as connection:
        rows = connection.execute(
            text("SELECT relname, seq_scan FROM pg_stat_user_tables WHERE relname = ANY(:names)"),
            {"names": list(LARGE_TABLES)},
        )
        return {row.relname: row.seq_scan for row in rows}
