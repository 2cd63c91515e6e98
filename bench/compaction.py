"""`longtail bench compaction`: one long session, fed as fast as the pipeline takes it, compacted meanwhile.

Claims: compaction keeps up with ingest; active items grow like the logarithm of the turns; assemble time stays
flat; the active view costs a tenth of the raw turns or less; and the proof of losslessness is clean.
"""

import argparse
import json
import math
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import Progress
from sqlalchemy import Engine, text

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack
from bench.texts import load_texts
from models.store.engine import open_engine, plain_transaction

SESSION: Final = "long"
USER: Final = "bench"
BATCH_TURNS: Final = 100
MOST_PENDING: Final = 300  # a host that talks as fast as it is remembered
ASSEMBLE_CALLS: Final = 15
CHECKPOINTS: Final = 10
SETTLE_SECONDS: Final = 600.0

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The session at one moment."""

    seconds: float
    turns: int
    covered: int
    summaries: int
    active_summaries: int
    levels: int
    raw_tokens: int
    view_tokens: int  # active summaries, and the turns that no summary covers
    mean_confidence: float
    assemble_ms_p50: float | None


def observe(
    owner: Engine, *, since: float, client: ServiceClient | None = None, queries: Sequence[str] = ()
) -> Checkpoint:
    """Look at the session; with queries, also measure assemble."""
    with plain_transaction(owner) as connection:
        row = connection.execute(text(_STATE), {"session": SESSION}).one()
    took = []
    if client is not None:
        for query in queries:
            start = time.perf_counter()
            client.assemble(session_id=SESSION, query=query, budget_tokens=4000, user_id=USER)
            took.append((time.perf_counter() - start) * 1000)
    return Checkpoint(
        seconds=round(time.perf_counter() - since, 1),
        turns=row.turns,
        covered=row.covered,
        summaries=row.summaries,
        active_summaries=row.active,
        levels=row.levels,
        raw_tokens=int(row.covered_tokens + row.bare_tokens),
        view_tokens=int(row.active_tokens + row.bare_tokens),
        mean_confidence=round(float(row.confidence), 3),
        assemble_ms_p50=round(statistics.median(took), 1) if took else None,
    )


def feed(client: ServiceClient, texts: list[str], *, start: int) -> None:
    """The next turns, user and assistant by turns, once the pipeline has room for them."""
    for first in range(start, start + len(texts), BATCH_TURNS):
        while client.status()["pending"] > MOST_PENDING:
            time.sleep(0.05)
        batch = texts[first - start : first - start + BATCH_TURNS]
        turns = [
            {"role": "user" if number % 2 == 0 else "assistant", "content": body, "id": f"{first + number}"}
            for number, body in enumerate(batch)
        ]
        client.post_turns(SESSION, turns, user_id=USER)


def wait_until(condition: Any, *, seconds: float = SETTLE_SECONDS) -> float:
    """How long it took."""
    start = time.perf_counter()
    while not condition():
        if time.perf_counter() - start > seconds:
            raise TimeoutError("compaction did not catch up")
        time.sleep(0.2)
    return time.perf_counter() - start


def run(
    *, turns: int, data: Path | None, output: Path | None, console: Console, encoder: str = "minilm"
) -> dict[str, Any]:
    """The whole benchmark on a stack of its own."""
    texts = load_texts(turns, data=data)
    queries = [f"What about {' '.join(body.split()[:8])}?" for body in texts[:ASSEMBLE_CALLS]]
    step = max(turns // CHECKPOINTS, 1)
    environment = {
        "LONGTAIL_ENCODER": encoder,
        "LONGTAIL_COMPACTION_SCAN_SECONDS": "5",
        "LONGTAIL_COMPACTION_JITTER_SECONDS": "0",
    }
    with ThrowawayStack(environment) as stack, Progress(console=console) as progress:
        client = ServiceClient.from_settings(stack.settings)
        owner = open_engine(stack.owner_url)
        limit = stack.settings.compaction_threshold_tokens + stack.settings.compaction_tail_tokens()
        bar = progress.add_task("talking", total=turns)
        start = time.perf_counter()
        seen: list[Checkpoint] = []
        for first in range(0, turns, step):
            feed(client, texts[first : first + step], start=first)
            seen.append(observe(owner, since=start, client=client, queries=queries))
            progress.advance(bar, step)
        wait_until(lambda: client.status()["pending"] == 0)
        remembered = time.perf_counter() - start
        lag = wait_until(lambda: _count_bare(owner) < limit)
        last = observe(owner, since=start, client=client, queries=queries)
        verify_start = time.perf_counter()
        proof = client.verify_lineage(session_id=SESSION)
        verify_seconds = time.perf_counter() - verify_start
        owner.dispose()
    result = {"encoder": encoder, **summarize(seen, last, remembered=remembered, lag=lag)}
    result["proof"] = {
        "violations": len(proof["violations"]),
        "summaries": proof["summaries"],
        "seconds": round(verify_seconds, 2),
    }
    if output is not None:
        output.write_text(json.dumps(result, indent=2, ensure_ascii=False))
    return result


def _count_bare(owner: Engine) -> int:
    with plain_transaction(owner) as connection:
        found = connection.execute(
            text("SELECT coalesce(sum(uncompacted_tokens), 0) FROM longtail.compactions")
        ).scalar_one()
    return int(found)


def summarize(
    seen: Sequence[Checkpoint], last: Checkpoint, *, remembered: float, lag: float
) -> dict[str, Any]:
    """The checkpoints and the claims they bear out."""
    return {
        "turns": last.turns,
        "turns_per_second": round(last.turns / remembered, 1),
        "seconds_behind_ingest": round(lag, 1),
        "active_summaries": last.active_summaries,
        "levels": last.levels,
        "most_active_expected": 8 * max(math.ceil(math.log(max(last.turns / 20, 2), 5)), 1),
        "raw_tokens": last.raw_tokens,
        "view_tokens": last.view_tokens,
        "shrinks_by": round(last.raw_tokens / max(last.view_tokens, 1), 1),
        "assemble_ms_p50": {one.turns: one.assemble_ms_p50 for one in (*seen, last)},
        "checkpoints": [asdict(one) for one in (*seen, last)],
        "targets": "behind ingest by seconds; active items like log(turns); view ≥ 10 × smaller; 0 violations",
    }


def main() -> None:
    """`python -m bench.compaction`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--data", type=Path, default=None, help="folder with locomo_dev.json")
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--encoder", default="minilm", help="toy: everything but the model, in a minute")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a stopped benchmark stops its stack too
    result = run(**vars(arguments), console=Console(stderr=True))
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
