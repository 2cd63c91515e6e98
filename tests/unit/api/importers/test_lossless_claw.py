"""Claims about lossless-claw's database: messages are kept, in order and once; summaries come with what they cover."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from api.importers.sources.lossless_claw import find_units
from models.errors import InvalidInput


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "lcm.db"
    database = sqlite3.connect(file)
    database.executescript(
        """
        CREATE TABLE conversations (conversation_id INTEGER PRIMARY KEY, session_id TEXT, session_key TEXT);
        CREATE TABLE messages (message_id INTEGER PRIMARY KEY, conversation_id INTEGER, seq INTEGER, role TEXT,
                               content TEXT, created_at TEXT);
        CREATE TABLE message_parts (message_id INTEGER, part_type TEXT, ordinal INTEGER, text_content TEXT,
                                    tool_name TEXT, tool_input TEXT, tool_output TEXT);
        CREATE TABLE summaries (summary_id TEXT, conversation_id INTEGER, content TEXT, suppressed_at TEXT);
        CREATE TABLE summary_messages (summary_id TEXT, message_id INTEGER, ordinal INTEGER);
        CREATE TABLE summary_parents (summary_id TEXT, parent_summary_id TEXT, ordinal INTEGER);
        INSERT INTO conversations VALUES (1, 's1', 'agent:main:main'), (2, 's2', 'agent:main:cron:x'), (3, 's1', NULL);
        INSERT INTO messages VALUES
            (11, 1, 2, 'assistant', '', '2026-08-01 10:00:01'),
            (10, 1, 1, 'user', 'My rent is 900 euros.', '2026-08-01 10:00:00'),
            (12, 1, 3, 'tool', 'done', '2026-08-01T10:00:02Z'),
            (13, 1, 4, 'user', '[OpenClaw heartbeat poll]', '2026-08-01 11:00:00'),
            (14, 1, 5, 'assistant', 'HEARTBEAT_OK', '2026-08-01 11:00:01'),
            (15, 1, 6, 'user', '   ', '2026-08-01 12:00:00'),
            (20, 2, 1, 'user', 'Nightly job.', '2026-08-01 10:00:00'),
            (30, 3, 1, 'user', 'Another talk.', 'some day');
        INSERT INTO message_parts VALUES (11, 'reasoning', 0, 'hm', NULL, NULL, NULL),
            (11, 'text', 1, 'I look.', NULL, NULL, NULL),
            (11, 'tool', 2, NULL, 'exec', '{"cmd":"ls"}', NULL);
        INSERT INTO summaries VALUES ('sum_1', 1, 'They spoke of rent.', NULL), ('sum_2', 1, 'All of it.', NULL),
            ('sum_3', 1, 'Gone.', '2026-08-02'), ('sum_4', 2, 'Nightly.', NULL);
        INSERT INTO summary_messages VALUES ('sum_1', 10, 0), ('sum_1', 11, 1);
        INSERT INTO summary_parents VALUES ('sum_2', 'sum_1', 0);
        """
    )
    database.commit()
    database.close()
    return file


def test_messages_are_turns_in_order_and_summaries_name_what_they_cover(file: Path, read: Any) -> None:
    found = read(find_units(file))
    assert [(turn.session_id, turn.role, turn.content, turn.id, turn.ts) for turn in found.turns] == [
        ("s1/lcm-1", "user", "My rent is 900 euros.", "lcm:10", "2026-08-01T10:00:00+00:00"),
        (
            "s1/lcm-1",
            "assistant",
            'I look.\n[calls exec: {"cmd":"ls"}]',
            "lcm:11",
            "2026-08-01T10:00:01+00:00",
        ),
        ("s1/lcm-1", "tool", "done", "lcm:12", "2026-08-01T10:00:02+00:00"),
        ("s1/lcm-3", "user", "Another talk.", "lcm:30", None),
    ]
    assert [(one.session_id, one.id, one.text, one.messages, one.children) for one in found.summaries] == [
        ("s1/lcm-1", "sum_1", "They spoke of rent.", ["lcm:10", "lcm:11"], []),
        ("s1/lcm-1", "sum_2", "All of it.", [], ["sum_1"]),
    ]
    assert found.turns[0].identity == {"agent_id": "main"}
    assert found.turns[3].identity == {}
    assert found.reasons == {
        "heartbeat": 2,
        "empty": 1,
        "cron session": 1,
        "summary: suppressed there": 1,
        "summary: cron session": 1,
        "time that cannot be read": 1,
    }


def test_a_conversation_that_grew_is_read_again_and_the_others_are_not(file: Path) -> None:
    before = {unit.name: (unit.size, unit.changed) for unit in find_units(file)}
    database = sqlite3.connect(file)
    database.execute("INSERT INTO messages VALUES (31, 3, 2, 'assistant', 'Yes.', '2026-08-01 10:00:00')")
    database.execute("INSERT INTO summaries VALUES ('sum_5', 1, 'More.', NULL)")
    database.commit()
    database.close()
    after = {unit.name: (unit.size, unit.changed) for unit in find_units(file)}
    assert {name for name in after if after[name] != before[name]} == {"lcm.db:1", "lcm.db:3"}


def test_what_was_taken_back_there_is_not_brought_back(file: Path, read: Any) -> None:
    database = sqlite3.connect(file)
    database.execute("ALTER TABLE messages ADD COLUMN suppressed_at TEXT")
    database.execute("UPDATE messages SET suppressed_at = '2026-08-02' WHERE message_id = 10")
    database.commit()
    database.close()
    found = read(find_units(file))
    assert "My rent is 900 euros." not in [turn.content for turn in found.turns]
    assert found.reasons["suppressed there"] == 1


def test_another_database_is_refused_with_the_table_it_lacks(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "lcm.db").close()
    with pytest.raises(InvalidInput, match=r"lcm\.db has no table conversations"):
        find_units(tmp_path)
