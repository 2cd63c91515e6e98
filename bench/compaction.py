"""`longtail bench compaction`: one long session, fed as fast as the pipeline takes it, compacted meanwhile.

Claims: compaction keeps up with ingest; active items grow like the logarithm of the turns; assemble time stays
flat beside its floor; the active view costs a tenth of the raw turns or less; and the proof of losslessness is clean.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from sqlalchemy import Engine, text

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack
from bench.compaction_report import describe, summarize
from bench.texts import Line, load_lines
from models.encoders.protocol import Encoder
from models.encoders.registry import load_encoder
from models.store.engine import open_engine, plain_transaction, tenant_transaction
from models.store.tenancy.tokens import find_caller

SESSION: Final = "long"
USER: Final = "bench"
BATCH_TURNS: Final = 100
ASSEMBLE_CALLS: Final = 40
CHECKPOINTS: Final = (0.1, 0.2, 0.4, 0.8, 1.0)  # of the turns
SETTLE_SECONDS: Final = 900.0

_STATE: Final = """
SELECT (SELECT count(*) FROM longtail.turns WHERE session_id = :session) AS turns,
       (SELECT count(*) FROM longtail.summary_turns) AS covered,
       (SELECT count(*) FROM longtail.summaries) AS summaries,
       (SELECT count(*) FROM longtail.summaries WHERE is_active) AS active,
       (SELECT coalesce(max(level), 0) FROM longtail.summaries) AS levels,
       (SELECT coalesce(sum(summary_tokens), 0) FROM longtail.summaries WHERE is_active) AS active_tokens,
       (SELECT coalesce(sum(turn_tokens), 0) FROM longtail.summaries WHERE is_active) AS covered_tokens,
       (SELECT coalesce(avg(confidence), 0) FROM longtail.summaries WHERE is_active) AS confidence,
       (SELECT coalesce(sum(token_estimate), 0) FROM longtail.items
        WHERE kind = 'turn' AND NOT EXISTS (SELECT FROM longtail.summary_turns AS e WHERE e.turn_id = items.id)
       ) AS bare_tokens
"""
_BEHIND: Final = """
SELECT clock_timestamp() AS at, (SELECT next_position FROM longtail.sessions WHERE session_id = :session) AS sent,
       (SELECT count(*) FROM longtail.work WHERE stage NOT IN ('done', 'failed')) AS pending,
       (SELECT count(*) FROM longtail.summary_turns) AS covered
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The session at one moment, everything remembered; assemble beside its floor, call by call."""

    seconds: float
    turns: int
    covered: int
    summaries: int
    active_summaries: int
    levels: int
    raw_tokens: int
    view_tokens: int  # active summaries, and the turns that no summary covers
    mean_confidence: float
    assemble_ms_p50: float
    assemble_ms_p95: float
    floor_ms_p50: float  # query embedding and one vector query
    floor_ms_p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """How far compaction was while turns came in."""

    seconds: float
    sent: int
    remembered: int
    covered: int


@dataclass(kw_only=True)
class LongSession:
    """One session on a stack of its own, and eyes on it."""

    stack: ThrowawayStack
    encoder: Encoder
    started: float = field(default_factory=time.perf_counter)
    samples: list[Sample] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)

    def __post_init__(self) -> None:
        settings = self.stack.settings
        self.client = ServiceClient.from_settings(settings)
        self.owner: Engine = open_engine(self.stack.owner_url)
        self.reader: Engine = open_engine(settings.role_database_url("longtail_api"))
        with plain_transaction(self.reader) as connection:
            caller = find_caller(connection, token=settings.client_token() or "")
        assert caller is not None
        self.tenant_id: UUID = caller.tenant_id
        # what compaction leaves raw: the tail, and less than a run is worth
        self.left_tokens = settings.compaction_threshold_tokens + settings.compaction_tail_tokens()

    def feed(self, lines: Sequence[Line], *, first: int, backlog: int, told: Callable[[int], None]) -> None:
        """The next turns, a batch at a time, whenever fewer than `backlog` wait to be remembered."""
        for start in range(0, len(lines), BATCH_TURNS):
            while self.client.status()["pending"] > backlog:
                time.sleep(0.05)
            batch = lines[start : start + BATCH_TURNS]
            turns = [
                {"role": line.role, "content": line.text, "id": f"{first + start + number}"}
                | ({"name": line.name} if line.name else {})
                for number, line in enumerate(batch)
            ]
            self.client.post_turns(SESSION, turns, user_id=USER)
            self.sample()
            told(len(batch))

    def sample(self) -> Sample:
        """How far remembering and compaction are right now."""
        with plain_transaction(self.owner) as connection:
            row = connection.execute(text(_BEHIND), {"session": SESSION}).one()
        seconds = round(time.perf_counter() - self.started, 1)
        self.samples.append(
            Sample(seconds=seconds, sent=row.sent, remembered=row.sent - row.pending, covered=row.covered)
        )
        return self.samples[-1]

    def settle(self) -> float:
        """Wait until all is remembered, then until compaction has caught up; returns how long the latter took."""
        _wait_until(lambda: self.client.status()["pending"] == 0)
        return _wait_until(lambda: self._count_bare_tokens() < self.left_tokens)

    def _count_bare_tokens(self) -> int:
        with plain_transaction(self.owner) as connection:
            found = connection.execute(
                text("SELECT coalesce(sum(uncompacted_tokens), 0) FROM longtail.compactions")
            ).scalar_one()
        return int(found)

    def observe(self, queries: Sequence[str]) -> Checkpoint:
        """Look at the session and measure assemble beside its floor."""
        with plain_transaction(self.owner) as connection:
            row = connection.execute(text(_STATE), {"session": SESSION}).one()
        floors, calls = [], []
        for query in queries:
            floors.append(_milliseconds(lambda: self._search(query)))  # noqa: B023 - called at once
            calls.append(
                _milliseconds(
                    lambda: self.client.assemble(
                        session_id=SESSION,
                        query=query,  # noqa: B023
                        budget_tokens=4000,
                        user_id=USER,
                    )
                )
            )
        seen = Checkpoint(
            seconds=round(time.perf_counter() - self.started, 1),
            turns=row.turns,
            covered=row.covered,
            summaries=row.summaries,
            active_summaries=row.active,
            levels=row.levels,
            raw_tokens=int(row.covered_tokens + row.bare_tokens),
            view_tokens=int(row.active_tokens + row.bare_tokens),
            mean_confidence=round(float(row.confidence), 3),
            assemble_ms_p50=_percentile(calls, 50),
            assemble_ms_p95=_percentile(calls, 95),
            floor_ms_p50=_percentile(floors, 50),
            floor_ms_p95=_percentile(floors, 95),
        )
        self.checkpoints.append(seen)
        return seen

    def _search(self, query: str) -> None:
        """The floor of an assembly: embed the query, find the nearest vectors of the user, all of them looked at."""
        vector = self.encoder.encode([query])[0]
        nearest = (
            f"SELECT item_id FROM longtail.embeddings_{self.encoder.name} WHERE tenant_id = :tenant_id "
            "AND namespace = :user ORDER BY (embedding <=> CAST(:vector AS halfvec)) + 0 LIMIT 60"
        )
        with tenant_transaction(self.reader, self.tenant_id) as connection:
            connection.execute(
                text(nearest), {"tenant_id": self.tenant_id, "user": USER, "vector": HalfVector(vector)}
            ).all()

    def prove(self) -> dict[str, Any]:
        """`lineage verify` of the session."""
        start = time.perf_counter()
        proof = self.client.verify_lineage(session_id=SESSION)
        return {
            "violations": len(proof["violations"]),
            "summaries": proof["summaries"],
            "seconds": round(time.perf_counter() - start, 2),
        }

    def close(self) -> None:
        """Let the connections go."""
        self.owner.dispose()
        self.reader.dispose()


def run(
    *,
    turns: int,
    data: Path | None,
    output: Path | None,
    console: Console,
    encoder: str = "minilm",
    cache: Path | None = None,
    backlog: int = 300,
) -> dict[str, Any]:
    """The whole benchmark on a stack of its own; `output` names a JSON file, a Markdown file is written beside it."""
    lines = load_lines(turns, data=data)
    environment = {"LONGTAIL_ENCODER": encoder, "LONGTAIL_COMPACTION_JITTER_SECONDS": "0"}
    if cache is not None:
        environment["LONGTAIL_ENCODER_CACHE"] = str(cache.resolve())
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} turns"),
    )
    with (
        ThrowawayStack(environment) as stack,
        Progress(*columns, TimeElapsedColumn(), console=console) as bar,
    ):
        talking = bar.add_task("talking", total=turns)
        session = LongSession(stack=stack, encoder=load_encoder(encoder, threads=1))
        fed, feeding, lag = 0, 0.0, 0.0
        for share in CHECKPOINTS:
            part = lines[fed : round(turns * share)]
            start = time.perf_counter()
            session.feed(part, first=fed, backlog=backlog, told=lambda count: bar.advance(talking, count))
            feeding += time.perf_counter() - start
            fed += len(part)
            bar.update(talking, description="settling")
            lag = session.settle()
            bar.update(talking, description=f"assembling at {fed}")
            # asked about all that was said so far, not about its beginning
            asked = lines[:fed][:: max(fed // ASSEMBLE_CALLS, 1)][:ASSEMBLE_CALLS]
            seen = session.observe([f"What about {' '.join(line.text.split()[:8])}?" for line in asked])
            console.print(
                f"{seen.turns} turns, {seen.covered} covered, {seen.active_summaries} active summaries, "
                f"view {seen.raw_tokens / max(seen.view_tokens, 1):.1f} times smaller, assemble "
                f"{seen.assemble_ms_p50} / {seen.assemble_ms_p95} ms, floor {seen.floor_ms_p50} / {seen.floor_ms_p95} ms"
            )
            bar.update(talking, description="talking")
        bar.update(talking, description="proving")
        proof = session.prove()
        session.close()
    result = {
        "encoder": encoder,
        "vectors_cached_before": cache is not None,
        "backlog_turns": backlog,
        **summarize(
            [asdict(one) for one in session.checkpoints],
            [asdict(one) for one in session.samples],
            feeding_seconds=feeding,
            last_lag_seconds=lag,
        ),
        "proof": proof,
    }
    if output is not None:
        output.write_text(json.dumps(result, indent=2, ensure_ascii=False))
        output.with_suffix(".md").write_text(describe(result))
    return result


def _wait_until(condition: Callable[[], bool], *, seconds: float = SETTLE_SECONDS) -> float:
    start = time.perf_counter()
    while not condition():
        if time.perf_counter() - start > seconds:
            raise TimeoutError(f"the stack did not settle within {seconds:.0f} s")
        time.sleep(0.2)
    return time.perf_counter() - start


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def _percentile(values: Sequence[float], share: int) -> float:
    return round(float(np.percentile(values, share)), 1)
