"""Claims about statements that replace each other: the newest of one speaker holds, events replace nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.conflicts import Statement, find_superseded, put_newer_first


def superseded(*said: str, speakers: str = "") -> dict[int, int]:
    who = speakers or "a" * len(said)
    return find_superseded([Statement(who[day], float(day), text) for day, text in enumerate(said)])


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My rent for the flat is 900 euros.", "By the way, my rent for the flat is 950 euros now."),
        (
            "I've been sticking to my tidying routine for 3 weeks.",
            "I've stuck to my tidying routine for four weeks now.",
        ),
        ("I finished with a personal best time of 27:12.", "My personal best time is 25:50 these days."),
        ("I have a cocktail class on Thursdays.", "My cocktail class is on Fridays now."),
        ("My dentist is Dr Cole.", "My dentist is now Dr Reed."),
        ("I live in Lyon.", "We moved in spring. I now live in Porto."),
        ("I eat meat.", "I don't eat meat anymore."),
        ("I keep my old sneakers under the bed.", "I keep my old sneakers in the closet."),
    ],
)
def test_a_newer_statement_about_the_same_matter_replaces_the_older(older: str, newer: str) -> None:
    assert superseded(older, newer) == {0: 1}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I went to Rome in spring.", "I went to Oslo in autumn."),
        ("I spent around $150 on my last order.", "I spent around $60 on my last order."),
        ("My rent for the flat is 900 euros.", "The flight to Porto was 120 euros."),
        ("Is my rent for the flat 900 euros?", "My rent for the flat is 950 euros."),
        ("My rent for the flat is 900 euros.", "My rent for the flat is 900 euros!"),
        ("I have two cats.", "I have three dogs."),
        ("I don't like rain.", "I like the new cinema."),
        ("", ""),
    ],
)
def test_events_questions_repetitions_and_other_matters_replace_nothing(older: str, newer: str) -> None:
    assert superseded(older, newer) == {}


def test_nobody_replaces_what_somebody_else_said_and_nothing_said_in_one_breath() -> None:
    said = ("My rent for the flat is 900 euros.", "My rent for the flat is 950 euros.")
    assert superseded(*said, speakers="ab") == {}
    assert find_superseded([Statement("a", 5.0, text) for text in said]) == {}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Follow your heart and don't give in!", "Follow your heart!"),
        ("Definitely not, Paula.", "Definitely, Paula."),
        ("My team is my pride and joy.", "My team is fantastic."),
    ],
)
def test_cheering_others_on_agreeing_and_praise_replace_nothing(older: str, newer: str) -> None:
    assert superseded(older, newer) == {}


def test_the_newest_of_three_replaces_both_others() -> None:
    rents = [f"My rent for the flat is {rent} euros." for rent in (950, 900, 980)]
    assert superseded(*rents) == {0: 2, 1: 2}


@given(
    st.lists(
        st.sampled_from(
            ["My rent is 9 euros", "My rent is 8 euros", "I live in Rome", "I don't live in Rome"]
        )
    )
)
def test_what_replaces_is_newer_and_the_order_of_the_list_does_not_matter(said: list[str]) -> None:
    statements = [Statement("a", float(day), text) for day, text in enumerate(said)]
    found = find_superseded(statements)
    assert all(older < newer for older, newer in found.items())
    backwards = find_superseded(statements[::-1])
    last = len(said) - 1
    assert {last - older: last - newer for older, newer in backwards.items()} == found


@given(st.permutations("abcdef"), st.dictionaries(st.sampled_from("abc"), st.sampled_from("def")))
def test_the_newer_comes_before_the_older_and_nothing_is_lost(
    order: list[str], pairs: dict[str, str]
) -> None:
    placed = put_newer_first(order, pairs)
    assert sorted(placed) == sorted(order)
    assert all(placed.index(newer) < placed.index(older) for older, newer in pairs.items())
