"""Measures the deontic detector on labelled paragraphs and on raw Markdown.

    python -m bench.deontic --data DIR

DIR holds `rules_dev.jsonl` (one JSON object a line: text, rule, modality, contested) and `agentdocs/`, a
folder of Markdown files.
"""

import argparse
import json
import pathlib
import re
import time
from typing import Any

from models.domain.deontic import read_authored

_TARGET_BYTES = 2_000_000  # long enough that the clock's grain does not show


def measure_rules(path: pathlib.Path) -> dict[str, Any]:
    """Return precision, recall, F1, false positive and negative rate on labelled paragraphs.

    `confusions` lists every wrong paragraph with the cues that fired; `modality_f1` compares the
    modality sets, one decision per paragraph and modality.
    """
    counts = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    modal = {"tp": 0, "fp": 0, "fn": 0}
    confusions: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
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


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 0.0


def main() -> None:
    """Print both measurements as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with the data sets")
    folder = parser.parse_args().data
    report = {
        "rules": measure_rules(folder / "rules_dev.jsonl"),
        "speed": measure_speed(folder / "agentdocs"),
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
