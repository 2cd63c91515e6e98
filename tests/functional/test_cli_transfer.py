"""Claims about export, import and erase as a person types them."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4


def test_memory_moves_from_tenant_to_tenant_through_a_file(
    tenant: Any, new_tenant: Callable[[], Any], tmp_path: Path
) -> None:
    tenant.say("s1", "My dog is called Bramble and she is a seven year old border collie.", user_id="ann")
    tenant.say("s2", "hello", user_id="bob")
    tenant.settle()
    file = tmp_path / "memory.ndjson"
    tenant.run("export", "--out", str(file))
    printed = tenant.run("export", "--user", "bob").stdout.splitlines()
    assert [json.loads(line)["content"] for line in printed if '"type": "turn"' in line] == ["hello"]
    assert json.loads(printed[-1])["type"] == "end"
    other = new_tenant()
    refused = other.run("import", "longtail", str(file), check=False)
    assert refused.returncode == 2
    assert "--new-ids" in refused.stderr and "ids=new" not in refused.stderr
    assert file.stat().st_mode & 0o077 == 0, "what was said is nobody else's to read"
    done = other.run("import", "longtail", str(file), "--new-ids", "--json")
    assert json.loads(done.stdout)["new"]["turn"] == 2
    other.settle()
    found = other.client.search(query="what is the dog called?", user_id="ann")["results"]
    assert "Bramble" in found[0]["text"]
    assert list(tmp_path.iterdir()) == [file]


def test_a_broken_file_is_refused_by_line_and_an_unknown_kind_by_name(tenant: Any, tmp_path: Path) -> None:
    file = tmp_path / "broken.ndjson"
    file.write_text("{}\n")
    refused = tenant.run("import", "longtail", str(file), check=False)
    assert refused.returncode == 2
    assert "line 1" in refused.stderr
    assert "longtail" in tenant.run("import", "mem9", str(file), check=False).stderr


def test_erase_says_what_would_go_and_does_it_only_when_told_to(tenant: Any) -> None:
    tenant.say("s1", "one", "two", user_id="ann")
    asked = tenant.run("erase", "ann", check=False)
    assert asked.returncode == 2
    assert "2 turns" in asked.stderr
    assert "--yes" in asked.stderr and "confirm" not in asked.stderr
    assert "would lose: " in tenant.run("erase", "ann", "--dry-run").stdout
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 2
    assert tenant.run("erasures", "list").stdout == "Nothing was erased.\n"
    assert "2 turns" in tenant.run("erase", "ann", "--yes", "--reason", "she asked").stdout
    listed = tenant.run("erasures", "list").stdout
    assert "namespace 'ann' (she asked)" in listed
    one = tenant.read("erasures", "list")["erasures"][0]["id"]
    assert one in listed
    assert "2 turns" in tenant.run("erasures", "show", one).stdout
    assert "is as it was" in tenant.run("erasures", "show", str(uuid4()), check=False).stderr
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 0


TOPICS = (
    "the kiln of the pottery",
    "the ferry to Gozo",
    "the choir of the parish",
    "the bees behind the barn",
)


def write_lossless_claw(file: Path) -> None:
    """Forty messages about four things, a leaf over each ten of the first thirty, and one over two of the leaves."""
    database = sqlite3.connect(file)
    database.executescript(
        """
        CREATE TABLE conversations (conversation_id INTEGER PRIMARY KEY, session_id TEXT, session_key TEXT);
        CREATE TABLE messages (message_id INTEGER PRIMARY KEY, conversation_id INTEGER, seq INTEGER, role TEXT,
                               content TEXT, created_at TEXT);
        CREATE TABLE summaries (summary_id TEXT PRIMARY KEY, conversation_id INTEGER, kind TEXT, depth INTEGER,
                                content TEXT, token_count INTEGER);
        CREATE TABLE summary_messages (summary_id TEXT, message_id INTEGER, ordinal INTEGER,
                                       PRIMARY KEY (summary_id, message_id));
        CREATE TABLE summary_parents (summary_id TEXT, parent_summary_id TEXT, ordinal INTEGER,
                                      PRIMARY KEY (summary_id, parent_summary_id));
        INSERT INTO conversations VALUES (1, 's1', 'agent:main:main');
        INSERT INTO summaries VALUES ('all', 1, 'condensed', 1, 'The kiln of the pottery, and the ferry to Gozo.', 12);
        INSERT INTO summary_parents VALUES ('all', 'leaf0', 0), ('all', 'leaf1', 1);
        """
    )
    for number in range(40):
        role = "assistant" if number % 2 else "user"
        words = (
            f"Note {number} about {TOPICS[number // 10]}: the work went on as we had planned it in spring."
        )
        database.execute(
            "INSERT INTO messages VALUES (?, 1, ?, ?, ?, ?)",
            (number, number, role, words, f"2026-08-01 10:{number:02}:00"),
        )
    for leaf, topic in enumerate(TOPICS):  # the last one covers the newest turns, which stay as they are
        text = f"Ten notes about {topic}; the work went on as planned in spring."
        database.execute("INSERT INTO summaries VALUES (?, 1, 'leaf', 0, ?, 15)", (f"leaf{leaf}", text))
        covered = [(f"leaf{leaf}", leaf * 10 + place, place) for place in range(10)]
        database.executemany("INSERT INTO summary_messages VALUES (?, ?, ?)", covered)
    database.commit()
    database.close()


def test_the_summaries_of_lossless_claw_cover_its_turns_and_the_lineage_is_proved(
    tenant: Any, tmp_path: Path
) -> None:
    file = tmp_path / "lcm.db"
    write_lossless_claw(file)
    dry = tenant.read("import", "lossless-claw", str(file), "--dry-run")
    done = tenant.read("import", "lossless-claw", str(file))
    for report in (dry, done):
        assert (report["kept"], report["summaries"]) == ({"user": 20, "assistant": 20}, 4)
        assert report["dropped"] == {"summary: covers the newest turns, which stay word for word": 1}
    tenant.settle()

    proved = tenant.read("lineage", "verify")
    assert (proved["sessions"], proved["summaries"], proved["violations"]) == (1, 4, [])
    turns = tenant.client.list_turns("s1/lcm-1")["turns"]
    assert [bool(turn["summary_id"]) for turn in turns] == [True] * 30 + [False] * 10
    leaf = tenant.client.call("GET", f"/v1/summaries/{turns[0]['summary_id']}")
    assert (leaf["backend"], leaf["turn_count"], leaf["is_active"]) == ("lossless-claw", 10, False)
    assert 0 < leaf["confidence"] < 1 and leaf["align"] > 0.5, "measured, not taken on trust"
    expanded = tenant.client.expand(leaf["parent_id"])
    assert [turn["content"].split(":")[0] for turn in expanded["turns"]] == [
        f"Note {number} about {TOPICS[number // 10]}" for number in range(20)
    ]
    found = tenant.client.search(query="ferry to Gozo", agent_id="main", k=20)["results"]
    assert any(hit["kind"] == "summary" for hit in found)

    again = tenant.read("import", "lossless-claw", str(file), "--restart")
    assert (again["accepted"], again["summaries"], again["summaries_known"]) == (0, 0, 4)


def test_a_summary_over_turns_that_are_covered_already_is_refused_whole(tenant: Any, tmp_path: Path) -> None:
    file = tmp_path / "lcm.db"
    write_lossless_claw(file)
    tenant.run("import", "lossless-claw", str(file), "--json")
    exported = [json.loads(line) for line in tenant.run("export").stdout.splitlines()]
    summary = next(one for one in exported if one["type"] == "summary" and one["turns"])
    lines = [exported[0], {**summary, "id": str(uuid4())}, {"type": "end", "counts": {"summary": 1}}]
    copy = tmp_path / "copy.ndjson"
    copy.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    refused = tenant.run("import", "longtail", str(copy), check=False)
    assert refused.returncode == 2 and "covers already" in refused.stderr
