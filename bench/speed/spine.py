"""`longtail bench spine`: accept, pipeline and assemble, each beside its floor, measured in one run.

Floors: a bare one-row INSERT with commit on the same server; the encoder alone on the same texts; the query's
embedding plus one vector query. Calls and floors alternate, so that both meet the same machine.
"""

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from rich.console import Console
from rich.progress import Progress
from sqlalchemy import text

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack
from bench.texts import load_texts
from models.encoders.registry import load_encoder
from models.store.engine import open_engine, plain_transaction, tenant_transaction
from models.store.index.embeddings import table_of
from models.store.tenancy.tokens import find_caller

USER = "bench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured; a smaller workload is for trying the benchmark, not for reporting it."""

    accept_calls: int = 400
    pipeline_turns: int = 2000
    memories: int = 10_000
    assemble_calls: int = 200


def milliseconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def spread(samples: list[float]) -> dict[str, float]:
    """Median, p95, p99 and the number of samples."""
    p50, p95, p99 = np.percentile(samples, [50, 95, 99])
    return {"n": len(samples), "p50": round(p50, 3), "p95": round(p95, 3), "p99": round(p99, 3)}


def measure_accept(stack: ThrowawayStack, client: ServiceClient, texts: list[str]) -> dict[str, Any]:
    """The call a host waits for, beside a bare INSERT with commit."""
    owner = open_engine(stack.owner_url)
    with plain_transaction(owner) as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS longtail.bench_floor (id bigint, body text)"))

    def insert(number: int, body: str) -> None:
        with owner.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(
                text("INSERT INTO longtail.bench_floor VALUES (:id, :body)"), {"id": number, "body": body}
            )

    floor, calls = [], []
    for number, body in enumerate(texts):
        turn = {"role": "user", "content": body, "id": f"accept-{number}"}
        floor.append(milliseconds(lambda: insert(number, body)))  # noqa: B023 - called at once
        calls.append(milliseconds(lambda: client.post_turns("accept", [turn], user_id="accept")))  # noqa: B023
    with plain_transaction(owner) as connection:
        connection.execute(text("DROP TABLE longtail.bench_floor"))
    owner.dispose()
    return {
        "floor_insert_ms": spread(floor),
        "accept_ms": spread(calls),
        "p99_ratio": round(float(np.percentile(calls, 99) / np.percentile(floor, 99)), 3),
        "target": "p99 of accept ≤ 3 × p99 of a bare INSERT with commit",
    }


def wait_for_pipeline(client: ServiceClient, progress: Progress, title: str) -> None:
    """Until nothing waits."""
    pending = client.status()["pending"]
    bar = progress.add_task(title, total=max(pending, 1))
    while pending:
        time.sleep(0.2)
        left = client.status()["pending"]
        progress.advance(bar, pending - left)
        pending = left
    progress.remove_task(bar)


def send(client: ServiceClient, texts: list[str], *, session: str, user: str) -> None:
    """All texts as user turns, in calls of 200."""
    for start in range(0, len(texts), 200):
        turns = [
            {"role": "user", "content": body, "id": f"{session}-{start + number}"}
            for number, body in enumerate(texts[start : start + 200])
        ]
        client.post_turns(session, turns, user_id=user)


def measure_pipeline(
    client: ServiceClient, texts: list[str], progress: Progress, *, encoder_name: str, threads: int
) -> dict[str, Any]:
    """Turns a second from accept to remembered, beside the encoder alone on the same texts, before and after."""

    def raw() -> float:
        encoder = load_encoder(encoder_name, threads=threads)
        encoder.encode_windows(texts[:64])
        start = time.perf_counter()
        for first in range(0, len(texts), 64):
            encoder.encode_windows(texts[first : first + 64])
        return len(texts) / (time.perf_counter() - start)

    before = raw()
    start = time.perf_counter()
    send(client, texts, session="pipeline", user="pipeline")
    wait_for_pipeline(client, progress, "pipeline")
    rate = len(texts) / (time.perf_counter() - start)
    after = raw()
    floor = statistics.mean((before, after))
    return {
        "turns": len(texts),
        "encoder_alone_texts_per_second": [round(before, 1), round(after, 1)],
        "pipeline_turns_per_second": round(rate, 1),
        "ratio": round(rate / floor, 3),
        "target": "pipeline ≥ 0.5 × the encoder alone",
    }


def measure_assemble(
    stack: ThrowawayStack,
    client: ServiceClient,
    queries: list[str],
    *,
    user: str,
    session: str,
    is_exact: bool,
) -> dict[str, Any]:
    """assemble beside query embedding plus one vector query over the same memories, exact or through the graph."""
    settings = stack.settings
    encoder = load_encoder(settings.encoder, threads=1)  # one query is no faster with more
    engine = open_engine(settings.role_database_url("longtail_api"))
    with plain_transaction(engine) as connection:
        caller = find_caller(connection, token=settings.client_token() or "")
    assert caller is not None
    tenant_id: UUID = caller.tenant_id
    distance = "embedding <=> CAST(:vector AS halfvec)"
    nearest = text(
        f"SELECT item_id FROM longtail.{table_of(encoder.name)} WHERE tenant_id = :tenant_id AND namespace = :user "
        f"ORDER BY {f'({distance}) + 0' if is_exact else distance} LIMIT 60"
    )

    def search(vector: Any) -> None:
        with tenant_transaction(engine, tenant_id) as connection:
            connection.execute(
                nearest, {"tenant_id": tenant_id, "user": user, "vector": HalfVector(vector)}
            ).all()

    embed_ms, query_ms, calls = [], [], []
    stages: dict[str, list[float]] = {}
    for query in queries:
        start = time.perf_counter()
        vector = encoder.encode([query])[0]
        embed_ms.append((time.perf_counter() - start) * 1000)
        query_ms.append(milliseconds(lambda: search(vector)))  # noqa: B023 - called at once
        start = time.perf_counter()
        answer = client.assemble(session_id=session, query=query, budget_tokens=4000, user_id=user)
        calls.append((time.perf_counter() - start) * 1000)
        for stage, took in answer["timings_ms"].items():
            stages.setdefault(stage, []).append(took)
    engine.dispose()
    floor = [one + other for one, other in zip(embed_ms, query_ms, strict=True)]
    return {
        "query_embedding_ms": spread(embed_ms),
        "vector_query_ms": spread(query_ms),
        "floor_ms": spread(floor),
        "assemble_ms": spread(calls),
        "stages_p50_ms": {stage: round(statistics.median(took), 3) for stage, took in stages.items()},
        "p95_ratio": round(float(np.percentile(calls, 95) / np.percentile(floor, 95)), 3),
    }


def run(*, sizes: Sizes, data: Path | None, output: Path | None, console: Console) -> dict[str, Any]:
    """The whole benchmark on a stack of its own."""
    texts = load_texts(sizes.memories + sizes.pipeline_turns, data=data)
    with ThrowawayStack() as stack, Progress(console=console) as progress:
        settings = stack.settings
        client = ServiceClient.from_settings(settings)
        encoder = settings.encoder
        threads = settings.encoder_threads
        result: dict[str, Any] = {"accept": measure_accept(stack, client, texts[: sizes.accept_calls])}
        wait_for_pipeline(client, progress, "settling")
        result["pipeline"] = measure_pipeline(
            client, texts[-sizes.pipeline_turns :], progress, encoder_name=encoder, threads=threads
        )
        bar = progress.add_task("loading memories", total=None)
        send(client, texts[: sizes.memories], session="memories", user=USER)
        wait_for_pipeline(client, progress, "remembering")
        progress.update(bar, description="compacting")
        # What is measured is a memory at rest: neither the call nor its floor shares the machine with other work.
        while not client.compact("memories")["is_done"]:
            pass
        progress.remove_task(bar)
        queries = [f"What about {' '.join(body.split()[:8])}?" for body in texts[: sizes.assemble_calls]]
        result["assemble"] = {
            "memories": sizes.memories,
            **measure_assemble(stack, client, queries, user=USER, session="memories", is_exact=True),
            "target": "p95 of assemble ≤ 2 × p95 of (query embedding + one vector query)",
        }
    if output is not None:
        output.write_text(json.dumps(result, indent=2, ensure_ascii=False))
    return result
