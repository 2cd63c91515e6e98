"""Which slots a statement fills: verbs of standing, units, clocks, weekdays, ordinals; and what is too long to read."""

import pytest

from models.domain.recall.conflicts import Statement, find_superseded


def replaces(older: str, newer: str) -> bool:
    return find_superseded([Statement("a", 0.0, older), Statement("a", 1.0, newer)]) == {0: 1}


@pytest.mark.parametrize(
    "standing",
    [
        *("live in", "live at", "work at", "work for", "work as", "study at", "drive", "weigh", "bank with"),
        *("am allergic to", "am married to", "am based in"),
    ],
)
def test_what_somebody_does_for_good_is_replaced_by_its_newer_value(standing: str) -> None:
    assert replaces(f"I {standing} alpha.", f"I {standing} beta.")
    assert replaces(f"We now {standing} alpha, I think.", f"We {standing} beta!")
    assert not replaces(f"I {standing} alpha.", f"I {standing} alpha")


@pytest.mark.parametrize(
    "lately", ["now", "currently", "still", "actually", "really", "just", "mostly", "usually"]
)
def test_lately_or_not_makes_no_other_slot(lately: str) -> None:
    assert replaces("I live in Lyon.", f"I {lately} live in Porto.")
    assert replaces("My dentist is Cole.", f"My dentist is {lately} Reed.")
    assert not replaces("My dentist is Cole.", f"My dentist is {lately} Cole.")


@pytest.mark.parametrize("article", ["a", "an", "the"])
def test_an_article_makes_no_other_value(article: str) -> None:
    assert not replaces("I work as guard of gate.", f"I work as {article} guard of {article} gate.")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My yoga class starts at 9 am.", "My yoga class starts at 10 am."),
        ("My yoga class starts at 9 pm.", "My yoga class starts at 10 am."),
        ("My yoga class starts at 9:15.", "My yoga class starts at 10:30."),
        ("My yoga class meets on Mondays.", "My yoga class meets every Tuesday."),
        ("My gym pass costs $30 monthly.", "My gym pass costs $45 monthly."),
        ("I finished my 3rd pottery course happily.", "I finished my fourth pottery course happily."),
        ("I own five garden gnomes at home.", "I own 6 garden gnomes at home."),
    ],
)
def test_numbers_of_the_same_matter_replace_each_other(older: str, newer: str) -> None:
    assert replaces(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I own five garden gnomes at home.", "I own 5 garden gnomes at home."),
        ("I finished my 3rd pottery course.", "I finished my third pottery course."),
        *(
            (f"My garden pond holds 3 {word} big carp.", f"My garden pond holds 4 {word} big carp.")
            for word in ("of", "more", "less", "other", "different", "new", "to", "times", "the", "and")
        ),
    ],
)
def test_the_same_number_or_one_that_counts_nothing_replaces_nothing(older: str, newer: str) -> None:
    assert not replaces(older, newer)


@pytest.mark.parametrize(
    "event",
    [
        *("last", "ago", "yesterday", "tonight", "spent", "took", "this week", "this month", "this year"),
        *("this morning", "this weekend", "the other day"),
    ],
)
def test_what_happened_once_replaces_no_number(event: str) -> None:
    assert not replaces(f"I saw 3 garden gnomes {event}.", f"I saw 4 garden gnomes {event}.")
    assert replaces("I saw 3 garden gnomes.", "I saw 4 garden gnomes.")


@pytest.mark.parametrize("denial", ["not", "never", "no longer", "cannot", "don't", "won't"])
def test_a_denial_replaces_what_it_denies_and_is_replaced_by_it(denial: str) -> None:
    assert replaces("I eat red meat.", f"I {denial} eat red meat.")
    assert replaces(f"I {denial} eat red meat.", "I eat red meat.")
    assert not replaces(f"I {denial} eat red meat.", f"I {denial} eat red meat!")


def test_statements_without_a_slot_in_common_are_not_compared() -> None:
    assert not replaces("Green tea is lovely stuff.", "Green tea is dreadful stuff.")
    assert not replaces("I don't eat red meat.", "I never eat red meat.")


def test_what_stands_past_the_first_sentences_or_in_a_very_long_one_is_not_read() -> None:
    older = "I live in Lyon."
    assert replaces(older, "Yes. " * 23 + "I live in Porto.")
    assert not replaces(older, "Yes. " * 24 + "I live in Porto.")
    padding = 400 - len("I live in Porto, .")
    assert replaces(older, f"I live in Porto, {'x' * padding}.")
    assert not replaces(older, f"I live in Porto, {'x' * (padding + 1)}.")
