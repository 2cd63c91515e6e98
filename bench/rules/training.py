"""Fits what each cue of a standing rule is worth, and writes it down as `models/domain/rules/weights.tsv`.

    python -m bench.rules.training --data DIR            # print cross-validated shares, write nothing
    python -m bench.rules.training --data DIR --write

Logistic regression with an L2 penalty over the cues that `list_cues` names. It
learns from `sets/standing_rules_dev.jsonl`, `sets/standing_rules.jsonl`, `sets/standing_rules_fresh.jsonl` and real talk,
in which nobody rules but where `labels/conversation_rules.jsonl` says so. The unseen sets are never read. A turn counts as
its highest sentence: which sentence of a rule carries it is learned along the way.
"""

import argparse
import json
import math
import pathlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from bench.quality.rules import CASES_FILES, UNSEEN
from bench.rules.detection import DEV_FILE, LABELS, load_user_turns
from models.domain.rules.conversation import list_cues
from models.domain.rules.evidence import THRESHOLD

WEIGHTS_FILE: Final = pathlib.Path(__file__).parents[2] / "models" / "domain" / "rules" / "weights.tsv"
FOLDS: Final = 5
PENALTY: Final = 4.0  # L2; the bias goes free
MIN_OCCURRENCES: Final = 3  # a cue seen less often gets no weight
MIN_WORD_OCCURRENCES: Final = 4  # nor a word seen in fewer made sentences
WORD_CUES: Final = ("word:", "opens:")
MIN_WEIGHT: Final = 0.05  # a smaller one is not written down
ROUNDS: Final = 4  # of choosing the sentence that rules, then fitting
MADE_WEIGHT: Final = 2.0
CLAIM_WEIGHT: Final = 6.0  # sentences the tests make claims about
TALK_WEIGHT: Final = 2.0
JUDGED_WEIGHT: Final = 4.0  # talk with a reader's verdict
TALK: Final = "talk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A turn as the cues of its sentences, and whether it states a rule."""

    sentences: tuple[frozenset[str], ...]  # only those that can be a rule
    is_rule: bool
    weight: float
    source: str


def load_made(paths: Sequence[pathlib.Path]) -> list[Example]:
    """The made sentences, but for the unseen."""
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        _make_example(
            row["says"],
            is_rule=row["kind"] == "rule",
            weight=CLAIM_WEIGHT if row["split"] == "claimed" else MADE_WEIGHT,
            source=row["split"],
        )
        for row in rows
        if row["split"] not in UNSEEN
    ]


def load_talk(folder: pathlib.Path) -> list[Example]:
    """Real talk, with a reader's verdict where there is one, else taken for no rule."""
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    verdicts = {row["id"]: row["rule"] for row in rows}
    return [
        _make_example(
            text,
            is_rule=verdicts.get(key, False),
            weight=JUDGED_WEIGHT if key in verdicts else TALK_WEIGHT,
            source=TALK,
        )
        for key, text in load_user_turns(folder).items()
    ]


def fit_weights(examples: Sequence[Example]) -> dict[str, float]:
    """The weight of each cue; the bias is under ""."""
    names = sorted(_choose_cues(examples))
    places = {name: place for place, name in enumerate(names)}
    rules = [example for example in examples if example.is_rule and example.sentences]
    others = [
        (cues, example.weight) for example in examples if not example.is_rule for cues in example.sentences
    ]
    other_rows = [cues for cues, _ in others]
    weights = np.array([*(example.weight for example in rules), *(weight for _, weight in others)])
    wanted = np.array([1.0] * len(rules) + [0.0] * len(others))
    worth = {"": 0.0}
    model = LogisticRegression(C=1 / PENALTY, max_iter=1000, warm_start=True)
    for _ in range(ROUNDS):
        chosen = [max(rule.sentences, key=lambda cues: _add_up(cues, worth)) for rule in rules]
        model.fit(_tabulate([*chosen, *other_rows], places), wanted, sample_weight=weights)
        worth = dict(zip(names, model.coef_[0].tolist(), strict=True)) | {"": float(model.intercept_[0])}
    return worth


def _tabulate(sentences: Sequence[frozenset[str]], places: dict[str, int]) -> csr_matrix:
    """A row of zeros and ones for each sentence."""
    columns = [sorted(places[cue] for cue in cues if cue in places) for cues in sentences]
    starts = np.cumsum([0, *map(len, columns)])
    flat = np.concatenate([np.array(row, dtype=np.int64) for row in columns])
    return csr_matrix((np.ones(len(flat)), flat, starts), shape=(len(sentences), len(places)))


def _choose_cues(examples: Sequence[Example]) -> Iterator[str]:
    """The cues that occur often enough to be weighed; words as often in made sentences, talk being full of others."""
    counts = Counter(cue for example in examples for cues in example.sentences for cue in cues)
    made = Counter(
        cue for example in examples if example.source != TALK for cues in example.sentences for cue in cues
    )
    for cue, count in counts.items():
        is_word = cue.startswith(WORD_CUES)
        if made[cue] >= MIN_WORD_OCCURRENCES if is_word else count >= MIN_OCCURRENCES:
            yield cue


def score(example: Example, weights: dict[str, float]) -> float:
    """The highest score of a turn's sentences, minus infinity where none can be a rule."""
    return max((_add_up(cues, weights) for cues in example.sentences), default=-math.inf)


def _add_up(cues: frozenset[str], weights: dict[str, float]) -> float:
    return weights[""] + math.fsum(weights.get(cue, 0.0) for cue in cues)


def cross_validate(examples: Sequence[Example]) -> dict[str, dict[str, float]]:
    """By source, the shares of rules and of other turns found by weights that never saw them."""
    found: dict[tuple[str, bool], list[bool]] = {}
    for fold in range(FOLDS):
        weights = fit_weights([example for place, example in enumerate(examples) if place % FOLDS != fold])
        for example in examples[fold::FOLDS]:
            is_found = score(example, weights) >= THRESHOLD
            found.setdefault((example.source, example.is_rule), []).append(is_found)
    report: dict[str, dict[str, float]] = {}
    for (source, is_rule), outcomes in sorted(found.items()):
        kind = "rules_found" if is_rule else "others_found"
        report.setdefault(source, {})[kind] = round(sum(outcomes) / len(outcomes), 4)
    return report


def write_weights(weights: dict[str, float], path: pathlib.Path = WEIGHTS_FILE) -> None:
    """Write the table, heaviest first, so that a reader sees what decides."""
    kept = sorted(
        ((cue, weight) for cue, weight in weights.items() if cue and abs(weight) >= MIN_WEIGHT),
        key=lambda pair: (-round(pair[1], 2), pair[0]),
    )
    lines = (f"{cue}\t{weight:.2f}\n" for cue, weight in (("bias", weights[""]), *kept))
    path.write_text("".join(lines), encoding="utf-8")


def _make_example(text: str, *, is_rule: bool, weight: float, source: str) -> Example:
    sentences = tuple(cues for cues in list_cues(text) if cues)
    return Example(sentences=sentences, is_rule=is_rule, weight=weight, source=source)


def main() -> None:
    """Print the cross-validated shares; with --write, fit on everything and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with the conversations")
    parser.add_argument("--write", action="store_true", help="write models/domain/rules/weights.tsv")
    arguments = parser.parse_args()
    examples = load_made([DEV_FILE, *CASES_FILES]) + load_talk(arguments.data)
    if arguments.write:
        write_weights(fit_weights(examples))
    else:
        print(json.dumps(cross_validate(examples), indent=2))


if __name__ == "__main__":
    main()
