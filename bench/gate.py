"""Measures the gate on real chats: what it promotes, what that is worth, and what a threshold should be.

    python -m bench.gate --data DIR [--labels FILE] [--vectors FILE] [--write-sample FILE] [--weights H R D]

DIR holds `longmemeval_dev.json` and `locomo_dev.json`. Each question's haystack, and each speaker of a
conversation, is one namespace that starts empty; its turns pass the gate in order of time with real vectors,
so novelty falls as memory fills. A turn is evidence when a benchmark question rests on it.

`labels/gate_junk.jsonl` holds what a reader judged of a sample, as turn ids alone: `useful` is true when the turn says
something about the user, their people, plans, work or wishes that a later conversation could build on. Junk is the
rest: requests that say nothing of who asks, thanks, questions about the world, texts to work on. `--write-sample`
writes further turns to judge, one JSON object a line, and `--labels` reads a judged file in place of the shipped one.
`--vectors` keeps the encoded turns for the next run.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.gate_chats import SOURCES, Chats, Passage, load_locomo, load_longmemeval, replay_all
from models.domain.gate.calibration import choose_threshold, fit_isotonic, reliability_curve
from models.domain.gate.gating import read_text_signals
from models.domain.gate.weights import DEFAULT_WEIGHTS, GateWeights
from models.encoders.onnx import OnnxEncoder

LABELS = Path(__file__).parent / "labels" / "gate_junk.jsonl"
THRESHOLDS = (0.28, 0.30, 0.32, 0.34, 0.35, 0.355, 0.36, 0.38, 0.40, 0.45, 0.50)
SAMPLED_AT = 0.35  # the contract's threshold: strata stay what they were when the labels were made
EDGE = 0.01  # passed by no more than this: what one more hundredth would stop
NEAR_MISS = 0.05
COLD_MEMORIES = 5  # novelty averages over five: before that the gate starts cold
SAMPLE_SIZES = {"passed": 130, "edge": 60, "near": 40, "far": 20}


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _share(flags: Iterable[bool]) -> float | None:
    values = list(flags)
    return round(sum(values) / len(values), 4) if values else None


def summarise(
    passages: Sequence[Passage], labels: dict[str, bool], standing: dict[str, float]
) -> dict[str, Any]:
    """Shares of one replay: promoted, evidence promoted, evidence and junk among the promoted.

    Judged turns count with what they stand for (`weigh_judged`), so the shares speak of all turns.
    """
    promoted = [p for p in passages if p.is_promoted]
    judged = [p for p in passages if p.turn.id in standing]
    mass = {True: 0.0, False: 0.0}
    kept = {True: 0.0, False: 0.0}
    for p in judged:
        mass[labels[p.turn.id]] += standing[p.turn.id]
        kept[labels[p.turn.id]] += standing[p.turn.id] * p.is_promoted
    return {
        "turns": len(passages),
        "promoted": _share(p.is_promoted for p in passages),
        "promoted_cold": _share(p.is_promoted for p in passages if p.memories_before < COLD_MEMORIES),
        "duplicates": _share(p.is_duplicate for p in passages),
        "evidence_promoted": _share(p.is_promoted for p in passages if p.turn.is_evidence),
        "evidence_among_promoted": _share(p.turn.is_evidence for p in promoted),
        "mean_novelty": round(float(np.mean([p.decision.signals.h for p in passages])), 3),
        "judged_promoted": len({p.turn.id for p in judged if p.is_promoted}),
        "junk_among_promoted": _ratio(kept[False], kept[True] + kept[False]),
        "useful_promoted": _ratio(kept[True], mass[True]),
    }


def _stratum(passage: Passage) -> tuple[str, str]:
    """Source and place at the gate: passed, passed by little, missed by little, or missed."""
    margin = passage.decision.score - passage.decision.threshold
    if passage.is_promoted:
        return passage.source, "edge" if margin < EDGE else "passed"
    return passage.source, "near" if margin >= -NEAR_MISS else "far"


def draw_sample(
    passages: Sequence[Passage], sizes: dict[str, int], *, rng: random.Random
) -> list[dict[str, Any]]:
    """Turns to judge: so many of each place at the gate, at random, half from each source."""
    drawn: list[Passage] = []
    for place, size in sizes.items():
        for source in SOURCES:
            pool = {p.turn.id: p for p in passages if _stratum(p) == (source, place)}
            ordered = sorted(pool.values(), key=lambda p: p.turn.id)
            drawn += rng.sample(ordered, min(size // 2, len(ordered)))
    return [
        {
            "id": p.turn.id,
            "source": p.source,
            "place": _stratum(p)[1],
            "score": round(p.decision.score, 4),
            "signals": {name: round(value, 3) for name, value in asdict(p.decision.signals).items()},
            "reasons": p.decision.reasons,
            "text": p.turn.text,
            "useful": None,
        }
        for p in drawn
    ]


def weigh_judged(passages: Sequence[Passage], labels: dict[str, bool]) -> dict[str, float]:
    """How many passages each judged turn stands for: strata are judged at different rates."""
    population = Counter(_stratum(p) for p in passages)
    judged = [p for p in passages if p.turn.id in labels]
    drawn = Counter(_stratum(p) for p in judged)
    standing: dict[str, list[float]] = {}
    for p in judged:
        standing.setdefault(p.turn.id, []).append(population[_stratum(p)] / drawn[_stratum(p)])
    return {turn_id: float(np.mean(values)) for turn_id, values in standing.items()}


def calibrate(
    passages: Sequence[Passage], labels: dict[str, bool], standing: dict[str, float]
) -> dict[str, Any]:
    """Fit P(useful | G) on the judged turns; the thresholds it gives for some wanted precisions."""
    judged = [p for p in passages if p.turn.id in labels]
    scores = [p.decision.score for p in judged]
    useful = [float(labels[p.turn.id]) for p in judged]
    weights = [standing[p.turn.id] for p in judged]
    fit = fit_isotonic(scores, useful, weights)
    everything = [p.decision.score for p in passages]
    expected = fit.predict(everything)
    wanted = (0.6, 0.7, 0.8, 0.9)
    return {
        "judged_turns": len({p.turn.id for p in judged}),
        "useful_share": round(float(np.average(useful, weights=weights)), 4),
        "thresholds": {str(w): choose_threshold(fit, everything, expected, w).why for w in wanted},
        "reliability": [asdict(place) for place in reliability_curve(scores, useful, 20)],
    }


def encode_turns(texts: dict[str, str], kept: Path | None) -> dict[str, NDArray[np.float32]]:
    """Return the unit vector of each turn, from the file of an earlier run where it holds them all."""
    if kept is not None and kept.exists():
        with np.load(kept) as stored:
            vectors = dict(zip(stored["ids"].tolist(), stored["vectors"], strict=True))
        if vectors.keys() >= texts.keys():
            return vectors
    rows = OnnxEncoder(threads=2).encode(list(texts.values()))
    if kept is not None:
        np.savez(kept, ids=np.array(list(texts)), vectors=rows)
    return dict(zip(texts, rows, strict=True))


def read_labels(path: Path) -> dict[str, bool]:
    """Return the judged turns of a sample file; rows still to be judged are left out."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["id"]: row["useful"] for row in rows if row["useful"] is not None}


def main() -> None:
    """Print the measurement as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--labels", type=Path, default=LABELS, help="judged sample, one JSON object a line")
    parser.add_argument("--vectors", type=Path, help="where the encoded turns are kept (.npz)")
    parser.add_argument("--write-sample", type=Path, help="where to write turns to judge")
    parser.add_argument("--turns", type=int, default=2000, help="distinct turns to encode of each data set")
    parser.add_argument(
        "--weights",
        type=float,
        nargs=3,
        default=(DEFAULT_WEIGHTS.novelty, DEFAULT_WEIGHTS.repetition, DEFAULT_WEIGHTS.load),
        metavar=("H", "R", "D"),
        help="weights of the conversational branch to measure",
    )
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()

    rng = random.Random(options.seed)
    novelty, repetition, load = options.weights
    weights = GateWeights(novelty=novelty, repetition=repetition, load=load)
    namespaces = [
        *load_longmemeval(options.data / "longmemeval_dev.json", most_turns=options.turns, rng=rng),
        *load_locomo(options.data / "locomo_dev.json", most_turns=options.turns),
    ]
    texts = {turn.id: turn.text for namespace in namespaces for turn in namespace.turns}
    chats = Chats(
        namespaces=namespaces,
        vectors=encode_turns(texts, options.vectors),
        signals={turn_id: read_text_signals(text) for turn_id, text in texts.items()},
    )
    labels = read_labels(options.labels)
    # Strata come from the contract's weights and threshold, whatever is measured below.
    reference = replay_all(chats, threshold=SAMPLED_AT, weights=DEFAULT_WEIGHTS)
    standing = weigh_judged(reference, labels)
    if options.write_sample:
        lines = (json.dumps(row, ensure_ascii=False) for row in draw_sample(reference, SAMPLE_SIZES, rng=rng))
        options.write_sample.write_text("\n".join(lines) + "\n", encoding="utf-8")

    report: dict[str, Any] = {"namespaces": len(namespaces), "distinct_turns": len(texts)}
    for source in SOURCES if labels else ():
        passages = [p for p in reference if p.source == source]
        report.setdefault("calibration", {})[source] = calibrate(passages, labels, standing)
    for threshold in THRESHOLDS:
        passages = replay_all(chats, threshold=threshold, weights=weights)
        report.setdefault("by_threshold", {})[str(threshold)] = {
            source: summarise([p for p in passages if p.source == source], labels, standing)
            for source in SOURCES
        }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
