"""Several runs over different questions as one result: the means are taken again over every question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench.quality.metrics import mean_by_category
from bench.quality.records import Scores
from models.errors import InvalidInput

ADDED = ("histories", "turns", "questions", "pipeline_seconds")


def join_results(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The data sets of all results; methods that one of them lacks are left out, a question may occur once."""
    joined: dict[str, Any] = {"plan": {"joined": [result["plan"] for result in results]}}
    for name in ("locomo", "longmemeval"):
        parts = [result[name] for result in results if name in result]
        if parts:
            joined[name] = _join(parts)
    return joined


def _join(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if any("per_question" not in part for part in parts):
        raise InvalidInput("a result holds no values by question", remedy="run it with --per-question")
    methods = [
        name for name in parts[0]["per_question"] if all(name in part["per_question"] for part in parts)
    ]
    rows = {name: [row for part in parts for row in part["per_question"][name]] for name in methods}
    for name in methods:
        repeated = [key for key, count in Counter(row["question"] for row in rows[name]).items() if count > 1]
        if repeated:
            raise InvalidInput(f"question {repeated[0]} was measured twice", remedy="join different shares")
    degraded: Counter[str] = Counter()
    for part in parts:
        degraded.update(part["degraded"])
    return {
        **{key: sum(part[key] for part in parts) for key in ADDED},
        "compaction": None,
        "peers_not_run": {name: why for part in parts for name, why in part["peers_not_run"].items()},
        "degraded": dict(degraded),
        "methods": {name: mean_by_category(_read(row) for row in rows[name]) for name in methods},
        "per_question": rows,
    }


def _read(row: Mapping[str, Any]) -> Scores:
    values = {key: value for key, value in row.items() if key not in {"question", "category"}}
    return Scores(question=row["question"], category=row["category"], values=values)
