"""How a peer's script and the benchmark speak: one JSON file in, one out. Standard library only."""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

History = dict[
    str, Any
]  # user, turns: [{id, session, role, line, said_at}], questions: [{id, text, asked_at}]
Rank = Callable[
    [History, Path, int], dict[str, list[str]]
]  # history, folder, depth → turn ids by question id


def answer_with(rank: Rank) -> None:
    """Read the histories named on the command line, rank each in a folder of its own, write the rankings."""
    source, target, depth = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    ranked: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="longtail-peer-") as folder:
        for place, history in enumerate(json.loads(source.read_text(encoding="utf-8"))):
            own = Path(folder) / str(place)
            own.mkdir()
            ranked.update(rank(history, own, depth))
            print(f"{place + 1} {history['user']}", file=sys.stderr, flush=True)
    target.write_text(json.dumps(ranked), encoding="utf-8")
