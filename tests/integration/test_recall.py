"""Claims about recall: links bring along what they name, nothing is said twice, and what differs is kept."""

from typing import Any

from api.stack.throwaway import await_true
from models.store.engine import one_round_trip
from models.store.recall.candidates import Breadth, Candidate, send_named
from models.store.recall.context import Origin

ASK = {"session_id": "asking", "budget_tokens": 3000, "user_id": "ann"}


def explain(tenant: Any, query: str) -> dict[str, dict[str, Any]]:
    """Every candidate of a query, by its words."""
    answer = tenant.client.assemble(query=query, explain=True, **ASK)
    texts = {item["id"]: item["text"] for item in answer["items"]}
    return {texts.get(one["id"], one["id"]): one for one in answer["explain"]["candidates"]}


def test_a_link_of_a_well_ranked_node_brings_along_what_it_names(tenant: Any) -> None:
    tenant.client.put_document(
        "guide.md",
        "# Deploying\n\nDeploying the web service to production follows [the plan](lattice.md#quartz).",
    )
    tenant.client.put_document(
        "lattice.md", "# Granite\n\nPlain grey stone.\n\n# Quartz\n\nZebra 1991 umbrella."
    )
    tenant.settle()
    found = explain(tenant, "deploying the web service to production")
    hop = found["Zebra 1991 umbrella."]
    parent = found["Deploying the web service to production follows [the plan](lattice.md#quartz)."]
    assert hop["hop_from"] == parent["id"]
    assert hop["score"] == parent["score"] / 2
    assert hop["chosen"]
    assert "Plain grey stone." not in found


def test_the_same_words_are_recalled_once_and_other_numbers_are_other_words(tenant: Any) -> None:
    said = [
        "My rent for the flat is 900 euros a month.",
        "my rent for the flat is  900 euros a month.",
        "My rent for the flat is 950 euros a month.",
    ]
    for number, words in enumerate(said):
        tenant.say(f"s{number}", words, user_id="ann")
        tenant.settle()
    answer = tenant.client.assemble(query="how much is my rent?", explain=True, **ASK)
    assert answer["text"].count("900 euros") == 1
    assert answer["text"].count("950 euros") == 1
    reasons = [one["reason"] for one in answer["explain"]["candidates"] if not one["chosen"]]
    assert any("nearly the same as" in reason for reason in reasons)


def test_of_conflicting_facts_the_newest_comes_first_and_the_older_is_kept_and_marked(tenant: Any) -> None:
    for day, rent in (("2026-03-01", 900), ("2026-05-01", 950)):
        said = f"My rent for the flat in Lyon is {rent} euros a month."
        tenant.client.post_turns(
            f"s{rent}", [{"role": "user", "content": said, "ts": f"{day}T12:00:00Z"}], user_id="ann"
        )
    tenant.settle()
    ask = {"query": "how much is my rent for the flat in Lyon?", "user_id": "ann"}
    found = tenant.client.search(**ask)["results"]
    assert [("950" in hit["text"], hit["superseded_by"]) for hit in found] == [
        (True, None),
        (False, found[0]["id"]),
    ]
    answer = tenant.client.assemble(**ask, session_id="asking", budget_tokens=3000, explain=True)
    assert (
        "- user (said otherwise on 2026-05-01): My rent for the flat in Lyon is 900 euros" in answer["text"]
    )
    assert "- user: My rent for the flat in Lyon is 950 euros" in answer["text"]
    first, second = answer["explain"]["candidates"]
    assert (first["superseded_by"], second["superseded_by"]) == (None, first["id"])


def test_another_number_does_not_confirm_a_memory_and_the_same_words_do(tenant: Any) -> None:
    mentions = "SELECT mention_count FROM longtail.memories WHERE tenant_id = :tenant"
    rent = "I prefer to pay {} euros rent on 1 May{}"
    tenant.say("s0", rent.format(900, "."), user_id="ann")
    tenant.settle()
    tenant.say("s1", rent.format(950, "."), user_id="ann")
    tenant.settle()
    assert tenant.one(mentions) == 1
    tenant.say("s2", rent.format(900, "!"), user_id="ann")
    tenant.settle()
    assert tenant.one(mentions) == 2


def test_what_prompts_are_made_of_is_counted(tenant: Any) -> None:
    tenant.say("s", "The boiler makes a humming noise at night.", user_id="ann")
    tenant.settle()
    tenant.client.assemble(query="what noise does the boiler make?", **ASK)
    reads = "SELECT sum(access_count) FROM longtail.items WHERE tenant_id = :tenant"
    await_true(lambda: tenant.one(reads), told="the read was never counted")


def test_only_the_best_turns_bring_those_around_them_and_what_is_no_turn_takes_no_place(tenant: Any) -> None:
    tenant.client.put_document("notes.md", "Zeppelin hangar, zeppelin hangar, zeppelin hangar.")
    tenant.say("one", "Alpha before.", "The zeppelin hangar opens.", "Alpha after.", user_id="ann")
    weak = "A zeppelin was among the many other things that people saw there on that day."
    tenant.say("two", "Beta before.", weak, "Beta after.", user_id="ann")
    tenant.settle()
    origin = Origin(tenant_id=tenant.id, session_id="asking", namespace="ann", user_id="ann")
    with one_round_trip(tenant.as_role("longtail_api"), tenant.id, timeout_ms=10_000) as cursors:
        rows = send_named(
            cursors,
            origin=origin,
            encoder="minilm",
            terms=("zeppelin", "hangar"),
            breadth=Breadth(candidates=3, reaching=1),
        ).fetchall()
    found = sorted((Candidate(*row) for row in rows), key=lambda one: -(one.lexical_weight or 0.0))
    assert [one.kind == "lore" for one in found] == [True, False, False, False, False]
    assert {one.text for one in found[1:]} == {
        "The zeppelin hangar opens.",
        weak,
        "Alpha before.",
        "Alpha after.",
    }
    assert [one.lexical_weight is None for one in found] == [False, False, False, True, True]


def test_short_turns_fill_a_large_prompt_and_the_room_is_left_only_when_nothing_else_is_worth_it(
    tenant: Any,
) -> None:
    plants = ("fern", "oak", "lily", "moss", "pine", "rose", "sage", "thyme", "yew", "ivy")
    lines = [f"Garden bed {number}: {plants[number % 10]} {number * 7} cm." for number in range(600)]
    for first in range(0, 600, 100):
        tenant.say(f"garden{first}", *lines[first : first + 100], user_id="ann")
    tenant.say("other", "My sister plays the cello.", user_id="bob")
    tenant.settle()
    ask = {"session_id": "asking", "query": "How tall are the plants in my garden beds?"}
    full = tenant.client.assemble(budget_tokens=4000, user_id="ann", **ask)
    assert full["budget"]["used"] >= 0.9 * 4000
    assert not full["budget"]["exhausted"]
    small = tenant.client.assemble(budget_tokens=4000, user_id="bob", **ask)
    assert small["budget"]["used"] < 0.9 * 4000
    assert small["budget"]["exhausted"]


def test_a_long_turn_is_quoted_by_what_matches_and_its_id_leads_to_the_whole(tenant: Any) -> None:
    filler = " ".join(f"The weather on day {number} was mild and rather dull." for number in range(80))
    for number in range(6):
        said = f"{filler} My dentist number {number} is Ann Roth of street {number}. {filler}"
        tenant.say(f"long{number}", said, user_id="ann")
    tenant.say("talk", "Who is that?", "Thanks, Melanie! Your kind words mean a lot.", user_id="ann")
    tenant.settle()
    answer = tenant.client.assemble(
        query="Who is my dentist?", session_id="asking", user_id="ann", budget_tokens=1000, explain=True
    )
    quoted = [item for item in answer["items"] if item["is_quote"]]
    assert len(quoted) >= 4
    assert answer["budget"]["used"] <= 1000
    for item in quoted:
        assert "My dentist number" in item["text"]
        assert "[…]" in item["text"]
        assert f"excerpt of turn {item['source_turn_ids'][0]}" in answer["text"]
    assert "kind words" not in answer["text"]
    reasons = {one["reason"] for one in answer["explain"]["candidates"]}
    assert "carries nothing by itself" in reasons
    receipt = tenant.client.explain(answer["assembly_id"])
    lengths = {one["id"]: one["quoted_chars"] for one in receipt["candidates"] if one["quoted_chars"]}
    assert lengths == {item["id"]: len(item["text"]) for item in quoted}
    stored = tenant.client.list_turns("long0")["turns"][0]["content"]
    assert stored.count("The weather on day") == 160
