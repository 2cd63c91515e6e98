"""Elevated guidance (memory-model.md section 9)."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.grammar.spans import Modality
from models.domain.rules.guidance import (
    GuidanceCandidate,
    StatedRule,
    Supersession,
    name_guidance_namespace,
    order_guidance,
    resolve_supersessions,
)

START = datetime(2024, 1, 1, tzinfo=UTC)
any_float = st.floats(allow_nan=True, allow_infinity=True)
MUST, NEVER, MAY = Modality.OBLIGATION, Modality.PROHIBITION, Modality.PERMISSION


def rule(id_: str, day: int, *commands: tuple[Modality, str], is_authored: bool = False) -> StatedRule:
    claims = [(str(modality), action) for modality, action in commands]
    return StatedRule(id=id_, claims=claims, said_at=START + timedelta(days=day), is_authored=is_authored)


def contradicts(one: StatedRule, other: StatedRule) -> bool:
    """Whether of two spoken rules the newer takes anything from the older, or would if it were newer."""
    older, newer = (
        replace(it, said_at=START + timedelta(days=day), is_authored=False)
        for day, it in enumerate((one, other))
    )
    return bool(resolve_supersessions([replace(older, id="1"), replace(newer, id="2")]))


# --- namespaces ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("durable", "expected"),
    [
        ("ada", "elevated:user:ada"),
        ("session-key:k", "elevated:user:session-key:k"),
        ("agent-id:7", "elevated:user:agent-id:7"),
        ("session:other", "elevated:user:session:other"),
        ("session:s1", "elevated:session:s1"),
        ("", "elevated:session:s1"),
        (None, "elevated:session:s1"),
    ],
)
def test_guidance_lives_with_the_user_and_else_with_the_session(durable: str | None, expected: str) -> None:
    assert name_guidance_namespace(durable, session_id="s1") == expected


# --- contradiction -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (MUST, NEVER, True),
        (MAY, NEVER, True),
        (NEVER, NEVER, False),
        (MUST, MUST, False),
        (MUST, MAY, False),
        (MAY, MAY, False),
    ],
)
def test_only_a_prohibition_contradicts(one: Modality, other: Modality, expected: bool) -> None:
    ours, theirs = rule("a", 0, (one, "use tab")), rule("b", 0, (other, "use tab"))
    assert contradicts(ours, theirs) is expected
    assert contradicts(theirs, ours) is expected


def test_rules_about_other_actions_do_not_contradict() -> None:
    assert not contradicts(rule("a", 0, (MUST, "use tab")), rule("b", 0, (NEVER, "use space")))
    assert not contradicts(rule("a", 0, (MUST, "use it")), rule("b", 0, (NEVER, "use it")))
    assert not contradicts(rule("a", 0, (MUST, "")), rule("b", 0, (NEVER, "")))
    assert not contradicts(rule("a", 0), rule("b", 0, (NEVER, "use tab")))


# --- supersession --------------------------------------------------------------------------------------------


def test_a_newer_rule_supersedes_the_older_one_it_contradicts() -> None:
    old, new = rule("old", 1, (MUST, "use tab")), rule("new", 2, (NEVER, "use tab"))
    assert resolve_supersessions([new, old]) == (
        Supersession(superseded_id="old", by_id="new", reason="newer", actions=("use tab",), is_whole=True),
    )


def test_a_rule_that_repeats_another_supersedes_nothing() -> None:
    assert resolve_supersessions([rule("a", 1, (MUST, "use tab")), rule("b", 2, (MUST, "use tab"))]) == ()


def test_a_rule_changed_twice_leaves_only_the_last_standing() -> None:
    rules = [rule("a", 1, (NEVER, "x y")), rule("b", 2, (MUST, "x y")), rule("c", 3, (NEVER, "x y"))]
    marks = {mark.superseded_id: mark.by_id for mark in resolve_supersessions(rules)}
    assert marks == {"b": "c", "a": "b"}


def test_an_authored_rule_wins_over_newer_guidance() -> None:
    written = rule("doc", 1, (NEVER, "push main"), is_authored=True)
    spoken = rule("chat", 9, (MUST, "push main"))
    (mark,) = resolve_supersessions([spoken, written])
    assert (mark.superseded_id, mark.by_id, mark.reason) == ("chat", "doc", "authored")


def test_an_overruled_rule_overrules_nobody() -> None:
    written = rule("doc", 1, (NEVER, "push main"), is_authored=True)
    older = rule("older", 2, (NEVER, "push main"))
    newer = rule("newer", 3, (MUST, "push main"))
    marks = resolve_supersessions([written, older, newer])
    assert [(mark.superseded_id, mark.reason) for mark in marks] == [("newer", "authored")]


def test_authored_rules_are_never_marked() -> None:
    rules = [
        rule("one", 1, (MUST, "use tab"), is_authored=True),
        rule("two", 2, (NEVER, "use tab"), is_authored=True),
    ]
    assert resolve_supersessions(rules) == ()


def test_a_rule_that_asks_for_more_is_superseded_in_part() -> None:
    old = rule("old", 1, (MUST, "use tab"), (MUST, "run test"))
    new = rule("new", 2, (NEVER, "use tab"), (NEVER, "skip test"))
    (mark,) = resolve_supersessions([old, new])
    assert mark.actions == ("use tab",)
    assert not mark.is_whole


def test_two_winners_together_can_supersede_a_whole_rule() -> None:
    old = rule("old", 1, (MUST, "use tab"), (MUST, "run test"))
    rules = [old, rule("n1", 2, (NEVER, "use tab")), rule("n2", 3, (NEVER, "run test"))]
    marks = resolve_supersessions(rules)
    assert [(mark.by_id, mark.is_whole) for mark in marks] == [("n1", True), ("n2", True)]


def test_one_winner_on_two_actions_is_one_mark() -> None:
    old = rule("old", 1, (MUST, "b x"), (MUST, "a x"))
    (mark,) = resolve_supersessions([old, rule("new", 2, (NEVER, "a x"), (NEVER, "b x"))])
    assert mark.actions == ("a x", "b x")


def test_rules_said_at_once_are_ordered_by_id() -> None:
    (mark,) = resolve_supersessions([rule("b", 1, (NEVER, "x y")), rule("a", 1, (MUST, "x y"))])
    assert (mark.superseded_id, mark.by_id) == ("a", "b")


def test_a_rule_that_contradicts_itself_is_left_alone() -> None:
    assert resolve_supersessions([rule("a", 1, (NEVER, "x y"), (MUST, "x y"))]) == ()


rules_of_any_kind = st.lists(
    st.builds(
        rule,
        st.sampled_from("abcdefgh"),
        st.integers(0, 3),
        st.tuples(st.sampled_from(list(Modality)), st.sampled_from(["use tab", "run test", "use it"])),
        is_authored=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda stated: stated.id,
)


@given(rules_of_any_kind, st.randoms())
def test_supersession_does_not_depend_on_the_order_given(rules: list[StatedRule], random: Random) -> None:
    marks = resolve_supersessions(rules)
    shuffled = list(rules)
    random.shuffle(shuffled)
    assert resolve_supersessions(shuffled) == marks


@given(rules_of_any_kind)
def test_every_mark_is_a_real_contradiction_won_by_document_or_date(rules: list[StatedRule]) -> None:
    by_id = {stated.id: stated for stated in rules}
    for mark in resolve_supersessions(rules):
        loser, winner = by_id[mark.superseded_id], by_id[mark.by_id]
        assert contradicts(loser, winner)
        assert not loser.is_authored
        if mark.reason == "authored":
            assert winner.is_authored
        else:
            assert not winner.is_authored
            assert (winner.said_at, winner.id) > (loser.said_at, loser.id)


@given(rules_of_any_kind)
def test_the_rules_that_stay_do_not_contradict_each_other(rules: list[StatedRule]) -> None:
    marked = {mark.superseded_id for mark in resolve_supersessions(rules)}
    left = [stated for stated in rules if stated.id not in marked]
    for one in left:
        for other in left:
            both_written = one.is_authored and other.is_authored
            assert both_written or not contradicts(one, other)


# --- the reserve ---------------------------------------------------------------------------------------------


def record(id_: str, **changes: object) -> GuidanceCandidate:
    plain = GuidanceCandidate(
        id=id_,
        tokens=10,
        cosine=None,
        score=0.0,
        stability_weight=0.6,
        said_at=START,
        is_standing=False,
    )
    return replace(plain, **changes)


records = st.lists(
    st.builds(
        GuidanceCandidate,
        id=st.text("abcdef", min_size=1, max_size=2),
        tokens=st.integers(0, 50),
        cosine=st.none() | any_float,
        score=any_float,
        stability_weight=any_float,
        said_at=st.integers(0, 5).map(lambda day: START + timedelta(days=day)),
        is_standing=st.booleans(),
        is_superseded=st.booleans(),
    ),
    max_size=12,
    unique_by=lambda one: one.id,
)


def test_relevant_records_come_by_score_and_standing_ones_after_by_stability_and_recency() -> None:
    ordered = order_guidance(
        [
            record("old", is_standing=True, stability_weight=0.6, said_at=START),
            record("new", is_standing=True, stability_weight=0.6, said_at=START + timedelta(days=1)),
            record("firm", is_standing=True, stability_weight=0.8, said_at=START - timedelta(days=9)),
            record("low", cosine=0.9, score=0.2),
            record("high", cosine=0.3, score=0.7, is_standing=True),
            record("tie", cosine=0.3, score=0.2),
        ]
    )
    assert [(one.id, why) for one, why in ordered] == [
        ("high", "relevant"),
        ("low", "relevant"),
        ("tie", "relevant"),
        ("firm", "standing"),
        ("new", "standing"),
        ("old", "standing"),
    ]


def test_relevance_begins_above_theta() -> None:
    assert order_guidance([record("a", cosine=0.2)]) == ()
    assert [why for _, why in order_guidance([record("a", cosine=0.2001)])] == ["relevant"]
    assert [why for _, why in order_guidance([record("a", cosine=0.2, is_standing=True)])] == ["standing"]
    assert order_guidance([record("a", cosine=0.4)], theta1=0.4) == ()
    assert order_guidance([record("a", cosine=math.inf), record("b", cosine=math.nan)]) == ()


def test_standing_ties_go_to_the_smaller_id() -> None:
    ordered = order_guidance([record("b", is_standing=True), record("a", is_standing=True)])
    assert [one.id for one, _ in ordered] == ["a", "b"]
