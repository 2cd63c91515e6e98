"""Measures the shipped encoder alone: texts per second by batch and threads, and the latency of one query.

    python -m bench.speed.encoder --data DIR

DIR holds `locomo_dev.json` (short chat turns and questions) and `longmemeval_dev.json` (long turns).
Every setting is run once per round, in turn, so that a busy machine slows all of them alike; beside the
clock's median stands the processor time per text, which a busy machine moves far less.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from models.encoders.onnx import MICRO_BATCH_ROWS, MICRO_BATCH_TOKENS, OnnxEncoder
from models.encoders.protocol import Encoder

CALL_SIZES = (1, 2, 4, 8, 16, 32, 64)
BOUNDS = (128, 256, 512, 1024, 2048, 4096)


@dataclass(slots=True)
class Setting:
    """One way to encode the same texts, and what each round of it took."""

    name: str
    threads: int
    run: Callable[[], object]
    texts: int
    wall_seconds: list[float] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)

    def measure(self) -> None:
        wall, processor = time.perf_counter(), time.process_time()
        self.run()
        self.wall_seconds.append(time.perf_counter() - wall)
        self.processor_seconds.append(time.process_time() - processor)

    def report(self) -> dict[str, Any]:
        return {
            "setting": self.name,
            "threads": self.threads,
            "rounds": len(self.wall_seconds),
            "texts_per_second_median": round(self.texts / statistics.median(self.wall_seconds), 1),
            "texts_per_second_best": round(self.texts / min(self.wall_seconds), 1),
            "processor_ms_per_text_best": round(min(self.processor_seconds) / self.texts * 1000, 2),
        }


def read_conversations(folder: Path) -> tuple[list[str], list[str]]:
    """Returns the turns, as "speaker: text", and the questions of LoCoMo."""
    conversations = json.loads((folder / "locomo_dev.json").read_text(encoding="utf-8"))
    turns = [
        f"{turn['speaker']}: {turn['text']}"
        for entry in conversations
        for key, session in entry["conversation"].items()
        if key.startswith("session_") and isinstance(session, list)
        for turn in session
    ]
    return turns, [pair["question"] for entry in conversations for pair in entry["qa"]]


def read_long_turns(folder: Path) -> list[str]:
    """Returns the LongMemEval turns of 2,000 characters and more: two windows at least."""
    stored = json.loads((folder / "longmemeval_dev.json").read_text(encoding="utf-8"))
    return [
        turn["content"]
        for session in stored["sessions"].values()
        for turn in session["turns"]
        if len(turn["content"]) >= 2000
    ]


def encode_in_calls(encoder: OnnxEncoder, texts: Sequence[str], size: int) -> None:
    """Encodes the texts as callers would who hold `size` of them at a time."""
    for start in range(0, len(texts), size):
        encoder.encode(texts[start : start + size])


def measure_throughput(
    encoders: dict[int, OnnxEncoder], texts: Sequence[str], *, rounds: int
) -> list[dict[str, Any]]:
    """Returns texts per second for every number of texts per call, threads side by side."""
    settings = [
        Setting(
            name=f"{size} texts a call",
            threads=threads,
            run=partial(encode_in_calls, encoder, texts, size),
            texts=len(texts),
        )
        for size in CALL_SIZES
        for threads, encoder in encoders.items()
    ]
    return run_in_turn(settings, rounds)


def measure_bounds(texts: Sequence[str], *, threads: Sequence[int], rounds: int) -> list[dict[str, Any]]:
    """Returns texts per second by the token bound of a micro-batch, 64 texts a call."""
    settings = []
    for count in threads:
        for bound in BOUNDS:
            encoder = OnnxEncoder(threads=count, micro_batch_tokens=bound)
            settings.append(
                Setting(
                    name=f"micro-batches of {bound} tokens",
                    threads=count,
                    run=partial(encode_in_calls, encoder, texts, MICRO_BATCH_ROWS),
                    texts=len(texts),
                )
            )
    return run_in_turn(settings, rounds)


def measure_latency(encoder: Encoder, questions: Sequence[str], *, threads: int) -> dict[str, Any]:
    """Returns what one query alone takes, in milliseconds."""
    took = []
    for question in questions:
        started = time.perf_counter()
        encoder.encode([question])
        took.append((time.perf_counter() - started) * 1000)
    cuts = statistics.quantiles(took, n=100, method="inclusive")
    return {
        "threads": threads,
        "queries": len(took),
        "p50_ms": round(cuts[49], 2),
        "p95_ms": round(cuts[94], 2),
        "p99_ms": round(cuts[98], 2),
        "best_ms": round(min(took), 2),
    }


def measure_windows(encoder: OnnxEncoder, texts: Sequence[str], *, threads: int) -> dict[str, Any]:
    """Returns windows per second over long turns, all in one call."""
    wall, processor = time.perf_counter(), time.process_time()
    windows = sum(len(rows) for rows in encoder.encode_windows(texts))
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return {
        "threads": threads,
        "turns": len(texts),
        "windows": windows,
        "windows_per_second": round(windows / wall, 1),
        "processor_ms_per_window": round(processor / windows * 1000, 1),
    }


def run_in_turn(settings: Sequence[Setting], rounds: int) -> list[dict[str, Any]]:
    """Runs every setting once per round and returns their reports."""
    for _ in range(rounds):
        for setting in settings:
            setting.measure()
    return [setting.report() for setting in settings]


def render_table(rows: Sequence[dict[str, Any]]) -> str:
    """Returns the rows, which share their keys, as a Markdown table."""
    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([str(row[name]) for name in head] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Prints the tables, or every number as one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path, metavar="DIR")
    parser.add_argument("--texts", type=int, default=128, help="short turns in each round (default 128)")
    parser.add_argument("--long", type=int, default=12, help="long turns (default 12)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()

    choose = random.Random(1)
    turns, questions = read_conversations(options.data)
    short = choose.sample(turns, min(options.texts, len(turns)))
    asked = choose.sample(questions, min(100, len(questions)))
    long_turns = read_long_turns(options.data)
    long_turns = choose.sample(long_turns, min(options.long, len(long_turns)))

    before = psutil.Process().memory_info().rss
    started = time.perf_counter()
    encoders = {options.threads[0]: OnnxEncoder(threads=options.threads[0])}
    loaded = time.perf_counter() - started
    added = psutil.Process().memory_info().rss - before
    encoders |= {threads: OnnxEncoder(threads=threads) for threads in options.threads[1:]}
    report = {
        "loading": [
            {
                "seconds": round(loaded, 2),
                "megabytes": round(added / 1e6),
                "micro_batch_tokens": MICRO_BATCH_TOKENS,
                "micro_batch_rows": MICRO_BATCH_ROWS,
                "load_average": round(psutil.getloadavg()[0], 2),
            }
        ],
        "latency": [measure_latency(one, asked, threads=threads) for threads, one in encoders.items()],
        "throughput": measure_throughput(encoders, short, rounds=options.rounds),
        "micro_batch_bounds": measure_bounds(short, threads=options.threads, rounds=options.rounds),
        "windows": [measure_windows(one, long_turns, threads=threads) for threads, one in encoders.items()],
    }
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for title, rows in report.items():
        print(f"\n### {title}\n\n{render_table(rows)}")


if __name__ == "__main__":
    main()
