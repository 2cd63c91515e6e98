"""Claims about search and about ways to rank: what is listed, what is explained, and who may choose the profile."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.runtime import Runtime
from api.search.schemas import SearchIn
from api.search.service import search_memory
from api.stack.throwaway import await_true
from models.errors import ServiceError

LONG_AGO = datetime(2024, 3, 5, 12, tzinfo=UTC)


def remember(tenant: Any, session: str, *said: tuple[str, datetime]) -> None:
    turns = [{"role": "user", "content": words, "ts": at.isoformat()} for words, at in said]
    tenant.client.post_turns(session, turns, user_id="ann")


@pytest.fixture
def seeded(tenant: Any) -> Iterator[Runtime]:
    """An API of its own whose operator chose the seed's constants."""
    runtime = Runtime(tenant.stack.settings.model_copy(update={"recall_profile": "seed"}))
    await_true(lambda: runtime.encoder, told=lambda: runtime.encoder_problem)
    yield runtime
    runtime.close()


def test_the_seeds_profile_buries_an_old_memory_that_ours_recalls(tenant: Any) -> None:
    remember(tenant, "old", ("My violin was made in Cremona by a pupil of Amati.", LONG_AGO))
    tenant.settle()
    ask = {"query": "who made my violin?", "user_id": "ann"}
    (ours,) = tenant.client.search(**ask)["results"]
    (seeds,) = tenant.client.search(**ask, profile="seed")["results"]
    (linear,) = tenant.client.search(**ask, profile="seed_linear")["results"]
    assert ours["id"] == seeds["id"] == linear["id"]
    assert seeds["score"] < 0.2 < ours["score"]
    assert linear["score"] > seeds["score"]  # there an old memory keeps its cosine


def test_the_operators_profile_holds_until_a_request_names_another(tenant: Any, seeded: Runtime) -> None:
    remember(tenant, "old", ("My violin was made in Cremona by a pupil of Amati.", LONG_AGO))
    tenant.settle()
    caller = seeded.identify(tenant.token)
    ask = {"query": "who made my violin?", "user_id": "ann"}

    def score(**more: Any) -> float:
        return search_memory(seeded, caller, SearchIn(**ask, **more)).results[0].score

    assert score() == pytest.approx(
        tenant.client.search(**ask, profile="seed")["results"][0]["score"], abs=1e-3
    )
    assert score(profile="longtail") == pytest.approx(
        tenant.client.search(**ask)["results"][0]["score"], abs=1e-3
    )


def test_assemble_ranks_by_the_profile_a_request_names_and_explains_its_terms(tenant: Any) -> None:
    remember(tenant, "old", ("My violin was made in Cremona by a pupil of Amati.", LONG_AGO))
    tenant.settle()
    ask = {"session_id": "new", "user_id": "ann", "budget_tokens": 2000, "explain": True}
    for profile, term in (("longtail", "context"), ("seed", "coverage"), ("seed_linear", "semantic")):
        answer = tenant.client.assemble(query="who made my violin?", profile=profile, **ask)
        (one,) = answer["explain"]["candidates"]
        assert one["kind"] in {"turn", "memory"}
        assert term in one
        assert one["rank"] == 1
    with pytest.raises(ServiceError, match="seed_linear"):
        tenant.client.assemble(query="who made my violin?", profile="nobody's", **ask)


def test_search_lists_no_near_repeat_and_explains_each_candidate_it_leaves_out(tenant: Any) -> None:
    remember(
        tenant,
        "s",
        ("The boiler hums at night.", LONG_AGO),
        ("the boiler hums  at night.", LONG_AGO + timedelta(days=1)),
        ("The boiler was serviced by Marta.", LONG_AGO + timedelta(days=2)),
        ("The boiler stands in the cellar.", LONG_AGO + timedelta(days=3)),
    )
    tenant.settle()
    found = tenant.client.search(query="what about the boiler?", user_id="ann", k=2, explain=True)
    assert len({" ".join(hit["text"].split()).lower() for hit in found["results"]}) == 2
    candidates = found["explain"]["candidates"]
    assert len(candidates) == 4
    assert {one["id"] for one in candidates if one["chosen"]} == {hit["id"] for hit in found["results"]}
    reasons = sorted(one["reason"].split()[0] for one in candidates if not one["chosen"])
    assert reasons == ["behind", "nearly"]
    assert all(
        {"vector_rank", "lexical_rank", "cosine", "lexical", "context"} <= one.keys() for one in candidates
    )


def test_search_reads_relative_time_from_the_moment_it_is_told(tenant: Any) -> None:
    remember(tenant, "a", ("We had dinner at the harbour.", LONG_AGO))
    remember(tenant, "b", ("We had dinner at the castle.", LONG_AGO + timedelta(days=200)))
    tenant.settle()
    for days, place in ((2, "harbour"), (202, "castle")):
        now = LONG_AGO + timedelta(days=days)
        found = tenant.client.search(query="Where was dinner last week?", user_id="ann", now=now.isoformat())
        assert place in found["results"][0]["text"]


def test_explain_lists_also_what_was_ranked_too_low_to_be_tried(tenant: Any) -> None:
    said = [f"Stamp {n} shows a bird." if n % 5 == 0 else f"Rain fell on hill {n}." for n in range(320)]
    remember(
        tenant, "s", *((words, LONG_AGO) for words in said)
    )  # each stamp brings the hills around it along
    tenant.settle()
    ask = {
        "query": "which stamp shows a bird?",
        "session_id": "new",
        "user_id": "ann",
        "budget_tokens": 100_000,
    }
    explained = tenant.client.assemble(explain=True, **ask)
    candidates = explained["explain"]["candidates"]
    assert len(candidates) > 200
    assert all(one["chosen"] or one["reason"] for one in candidates)
    plain = tenant.client.assemble(**ask)
    assert [item["id"] for item in plain["items"]] == [item["id"] for item in explained["items"]]


def converse(tenant: Any, session: str, *said: tuple[str, str]) -> None:
    turns = [{"role": role, "content": words, "ts": LONG_AGO.isoformat()} for role, words in said]
    tenant.client.post_turns(session, turns, user_id="ann")


def test_grouped_by_session_a_search_lists_each_session_once_and_an_answer_speaks_for_its_session(
    tenant: Any,
) -> None:
    question = "which sourdough starter did we talk about?"
    converse(
        tenant,
        "bread",
        ("user", "Any advice for the weekend?"),
        ("assistant", "Feed the sourdough starter twice a day: a sourdough starter wants rye flour."),
    )
    converse(tenant, "talk", ("user", "We talk about the garden."), ("assistant", "Which flowers?"))
    converse(tenant, "gift", ("user", "A starter kit for candles was my gift."), ("user", "The kit was fun."))
    tenant.settle()
    ask = {"query": question, "user_id": "ann"}
    grouped = tenant.client.search(**ask, group_by="session", explain=True)
    sessions = [hit["session_id"] for hit in grouped["results"]]
    assert sessions[0] == "bread"
    assert len(sessions) == len(set(sessions)) == 3
    assert {one["reason"] for one in grouped["explain"]["candidates"] if not one["chosen"]} == {
        "another of its session stands for it"
    }
    first = tenant.client.search(**ask, group_by="session", k=1)
    rest = tenant.client.search(**ask, group_by="session", k=1, cursor=first["next_cursor"])
    assert [first["results"][0]["session_id"], rest["results"][0]["session_id"]] == sessions[:2]
