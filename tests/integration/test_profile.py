"""Claims about profiles: what a session gets that asks nothing yet, and who may see it."""

from typing import Any

import pytest

from models.errors import InvalidInput

FACT = "My sister Marta lives in Porto since 2 June 2021 and I prefer to call her on Sundays."
OPEN = "I still need to send the invoice to Northwind by 12 May."


@pytest.fixture
def known(tenant: Any) -> Any:
    tenant.say("one", FACT, "Ooh lucky", "thanks", user_id="ann")
    tenant.say("two", OPEN, "Bye!", user_id="ann")
    tenant.settle()
    return tenant


def test_a_prompt_without_a_question_holds_the_profile_and_no_small_talk(known: Any) -> None:
    answer = known.client.assemble(session_id="new", user_id="ann", query="", budget_tokens=2000)
    assert "Marta lives in Porto" in answer["text"]
    assert "invoice to Northwind" in answer["text"]
    assert "Ooh lucky" not in answer["text"] and "thanks" not in answer["text"]
    assert all(item["source_turn_ids"] for item in answer["items"])
    assert answer["budget"]["used"] <= 2000


def test_every_line_names_its_turn(known: Any) -> None:
    found = known.client.call("GET", "/v1/profile", params={"user_id": "ann"})
    turns = {
        str(row.id): row.content
        for row in known.rows("SELECT id, content FROM longtail.turns WHERE tenant_id = :tenant")
    }
    assert {line["kind"] for line in found["lines"]} >= {"fact", "last"}
    assert all(line["text"] in turns[line["turn_id"]] for line in found["lines"])


def test_what_was_forgotten_leaves_the_profile(known: Any) -> None:
    lines = known.client.call("GET", "/v1/profile", params={"user_id": "ann"})["lines"]
    memory_id = next(line["memory_id"] for line in lines if "Marta" in line["text"])
    known.client.call("DELETE", f"/v1/memories/{memory_id}")
    again = known.client.call("GET", "/v1/profile", params={"user_id": "ann"})["lines"]
    assert not [line for line in again if "Marta" in line["text"]]


def test_a_profile_is_of_somebody(known: Any) -> None:
    with pytest.raises(InvalidInput, match="whose profile"):
        known.client.call("GET", "/v1/profile")
    assert known.client.call("GET", "/v1/profile", params={"user_id": "bob"})["lines"] == []


def test_what_is_not_so_any_more_leaves_the_profile_and_comes_back_with_the_newer_forgotten(
    tenant: Any,
) -> None:
    tenant.say("one", "I live in Lisbon with my sister Marta, near the river.", user_id="ann")
    tenant.say("two", "Big news: we moved to Porto last month.", user_id="ann")
    tenant.settle()

    def read() -> str:
        lines = tenant.client.call("GET", "/v1/profile", params={"user_id": "ann"})["lines"]
        return "\n".join(line["text"] for line in lines)

    assert tenant.one("SELECT count(*) FROM longtail.supersessions WHERE tenant_id = :tenant") == 1
    assert "Lisbon" not in read() and "Porto" in read()
    newer = tenant.one("SELECT id FROM longtail.memories WHERE tenant_id = :tenant AND body LIKE '%Porto%'")
    tenant.client.call("DELETE", f"/v1/memories/{newer}")
    assert "Lisbon" in read() and "Porto" not in read()
