"""Measures the gate on real chats: what it promotes, what that is worth, and what a threshold should be.

    python -m bench.gate --data DIR [--labels FILE] [--write-sample FILE] [--weights H R D]

DIR holds `longmemeval_dev.json` and `locomo_dev.json`. Each question's haystack, and each speaker of a
conversation, is one namespace that starts empty; its turns pass the gate in order of time with real vectors,
so novelty falls as memory fills. A turn is evidence when a benchmark question rests on it.

`--write-sample` writes turns to judge, one JSON object a line; a person adds `"useful": true` or `false` to
each, and `--labels` reads them back.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.domain.calibration import choose_threshold, fit_isotonic, reliability_curve
from models.domain.gating import (
    DEFAULT_THRESHOLD,
    DEFAULT_WEIGHTS,
    GateDecision,
    GateWeights,
    TextSignals,
    decide_gate,
    read_text_signals,
)
from models.encoders.onnx import OnnxEncoder

THRESHOLDS = (0.28, 0.30, 0.32, 0.34, 0.35, 0.36, 0.38, 0.40, 0.45, 0.50)
SOURCES = ("longmemeval", "locomo")
NEAR_DUPLICATE_SIMILARITY = 0.95  # memory-model.md, section 5
NEAR_MISS = 0.05
COLD_MEMORIES = 5  # novelty averages over five: before that the gate starts cold
SAMPLE_SIZES = {"passed": 100, "near": 50, "far": 50}
_EVIDENCE_ID = re.compile(r"D(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One user turn of a data set; `id` is stable from run to run."""

    id: str
    text: str
    is_evidence: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """The turns of one user, oldest first."""

    source: str
    turns: tuple[ChatTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A turn at the gate: the decision, how many memories there were, and whether it repeated one."""

    source: str
    turn: ChatTurn
    decision: GateDecision
    memories_before: int
    is_duplicate: bool

    @property
    def is_promoted(self) -> bool:
        return self.decision.keep and not self.is_duplicate


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """All namespaces, and by turn id the unit vector and the text signals."""

    namespaces: Sequence[Namespace]
    vectors: dict[str, NDArray[np.float32]]
    signals: dict[str, TextSignals]


def load_longmemeval(path: Path, *, most_turns: int, rng: random.Random) -> list[Namespace]:
    """One namespace per question, while their distinct turns number at most `most_turns`."""
    data = json.loads(path.read_text(encoding="utf-8"))
    questions = [q for q in data["questions"] if not q["question_id"].endswith("_abs")]
    rng.shuffle(questions)
    namespaces: list[Namespace] = []
    seen: set[str] = set()
    for question in questions:
        keys = sorted(question["haystack"], key=lambda key: data["sessions"][key]["date"])
        turns = tuple(
            ChatTurn(id=f"{key}:{i}", text=turn["content"], is_evidence=bool(turn.get("has_answer")))
            for key in keys
            for i, turn in enumerate(data["sessions"][key]["turns"])
            if turn["role"] == "user"
        )
        if namespaces and len(seen | {turn.id for turn in turns}) > most_turns:
            break
        seen |= {turn.id for turn in turns}
        namespaces.append(Namespace(source="longmemeval", turns=turns))
    return namespaces


def load_locomo(path: Path, *, most_turns: int) -> list[Namespace]:
    """One namespace per speaker, while their turns number at most `most_turns`."""
    namespaces: list[Namespace] = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        evidence = {
            (int(session), int(turn))
            for question in sample["qa"]
            for text in question["evidence"]
            for session, turn in _EVIDENCE_ID.findall(text)
        }
        sessions = sample["conversation"]
        numbers = sorted(int(key[8:]) for key in sessions if re.fullmatch(r"session_\d+", key))
        for speaker in (sessions["speaker_a"], sessions["speaker_b"]):
            turns = tuple(
                ChatTurn(
                    id=f"{sample['sample_id']}:{turn['dia_id']}",
                    text=turn["text"],
                    is_evidence=_read_place(turn["dia_id"]) in evidence,
                )
                for number in numbers
                for turn in sessions[f"session_{number}"]
                if turn["speaker"] == speaker
            )
            if namespaces and sum(len(n.turns) for n in namespaces) + len(turns) > most_turns:
                return namespaces
            namespaces.append(Namespace(source="locomo", turns=turns))
    return namespaces


def _read_place(dia_id: str) -> tuple[int, int]:
    session, turn = _EVIDENCE_ID.findall(dia_id)[0]
    return int(session), int(turn)


def replay(namespace: Namespace, chats: Chats, *, threshold: float, weights: GateWeights) -> list[Passage]:
    """Pass the turns of a namespace through the gate in order; what is promoted is memory for the next."""
    vectors = np.stack([chats.vectors[turn.id] for turn in namespace.turns])
    similarities = vectors @ vectors.T
    memories: list[int] = []
    passages: list[Passage] = []
    for i, turn in enumerate(namespace.turns):
        to_memories = similarities[i, memories].tolist()
        decision = decide_gate(
            chats.signals[turn.id],
            turn_similarities=similarities[i, :i].tolist(),
            memory_similarities=to_memories,
            threshold=threshold,
            weights=weights,
        )
        passage = Passage(
            source=namespace.source,
            turn=turn,
            decision=decision,
            memories_before=len(memories),
            is_duplicate=max(to_memories, default=0.0) >= NEAR_DUPLICATE_SIMILARITY,
        )
        passages.append(passage)
        if passage.is_promoted:
            memories.append(i)
    return passages


def replay_all(chats: Chats, *, threshold: float, weights: GateWeights) -> list[Passage]:
    """Replay every namespace at one threshold."""
    return [
        passage
        for namespace in chats.namespaces
        for passage in replay(namespace, chats, threshold=threshold, weights=weights)
    ]


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
    """Source and place at the gate: passed, missed by little, or missed."""
    miss = passage.decision.threshold - passage.decision.score
    return passage.source, "passed" if passage.is_promoted else "near" if miss <= NEAR_MISS else "far"


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


def read_labels(path: Path | None) -> dict[str, bool]:
    """Return the judged turns of a sample file; rows still to be judged are left out."""
    if path is None:
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["id"]: row["useful"] for row in rows if row["useful"] is not None}


def main() -> None:
    """Print the measurement as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--labels", type=Path, help="judged sample, one JSON object a line")
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
    rows = OnnxEncoder(threads=2).encode(list(texts.values()))
    chats = Chats(
        namespaces=namespaces,
        vectors=dict(zip(texts, rows, strict=True)),
        signals={turn_id: read_text_signals(text) for turn_id, text in texts.items()},
    )
    labels = read_labels(options.labels)
    # Strata come from the contract's weights and threshold, whatever is measured below.
    reference = replay_all(chats, threshold=DEFAULT_THRESHOLD, weights=DEFAULT_WEIGHTS)
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
