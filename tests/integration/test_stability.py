"""Claims about what a prompt cache finds again: the stable part grows at its end and is cut rarely, in large steps."""

from typing import Any

from bench.stability import RULES, StablePart, measure_stability, replay_session
from bench.texts import make_texts


def test_over_a_long_session_nearly_all_stable_bytes_stay_between_turns(tenant: Any) -> None:
    tenant.client.put_document("rules.md", RULES)
    texts = [said[:40] for said in make_texts(140)]
    parts = replay_session(tenant.client, texts, budgets=[6000])[6000]
    found = measure_stability(parts)
    assert found.cuts >= 1, "the session is too short to say anything"
    assert found.other_breaks == 0
    assert found.kept >= 0.95


def test_no_query_and_no_new_memory_changes_the_stable_part(tenant: Any) -> None:
    tenant.client.put_document("rules.md", RULES)
    tenant.say("s", "The first turn.", "The second turn.", user_id="ann")
    ask = {"session_id": "s", "budget_tokens": 2000, "user_id": "ann"}
    before = tenant.client.assemble(query="first", **ask)["stable"]
    tenant.say("other", "From now on, always answer in French.", "My cat is called Ada.", user_id="ann")
    tenant.settle()
    after = tenant.client.assemble(query="what is my cat called?", explain=True, **ask)
    assert "French" in after["volatile"]["text"]
    assert after["stable"] == before


def test_new_rules_change_the_authored_part_and_nothing_else_does(tenant: Any) -> None:
    tenant.client.put_document("a.md", "- Never shout.")
    tenant.say("s", "hello")
    ask = {"session_id": "s", "budget_tokens": 2000, "query": "x"}
    before = tenant.client.assemble(**ask)["stable"]["text"]
    tenant.client.put_document("b.md", "- Never whisper.")
    after = tenant.client.assemble(**ask)["stable"]["text"]
    assert after != before
    assert after[after.index("<recent_turns>") :] == before[before.index("<recent_turns>") :]


def test_the_measure_counts_cuts_apart_from_other_changes() -> None:
    def part(text: str) -> StablePart:
        return StablePart(text + "</recent_turns>", len(text))

    grown = [part("rule <recent_turns>" + "".join("abc"[:count])) for count in (1, 2, 3)]
    assert (measure_stability(grown).kept, measure_stability(grown).cuts) == (1.0, 0)
    cut = measure_stability([*grown, part("rule <recent_turns>c")])
    assert (cut.cuts, cut.other_breaks) == (1, 0)
    assert cut.kept < 1.0
    changed = measure_stability([*grown, part("other rule <recent_turns>abc")])
    assert (changed.cuts, changed.other_breaks) == (0, 1)
