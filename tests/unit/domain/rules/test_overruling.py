"""Which spoken wishes an authored rule overrules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.rules.overruling import AuthoredRule, find_overruled


@pytest.mark.parametrize(
    ("rule", "wish", "action"),
    [
        ("Never use emojis.", "From now on, use emojis in the titles.", "use emojis"),
        ("Always use metric units.", "Never use metric units.", "use metric unit"),
        ("Do not share the calendar.", "You may share the calendar without asking me.", "share calendar"),
        ("Run tests before every commit.", "Never run tests.", "run test"),
    ],
)
def test_a_wish_against_an_authored_rule_is_overruled_whole(rule: str, wish: str, action: str) -> None:
    (found,) = find_overruled([AuthoredRule("r", rule)], [("w", wish)])
    assert found == ("w", "r", action, True)


@pytest.mark.parametrize(
    ("rule", "wish"),
    [
        ("Never use emojis.", "Never use emojis."),
        ("Never use emojis.", "From now on, use tables."),
        ("Never use emojis in commit messages.", "From now on, use emojis."),  # the ban is narrower
        ("You may use emojis.", "Never use emojis."),  # allowed is not demanded
        ("The team met in May.", "From now on, use emojis."),
        ("Never use it.", "Always use it."),  # "it" is another thing in every paragraph
        ("Never use emojis.", "Emojis are fun."),
    ],
)
def test_a_wish_beside_an_authored_rule_stands(rule: str, wish: str) -> None:
    assert find_overruled([AuthoredRule("r", rule)], [("w", wish)]) == ()


def test_what_is_left_of_a_wish_still_stands() -> None:
    wish = "From now on, use emojis. Always answer in German."
    (found,) = find_overruled([AuthoredRule("r", "Never use emojis.")], [("w", wish)])
    assert not found.is_whole


def test_the_introduction_of_a_list_lends_its_force() -> None:
    rule = AuthoredRule("r", "- use emojis", ("Style", "You must not:"))
    assert [one.rule_id for one in find_overruled([rule], [("w", "From now on, use emojis.")])] == ["r"]


def test_the_first_rule_that_contradicts_is_named_and_wishes_keep_their_order() -> None:
    rules = [AuthoredRule("a", "Never use emojis."), AuthoredRule("b", "Do not use emojis.")]
    wishes = [("2", "From now on, use emojis."), ("1", "Always use emojis in titles.")]
    assert [(one.wish_id, one.rule_id) for one in find_overruled(rules, wishes)] == [("2", "a"), ("1", "a")]


@pytest.mark.parametrize("wish", [":::::::", "- - - - -", "((((((((", "…………………"])
def test_a_wish_without_a_word_asks_nothing(wish: str) -> None:
    assert find_overruled([AuthoredRule("r", "Never use emojis.")], [("w", wish)]) == ()


@given(st.lists(st.text(max_size=60), max_size=4), st.lists(st.text(max_size=60), max_size=4))
def test_any_text_is_compared_and_only_wishes_given_are_named(rules: list[str], wishes: list[str]) -> None:
    authored = [AuthoredRule(str(place), text) for place, text in enumerate(rules)]
    said = [(str(place), text) for place, text in enumerate(wishes)]
    found = find_overruled(authored, said)
    assert {one.wish_id for one in found} <= {key for key, _ in said}
    assert {one.rule_id for one in found} <= {rule.id for rule in authored}


def test_what_a_document_allows_does_not_hide_what_it_forbids_next() -> None:
    rule = AuthoredRule("r", "You may use tabs. Never use emojis.")
    assert [one.action for one in find_overruled([rule], [("w", "From now on, use emojis.")])] == [
        "use emojis"
    ]


def test_an_introduction_with_a_verb_bans_what_its_items_name() -> None:
    rule = AuthoredRule("r", "- emojis", ("Never use:",))
    assert [one.rule_id for one in find_overruled([rule], [("w", "From now on, use emojis.")])] == ["r"]


@pytest.mark.parametrize(
    ("rule", "wish", "is_overruled"),
    [
        ("Never guess.", "From now on, guess numbers.", False),  # a bare verb meets a bare verb alone
        ("Never guess.", "Always guess.", True),
        ("Never guess numbers.", "Always guess.", False),
    ],
)
def test_a_ban_on_a_bare_verb_meets_a_bare_verb(rule: str, wish: str, is_overruled: bool) -> None:
    assert bool(find_overruled([AuthoredRule("r", rule)], [("w", wish)])) is is_overruled
