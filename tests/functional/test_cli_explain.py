"""Claims about `longtail explain`: a receipt drawn for people, JSON for scripts."""

from typing import Any

import pytest


@pytest.fixture
def explained(tenant: Any) -> tuple[Any, str]:
    tenant.client.put_document("a.md", "- Never delete the archive.")
    tenant.say("old", *[f"My brother Tomas repaired clock number {n}." for n in range(20)], user_id="ann")
    tenant.settle()
    answer = tenant.client.assemble(
        session_id="s", query="which clocks did my brother repair?", budget_tokens=300, user_id="ann"
    )
    return tenant, answer["assembly_id"]


def test_a_receipt_is_drawn_with_its_budget_its_candidates_and_why_they_were_dropped(
    explained: tuple[Any, str],
) -> None:
    tenant, assembly_id = explained
    drawn = tenant.run("explain", assembly_id, COLUMNS="200").stdout
    for words in (
        "which clocks",
        "hard",
        "recall",
        "could have",
        "cos",
        "clock number",
        "does not fit",
        "took",
    ):
        assert words in drawn
    found = tenant.read("explain", assembly_id)
    assert found["assembly_id"] == assembly_id


def test_in_a_narrow_terminal_the_words_of_a_candidate_stay_in_one_line(explained: tuple[Any, str]) -> None:
    tenant, assembly_id = explained
    drawn = tenant.run("explain", assembly_id, COLUMNS="80").stdout.splitlines()
    assert any("My brother Tomas repaired clock number" in line for line in drawn)
    assert any("score" in line and "cos" in line for line in drawn)
    assert max(map(len, drawn)) <= 80


def test_a_replay_says_in_words_what_changed(explained: tuple[Any, str]) -> None:
    tenant, assembly_id = explained
    tenant.client.put_document("b.md", "- Never shout.")
    drawn = tenant.run("explain", assembly_id, "--replay", COLUMNS="200").stdout
    assert "appeared: hard rule" in drawn
    assert "budget: hard was" in drawn
    assert tenant.read("explain", assembly_id, "--replay")["is_same"] is False


def test_an_unknown_assembly_ends_with_2_and_what_to_do(tenant: Any) -> None:
    wrong = tenant.run("explain", "00000000-0000-0000-0000-000000000000", check=False)
    assert wrong.returncode == 2
    assert "what to do" in wrong.stderr
