"""Claims about updates through the whole pipeline: found when remembered, stored with a reason, undone when forgotten."""

from typing import Any

import pytest

from models.store.engine import tenant_transaction
from models.store.memory.updates import FEW_STATEMENTS, find_near_statements

MARKS = (
    "SELECT older_turn_id, newer_turn_id, older_statement, newer_statement, reason, changed_at "
    "FROM longtail.supersessions WHERE tenant_id = :tenant"
)


def say(tenant: Any, session: str, words: str, day: str) -> str:
    said = [{"role": "user", "content": words, "ts": f"{day}T12:00:00Z"}]
    return str(tenant.client.post_turns(session, said, user_id="ann")["accepted"][0])


def guidance(tenant: Any, query: str) -> list[str]:
    answer = tenant.client.assemble(session_id="asking", query=query, budget_tokens=2000, user_id="ann")
    return [item["text"] for item in answer["items"] if item["tier"] == "guidance"]


def test_an_update_is_stored_with_its_day_and_reason_and_the_newer_is_in_the_prompt(tenant: Any) -> None:
    older = say(tenant, "s1", "I'm allergic to peanuts.", "2026-03-01")
    tenant.settle()
    newer = say(tenant, "s2", "The test came back: it's only hazelnuts, peanuts are fine.", "2026-05-01")
    tenant.settle()
    [mark] = tenant.rows(MARKS)
    assert (str(mark.older_turn_id), str(mark.newer_turn_id)) == (older, newer)
    assert (mark.older_statement, mark.reason) == ("I'm allergic to peanuts.", "revoked")
    answer = tenant.client.assemble(
        session_id="asking", query="What am I allergic to?", budget_tokens=1000, user_id="ann", explain=True
    )
    assert "(said otherwise on 2026-05-01): I'm allergic to peanuts." in answer["text"]
    assert "it's only hazelnuts" in answer["text"]
    [shown] = [one for one in answer["explain"]["candidates"] if one["superseded_by"]]
    assert shown["superseded_at"].startswith("2026-05-01")


def test_what_arrives_late_but_was_said_before_replaces_nothing(tenant: Any) -> None:
    newer = say(tenant, "s1", "My rent for the flat is 950 euros.", "2026-05-01")
    tenant.settle()
    older = say(tenant, "s2", "My rent for the flat is 900 euros.", "2026-03-01")
    tenant.settle()
    assert [(str(one.older_turn_id), str(one.newer_turn_id)) for one in tenant.rows(MARKS)] == [
        (older, newer)
    ]


def test_what_a_user_quotes_replaces_nothing_and_their_own_words_beside_it_do(tenant: Any) -> None:
    older = say(tenant, "s1", "My rent for the flat is 900 euros.", "2026-03-01")
    tenant.settle()
    quote = "> My rent for the flat is 700 euros.\n"
    say(tenant, "s2", f"What do you make of this letter?\n\n{quote}", "2026-05-01")
    tenant.settle()
    assert tenant.rows(MARKS) == []
    newer = say(tenant, "s3", f"{quote}\nMy rent for the flat is 950 euros.", "2026-06-01")
    tenant.settle()
    assert [(str(one.older_turn_id), str(one.newer_turn_id)) for one in tenant.rows(MARKS)] == [
        (older, newer)
    ]


def test_of_two_contradicting_rules_the_newer_stands_alone_until_it_is_forgotten(tenant: Any) -> None:
    say(tenant, "s1", "Always answer in German.", "2026-03-01")
    tenant.settle()
    say(tenant, "s2", "Please answer in English from now on.", "2026-05-01")
    tenant.settle()
    assert guidance(tenant, "Explain hash maps.") == ["Please answer in English from now on."]
    listed = tenant.client.call("GET", "/v1/guidance", params={"user_id": "ann", "standing": "false"})[
        "guidance"
    ]
    old, new = sorted(listed, key=lambda one: one["stated_at"])
    assert old["superseded_by"] == new["id"]
    assert old["superseded"]["says"] == "Please answer in English from now on."
    assert old["superseded"]["at"].startswith("2026-05-01")
    tenant.client.call("DELETE", f"/v1/guidance/{new['id']}")
    assert guidance(tenant, "Explain hash maps.") == ["Always answer in German."]
    assert tenant.rows(MARKS) == []


def test_what_replaces_a_rule_stands_in_its_place(tenant: Any) -> None:
    say(tenant, "s1", "Always use pnpm for installing packages.", "2026-03-01")
    tenant.settle()
    say(tenant, "s2", "We switched to bun, so no pnpm anymore.", "2026-05-01")
    tenant.settle()
    assert guidance(tenant, "How do I install the packages?") == ["We switched to bun, so no pnpm anymore."]


def test_readings_of_one_thing_do_not_replace_each_other(tenant: Any) -> None:
    for day, lag in (("2026-03-01", 718), ("2026-03-02", 12)):
        say(tenant, f"s{lag}", f"kafka lag: consumer lag on partition 6 is {lag} messages.", day)
        say(tenant, f"t{lag}", f"CPU is at {lag % 97} % on node-3.", day)
    tenant.settle()
    assert tenant.rows(MARKS) == []


def test_nobody_else_replaces_what_a_user_said(tenant: Any) -> None:
    tenant.say("s1", "My rent for the flat is 900 euros.", user_id="ann")
    tenant.settle()
    tenant.say("s2", "My rent for the flat is 950 euros.", user_id="bob")
    tenant.settle()
    assert tenant.rows(MARKS) == []


def test_a_stale_fact_says_what_was_said_instead_where_the_newer_turn_is_not_in_the_prompt(
    tenant: Any,
) -> None:
    older = say(tenant, "s1", "My rent for the flat is 900 euros.", "2026-03-01")
    tenant.settle()
    now = "My rent for the flat is 950 euros now, since the landlord had the roof, the cellar and all of the windows on "
    now += "the north side of the house repaired by a firm from the next town, which took them half of the winter."
    newer = say(
        tenant, "s2", f"{now} {'The stairs were painted in a green that nobody likes. ' * 12}", "2026-05-01"
    )
    tenant.settle()
    ask = {"query": "How much is my rent for the flat?", "user_id": "ann", "session_id": "asking"}
    small = tenant.client.assemble(budget_tokens=104, explain=True, **ask)
    told = "- user (said otherwise on 2026-05-01: “My rent for the flat is 950 euros now, since the landlord had the roof"
    assert told in small["text"] and "half of the winter" not in small["text"]
    assert "…”): My rent for the flat is 900 euros." in small["text"]
    assert small["budget"]["used"] <= 104
    fates = {one["source_turn_ids"][0]: one for one in small["explain"]["candidates"]}
    assert fates[older]["chosen"] and fates[older]["superseded_by"]
    assert not fates[newer]["chosen"]
    large = tenant.client.assemble(budget_tokens=3000, **ask)["text"]
    assert "- user (said otherwise on 2026-05-01): My rent for the flat is 900" in large
    assert large.count("950 euros") == 1


def test_what_replaces_a_rule_stands_without_the_talk_beside_it(tenant: Any) -> None:
    say(tenant, "s1", "Always use pnpm for installing packages.", "2026-03-01")
    tenant.settle()
    said = "Thanks, that was a great help! We switched to bun, so no pnpm anymore. How was your weekend?"
    say(tenant, "s2", said, "2026-05-01")
    tenant.settle()
    assert guidance(tenant, "How do I install the packages?") == ["We switched to bun, so no pnpm anymore."]


def test_a_batch_finds_the_neighbours_that_each_turn_finds_alone(tenant: Any) -> None:
    places = ("Rome", "Oslo", "Porto", "Lyon", "Bonn", "Cork")
    said = [f"{what} {place}." for place in places for what in ("I live in", "My sister works in")]
    for number, words in enumerate(said):
        say(tenant, "s1", words, f"2026-03-{number + 1:02}")
    tenant.settle()
    turns = [
        row.turn_id
        for row in tenant.rows("SELECT turn_id FROM longtail.statements WHERE tenant_id = :tenant")
    ]
    assert len(turns) > FEW_STATEMENTS
    where = {"tenant_id": tenant.id, "namespace": "ann", "encoder": "minilm", "least_similarity": 0.2}
    with tenant_transaction(tenant.as_role("longtail_worker"), tenant.id) as connection:
        together = find_near_statements(connection, turn_ids=turns, **where)
        alone = [
            near for turn in turns for near in find_near_statements(connection, turn_ids=[turn], **where)
        ]
    pairs = {(one.body, one.other_body): one.similarity for one in together}
    assert len(pairs) > len(said)
    assert pairs == pytest.approx({(one.body, one.other_body): one.similarity for one in alone}, abs=0.01)
