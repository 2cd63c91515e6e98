"""Measures the gate on real chats: what it promotes, what that is worth, and what a threshold should be.

    python -m bench.gate --data DIR [--labels FILE] [--write-sample FILE]

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

from models.domain.calibration import IsotonicFit, choose_threshold, fit_isotonic, reliability_curve
from models.domain.gating import DEFAULT_THRESHOLD, GateDecision, TextSignals, decide_gate, read_text_signals
from models.encoders.onnx import OnnxEncoder

THRESHOLDS = (0.30, 0.35, 0.36, 0.38, 0.40, 0.42, 0.45, 0.50)
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


def replay(
    namespace: Namespace, vectors: NDArray[np.float32], signals: Sequence[TextSignals], *, threshold: float
) -> list[Passage]:
    """Pass the turns of a namespace through the gate in order; what is promoted is memory for the next."""
    similarities = vectors @ vectors.T
    memories: list[int] = []
    passages: list[Passage] = []
    for i, turn in enumerate(namespace.turns):
        to_memories = [float(similarities[i, j]) for j in memories]
        decision = decide_gate(
            signals[i],
            turn_similarities=[float(value) for value in similarities[i, :i]],
            memory_similarities=to_memories,
            threshold=threshold,
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


def replay_all(
    namespaces: Sequence[Namespace],
    vectors: dict[str, NDArray[np.float32]],
    signals: dict[str, TextSignals],
    *,
    threshold: float,
) -> list[Passage]:
    """Replay every namespace at one threshold."""
    return [
        passage
        for namespace in namespaces
        for passage in replay(
            namespace,
            np.stack([vectors[turn.id] for turn in namespace.turns]),
            [signals[turn.id] for turn in namespace.turns],
            threshold=threshold,
        )
    ]


def _share(flags: Iterable[bool]) -> float | None:
    values = list(flags)
    return round(sum(values) / len(values), 4) if values else None


def summarise(
    passages: Sequence[Passage], labels: dict[str, bool], fit: IsotonicFit | None
) -> dict[str, Any]:
    """Shares of one replay: promoted, evidence promoted, evidence and junk among the promoted.

    `junk_judged` counts the judged turns alone; `junk_expected` reads every promoted turn off the fit.
    """
    promoted = [p for p in passages if p.is_promoted]
    judged = [labels[p.turn.id] for p in promoted if p.turn.id in labels]
    result = {
        "turns": len(passages),
        "promoted": _share(p.is_promoted for p in passages),
        "promoted_cold": _share(p.is_promoted for p in passages if p.memories_before < COLD_MEMORIES),
        "duplicates": _share(p.is_duplicate for p in passages),
        "evidence_promoted": _share(p.is_promoted for p in passages if p.turn.is_evidence),
        "evidence_among_promoted": _share(p.turn.is_evidence for p in promoted),
        "mean_novelty": round(float(np.mean([p.decision.signals.h for p in passages])), 3),
    }
    if fit is not None and promoted:
        expected = fit.predict([p.decision.score for p in passages])
        kept = fit.predict([p.decision.score for p in promoted])
        result |= {
            "judged": len(judged),
            "junk_judged": _share(not label for label in judged),
            "junk_expected": round(1.0 - float(kept.mean()), 4),
            "useful_promoted": round(float(kept.sum() / expected.sum()), 4),
        }
    return result


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


def fit_usefulness(
    passages: Sequence[Passage], labels: dict[str, bool]
) -> tuple[IsotonicFit, dict[str, Any]]:
    """Fit P(useful | G) on the judged turns, and say what thresholds it gives.

    Strata are judged at different rates, so each judged turn weighs as many turns as it stands for.
    """
    population = Counter(_stratum(p) for p in passages)
    judged = [p for p in passages if p.turn.id in labels]
    drawn = Counter(_stratum(p) for p in judged)
    scores = [p.decision.score for p in judged]
    useful = [float(labels[p.turn.id]) for p in judged]
    weights = [population[_stratum(p)] / drawn[_stratum(p)] for p in judged]
    fit = fit_isotonic(scores, useful, weights)
    everything = [p.decision.score for p in passages]
    expected = fit.predict(everything)
    return fit, {
        "judged_passages": len(judged),
        "useful_share": round(float(np.average(useful, weights=weights)), 4),
        "thresholds": {
            str(wanted): choose_threshold(fit, everything, expected, wanted).why
            for wanted in (0.6, 0.7, 0.8, 0.9)
        },
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
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()

    rng = random.Random(options.seed)
    namespaces = [
        *load_longmemeval(options.data / "longmemeval_dev.json", most_turns=options.turns, rng=rng),
        *load_locomo(options.data / "locomo_dev.json", most_turns=options.turns),
    ]
    texts = {turn.id: turn.text for namespace in namespaces for turn in namespace.turns}
    rows = OnnxEncoder(threads=2).encode(list(texts.values()))
    vectors = dict(zip(texts, rows, strict=True))
    signals = {turn_id: read_text_signals(text) for turn_id, text in texts.items()}
    labels = read_labels(options.labels)

    report: dict[str, Any] = {"namespaces": len(namespaces), "distinct_turns": len(texts)}
    fits: dict[str, IsotonicFit] = {}
    at_default = replay_all(namespaces, vectors, signals, threshold=DEFAULT_THRESHOLD)
    if labels:
        report["calibration"] = {}
        for source in SOURCES:
            fits[source], report["calibration"][source] = fit_usefulness(
                [p for p in at_default if p.source == source], labels
            )
    if options.write_sample:
        sample = draw_sample(at_default, SAMPLE_SIZES, rng=rng)
        lines = (json.dumps(row, ensure_ascii=False) for row in sample)
        options.write_sample.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report["by_threshold"] = {}
    for threshold in THRESHOLDS:
        passages = replay_all(namespaces, vectors, signals, threshold=threshold)
        report["by_threshold"][str(threshold)] = {
            source: summarise([p for p in passages if p.source == source], labels, fits.get(source))
            for source in SOURCES
        }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
