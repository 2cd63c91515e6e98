"""Measures the detector of rules on labelled paragraphs, on conversation and on raw Markdown.

    python -m bench.rules.detection --data DIR

DIR holds `rules_dev.jsonl` (one JSON object a line: text, rule, modality, contested), `agentdocs/`, a folder of
Markdown files, and `longmemeval_dev.json` and `locomo_dev.json`, conversations. `labels/conversation_rules.jsonl` holds
a reader's verdict, by turn id, on every turn in which the detector found a rule.
"""

import argparse
import json
import pathlib
import re
import time
from typing import Any

from bench.quality.rules import CASES_FILES
from models.domain.rules.detector import read_authored, read_conversation

DEV_FILE = pathlib.Path(__file__).parents[1] / "sets" / "standing_rules_dev.jsonl"
LABELS = pathlib.Path(__file__).parents[1] / "labels" / "conversation_rules.jsonl"
_TARGET_BYTES = 2_000_000  # long enough that the clock's grain does not show


def measure_rules(path: pathlib.Path) -> dict[str, Any]:
    """Return precision, recall, F1, false positive and negative rate on labelled paragraphs.

    `confusions` lists every wrong paragraph with the cues that fired; `modality_f1` compares the
    modality sets, one decision per paragraph and modality.
    """
    counts = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    modal = {"tp": 0, "fp": 0, "fn": 0}
    confusions: list[dict[str, Any]] = []
    for row in _read_rows(path):
        reading = read_authored(row["text"])
        outcome = ("t" if reading.is_rule == row["rule"] else "f") + ("p" if reading.is_rule else "n")
        counts[outcome] += 1
        found, wanted = {str(modality) for modality in reading.modalities}, set(row["modality"])
        modal["tp"] += len(found & wanted)
        modal["fp"] += len(found - wanted)
        modal["fn"] += len(wanted - found)
        if outcome[0] == "f":
            cues = [span.cue for span in reading.spans]
            confusions.append(
                {"outcome": outcome, "cues": cues, "contested": row["contested"], "text": row["text"]}
            )
    return {
        **counts,
        "precision": _share(counts["tp"], counts["fp"]),
        "recall": _share(counts["tp"], counts["fn"]),
        "f1": _share(2 * counts["tp"], counts["fp"] + counts["fn"]),
        "false_positive_rate": _share(counts["fp"], counts["tn"]),
        "false_negative_rate": _share(counts["fn"], counts["tp"]),
        "modality_f1": _share(2 * modal["tp"], modal["fp"] + modal["fn"]),
        "confusions": confusions,
    }


def measure_conversation(folder: pathlib.Path) -> dict[str, Any]:
    """Return how often a rule is found in real talk and in made cases, and how often rightly.

    `precision` is over the judged turns of real conversation; `made_cases` gives, by split, the shares of made rules
    found and of made sentences that only look like rules (decoys) found.
    """
    turns = load_user_turns(folder)
    verdicts = {row["id"]: row["rule"] for row in _read_rows(LABELS)}
    found = [turn_id for turn_id, text in turns.items() if read_conversation(text).is_rule]
    judged = [verdicts[turn_id] for turn_id in found if turn_id in verdicts]
    read: dict[str, dict[str, list[bool]]] = {}
    for row in (row for path in (DEV_FILE, *CASES_FILES) for row in _read_rows(path)):
        is_rule = read_conversation(row["says"]).is_rule
        read.setdefault(row["split"], {}).setdefault(f"{row['kind']}s_found", []).append(is_rule)
    return {
        "turns": len(turns),
        "found": len(found),
        "judged": len(judged),
        "precision": _share(judged.count(True), judged.count(False)),
        "made_cases": {
            split: {name: _share(one.count(True), one.count(False)) for name, one in kinds.items()}
            for split, kinds in read.items()
        },
    }


def load_user_turns(folder: pathlib.Path) -> dict[str, str]:
    """Return by id what people said: the user of LongMemEval, both speakers of LoCoMo."""
    sessions = json.loads((folder / "longmemeval_dev.json").read_text(encoding="utf-8"))["sessions"]
    turns = {
        f"{key}:{i}": turn["content"]
        for key, session in sessions.items()
        for i, turn in enumerate(session["turns"])
        if turn["role"] == "user"
    }
    for sample in json.loads((folder / "locomo_dev.json").read_text(encoding="utf-8")):
        for key, talk in sample["conversation"].items():
            if re.fullmatch(r"session_\d+", key):
                turns |= {f"{sample['sample_id']}:{turn['dia_id']}": turn["text"] for turn in talk}
    return turns


def measure_speed(folder: pathlib.Path) -> dict[str, Any]:
    """Return how fast `read_authored` reads every paragraph of a folder's Markdown: best of five, CPU time.

    Paragraphs are split at blank lines, so fenced code arrives in pieces, as the worst case would have it.
    """
    text = "\n\n".join(file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.md")))
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    size_bytes = sum(len(part.encode()) for part in paragraphs)
    paragraphs *= max(1, _TARGET_BYTES // max(1, size_bytes))
    size_bytes = sum(len(part.encode()) for part in paragraphs)
    seconds = []
    rules = 0
    for _ in range(5):
        started = time.process_time()
        rules = sum(read_authored(part).is_rule for part in paragraphs)
        seconds.append(time.process_time() - started)
    return {
        "paragraphs": len(paragraphs),
        "rules": rules,
        "megabytes": size_bytes / 1e6,
        "megabytes_per_second": size_bytes / 1e6 / min(seconds),
    }


def _read_rows(path: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 0.0


def main() -> None:
    """Print the measurements as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with the data sets")
    folder = parser.parse_args().data
    report = {
        "rules": measure_rules(folder / "rules_dev.jsonl"),
        "conversation": measure_conversation(folder),
        "speed": measure_speed(folder / "agentdocs"),
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
