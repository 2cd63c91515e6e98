"""Claims about looking at what is kept and putting it right: what the API can, a person can type."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from models.store.engine import plain_transaction


def test_memories_are_listed_shown_corrected_and_forgotten(tenant: Any) -> None:
    tenant.run("remember", "Ann keeps bees.", "--user", "ann")
    [one] = tenant.read("memories", "list", "--user", "ann")["memories"]
    assert "Ann keeps bees." in tenant.run("memories", "list").stdout
    assert "no memories" in tenant.run("memories", "list", "--user", "bob").stdout
    tenant.run("memories", "correct", one["id"], "Ann keeps goats.")
    shown = tenant.run("memories", "show", one["id"]).stdout
    assert shown.startswith("Ann keeps goats.") and "Ann keeps bees." in shown, "with what it said before"
    tenant.run("memories", "forget", one["id"])
    assert tenant.read("memories", "list")["memories"] == []


def test_in_a_narrow_terminal_the_words_stand_below_their_id(
    tenant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "Ann keeps her bees on the roof of the old customs house in Porto."
    tenant.run("remember", words, "--user", "ann")
    monkeypatch.setitem(tenant.stack.env, "COLUMNS", "80")
    assert f"  {words}" in tenant.run("memories", "list").stdout.splitlines()
    monkeypatch.setitem(tenant.stack.env, "COLUMNS", "160")
    [heading, row] = tenant.run("memories", "list").stdout.splitlines()
    assert heading.split() == ["id", "whose", "said", "text"] and words in row


def test_a_list_of_wishes_names_who_said_each(tenant: Any) -> None:
    said = {"role": "user", "content": "From now on never suggest nuts, please.", "name": "Ann"}
    tenant.client.post_turns("s1", [said], user_id="home")
    tenant.settle()
    shown = " ".join(tenant.run("guidance", "list", "--user", "home").stdout.split())
    assert "Ann: From now on never suggest nuts" in shown


def test_spoken_wishes_sessions_and_namespaces_are_listed(tenant: Any) -> None:
    tenant.say("s1", "From now on answer in short sentences, please.", user_id="ann")
    tenant.settle()
    [wish] = tenant.read("guidance", "list", "--user", "ann")["guidance"]
    assert [one["session_id"] for one in tenant.read("sessions", "list")["sessions"]] == ["s1"]
    assert tenant.read("sessions", "show", "s1")["turns"] == 1
    assert [one["namespace"] for one in tenant.read("namespaces", "list")["namespaces"]] == ["ann"]
    corrected = json.loads(
        tenant.run("guidance", "correct", wish["id"], "Never push to trunk.", "--json").stdout
    )
    assert corrected["text"] == "Never push to trunk."
    tenant.run("guidance", "forget", wish["id"])
    assert tenant.read("guidance", "list")["guidance"] == []
    assert "stands no more" in " ".join(tenant.run("guidance", "list", "--all").stdout.split())


def test_documents_are_loaded_listed_shown_and_removed(tenant: Any, tmp_path: Path) -> None:
    file = tmp_path / "RULES.md"
    file.write_text("# House\n\n- Never shout.\n")
    tenant.run("docs", "load", str(file))
    assert "RULES.md" in tenant.run("docs", "list").stdout
    assert tenant.run("docs", "show", "RULES.md").stdout == file.read_text()
    tenant.run("docs", "remove", "RULES.md")
    assert tenant.read("docs", "list")["documents"] == []


def test_dead_letters_are_listed_and_replayed_to_the_end(tenant: Any) -> None:
    tenant.say("s", "kept in any case")
    tenant.settle()
    with plain_transaction(tenant.owner) as connection:
        for statement in (
            "UPDATE longtail.work SET stage = 'failed' WHERE tenant_id = :tenant",
            "INSERT INTO longtail.dead_letters (tenant_id, item_id, stage, reason, attempts) "
            "SELECT tenant_id, item_id, 'accepted', 'no luck', 3 FROM longtail.work WHERE tenant_id = :tenant",
        ):
            connection.execute(text(statement), {"tenant": tenant.id})
    of = ("--tenant", tenant.name)
    [one] = tenant.read("dead-letters", "list", *of)["dead_letters"]
    assert one["reason"] == "no luck"
    assert "no luck" in tenant.run("dead-letters", "list", *of).stdout
    assert tenant.read("dead-letters", "replay", one["item_id"], *of) == {"replayed": 1}
    tenant.settle()
    assert tenant.one("SELECT stage FROM longtail.work WHERE tenant_id = :tenant") == "done"
    assert tenant.run("dead-letters", "replay", "--all", *of, check=False).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("memories", "show", "x"), "'longtail memories list' shows the ids"),
        (("memories", "forget", str(uuid4())), "'longtail memories list' shows them"),
        (("guidance", "forget", str(uuid4())), "'longtail guidance list' shows what stands"),
        (("sessions", "show", "nobody"), "'longtail sessions list' shows them"),
        (("docs", "show", "none.md"), "'longtail docs list' shows them"),
        (("dead-letters", "replay"), "--all"),
        (("dead-letters", "replay", "x"), "'longtail dead-letters list' shows the ids"),
        (("token", "revoke", "x"), "'longtail token list' shows them"),
        (("explain", "x"), "'longtail assemble' prints the id of each prompt"),
    ],
)
def test_a_wrong_name_is_answered_with_the_command_that_lists_the_right_ones(
    tenant: Any, arguments: tuple[str, ...], words: str
) -> None:
    refused = tenant.run(*arguments, check=False)
    assert refused.returncode == 2 and words in refused.stderr
