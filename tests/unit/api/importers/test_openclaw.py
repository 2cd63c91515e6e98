"""Claims about OpenClaw's sessions and memory files: what was said is kept under our plugin's ids, the rest is counted."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import zstandard

from api.importers.sources.openclaw import find_units
from models.errors import InvalidInput

NOON = 1785578400000


def message(role: str, content: Any, at: int = NOON, **fields: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"e{at}",
        "message": {"role": role, "content": content, "timestamp": at, **fields},
    }


def words(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


TALK = [
    {"type": "session", "version": 4, "id": "s1", "timestamp": "2026-08-01T10:00:00.000Z"},
    {"type": "model_change", "id": "m", "modelId": "stub"},
    message("user", "My bicycle is a red Brompton.", NOON),
    message(
        "assistant",
        [
            {"type": "thinking", "thinking": "hm"},
            *words("Noted."),
            {"type": "toolCall", "id": "c1", "name": "exec", "arguments": {"cmd": "ls"}},
        ],
        NOON + 1,
    ),
    message("toolResult", words("a.txt"), NOON + 2, toolCallId="c1", toolName="exec"),
    {"type": "compaction", "id": "k", "summary": "They spoke."},
    {"type": "reset", "id": "r", "reason": "new"},
    message("user", "My locker is B17.", NOON + 3),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "agents" / "main" / "sessions").mkdir(parents=True)
    (tmp_path / "agents" / "main" / "agent").mkdir()
    return tmp_path


def write_transcript(home: Path, *events: dict[str, Any] | str, name: str = "s1.jsonl") -> None:
    lines = (one if isinstance(one, str) else json.dumps(one) for one in events)
    (home / "agents" / "main" / "sessions" / name).write_text("".join(f"{line}\n" for line in lines))


def write_database(home: Path, sessions: dict[tuple[str, str], list[dict[str, Any]]]) -> Path:
    """As the host's schema 23: an event is text, or compressed where it is long."""
    file = home / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    database = sqlite3.connect(file)
    database.executescript(
        "CREATE TABLE session_windows (session_id TEXT, session_key TEXT, created_at INTEGER, updated_at INTEGER);"
        "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER,"
        " event_zstd BLOB);"
        "CREATE TABLE session_transcript_cold_archives (session_id TEXT, event_count INTEGER)"
    )
    for (session_id, key), events in sessions.items():
        database.execute("INSERT INTO session_windows VALUES (?, ?, 1, 2)", (session_id, key))
        for seq, event in enumerate(events):
            data = json.dumps(event)
            packed = zstandard.compress(data.encode()) if len(data) > 2000 else None
            row = (session_id, seq, None if packed else data, NOON, packed)
            database.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?)", row)
    database.commit()
    database.close()
    return file


def test_messages_have_the_ids_and_sessions_that_our_plugin_gives_them(home: Path, read: Any) -> None:
    write_transcript(home, *TALK)
    found = read(find_units(home))
    assert [(turn.session_id, turn.role, turn.content, turn.id) for turn in found.turns] == [
        ("s1", "user", "My bicycle is a red Brompton.", f"user:{NOON}"),
        ("s1", "assistant", 'Noted.\n[calls exec: {"cmd":"ls"}]', f"assistant:{NOON + 1}"),
        ("s1", "tool", "a.txt", f"tool:{NOON + 2}:c1"),
        ("s1.1", "user", "My locker is B17.", f"user:{NOON + 3}"),
    ]
    assert found.turns[0].ts == "2026-08-01T10:00:00+00:00"
    assert {turn.identity["agent_id"] for turn in found.turns} == {"main"}
    assert found.reasons == {"bookkeeping of the host": 1, "thinking": 1, "the host's own summary": 1}


def test_the_database_gives_what_the_file_gave_long_events_too(home: Path, read: Any) -> None:
    long = message("user", "long " * 1000, NOON + 9)
    write_transcript(home, *TALK, long)
    from_file = read(find_units(home / "agents" / "main" / "sessions" / "s1.jsonl"))
    file = write_database(home, {("s1", "agent:main:main"): [*TALK, long]})
    from_database = read(find_units(file))
    assert from_database.turns == from_file.turns
    assert from_database.said[-1] == ("user", "long " * 1000)


def test_heartbeats_errands_and_silent_answers_leave_nothing(home: Path, read: Any) -> None:
    poll = message("user", "[OpenClaw heartbeat poll]", NOON)
    old_poll = message("user", "Read HEARTBEAT.md if it exists.", NOON + 2)
    internal = message("user", "Flush your memory.", NOON + 6, provenance={"kind": "internal_system"})
    file = write_database(
        home,
        {
            ("s1", "agent:main:main"): [
                poll,
                message("assistant", words("I looked around."), NOON + 1),
                old_poll,
                message("assistant", words("HEARTBEAT_OK"), NOON + 3),
                message("user", "Hi all, who brings cake?", NOON + 4),
                message("assistant", words("NO_REPLY"), NOON + 5),
                internal,
            ],
            ("s2", "agent:main:cron:nightly"): [message("user", "Nightly job.", NOON)],
        },
    )
    found = read(find_units(file))
    assert found.said == [("user", "Hi all, who brings cake?")]
    assert found.reasons == {"heartbeat": 4, "silent answer": 1, "written by the host": 1, "cron session": 1}


def test_what_we_recalled_does_not_come_back_as_memory(home: Path, read: Any, block: str) -> None:
    write_transcript(
        home,
        message("user", block + "What now?", NOON),
        message("toolResult", words("the old code"), NOON + 1, toolCallId="c1", toolName="longtail_search"),
        message("custom", block, NOON + 2),
    )
    found = read(find_units(home))
    assert found.said == [("user", "What now?")]
    assert found.reasons == {
        "injected by us": 1,
        "answer of our own tool": 1,
        "put in by the host or a plugin": 1,
    }


def test_a_bad_line_is_named_and_the_others_are_kept(home: Path, read: Any) -> None:
    write_transcript(home, '{"type": "mess', "[]", {"type": "message"}, message("user", "Still here."))
    found = read(find_units(home))
    assert found.said == [("user", "Still here.")]
    assert found.places == ["s1.jsonl, line 1", "s1.jsonl, line 2", "s1.jsonl, line 3"]


def test_sessions_out_of_reach_are_told(home: Path, read: Any) -> None:
    write_transcript(home, message("user", "Gone."), name="s2.jsonl.deleted.2026-08-01T10-00-00.000Z")
    file = write_database(home, {("s1", "agent:main:main"): []})
    database = sqlite3.connect(file)
    database.execute("INSERT INTO session_transcript_cold_archives VALUES ('s1', 12)")
    database.commit()
    database.close()
    found = read(find_units(home))
    assert found.turns == []
    assert found.reasons == {
        "session deleted in the host": 1,
        "in the host's cold storage: restore it there first": 1,
    }


def test_each_note_of_a_memory_file_is_a_turn_named_by_its_words(home: Path, read: Any) -> None:
    workspace = home / "workspace-work"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "README.md").write_text("Not memory.")
    (workspace / "memory" / "2026-08-01.md").write_text("Met Ilse.\n\n```\nls\n\npwd\n```\n")
    file = workspace / "MEMORY.md"
    file.write_text("# Home\n- Cat: Miso\n  (grey)\n- Tea\n\n## Rent\nDue on the 1st.\n")
    os.utime(file, (NOON / 1000, NOON / 1000))
    found = read(find_units(home))
    assert [(turn.role, turn.content) for turn in found.turns] == [
        ("assistant", "Home\n- Cat: Miso\n  (grey)"),
        ("assistant", "Home\n- Tea"),
        ("assistant", "Home › Rent\nDue on the 1st."),
        ("assistant", "Met Ilse."),
        ("assistant", "```\nls\n\npwd\n```"),
    ]
    assert [turn.ts for turn in found.turns][2:4] == [
        "2026-08-01T10:00:00+00:00",
        "2026-08-01T00:00:00+00:00",
    ]
    assert {turn.identity["agent_id"] for turn in found.turns} == {"work"}
    file.write_text("# Home\n- Dog: Rex\n- Tea\n")
    ids = {turn.id for turn in found.turns}
    assert [turn.content for turn in read(find_units(home)).turns if turn.id not in ids] == [
        "Home\n- Dog: Rex"
    ]


def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "openclaw-agent.sqlite"
    file.write_bytes(b"no database at all, whatever its name says" * 50)
    with pytest.raises(InvalidInput, match=r"openclaw-agent\.sqlite cannot be read"):
        find_units(file)
