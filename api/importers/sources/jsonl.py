"""Conversations as JSON lines (docs/ingest.md). A line that is wrong is left out and named; the others are kept."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from api.importers.reading import OURS, read_json_lines, strip_ours
from api.importers.records import Dropped, Finding, ImportedTurn, Source, Stripped, Unit
from api.turns.schemas import TurnIn

IDENTITY_FIELDS: Final = ("user_id", "agent_id", "session_key")
TURN_FIELDS: Final = ("role", "content", "ts", "id", "name", "metadata")


def find_units(path: Path) -> list[Unit]:
    """The files of a folder, or the one file."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    units = []
    for file in files:
        facts = file.stat()
        name = str(file.relative_to(path)) if path.is_dir() else file.name
        units.append(
            Unit(name=name, size=facts.st_size, changed=facts.st_mtime_ns, read=partial(read_turns, file))
        )
    return units


SOURCE: Final = Source(kind="jsonl", find_units=find_units)


def name_line_turn(position: int, content: str) -> str:
    """An id for a line without one: its place in its session and its words, so that a second run adds nothing.

    >>> name_line_turn(1, "Hello")
    'line:1:185f8db32271fe25'
    """
    return f"line:{position}:{hashlib.sha256(content.encode('utf-8', 'replace')).hexdigest()[:16]}"


def read_turns(file: Path) -> Iterator[Finding]:
    """The turns of a file."""
    positions: Counter[str] = Counter()
    for where, line in read_json_lines(file):
        if isinstance(line, Dropped):
            yield line
            continue
        session_id = line.get("session_id")
        if not isinstance(session_id, str) or not session_id:
            yield Dropped("without a session_id", where)
            continue
        positions[session_id] += 1
        yield from _read_turn(line, session_id, positions[session_id], where)


def _read_turn(line: dict[str, Any], session_id: str, position: int, where: str) -> Iterator[Finding]:
    unknown = line.keys() - {"session_id", *IDENTITY_FIELDS, *TURN_FIELDS}
    if unknown:
        yield Dropped("unknown field", f"{where} ({', '.join(sorted(unknown))})")
        return
    given = {name: line[name] for name in TURN_FIELDS if line.get(name) is not None}
    try:
        TurnIn.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        yield Dropped("refused by the format", f"{where}: {field}: {first['msg']}")
        return
    content = strip_ours(given["content"])
    if content != given["content"]:
        if not content.strip():
            yield Dropped(OURS)
            return
        yield Stripped(OURS)
    yield ImportedTurn(
        session_id=session_id,
        role=given["role"],
        content=content,
        id=given.get("id") or name_line_turn(position, given["content"]),
        ts=given.get("ts"),
        name=given.get("name"),
        metadata=given.get("metadata") or {},
        identity={name: line[name] for name in IDENTITY_FIELDS if line.get(name)},
    )
