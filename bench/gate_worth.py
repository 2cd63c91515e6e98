"""Fits what each mark of worth weighs, and writes it down as `models/domain/gate/worth.tsv`.

    python -m bench.gate_worth --data DIR            # print cross-validated shares, write nothing
    python -m bench.gate_worth --data DIR --write

Logistic regression with an L2 penalty over the marks that `read_marks` names. It learns from the judged turns that are
not held out (`labels/memories.jsonl`, `labels/gate_junk.jsonl`) and the made short turns of the split `dev`
(`sets/short_turns.jsonl`). The held-out halves are never read here.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from bench.quality.memories import AGENTS, MADE, JudgedTurn, load_judged
from models.domain.gate.gating import read_text_signals
from models.domain.gate.marks import read_marks

WEIGHTS_FILE: Final = Path(__file__).parents[1] / "models" / "domain" / "gate" / "worth.tsv"
INVERSE_PENALTY: Final = 10.0
FOLDS: Final = 5
# Short facts are rare in the data sets, and what an agent's user says most.
MADE_WEIGHT: Final[dict[str, float]] = {MADE: 6.0, AGENTS: 2.0}


def read_turn(text: str) -> dict[str, float]:
    """Every mark of a turn as the gate reads it."""
    return read_marks(text, load=read_text_signals(text).d)


def fit(turns: Sequence[JudgedTurn]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the weights with the bias, and the cross-validated area under the curve of each source."""
    rows = [read_turn(turn.text) for turn in turns]
    names = list(rows[0])
    matrix = np.array([[row[name] for name in names] for row in rows])
    wanted = np.array([turn.is_worth for turn in turns])
    sources = np.array([turn.source for turn in turns])
    weight = np.array([MADE_WEIGHT.get(turn.source, 1.0) for turn in turns])
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=5000)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    predicted = np.zeros(len(turns))
    for learned, asked in folds.split(matrix, wanted):
        model.fit(matrix[learned], wanted[learned], sample_weight=weight[learned])
        predicted[asked] = model.predict_proba(matrix[asked])[:, 1]
    curve = {
        str(source): round(float(roc_auc_score(wanted[sources == source], predicted[sources == source])), 3)
        for source in sorted(set(sources))
    }
    model.fit(matrix, wanted, sample_weight=weight)
    weights = dict(zip(names, (float(value) for value in model.coef_[0]), strict=True))
    return {"bias": float(model.intercept_[0]), **weights}, curve


def main() -> None:
    """Print the fit as JSON, and write the weights when asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--write", action="store_true", help="write worth.tsv")
    options = parser.parse_args()
    turns = [turn for turn in load_judged(options.data) if not turn.is_held_out]
    weights, curve = fit(turns)
    if options.write:
        ordered = sorted(weights.items(), key=lambda pair: (pair[0] != "bias", -pair[1]))
        WEIGHTS_FILE.write_text(
            "".join(f"{name}\t{value:.2f}\n" for name, value in ordered), encoding="utf-8"
        )
    print(json.dumps({"turns": len(turns), "area_under_curve": curve, "weights": weights}, indent=2))


if __name__ == "__main__":
    main()
