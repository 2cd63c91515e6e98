"""What every source needs: JSON with the place of an error, times in any of the usual forms, words without our blocks."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from api.importers.records import Dropped, Finding, ImportedTurn, Stripped
from models.domain.prompt.markers import strip_injected
from models.errors import InvalidInput

OUR_BLOCK: Final = re.compile(
    r"longtail-memory\s+id=\\?[\"']?([0-9a-f]{16})|longtail-memory id=&quot;([0-9a-f]{16})"
)
OURS: Final = "injected by us"
MILLISECONDS: Final = 1e11  # a time since 1970 above this is in milliseconds: in seconds it is the year 5138


def parse_json(data: bytes, name: str) -> Any:
    """A whole file of JSON; one that is none is refused with the line."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{name}, line {error.lineno}, column {error.colno} is no JSON: {error.msg}",
            remedy="export it again, or check that this is the file; nothing was imported",
        ) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(
            f"{name} is no JSON: {type(error).__name__}",
            remedy="export it again, as UTF-8; nothing was imported",
        ) from error


def read_json_lines(file: Path) -> Iterator[tuple[str, dict[str, Any] | Dropped]]:
    """Each line with its place: an object, or why it is none."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                where = f"{file.name}, line {number}"
                yield where, parse_line(line, where)


def parse_line(line: bytes | str, where: str) -> dict[str, Any] | Dropped:
    """One line of JSON, or why it is none."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return Dropped("no JSON", where)
    return entry if isinstance(entry, dict) else Dropped("no JSON object", where)


def strip_ours(text: str) -> str:
    """The text without the blocks that we put into prompts, whichever tenant's they are."""
    for marker in {one or other for one, other in OUR_BLOCK.findall(text)}:
        text = strip_injected(text, marker)
    return text


def format_time(value: object) -> str | None:
    """A time as RFC 3339, from text or from seconds or milliseconds since 1970; a text without a zone is UTC.

    >>> format_time("2026-08-01 10:00:00"), format_time(1785578400), format_time(1785578400000), format_time("soon")
    ('2026-08-01T10:00:00+00:00', '2026-08-01T10:00:00+00:00', '2026-08-01T10:00:00+00:00', None)
    """
    try:
        if isinstance(value, str) and value:
            found = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            found = datetime.fromtimestamp(value / 1000 if value > MILLISECONDS else value, UTC)
        else:
            return None
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def keep_said(
    *,
    session_id: str,
    role: str,
    text: str,
    id: str,
    time: object = None,
    name: str | None = None,
    metadata: dict[str, Any] | None = None,
    identity: dict[str, str] | None = None,
) -> Iterator[Finding]:
    """A turn without what we injected ourselves, or why there is none left of it."""
    said = strip_ours(text)
    if said != text:
        if not said.strip():
            yield Dropped(OURS)
            return
        yield Stripped(OURS)
    if not said.strip():
        yield Dropped("empty")
        return
    ts = format_time(time)
    if ts is None and time not in (None, ""):
        yield Stripped("time that cannot be read")
    yield ImportedTurn(
        session_id=session_id[:512],
        role=role,
        content=said,
        id=id[:500],
        ts=ts,
        name=name,
        metadata=metadata or {},
        identity=identity or {},
    )


def text_of(value: object) -> str | None:
    """The value if it is a text with something in it."""
    return value if isinstance(value, str) and value else None
