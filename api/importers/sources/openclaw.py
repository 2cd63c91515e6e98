"""OpenClaw: its memory files (Markdown), its session database, and the transcript files of before 2026.

A memory file was written by the agent, so its notes are turns of role `assistant`: they are found, but never taken for
something the user asked for. Each is named by its words: an edited file adds what is new.
"""

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import zstandard

from api.importers.reading import keep_said, parse_line, read_json_lines
from api.importers.records import Dropped, Finding, Source, Unit
from api.importers.sources.markdown_notes import split_notes
from api.importers.sources.openclaw_events import Event, EventReader
from api.importers.sources.sqlite import find_value, has_table, open_database

HOST: Final = "openclaw"
DATABASE: Final = "openclaw-agent.sqlite"
NOTE_FILES: Final = frozenset({"MEMORY.md", "memory.md", "USER.md"})
DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
TRANSCRIPT: Final = re.compile(r"(?P<session>.+?)\.jsonl(?:\.(?P<fate>reset|deleted)\..+)?")
NOT_MEMORY: Final = frozenset({"node_modules", ".git", "extensions", "logs", "cold", "media"})
MAX_EVENT_BYTES: Final = 4_194_304  # of one compressed event, by the host's own schema


def default_folder() -> Path:
    """Where OpenClaw keeps its state."""
    return Path(os.environ.get("OPENCLAW_STATE_DIR") or Path.home() / ".openclaw")


def find_units(path: Path) -> list[Unit]:
    """Databases, transcripts and memory files below a folder, or what is in one file."""
    units: list[Unit] = []
    for file in sorted(_walk(path)) if path.is_dir() else [path]:
        name = str(file.relative_to(path)) if path.is_dir() else file.name
        if file.suffix in {".sqlite", ".db"}:
            units += _find_sessions(file, name)
        elif TRANSCRIPT.fullmatch(file.name):
            units.append(_describe(file, name, partial(read_transcript, file)))
        elif file.suffix == ".md":
            units.append(_describe(file, name, partial(read_notes, file, name)))
    return units


SOURCE: Final = Source(kind=HOST, find_units=find_units, default_path=default_folder, agent_id=HOST)


def _describe(file: Path, name: str, read: Callable[[], Iterator[Finding]]) -> Unit:
    facts = file.stat()
    return Unit(name=name, size=facts.st_size, changed=facts.st_mtime_ns, read=read)


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_MEMORY]
        here = Path(place)
        is_notes = "memory" in here.relative_to(folder).parts
        for name in names:
            is_transcript = here.name == "sessions" and TRANSCRIPT.fullmatch(name)
            if name == DATABASE or name in NOTE_FILES or is_transcript or (is_notes and name.endswith(".md")):
                yield here / name


def read_notes(file: Path, name: str) -> Iterator[Finding]:
    """The notes of a memory file, each with the headings it stands below."""
    day = DAY.match(file.name)
    time = day[0] if day else datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()
    try:
        markdown = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        yield Dropped("not UTF-8", file.name)
        return
    for note in split_notes(markdown):
        text = "\n".join((*([" › ".join(note.headings)] if note.headings else []), note.text))
        yield from keep_said(
            session_id=f"{HOST}/{name}",
            role="assistant",
            text=text,
            id=f"note:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:24]}",
            time=time,
            metadata={"host": HOST, "kind": "note", "file": name[:500]},
            identity={"agent_id": _workspace_agent(file)},
        )


def _workspace_agent(file: Path) -> str:
    """The agent whose workspace a memory file lies in: `workspace` is the first one's, `workspace-<id>` another's."""
    found = (
        part.removeprefix("workspace-") for part in file.resolve().parts if part.startswith("workspace-")
    )
    return next(found, "main")


def read_transcript(file: Path) -> Iterator[Finding]:
    """A transcript file; the session's key stands in `sessions.json` beside it."""
    found = TRANSCRIPT.fullmatch(file.name)
    assert found is not None
    if found["fate"] == "deleted":
        yield Dropped("session deleted in the host", file.name)
        return
    if found["session"].endswith(".trajectory"):
        yield Dropped("trace of the host", file.name)
        return
    session_id = found["session"]
    reader = EventReader(session_id, session_key=_find_key(file, session_id), agent_id=_agent_of(file))
    yield from reader.read(read_json_lines(file))


def _find_key(file: Path, session_id: str) -> str | None:
    try:
        known = json.loads(file.with_name("sessions.json").read_bytes())
    except (OSError, ValueError):
        return None
    entries = known.items() if isinstance(known, dict) else ()
    return next(
        (key for key, one in entries if isinstance(one, dict) and one.get("sessionId") == session_id), None
    )


def _agent_of(file: Path) -> str | None:
    """The agent that a file of its folder belongs to: agents/<id>/sessions/… or agents/<id>/agent/…"""
    parts = file.resolve().parts
    return parts[-3] if len(parts) > 3 and parts[-4] == "agents" else None


def _find_sessions(file: Path, name: str) -> Iterator[Unit]:
    """Each session of a database is a unit of its own."""
    with open_database(file, wanted=("transcript_events", "session_windows")) as database:
        rows = database.execute(
            "SELECT session_id, session_key, (SELECT count(*) FROM transcript_events AS event"
            " WHERE event.session_id = session_windows.session_id), updated_at FROM session_windows ORDER BY created_at"
        ).fetchall()
    for session_id, key, count, updated_at in rows:
        yield Unit(
            name=f"{name}:{session_id}",
            size=count,
            changed=updated_at,
            read=partial(read_session, file, session_id, key),
        )


def read_session(file: Path, session_id: str, session_key: str | None) -> Iterator[Finding]:
    """The events of one session of the database."""
    reader = EventReader(session_id, session_key=session_key, agent_id=_agent_of(file))
    with open_database(file, wanted=("transcript_events",)) as database:
        if has_table(database, "session_transcript_cold_archives"):
            cold = database.execute(
                "SELECT event_count FROM session_transcript_cold_archives WHERE session_id = ?", (session_id,)
            ).fetchone()
            if cold:
                yield Dropped("in the host's cold storage: restore it there first", f"session {session_id}")
        yield from reader.read(_read_events(database, file, session_id))


def _read_events(database: sqlite3.Connection, file: Path, session_id: str) -> Iterator[Event]:
    rows = database.execute(
        "SELECT * FROM transcript_events WHERE session_id = ? ORDER BY seq", (session_id,)
    )
    for row in rows:
        plain, blob = row["event_json"], find_value(row, "event_zstd")  # packed since the host's schema 23
        where = f"{file.name}, session {session_id}, event {row['seq']}"
        if plain is None and blob is not None:
            try:
                plain = zstandard.ZstdDecompressor().decompress(blob, max_output_size=MAX_EVENT_BYTES)
            except zstandard.ZstdError:
                yield where, Dropped("compressed, and cannot be read", where)
                continue
        yield where, parse_line(plain or "", where)
