"""Reading conversations from JSON lines: every line checked before the first is sent, and sent only once."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from api.importers.jsonl import IDENTITY_FIELDS, TURN_FIELDS, name_line_turn
from api.turns.schemas import TurnIn
from models.errors import InvalidInput

MAX_BATCH_TURNS = 200
MAX_BATCH_CHARS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Consecutive lines of one session and identity."""

    session_id: str
    identity: dict[str, str | None]
    turns: list[dict[str, Any]]
    lines: int
    end_line: int


def check_turn_file(path: Path) -> int:
    """How many lines the file has; refused at the first line that the server would refuse."""
    count = 0
    for number, line in _lines(path):
        _parse(path, number, line)
        count += 1
    return count


def read_batches(path: Path, *, after_line: int = 0) -> Iterator[Batch]:
    """The file as calls to make, leaving out the lines up to `after_line`."""
    positions: Counter[str] = Counter()
    pending: list[dict[str, Any]] = []
    key: tuple[str, tuple[str | None, ...]] | None = None
    size = number = 0
    for number, line in _lines(path):
        record = _parse(path, number, line)
        session = record["session_id"]
        positions[session] += 1
        if number <= after_line:
            continue
        turn = {name: record[name] for name in TURN_FIELDS if record.get(name) is not None}
        turn.setdefault("id", name_line_turn(positions[session], record["content"]))
        here = (session, tuple(record.get(name) for name in IDENTITY_FIELDS))
        size += len(record["content"])
        if pending and (here != key or len(pending) >= MAX_BATCH_TURNS or size > MAX_BATCH_CHARS):
            yield _batch(key, pending, end_line=number - 1)
            pending, size = [], len(record["content"])
        key = here
        pending.append(turn)
    if pending:
        yield _batch(key, pending, end_line=number)


def _batch(
    key: tuple[str, tuple[str | None, ...]] | None, turns: list[dict[str, Any]], *, end_line: int
) -> Batch:
    assert key is not None
    identity = dict(zip(IDENTITY_FIELDS, key[1], strict=True))
    return Batch(session_id=key[0], identity=identity, turns=turns, lines=len(turns), end_line=end_line)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no file {path}", remedy="check the path") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8", remedy="save it as UTF-8") from error


def _parse(path: Path, number: int, line: str) -> dict[str, Any]:
    where = f"{path.name}, line {number}"
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{where} is not JSON: {error.msg}", remedy="each line is one JSON object; nothing was sent"
        ) from error
    if not isinstance(record, dict):
        raise InvalidInput(
            f"{where} is not a JSON object", remedy="each line is one JSON object; nothing was sent"
        )
    if not isinstance(record.get("session_id"), str) or not record["session_id"]:
        raise InvalidInput(f"{where} has no session_id", remedy="name the session; nothing was sent")
    unknown = set(record) - {"session_id", *IDENTITY_FIELDS, *TURN_FIELDS}
    if unknown:
        raise InvalidInput(
            f"{where} has unknown fields: {', '.join(sorted(unknown))}",
            remedy=f"known are session_id, {', '.join((*IDENTITY_FIELDS, *TURN_FIELDS))}; nothing was sent",
        )
    try:
        TurnIn.model_validate({name: record[name] for name in TURN_FIELDS if record.get(name) is not None})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(
            f"{where}: {field}: {first['msg']}", field=field, remedy="mend the line; nothing was sent"
        ) from error
    return record
