"""Measures the detector of rules on labelled paragraphs and on raw Markdown; conversation is `bench.quality.wishes`.

    python -m bench.rules.detection --data DIR

DIR holds `rules_dev.jsonl` (one JSON object a line: text, rule, modality, contested), `agentdocs/`, a folder of
Markdown files, and `longmemeval_dev.json`, `locomo_dev.json` and `chat_turns.jsonl`, conversations.
`labels/conversation_rules.jsonl` holds a reader's verdict, by turn id, on turns in which the detector found a rule.
"""

import argparse
import json
import pathlib
import re
import time
from typing import Any, NamedTuple

from models.domain.rules.detector import read_authored

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
    for row in read_rows(path):
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


class Talk(NamedTuple):
    """A turn of real talk, and where it comes from."""

    source: str
    text: str


def load_user_turns(folder: pathlib.Path) -> dict[str, Talk]:
    """Return by id what people said: the user of LongMemEval, both speakers of LoCoMo, chats (by line number)."""
    sessions = json.loads((folder / "longmemeval_dev.json").read_text(encoding="utf-8"))["sessions"]
    turns = {
        f"{key}:{i}": Talk("longmemeval", turn["content"])
        for key, session in sessions.items()
        for i, turn in enumerate(session["turns"])
        if turn["role"] == "user"
    }
    for sample in json.loads((folder / "locomo_dev.json").read_text(encoding="utf-8")):
        for key, talk in sample["conversation"].items():
            if re.fullmatch(r"session_\d+", key):
                turns |= {
                    f"{sample['sample_id']}:{turn['dia_id']}": Talk("locomo", turn["text"]) for turn in talk
                }
    for i, row in enumerate(read_rows(folder / "chat_turns.jsonl")):
        turns[f"chat:{i}"] = Talk(row["source"], row["text"])
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


def read_rows(path: pathlib.Path) -> list[dict[str, Any]]:
    """The rows of a file with a JSON object a line."""
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
        "speed": measure_speed(folder / "agentdocs"),
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
