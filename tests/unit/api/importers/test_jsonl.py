"""Claims about JSON lines: the same ids as `longtail ingest` gives, and a bad line costs only itself."""

import json
from pathlib import Path
from typing import Any

from api.cli.memory.turn_files import read_batches
from api.importers.sources.jsonl import find_units


def test_lines_are_turns_with_the_ids_that_ingest_gives_them(tmp_path: Path, read: Any) -> None:
    file = tmp_path / "talk.jsonl"
    lines = [
        {"session_id": "s1", "role": "user", "content": "Hello", "user_id": "ann"},
        {"session_id": "s1", "role": "assistant", "content": "Hi", "id": "x7", "ts": "2026-08-01T10:00:00Z"},
        {"session_id": "s2", "role": "user", "content": "Hello", "metadata": {"a": 1}},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = read(find_units(file))
    ingested = [turn["id"] for batch in read_batches(file) for turn in batch.turns]
    assert [turn.id for turn in found.turns] == ingested
    assert [turn.identity for turn in found.turns] == [{"user_id": "ann"}, {}, {}]
    assert found.turns[1].ts == "2026-08-01T10:00:00Z"
    assert found.turns[2].metadata == {"a": 1}


def test_a_bad_line_is_named_and_the_others_are_kept(tmp_path: Path, read: Any, block: str) -> None:
    file = tmp_path / "talk.jsonl"
    lines = [
        '{"session_id": "s1"',
        json.dumps({"role": "user", "content": "Whose?"}),
        json.dumps({"session_id": "s1", "role": "robot", "content": "Beep"}),
        json.dumps({"session_id": "s1", "role": "user", "content": "Hi", "colour": "red"}),
        json.dumps({"session_id": "s1", "role": "user", "content": block}),
        json.dumps({"session_id": "s1", "role": "user", "content": block + "Kept."}),
    ]
    file.write_text("\n".join(lines))
    found = read(find_units(tmp_path))
    assert found.said == [("user", "Kept.")]
    assert found.reasons == {
        "no JSON": 1,
        "without a session_id": 1,
        "refused by the format": 1,
        "unknown field": 1,
        "injected by us": 2,
    }
    assert [place.split(":")[0] for place in found.places] == [
        "talk.jsonl, line 1",
        "talk.jsonl, line 2",
        "talk.jsonl, line 3",
        "talk.jsonl, line 4 (colour)",
    ]
