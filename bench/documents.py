"""Measures authored files: what their tiers cost, and how many load into a prompt budget.

    python -m bench.documents --data DIR [--json]

DIR is a folder of Markdown files, or holds one named `agentdocs/`. Tokens are ⌈code points / 4⌉, the hard
reserve is 0.30 of the budget (memory-model.md section 2).
"""

import argparse
import json
import math
import pathlib
import time
from collections import Counter
from typing import Any, Final

from models.documents.markdown import partition_document
from models.domain.rules.tiers import HardReserveExceeded, Partition, ReservePolicy, enforce_hard_reserve

BUDGETS_TOKENS: Final = (2000, 4000, 8000)
HARD_FRACTION: Final = 0.30
POLICIES: Final[tuple[ReservePolicy, ...]] = ("refuse", "demote")


def count_tokens(text: str) -> int:
    """Return ⌈code points / 4⌉.

    >>> count_tokens("- Use tabs.")
    3
    """
    return math.ceil(len(text) / 4)


def measure_loading(partitions: list[Partition]) -> list[dict[str, Any]]:
    """Return one row per budget and policy: files that load, files that do not, list items demoted."""
    rows = []
    for budget_tokens in BUDGETS_TOKENS:
        hard_cap_tokens = int(HARD_FRACTION * budget_tokens)
        for policy in POLICIES:
            kept: list[Partition] = []
            for partition in partitions:
                try:
                    kept.append(
                        enforce_hard_reserve(partition, hard_cap_tokens=hard_cap_tokens, policy=policy)
                    )
                except HardReserveExceeded:
                    continue
            demotions = [demotion for partition in kept for demotion in partition.demotions]
            rows.append(
                {
                    "budget_tokens": budget_tokens,
                    "hard_cap_tokens": hard_cap_tokens,
                    "policy": policy,
                    "loaded": len(kept),
                    "refused": len(partitions) - len(kept),
                    "files_with_demotions": sum(1 for partition in kept if partition.demotions),
                    "items_demoted": len(demotions),
                    "tokens_demoted": sum(demotion.tokens for demotion in demotions),
                }
            )
    return rows


def measure_documents(folder: pathlib.Path) -> dict[str, Any]:
    """Return the sums over every Markdown file of a folder, and the loading table."""
    texts = [file.read_bytes().decode() for file in sorted(folder.rglob("*.md"))]
    started = time.perf_counter()
    partitions = [
        partition_document(text, count_tokens=count_tokens, tokenizer_id="chars4") for text in texts
    ]
    seconds = time.perf_counter() - started
    nodes = [node for partition in partitions for node in partition.nodes]
    items = [node for node in nodes if node.kind == "list_item"]
    return {
        "files": len(texts),
        "bytes": sum(len(text.encode()) for text in texts),
        "seconds": round(seconds, 3),
        "kinds": dict(Counter(node.kind for node in nodes).most_common()),
        "hard_tokens": sum(partition.hard_tokens for partition in partitions),
        "soft_tokens": sum(partition.soft_tokens for partition in partitions),
        "lore_tokens": sum(partition.lore_tokens for partition in partitions),
        "list_items_with_rule": sum(1 for node in items if node.reading.is_rule),
        "links": sum(len(node.links) for node in nodes),
        "conflicts": sum(len(partition.conflicts) for partition in partitions),
        "loading": measure_loading(partitions),
    }


def main() -> None:
    """Print the measurements as a table, or as JSON."""
    parser = argparse.ArgumentParser(
        description="Tiers of authored files, and how many load at which budget."
    )
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    folder: pathlib.Path = arguments.data
    if (folder / "agentdocs").is_dir():
        folder = folder / "agentdocs"
    result = measure_documents(folder)
    if not result["files"]:
        parser.error(f"no *.md file under {folder}; point --data at a folder of Markdown files")
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    rows = result.pop("loading")
    for name, value in result.items():
        print(f"{name:22} {value}")
    print()
    print(
        "| budget | hard cap | policy | loaded | refused | files demoted | items demoted | tokens demoted |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")


if __name__ == "__main__":
    main()
