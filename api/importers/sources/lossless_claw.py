"""lossless-claw's database (~/.openclaw/lcm.db): its messages as turns, each conversation a session, and its summaries
as coverage of them: leaves over messages, condensed ones over those."""

import os
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from api.host.turns import clean_text
from api.importers.reading import keep_said
from api.importers.records import Dropped, Finding, ImportedSummary, Source, Unit
from api.importers.sources.openclaw_noise import identify_key, is_heartbeat, name_errand, name_noise
from api.importers.sources.sqlite import find_value, has_table, open_database

HOST: Final = "lossless-claw"
TABLES: Final = ("conversations", "messages")
Row = tuple[int, str, str, str]  # message_id, role, words, created_at


def default_file() -> Path:
    """Where lossless-claw keeps its database."""
    return Path(os.environ.get("OPENCLAW_STATE_DIR") or Path.home() / ".openclaw") / "lcm.db"


def find_units(path: Path) -> list[Unit]:
    """The conversations of the database, oldest first."""
    file = path / "lcm.db" if path.is_dir() else path
    with open_database(file, wanted=TABLES) as database:
        rows = database.execute("SELECT * FROM conversations ORDER BY conversation_id").fetchall()
        sizes = {
            row[0]: (row[1], row[2])
            for row in database.execute(
                "SELECT conversation_id, count(*), max(message_id) FROM messages GROUP BY conversation_id"
            )
        }
        summaries = _count_summaries(database)
    units = []
    for row in rows:
        number = row["conversation_id"]
        count, newest = sizes.get(number, (0, 0))
        session_key = find_value(row, "session_key")
        units.append(
            Unit(
                name=f"{file.name}:{number}",
                size=count + summaries.get(number, 0),
                changed=newest,
                read=partial(read_conversation, file, number, row["session_id"], session_key),
            )
        )
    return units


SOURCE: Final = Source(kind=HOST, find_units=find_units, default_path=default_file, agent_id="openclaw")


def read_conversation(file: Path, number: int, session_id: str, session_key: str | None) -> Iterator[Finding]:
    """The messages of one conversation, in order, and then its summaries."""
    errand = name_errand(session_key)
    identity = identify_key(session_key)
    with open_database(file, wanted=TABLES) as database:
        exchange: list[Row] = []
        for row in _read_messages(database, number):
            if row is None:
                yield Dropped("suppressed there")
                continue
            if errand:
                yield Dropped(f"{errand} session")
                continue
            if row[1] == "user":
                yield from _close(exchange, f"{session_id}/lcm-{number}", identity)
                exchange = []
            exchange.append(row)
        yield from _close(exchange, f"{session_id}/lcm-{number}", identity)
        for summary in _read_summaries(database, number, f"{session_id}/lcm-{number}"):
            yield Dropped(f"summary: {errand} session") if errand else summary


def _count_summaries(database: sqlite3.Connection) -> dict[int, int]:
    if not has_table(database, "summaries"):
        return {}
    found = database.execute("SELECT conversation_id, count(*) FROM summaries GROUP BY conversation_id")
    return {row[0]: row[1] for row in found}


def _read_summaries(
    database: sqlite3.Connection, number: int, session_id: str
) -> Iterator[ImportedSummary | Dropped]:
    """Summaries in the order they were made; `summary_parents` names, for one, those it was made from."""
    if not has_table(database, "summaries"):
        return
    rows = database.execute("SELECT * FROM summaries WHERE conversation_id = ? ORDER BY rowid", (number,))
    for row in rows.fetchall():
        if find_value(row, "suppressed_at"):
            yield Dropped("summary: suppressed there")
            continue
        name = row["summary_id"]
        yield ImportedSummary(
            session_id=session_id,
            id=name,
            text=clean_text(row["content"] or ""),
            messages=[f"lcm:{one}" for one in _read_edges(database, "summary_messages", name)],
            children=_read_edges(database, "summary_parents", name),
        )


EDGES: Final = {
    "summary_messages": "SELECT message_id FROM summary_messages WHERE summary_id = ? ORDER BY rowid",
    "summary_parents": "SELECT parent_summary_id FROM summary_parents WHERE summary_id = ? ORDER BY rowid",
}


def _read_edges(database: sqlite3.Connection, table: str, summary_id: str) -> list[Any]:
    if not has_table(database, table):
        return []
    return [row[0] for row in database.execute(EDGES[table], (summary_id,))]


def _close(exchange: list[Row], session_id: str, identity: dict[str, str]) -> Iterator[Finding]:
    if is_heartbeat([(role, text) for _, role, text, _ in exchange]):
        yield from (Dropped("heartbeat") for _ in exchange)
        return
    for message_id, role, text, created_at in exchange:
        noise = name_noise(role, text, {})
        if noise:
            yield Dropped(noise)
            continue
        yield from keep_said(
            session_id=session_id,
            role=role,
            text=text,
            id=f"lcm:{message_id}",
            time=created_at,
            metadata={"host": HOST},
            identity=identity,
        )


def _read_messages(database: sqlite3.Connection, number: int) -> Iterator[Row | None]:
    """The messages in order; None for one that was taken back there."""
    has_parts = has_table(database, "message_parts")
    rows = database.execute("SELECT * FROM messages WHERE conversation_id = ? ORDER BY seq", (number,))
    for row in rows.fetchall():
        if find_value(row, "suppressed_at"):
            yield None
            continue
        message_id = row["message_id"]
        words = row["content"] or (_join_parts(database, message_id) if has_parts else "")
        yield message_id, row["role"], words, row["created_at"]


def _join_parts(database: sqlite3.Connection, message_id: int) -> str:
    """The words of a message that is kept in parts only: what was said, which tool was called, what it answered."""
    rows: list[Any] = database.execute(
        "SELECT part_type, text_content, tool_name, tool_input, tool_output FROM message_parts"
        " WHERE message_id = ? ORDER BY ordinal",
        (message_id,),
    ).fetchall()
    lines = []
    for kind, text, tool, given, answer in rows:
        if kind == "reasoning":
            continue
        if text:
            lines.append(text)
        elif tool and given:
            lines.append(f"[calls {tool}: {given}]")
        if answer:
            lines.append(answer)
    return "\n".join(lines)
