"""Claims about the commands that read back and compact: each speaks JSON and says by its exit code how it went."""

import json
from typing import Any

import pytest
from sqlalchemy import text

from bench.texts import make_texts
from models.store.engine import plain_transaction


@pytest.fixture
def talked(tenant: Any) -> Any:
    tenant.say("long talk", *make_texts(45))
    return tenant


def test_a_session_is_compacted_expanded_and_proved(talked: Any) -> None:
    unproved = talked.run("lineage", "verify").stdout
    assert unproved == "no summary in 1 sessions, so each of their 45 turns stands for itself: clean\n"
    done = talked.read("compact", "long talk", "--force")
    assert done["did_compact"]
    assert done["turns_covered"] == 41
    shown = talked.read("expand", done["summary_ids"][0])
    assert len(shown["turns"]) == 14
    printed = talked.run("expand", done["summary_ids"][0]).stdout
    assert "change 0" in printed
    assert shown["text"] in printed, "what the summary itself says"
    assert shown["text"] in talked.run("history", "long talk").stdout
    proof = talked.run("lineage", "verify", "--json")
    assert json.loads(proof.stdout)["violations"] == []
    proved = talked.run("lineage", "verify").stdout
    assert proved == "3 summaries in 1 of 1 sessions, which hold 45 of 45 turns: clean\n"
    assert "tail" in talked.run("compact", "long talk", "--force").stdout


def test_history_prints_every_turn_in_order(talked: Any) -> None:
    turns = talked.read("history", "long talk")["turns"]
    assert [turn["content"] for turn in turns] == make_texts(45)
    limited = talked.read("history", "long talk", "--limit", "3")["turns"]
    assert limited == turns[-3:], "the newest"
    assert "change 44" in talked.run("history", "long talk").stdout


def test_grep_finds_and_says_by_its_exit_code_when_it_does_not(talked: Any) -> None:
    found = talked.read("grep", "-E", r"change 1\d\.")
    assert len(found["matches"]) == 10
    assert "change 7" in talked.run("grep", "CHANGE 7.", "-i").stdout
    assert talked.run("grep", "no such words", check=False).returncode == 1
    wrong = talked.run("grep", "-E", "(", check=False)
    assert wrong.returncode == 2
    assert "what to do" in wrong.stderr


def test_verify_exits_1_on_damage_and_repair_mends_it(talked: Any) -> None:
    talked.run("compact", "long talk", "--force")
    with plain_transaction(talked.owner) as connection:
        connection.execute(
            text("UPDATE longtail.summaries SET turn_tokens = turn_tokens + 1 WHERE tenant_id = :tenant"),
            {"tenant": talked.id},
        )
    hurt = talked.run("lineage", "verify", check=False)
    assert hurt.returncode == 1
    assert "token_arithmetic" in hurt.stdout
    mended = talked.read("lineage", "verify", "--repair")
    assert mended["violations"] == []
    assert mended["summaries_dropped"] == 3
    assert talked.run("compact", "long talk", "--force", "--json").stdout.count("summary_ids") == 1


def test_an_unknown_session_is_named_with_what_to_do(talked: Any) -> None:
    for command in (("history", "nobody"), ("compact", "nobody")):
        wrong = talked.run(*command, check=False)
        assert wrong.returncode == 2
        assert "nobody" in wrong.stderr


def test_history_names_the_summaries_that_expand_takes_and_a_wrong_id_is_explained(talked: Any) -> None:
    ids = talked.read("compact", "long talk", "--force")["summary_ids"]
    named = [
        line.removeprefix("summary ")
        for line in talked.run("history", "long talk").stdout.splitlines()
        if line.startswith("summary ")
    ]
    assert named == ids
    wrong = talked.run("expand", "s1", check=False)
    assert wrong.returncode == 2
    assert "'s1' is no id of a summary" in wrong.stderr
    assert "longtail history" in wrong.stderr
