"""Claims about remember, journal and flush: what a person does with durable memory as a whole."""

import json
from pathlib import Path
from typing import Any


def list_memories(tenant: Any) -> list[tuple[str, str]]:
    found = tenant.client.call("GET", "/v1/memories")["memories"]
    return sorted((one["namespace"], one["text"]) for one in found)


def test_remember_keeps_one_users_memory_or_everybodys_and_flush_forgets_one_users(tenant: Any) -> None:
    tenant.run("remember", "Ann keeps bees.", "--user", "ann")
    tenant.run("remember", "The wifi is called Heron.", "--global")
    assert list_memories(tenant) == [("ann", "Ann keeps bees."), ("global", "The wifi is called Heron.")]
    unclear = tenant.run("remember", "Whose?", check=False)
    assert unclear.returncode == 2 and "--global" in unclear.stderr
    refused = tenant.run("flush", "--user", "ann", check=False)
    assert refused.returncode == 1 and len(list_memories(tenant)) == 2, "nobody said yes"
    flushed = tenant.run("flush", "--user", "ann", "--yes", "--json")
    assert json.loads(flushed.stdout) == {"forgotten": 1, "dreams": 0}
    assert list_memories(tenant) == [("global", "The wifi is called Heron.")]


def test_journal_shows_what_hosts_said_about_sessions_newest_first(tenant: Any) -> None:
    assert "No host" in tenant.run("journal").stdout
    for session, event in (("s1", "before_reset"), ("s2", "session_end")):
        tenant.client.call(
            "POST", "/v1/lifecycle", json={"event": event, "session_id": session, "reason": "bye"}
        )
    entries = tenant.read("journal")["entries"]
    assert [(one["event"], one["session_id"]) for one in entries] == [
        ("session_end", "s2"),
        ("before_reset", "s1"),
    ]
    shown = tenant.run("journal", "--session", "s1").stdout
    assert "before_reset" in shown and "s2" not in shown


def test_a_watched_diary_becomes_memories_and_its_removal_forgets_them(tenant: Any, tmp_path: Path) -> None:
    diary = tmp_path / "DREAMS.md"
    diary.write_text("## Dreams\n\n- Ann keeps her keys in the blue bowl. {score=0.8 recall=4 unique=3}\n")
    watch = ("watch", str(tmp_path), "--dreams", "DREAMS.md", "--once")
    ownerless = tenant.run(*watch, check=False)
    assert ownerless.returncode == 2 and "--user" in ownerless.stderr
    tenant.run(*watch, "--user", "ann")
    assert list_memories(tenant) == [("ann", "Ann keeps her keys in the blue bowl.")]
    diary.unlink()
    tenant.run(*watch, "--user", "ann")
    assert list_memories(tenant) == []
