"""Claims about the Inspector's small parts: what charts show, what a cache keeps, how long a login lasts."""

import re
from typing import Any

from api.inspector.charts import Part, Stretch, columns, histogram, stacked, timeline
from api.inspector.logins import IDLE_SECONDS, MOST_LOGINS, Logins
from api.inspector.prompts import measure_cache
from api.inspector.wording import span
from api.receipts.schemas import CandidateOut, ReceiptBudgetOut, ReceiptOut


def numbers(name: str, drawn: str) -> list[float]:
    return [float(value) for value in re.findall(rf' {name}="([\d.]+)"', drawn)]


def test_a_stacked_bar_gives_each_part_its_share_of_the_total() -> None:
    drawn = stacked([Part("hard", 25, "t-hard"), Part("recall", 50, "t-recall")], 100, "Budget")
    assert numbers("x", drawn) == [0, 0, 250]
    assert numbers("width", drawn) == [1000, 248, 498]  # the empty bar, then the parts with their gap


def test_parts_that_exceed_their_total_still_fit_the_bar() -> None:
    drawn = stacked([Part("hard", 300)], 100, "Budget")
    assert max(numbers("width", drawn)[1:]) <= 1000


def test_a_chart_of_nothing_is_drawn_and_divides_by_nothing() -> None:
    for drawn in (
        columns([], "x"),
        columns([Part("a", 0)], "x"),
        histogram([0, 0], [0, 0], "x"),
        stacked([], 0, "x"),
    ):
        assert drawn.startswith("<svg")
    assert timeline([], 0, "x").startswith("<svg")


def test_a_full_column_is_named_and_an_empty_chart_names_none() -> None:
    assert ">1\u202f200</text>" in columns([Part("3 Aug: 1,200", 1200), Part("4 Aug: 7", 7)], "Turns")
    assert ">100%</text>" in columns([Part("3 Aug", 0.4)], "Rate", top=1.0)
    assert ">1</text>" not in columns([Part("3 Aug", 0), Part("4 Aug", 0)], "Turns")


def test_the_threshold_stands_where_its_score_is() -> None:
    drawn = histogram([1, 2], [3, 0], "G", threshold=0.5)
    assert re.search(r'class="threshold" x1="130.0" x2="130.0"', drawn)


def test_a_timeline_has_a_row_for_each_level_and_the_turns_below() -> None:
    drawn = timeline(
        [
            Stretch(0, 9, 2, "summary", "top", "#s"),
            Stretch(0, 4, 1, "retired", "low"),
            Stretch(9, 9, 0, "tail", "t"),
        ],
        10,
        "x",
    )
    assert numbers("y", drawn) == [1, 17, 33]
    assert numbers("x", drawn) == [0, 0, 900]


def test_names_in_charts_are_escaped() -> None:
    attack = '"><script>'
    for drawn in (
        columns([Part(attack, 1)], attack),
        stacked([Part(attack, 1)], 1, attack),
        timeline([Stretch(0, 0, 0, "turn", attack, attack)], 1, attack),
    ):
        assert "<script>" not in drawn


def receipt(*chosen: tuple[str, str, int], used: int = 100) -> ReceiptOut:
    rows = [
        CandidateOut(
            tier=tier,
            id=key,
            tokens=tokens,
            kind="turn",
            fate="chosen",
            **dict.fromkeys(
                ("turn_id", "reason", "scope", "vector_rank", "lexical_rank", "hop_from", "temporal", "text")
            ),
            terms={},
        )
        for tier, key, tokens in chosen
    ]
    spent = {name: sum(cost for tier, _, cost in chosen if tier == name) for name in ("hard", "soft", "tail")}
    budget = ReceiptBudgetOut.model_construct(used=used, **spent)
    return ReceiptOut.model_construct(candidates=rows, budget=budget)


def test_a_cache_keeps_what_both_prompts_begin_with_and_nothing_behind_it() -> None:
    was = receipt(("hard", "r", 10), ("tail", "a", 20), ("tail", "b", 30), ("recall", "m", 5))
    now = receipt(
        ("hard", "r", 10), ("tail", "a", 20), ("tail", "c", 30), ("tail", "b", 30), ("recall", "m", 5)
    )
    kept = measure_cache(was, now)
    assert (kept.items, kept.tokens, kept.share, kept.is_exact) == (
        2,
        10 + round(80 / 3),
        (10 + 80 / 3) / 100,
        False,
    )


def test_a_cache_keeps_the_whole_stable_part_of_a_prompt_that_only_asks_something_else() -> None:
    stable = (("hard", "r", 10), ("soft", "s", 5), ("tail", "a", 20))
    kept = measure_cache(receipt(*stable, ("recall", "m", 5)), receipt(*stable, ("recall", "n", 5)))
    assert (kept.items, kept.tokens, kept.is_exact) == (3, 35, True)


def test_a_cache_keeps_nothing_behind_a_rule_that_went() -> None:
    was = receipt(("hard", "r", 10), ("hard", "s", 10), ("tail", "a", 20))
    now = receipt(("hard", "r", 10), ("tail", "a", 20))
    assert (measure_cache(was, now).items, measure_cache(was, now).tokens) == (1, 10)


def test_a_login_lasts_while_it_is_used_and_ends_when_it_is_idle() -> None:
    now = [0.0]
    logins = Logins(clock=lambda: now[0])
    key = logins.open("token")
    for _ in range(3):
        now[0] += IDLE_SECONDS - 1
        assert logins.find(key)
    now[0] += IDLE_SECONDS
    assert logins.find(key) is None
    assert logins.find("nobody's") is None


def test_the_oldest_logins_go_when_there_are_too_many() -> None:
    logins: Any = Logins()
    first = logins.open("token")
    for _ in range(MOST_LOGINS):
        logins.open("token")
    assert logins.find(first) is None


def test_a_length_of_time_is_told_in_its_largest_fitting_unit() -> None:
    assert [span(value) for value in (0.0042, 0.9996, 59, 61, 7200, 200_000)] == [
        "4 ms",
        "1000 ms",
        "59 s",
        "1 min",
        "2 h",
        "2 d",
    ]
