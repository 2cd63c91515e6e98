"""Which system a file comes from, by its name and its first words."""

import json
import zipfile
from pathlib import Path
from typing import Final

HEAD_BYTES: Final = 65536
# The first of these words in a file says whose it is; more telling ones stand first.
SIGNS: Final = (
    ('"mapping"', "chatgpt"),
    ('"sessionId"', "claude-code"),
    ('"session_id"', "jsonl"),
    ('"fact_type"', "hindsight"),
    ('"occurred_start"', "hindsight"),
    ('"memory"', "mem0"),
    ('"payload"', "mem0"),
)
TRANSCRIPT_TYPES: Final = frozenset({"session", "message"})


def guess_kind(path: Path) -> str | None:
    """The kind of import that fits, or None where nothing tells."""
    if path.is_dir():
        return "chatgpt" if (path / "conversations.json").exists() else "openclaw"
    if path.suffix == ".md" or path.name == "openclaw-agent.sqlite":
        return "openclaw"
    if path.suffix == ".db":
        return "lossless-claw"
    if zipfile.is_zipfile(path):
        return "chatgpt"
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES).decode("utf-8", "replace")
    try:
        first = json.loads(head.partition("\n")[0])
    except ValueError:
        first = None
    if isinstance(first, dict) and first.get("type") in TRANSCRIPT_TYPES and "parentUuid" not in first:
        return "openclaw"
    return next((kind for sign, kind in SIGNS if sign in head), None)
