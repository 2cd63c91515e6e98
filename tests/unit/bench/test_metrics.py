"""How prompts and rankings are scored: the arithmetic of `longtail bench quality`."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.quality.joining import join_results
from bench.quality.metrics import (
    flatten,
    mean_by_category,
    pack_plain,
    render_ranking,
    score_ranking,
    score_sessions,
    share_in_text,
)
from bench.quality.records import SaidTurn, Scores
from models.domain.prompt.rendering import render_item
from models.domain.prompt.tokens import CharsCounter
from models.errors import InvalidInput

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def say(*texts: str) -> list[SaidTurn]:
    return [
        SaidTurn(
            id=str(place),
            session="s",
            role="user",
            speaker="Ann",
            text=text,
            said_at=BEGAN + timedelta(days=place),
        )
        for place, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("gold", "share"),
    [
        (["I moved to Lyon"], 1.0),
        (["I moved to Paris"], 0.0),
        (["I moved to Lyon", "two\nlines, <guidance> too", "never said"], 2 / 3),
    ],
)
def test_evidence_is_found_word_for_word_whatever_rendering_did_to_it(
    gold: Sequence[str], share: float
) -> None:
    prompt = render_item("I moved to Lyon", speaker="Ann") + render_item(
        "two\nlines, <guidance> too", speaker="Bob"
    )
    assert share_in_text(prompt, gold) == pytest.approx(share)


@given(st.text(min_size=1).filter(lambda text: text.strip() != ""))
def test_a_rendered_text_is_always_found(text: str) -> None:
    assert flatten(text) in flatten(render_item(text, speaker="Ann"))


def test_a_ranking_is_scored_at_five_and_ten() -> None:
    ranked = ["a", *"uvwxy", "b", *"0123456789", "c"]
    assert score_ranking(ranked, {"a", "b", "c"}) == pytest.approx(
        {"frac@5": 1 / 3, "any@5": 1, "all@5": 0, "frac@10": 2 / 3, "any@10": 1, "all@10": 0}
    )
    assert score_ranking(["a"], {"a"})["all@5"] == 1
    assert score_ranking([], {"a"}) == dict.fromkeys(
        ("frac@5", "any@5", "all@5", "frac@10", "any@10", "all@10"), 0
    )


def test_a_turn_that_is_ranked_twice_counts_once() -> None:
    assert score_ranking(["a", "a"], {"a", "b"})["frac@5"] == 0.5


def test_sessions_count_by_their_first_place_and_turns_without_one_not_at_all() -> None:
    ranked = ["s1", None, "s1", "s2", "s3", "s4", "s5", "s6"]
    assert score_sessions(ranked, {"s5", "s6"}) == {"session_any@5": 1.0, "session_frac@5": 0.5}
    assert score_sessions(ranked, {"s6"}, name="by_user") == {"by_user_any@5": 0.0, "by_user_frac@5": 0.0}


def test_plain_packing_keeps_rank_order_and_skips_what_does_not_fit() -> None:
    # "Ann: " and 7, 95, 3 characters: 3, 25 and 2 tokens.
    turns = say("a" * 7, "b" * 95, "c" * 3)
    assert [turn.id for turn in pack_plain(turns, budget_tokens=27)] == ["0", "2"]
    assert [turn.id for turn in pack_plain(turns, budget_tokens=28)] == ["0", "1"]
    assert [turn.id for turn in pack_plain(turns, budget_tokens=30)] == ["0", "1", "2"]
    assert pack_plain(turns, budget_tokens=1) == []


@given(st.lists(st.text(min_size=1, max_size=200), max_size=20), st.integers(min_value=1, max_value=600))
def test_a_rendered_ranking_costs_what_our_prompt_costs_and_never_more_than_the_budget(
    texts: list[str], budget_tokens: int
) -> None:
    prompt = render_ranking(say(*texts), budget_tokens=budget_tokens)
    assert CharsCounter().count(prompt) <= budget_tokens
    assert prompt == "" or prompt.startswith('<longtail-memory id="">\n<recalled>\n')


def test_a_rendered_ranking_shows_who_said_it_and_when() -> None:
    assert "[2026-01-01]\n- Ann: I moved to Lyon\n" in render_ranking(
        say("I moved to Lyon"), budget_tokens=200
    )


def test_frames_cost_budget_so_that_plain_lines_hold_at_least_as_much() -> None:
    turns = say(*(f"number {place} of many turns" for place in range(100)))
    rendered = render_ranking(turns, budget_tokens=300).count("- Ann:")
    assert 0 < rendered < len(pack_plain(turns, budget_tokens=300))


def test_means_are_over_questions_and_a_missing_value_is_no_zero() -> None:
    scores = [
        Scores(question="1", category="b", values={"x": 1.0}),
        Scores(question="2", category="b", values={"x": 0.0}),
        Scores(question="3", category="a", values={"x": 1.0, "y": 0.5}),
        Scores(question="4", category="a", values={}),
    ]
    means = mean_by_category(scores)
    assert list(means) == ["all", "a", "b"]
    assert means["all"] == {"n": 4, "x": pytest.approx(2 / 3, abs=1e-4), "y": 0.5}
    assert means["b"] == {"n": 2, "x": 0.5}


def test_no_questions_have_no_means() -> None:
    assert mean_by_category([]) == {"all": {"n": 0}}


def test_shares_of_the_questions_join_to_the_mean_over_all_of_them() -> None:
    def share(*found: tuple[str, float]) -> dict[str, Any]:
        rows = [{"question": name, "category": "c", "frac@10": value} for name, value in found]
        counts = {"histories": len(rows), "turns": 5, "questions": len(rows), "pipeline_seconds": 1.0}
        part = {**counts, "peers_not_run": {}, "degraded": {}, "per_question": {"longtail": rows}}
        return {"plan": {}, "longmemeval": part}

    joined = join_results([share(("a", 1.0), ("b", 0.5)), share(("c", 0.0))])["longmemeval"]
    assert joined["questions"] == 3
    assert joined["methods"]["longtail"]["all"]["frac@10"] == pytest.approx(0.5)
    with pytest.raises(InvalidInput, match="measured twice"):
        join_results([share(("a", 1.0)), share(("a", 1.0))])


def test_turns_of_the_user_are_scored_apart_and_not_at_all_without_evidence_of_theirs() -> None:
    assert score_ranking(["a", "b"], {"a"}, prefix="user_")["user_frac@5"] == 1
    assert score_ranking(["a", "b"], set()) == {}
