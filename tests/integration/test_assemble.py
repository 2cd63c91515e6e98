"""Claims about assemble: complete where it must be, within its budget, honest about what is missing."""

import hashlib
import random
from collections.abc import Callable
from typing import Any

import pytest

from models.domain.prompt.tokens import CharsCounter
from models.errors import InvalidInput

RULES = """# Rules

- Never delete the archive.
- Always answer in metric units.

> Prefer short answers.

The archive was founded in 1846 by a lighthouse keeper named Jonas.
"""
ASK: dict[str, Any] = {"session_id": "s", "budget_tokens": 2000, "user_id": "ann"}


@pytest.fixture
def filled(tenant: Any) -> Any:
    tenant.client.put_document("AGENTS.md", RULES)
    tenant.say("old", "My brother Tomas repairs clocks in Ghent.", "I prefer rye bread.", user_id="ann")
    tenant.say("old", "From now on, always give me prices in euros.", user_id="ann")
    tenant.say("s", *[f"Today we talk about item {n} of the agenda." for n in range(6)], user_id="ann")
    tenant.settle()
    return tenant


def test_all_five_tiers_are_present(filled: Any) -> None:
    answer = filled.client.assemble(query="what does my brother do, and who founded the archive?", **ASK)
    tiers = {tier: [item for item in answer["items"] if item["tier"] == tier] for tier in answer["budget"]}
    assert [item["text"] for item in tiers["hard"]] == [
        "- Never delete the archive.",
        "- Always answer in metric units.",
    ]
    assert "Prefer short answers" in tiers["soft"][0]["text"]
    assert len(tiers["tail"]) == 6
    assert "prices in euros" in tiers["guidance"][0]["text"]
    recalled = " ".join(item["text"] for item in tiers["recall"])
    assert "Tomas" in recalled
    assert "Jonas" in recalled
    assert answer["degraded"] == []


def test_prompt_order_is_the_order_of_trust(filled: Any) -> None:
    text = filled.client.assemble(query="what does my brother do?", **ASK)["text"]
    places = [text.index(f"<{name}>") for name in ("authored", "recent_turns", "guidance", "recalled")]
    assert places == sorted(places)


def test_random_multilingual_conversations_stay_within_random_budgets(tenant: Any) -> None:
    rng = random.Random(4)
    words = ["plain", "слово", "言葉", "🙂🙃", "<turn>", "</recalled>", "naïve", "x" * 40, "\n\n"]
    for number in range(12):
        session = f"s{number}"
        tenant.say(
            session,
            *[" ".join(rng.choices(words, k=rng.randint(1, 60))) or "x" for _ in range(rng.randint(1, 12))],
            user_id="u",
        )
    tenant.settle()
    for number in range(12):
        budget = rng.randint(60, 1500)
        answer = tenant.client.assemble(
            session_id=f"s{number}", query="言葉 plain", budget_tokens=budget, user_id="u"
        )
        assert CharsCounter().count(answer["text"]) == answer["budget"]["used"]
        infeasible = [miss for miss in answer["degraded"] if miss["code"] == "budget_infeasible"]
        assert infeasible or answer["budget"]["used"] <= budget


def test_a_turn_accepted_a_moment_ago_is_in_the_tail(tenant: Any) -> None:
    for number in range(5):
        said = f"the newest thing is number {number}"
        tenant.say("s", said)
        answer = tenant.client.assemble(session_id="s", query="x", budget_tokens=2000)
        assert said in answer["text"]
        assert any(item["tier"] == "tail" and item["text"] == said for item in answer["items"])


def test_an_impossible_budget_gives_rules_and_newest_turns_whole_with_the_numbers(filled: Any) -> None:
    answer = filled.client.assemble(query="x", **ASK | {"budget_tokens": 20})
    assert "Never delete the archive." in answer["text"]
    assert "item 5 of the agenda" in answer["text"]
    miss = next(miss for miss in answer["degraded"] if miss["code"] == "budget_infeasible")
    assert "20" in miss["detail"]
    assert str(answer["budget"]["used"]) in miss["detail"]


def test_what_is_in_the_tail_is_not_recalled_again(filled: Any) -> None:
    answer = filled.client.assemble(query="item 5 of the agenda", **ASK)
    assert answer["text"].count("item 5 of the agenda") == 1


def test_the_stable_part_does_not_change_with_the_query(filled: Any) -> None:
    one = filled.client.assemble(query="what does my brother do?", **ASK)
    two = filled.client.assemble(query="who founded the archive?", **ASK)
    assert one["stable"] == two["stable"]
    assert one["stable"]["sha256"] == hashlib.sha256(one["stable"]["text"].encode()).hexdigest()
    assert one["stable"]["chars"] == len(one["stable"]["text"])
    assert one["text"] == one["stable"]["text"] + one["volatile"]["text"]


def test_explain_gives_every_candidate_with_its_terms_and_its_fate(filled: Any) -> None:
    answer = filled.client.assemble(query="what does my brother do?", explain=True, **ASK)
    candidates = answer["explain"]["candidates"]
    assert {"cosine", "lexical", "echo", "context", "recency", "omega", "evidence"} <= set(candidates[0])
    assert all(0 <= one["score"] <= 1 for one in candidates)
    assert all(one["chosen"] or one["reason"] for one in candidates)
    chosen = {one["id"] for one in candidates if one["chosen"]}
    assert chosen == {item["id"] for item in answer["items"] if item["tier"] == "recall"}


def test_every_recalled_item_leads_back_to_raw_turns(filled: Any) -> None:
    answer = filled.client.assemble(query="what does my brother do?", **ASK)
    ids = {str(row[0]) for row in filled.rows("SELECT id FROM longtail.turns WHERE tenant_id = :tenant")}
    found = [item for item in answer["items"] if item["kind"] in {"turn", "memory"}]
    assert found
    assert all(item["source_turn_ids"] and set(item["source_turn_ids"]) <= ids for item in found)


def test_very_long_turns_still_give_the_whole_base_tail_with_the_numbers(tenant: Any) -> None:
    tenant.say("s", *[f"number {n}: " + "word " * 3000 for n in range(6)])
    answer = tenant.client.assemble(session_id="s", query="x", budget_tokens=1000)
    assert len([item for item in answer["items"] if item["tier"] == "tail"]) == 4
    assert [miss["code"] for miss in answer["degraded"]] == ["budget_infeasible"]


def test_a_session_nobody_knows_gets_an_answer(tenant: Any) -> None:
    answer = tenant.client.assemble(session_id="never-seen", query="anything", budget_tokens=500)
    assert answer["text"] == ""
    assert answer["budget"]["used"] == 0


def test_a_deadline_too_short_for_recall_is_named_and_rules_still_answer(filled: Any) -> None:
    answer = filled.client.assemble(query="a question nobody asked before", deadline_ms=1, **ASK)
    assert "Never delete the archive." in answer["text"]
    assert any(miss["code"] == "deadline_exceeded" for miss in answer["degraded"])


def test_pending_and_lag_are_in_every_answer(tenant: Any) -> None:
    tenant.say("s", *[f"turn {n}" for n in range(50)])
    answer = tenant.client.assemble(session_id="s", query="x", budget_tokens=500)
    assert {"pending", "lag_seconds", "timings_ms", "degraded"} <= set(answer)
    tenant.settle()
    answer = tenant.client.assemble(session_id="s", query="x", budget_tokens=500)
    assert (answer["pending"], answer["lag_seconds"]) == (0, 0)


def test_documents_bind_to_users_and_agents(new_tenant: Callable[[], Any]) -> None:
    tenant = new_tenant()
    tenant.client.put_document("a.md", "- Never shout.", user_id="ann")
    tenant.client.put_document("b.md", "- Never whisper.", agent_id="main")
    text = tenant.client.assemble(session_id="s", query="x", budget_tokens=500, user_id="ann")["text"]
    assert "Never shout" in text
    assert "Never whisper" not in text
    text = tenant.client.assemble(session_id="s", query="x", budget_tokens=500, agent_id="main")["text"]
    assert "Never whisper" in text
    assert "Never shout" not in text


def test_a_document_is_replaced_whole(tenant: Any) -> None:
    tenant.client.put_document("a.md", "- Never shout.\n\nOld lore about walruses.")
    tenant.client.put_document("a.md", "- Never whisper.\n\nNew lore about otters.")
    tenant.settle()
    answer = tenant.client.assemble(query="walruses and otters", **ASK)
    assert "Never shout" not in answer["text"]
    assert "walruses" not in answer["text"]
    assert "otters" in answer["text"]


def test_hard_rules_over_their_reserve_are_refused_with_both_numbers(tenant: Any) -> None:
    long = "\n".join(f"- Rule {n}: " + "never forget this " * 20 for n in range(40))
    with pytest.raises(InvalidInput, match=r"\d+ tokens; 2400 of the hard reserve of 2400") as refused:
        tenant.client.put_document("long.md", long)
    assert refused.value.code == "hard_reserve_exceeded"
    assert tenant.client.assemble(query="x", **ASK)["budget"]["hard"] == 0


def test_a_question_about_time_brings_the_dated_turns_first(tenant: Any) -> None:
    tenant.say(
        "old",
        "Physio says the knee is fine again.",
        "I started physiotherapy for my knee on 3 March 2026.",
        "My knee hurts when I run downhill.",
        "I ran the half marathon on 14 June 2026 without any knee trouble.",
        user_id="ann",
    )
    tenant.settle()
    question = "How many days passed between starting physiotherapy and the half marathon?"
    answer = tenant.client.assemble(query=question, explain=True, **ASK)
    moved = [one for one in answer["explain"]["candidates"] if one["temporal"]]
    assert moved
    recalled = [item["text"] for item in answer["items"] if item["tier"] == "recall"]
    assert {"3 March" in text or "14 June" in text for text in recalled[:2]} == {True}
    plain = tenant.client.assemble(query="Tell me about my knee", explain=True, **ASK)
    assert not [one for one in plain["explain"]["candidates"] if one["temporal"]]


@pytest.mark.parametrize(("profile", "weighs_events"), [("longtail", False), ("seed", True)])
def test_only_the_seeds_profile_weighs_the_events_a_question_names(
    tenant: Any, profile: str, weighs_events: bool
) -> None:
    tenant.say("old", "I started physiotherapy on 3 March 2026.", user_id="ann")
    tenant.settle()
    answer = tenant.client.assemble(
        query="How long after I started physiotherapy was the marathon?", profile=profile, explain=True, **ASK
    )
    (dated,) = [one["temporal"] for one in answer["explain"]["candidates"] if one["temporal"]]
    assert (dated["coverage"] > 0, bool(dated["covered_slots"])) == (weighs_events, weighs_events)


def test_a_spoken_wish_that_an_authored_rule_forbids_stays_out_and_the_answer_says_by_which_rule(
    tenant: Any,
) -> None:
    tenant.client.put_document(
        "AGENTS.md", "# Style\n\n- Never use emojis.\n\nYou must not:\n\n- quote prices\n"
    )
    tenant.say("old", "From now on, use emojis in your replies.", user_id="ann")
    tenant.say("old", "Always quote prices in euros.", user_id="ann")
    tenant.say("old", "From now on, answer in German.", user_id="ann")
    tenant.settle()
    answer = tenant.client.assemble(query="hello", explain=True, **ASK)
    guidance = [item["text"] for item in answer["items"] if item["tier"] == "guidance"]
    assert guidance == ["From now on, answer in German."]
    rules = {item["id"]: item["text"] for item in answer["items"] if item["tier"] == "hard"}
    overruled = answer["explain"]["overruled"]
    assert sorted((rules[one["rule_id"]], one["action"], one["is_whole"]) for one in overruled) == [
        ("- Never use emojis.", "use emojis", True),
        ("- quote prices", "quote price", True),
    ]
    tenant.client.put_document("AGENTS.md", "# Style\n\n- Keep it short.\n")
    answer = tenant.client.assemble(query="hello", explain=True, **ASK)
    assert len([item for item in answer["items"] if item["tier"] == "guidance"]) == 3
    assert answer["explain"]["overruled"] == []


def test_an_operators_rule_is_never_framed_as_untrusted_history(tenant: Any) -> None:
    many = "\n\n".join(f"You should keep report {n} of the harbour short and plain." for n in range(60))
    rule = "You should prefer the metric system unless the user asks otherwise."
    tenant.client.put_document("AGENTS.md", f"{many}\n\n{rule}\n\nThe metric system is from 1795.")
    tenant.settle()
    answer = tenant.client.assemble(
        session_id="s", user_id="ann", query="which units, metric system?", budget_tokens=600
    )
    fates = {item["text"]: item["tier"] for item in answer["items"]}
    assert fates[rule] == "recall", "its share had no room for it, recall found it"
    text = answer["text"]
    assert text.index("<found_rules>") < text.index(rule) < text.index("</found_rules>")
    assert text.index("<recalled>") < text.index("The metric system is from 1795.")


def test_front_matter_is_in_every_prompt_and_said_to_be_what_it_is(tenant: Any) -> None:
    tenant.client.put_document("AGENTS.md", "---\nproject: Harbour\n---\n\n- Never guess.")
    text = tenant.client.assemble(session_id="s", query="x", budget_tokens=500)["text"]
    assert "[about AGENTS.md]\n---\nproject: Harbour\n---\n- Never guess." in text
