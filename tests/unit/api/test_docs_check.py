"""`longtail docs check`: a person sees what a rules file would become before it is loaded."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from api.cli.memory.document_commands import docs
from models.documents.markdown import parse_markdown
from models.errors import InvalidInput

RULES = """\
---
applyTo: '**'
---
# Git

- Never push to main.
- [x] Release notes live in the changelog, which grew over many years and many hands.

You must always use tabs for indentation.

> Never use tabs.

Größe: naïve ☕.
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "AGENTS.md"
    path.write_text(RULES)
    return path


def check(*arguments: object) -> tuple[int, dict[str, Any]]:
    ran = CliRunner().invoke(docs, ["check", *map(str, arguments), "--json"])
    return ran.exit_code, json.loads(ran.stdout)


def test_every_node_is_shown_with_its_tier_its_tokens_and_its_rules(rules: Path) -> None:
    code, report = check(rules)
    assert code == 0
    assert [(node["kind"], node["tier"]) for node in report["nodes"]] == [
        ("front_matter", 1),
        ("list_item", 1),
        ("list_item", 1),
        ("paragraph", 2),
        ("block_quote", 2),
        ("paragraph", 0),
    ]
    push = report["nodes"][1]
    assert (push["heading_path"], push["modality"], push["tokens"]) == (["Git"], ["prohibition"], 6)
    assert report["refused"] is None
    assert report["demotions"] == []
    for tier, name in enumerate(("lore_tokens", "hard_tokens", "soft_tokens")):
        assert report[name] == sum(node["tokens"] for node in report["nodes"] if node["tier"] == tier)


def test_the_places_shown_are_bytes_of_the_file_and_cues_are_its_words(rules: Path) -> None:
    _, report = check(rules)
    raw = rules.read_bytes()
    for node in report["nodes"]:
        assert raw[node["start"] : node["end"]].decode() == node["text"]
        for rule in node["rules"]:
            assert node["text"][rule["start"] : rule["end"]]
    assert [node["start"] for node in report["nodes"]] == [block.start for block in parse_markdown(RULES)]


def test_rules_that_contradict_each_other_are_shown(rules: Path) -> None:
    _, report = check(rules)
    assert [conflict["action"] for conflict in report["conflicts"]] == ["use tab"]
    shown = CliRunner().invoke(docs, ["check", str(rules)])
    assert "about use tab" in " ".join(shown.stdout.split())


def test_a_file_over_its_reserve_is_refused_with_both_numbers(rules: Path) -> None:
    code, report = check(rules, "--budget", 60)
    assert code == 1
    assert report["hard_cap_tokens"] == 18
    assert str(report["hard_tokens"]) in report["refused"]
    assert "18" in report["refused"]
    shown = CliRunner().invoke(docs, ["check", str(rules), "--budget", "60"])
    assert shown.exit_code == 1
    assert "would be refused" in shown.stdout


def test_demoting_is_asked_for_and_each_demotion_is_reported(rules: Path) -> None:
    code, report = check(rules, "--budget", 60, "--demote")
    assert code == 0
    (demoted,) = report["demotions"]
    node = next(node for node in report["nodes"] if node["start"] == demoted["start"])
    assert node["text"].startswith("- [x] Release notes")
    assert node["tier"] == 0
    assert report["hard_tokens"] <= report["hard_cap_tokens"]
    shown = CliRunner().invoke(docs, ["check", str(rules), "--budget", "60", "--demote"])
    assert f"demoted at byte {demoted['start']}" in " ".join(shown.stdout.split())


def test_tokens_are_those_of_the_tokenizer_named(rules: Path) -> None:
    _, by_length = check(rules)
    _, by_file = check(rules, "--tokenizer", "minilm")
    assert [node["text"] for node in by_file["nodes"]] == [node["text"] for node in by_length["nodes"]]
    assert by_file["nodes"][1]["tokens"] == 6  # - never push to main .
    assert by_file["nodes"][5]["tokens"] != by_length["nodes"][5]["tokens"]


def test_a_file_that_cannot_be_read_is_named_with_the_remedy(tmp_path: Path) -> None:
    absent = CliRunner().invoke(docs, ["check", str(tmp_path / "absent.md")])
    assert isinstance(absent.exception, InvalidInput)
    assert "absent.md" in str(absent.exception)
    latin = tmp_path / "latin.md"
    latin.write_bytes("Größe".encode("latin-1"))
    refused = CliRunner().invoke(docs, ["check", str(latin)])
    assert isinstance(refused.exception, InvalidInput)
    assert "not UTF-8" in str(refused.exception)
