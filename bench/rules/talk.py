"""Draws talk without wishes from public data sets, as more to fit the detector of wishes on (`bench.rules.training --talk`).

    python -m bench.rules.talk --topical-chat DIR --taskmaster DIR --schema-guided DIR --output FILE

The folders are checkouts of alexa/Topical-Chat (two people about a topic; CDLA-Sharing 1.0), google-research-
datasets/Taskmaster (coffee ordered from an assistant; CC BY 4.0) and google-research-datasets/dstc8-schema-guided-
dialogue (twenty kinds of errands given to an assistant; CC BY-SA 4.0). What users of an assistant ask there is for
the moment, nothing is to last. Written are JSON lines of source and text, the same for the same checkouts.
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

TOPICAL: Final = 3000
TASKMASTER: Final = 700
SCHEMA_GUIDED: Final = 2300
EVERY: Final = 4  # file of the errands
SEED: Final = 11


def list_topical(folder: Path) -> Iterator[str]:
    """What both people said."""
    for name in ("valid_freq", "valid_rare", "test_freq", "test_rare"):
        for talk in _read(folder / "conversations" / f"{name}.json").values():
            yield from (turn["message"] for turn in talk["content"])


def list_taskmaster(folder: Path) -> Iterator[str]:
    """What the customers said."""
    for path in sorted((folder / "TM-4-2024" / "data").glob("data_*.json")):
        for talk in _read(path):
            yield from (turn["text"] for turn in talk["utterances"] if turn["speaker"] == "user")


def list_schema_guided(folder: Path) -> Iterator[str]:
    """What the users said, in every fourth file."""
    for path in sorted(folder.glob("*/dialogues_*.json"))[::EVERY]:
        for talk in _read(path):
            yield from (turn["utterance"] for turn in talk["turns"] if turn["speaker"] == "USER")


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    """Write the lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("topical-chat", "taskmaster", "schema-guided", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    folders = parser.parse_args()
    rng = random.Random(SEED)
    rows = []
    for source, said, most in (
        ("topical-chat", list_topical(folders.topical_chat), TOPICAL),
        ("taskmaster", list_taskmaster(folders.taskmaster), TASKMASTER),
        ("schema-guided", list_schema_guided(folders.schema_guided), SCHEMA_GUIDED),
    ):
        texts = list(dict.fromkeys(said))
        rows += [{"source": source, "text": text} for text in rng.sample(texts, min(most, len(texts)))]
    folders.output.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
