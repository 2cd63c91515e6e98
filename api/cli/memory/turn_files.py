"""Reading conversations from JSON lines: every line checked before the first is sent, and sent only once."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from api.cli.files import unreadable
from api.importers.sources.jsonl import IDENTITY_FIELDS, TURN_FIELDS, name_line_turn
from api.turns.schemas import TurnIn
from models.errors import InvalidInput

MAX_BATCH_TURNS = 200
MAX_BATCH_CHARS = 2_000_000
MOST_WRONG_LINES = 20  # that are named; the others are counted
STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Consecutive lines of one session and identity."""

    session_id: str
    identity: dict[str, str | None]
    turns: list[dict[str, Any]]
    lines: int
    end_line: int


@contextmanager
def open_turn_file(given: str) -> Iterator[Path]:
    """The file that was named, or standard input as one: it is read twice, and a pipe can be read but once."""
    if given != STANDARD_INPUT:
        yield Path(given)
        return
    with TemporaryDirectory(prefix="longtail-") as folder:
        path = Path(folder) / "standard input"
        with path.open("wb") as file:
            copyfileobj(sys.stdin.buffer, file)
        yield path


def check_turn_file(path: Path) -> int:
    """How many lines hold a turn; refused with every line that the server would refuse."""
    count = 0
    wrong: list[InvalidInput] = []
    for number, line in _lines(path):
        try:
            _parse(path, number, line)
        except InvalidInput as error:
            wrong.append(error)
        count += 1
    if wrong:
        shown = [error.detail for error in wrong[:MOST_WRONG_LINES]]
        if len(wrong) > len(shown):
            shown.append(f"and {len(wrong) - len(shown)} more lines")
        raise InvalidInput("\n       ".join(shown), field=wrong[0].field, remedy=wrong[0].remedy)
    return count


def count_turns(path: Path, *, to_line: int) -> Counter[str]:
    """How many turns the first lines hold, by session."""
    return Counter(
        _parse(path, number, line)["session_id"] for number, line in _lines(path) if number <= to_line
    )


def read_batches(path: Path, *, after_line: int = 0) -> Iterator[Batch]:
    """The file as calls to make, leaving out the lines up to `after_line`."""
    positions: Counter[str] = Counter()
    pending: list[dict[str, Any]] = []
    key: tuple[str, tuple[str | None, ...]] | None = None
    size = last = 0
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
            yield _batch(key, pending, end_line=last)
            pending, size = [], len(record["content"])
        key, last = here, number
        pending.append(turn)
    if pending:
        yield _batch(key, pending, end_line=last)


def _batch(
    key: tuple[str, tuple[str | None, ...]] | None, turns: list[dict[str, Any]], *, end_line: int
) -> Batch:
    assert key is not None
    identity = dict(zip(IDENTITY_FIELDS, key[1], strict=True))
    return Batch(session_id=key[0], identity=identity, turns=turns, lines=len(turns), end_line=end_line)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig") as file:  # Windows begins files with a mark of their encoding
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8", remedy="save it as UTF-8") from error


def _parse(path: Path, number: int, line: str) -> dict[str, Any]:
    where = f"{path.name}, line {number}"
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a number or a nesting without end"
        raise InvalidInput(
            f"{where} is not JSON: {reason}", remedy="each line is one JSON object; nothing was sent"
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
