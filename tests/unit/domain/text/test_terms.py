"""Terms, keywords and mentions of a text (memory-model.md sections 7 and 8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.text.terms import STOP_WORDS, extract_mentions, extract_terms, query_keywords

words = st.text("abcxyzäöéñдкשω", min_size=1, max_size=8)


@given(st.text())
def test_terms_are_never_empty_strings_and_never_fail(text: str) -> None:
    assert "" not in extract_terms(text)
    assert query_keywords(text) <= extract_terms(text)


@given(st.lists(words, max_size=8))
def test_every_word_is_a_term_in_lower_case(some: list[str]) -> None:
    assert extract_terms(" ".join(some)) == {word.lower() for word in some}
    assert extract_terms(", ".join(some).upper()) >= {word.upper().lower() for word in some}


@given(st.lists(words, max_size=5), st.lists(words, max_size=5))
def test_more_text_never_has_fewer_terms(one: list[str], other: list[str]) -> None:
    assert extract_terms(" ".join(one)) <= extract_terms(" ".join(one + other))


def test_no_text_has_no_terms() -> None:
    assert extract_terms("") == extract_terms(" \n — !") == frozenset()


def test_an_identifier_stays_whole_and_counts_by_its_parts() -> None:
    terms = extract_terms("It broke in models/domain/gatePolicy.py today")
    assert {"models/domain/gatepolicy.py", "gatepolicy.py", "domain", "gate", "policy", "today"} <= terms


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("call os.path.join here", "os.path.join"),
        ("commit 3f2a9c1b", "3f2a9c1b"),
        ("port 5432", "5432"),
        ("pi is 3.14", "3.14"),
        ("about 1,200 rows", "1,200"),
        ("at 10:30", "10:30"),
        ("on 2023-05-07", "2023-05-07"),
        ("error E0308", "e0308"),
        ("user_id", "user_id"),
    ],
)
def test_names_and_numbers_are_found_as_they_are_written(text: str, term: str) -> None:
    assert term in extract_terms(text)


def test_part_of_a_path_finds_the_path_and_the_reverse() -> None:
    assert query_keywords("gating.py") & extract_terms("see models/domain/gate/gating.py") >= {
        "gating.py",
        "gating",
    }


def test_a_number_inside_a_word_is_not_cut_out() -> None:
    assert "1.2" not in extract_terms("v1.2") or "v1.2" in extract_terms("v1.2")
    assert extract_terms("x1,2") == {"x1", "2"}


def test_possessives_find_their_owner() -> None:
    assert extract_terms("Caroline's") == extract_terms("CAROLINE’S") == {"caroline"}
    assert extract_terms("José's") == {"josé"}


def test_contractions_stay_one_word() -> None:
    assert extract_terms("don't") == extract_terms("don’t") == {"don't"}


def test_quotes_are_no_part_of_a_word() -> None:
    assert extract_terms("'tabs' and ‘spaces’") == {"tabs", "and", "spaces"}


def test_an_accent_counts_the_same_however_it_is_written() -> None:
    assert extract_terms("caf\u0065\u0301") == extract_terms("CAFÉ") == {"café"}


def test_only_words_of_ordinary_length_are_composed() -> None:
    assert extract_terms("e\u0301" + "x" * 62) == {"é" + "x" * 62}
    assert extract_terms("e\u0301" + "x" * 63) == {"e\u0301" + "x" * 63}


def test_words_of_marked_scripts_do_not_break() -> None:
    assert extract_terms("हिन्दी भाषा") == {"हिन्दी", "भाषा"}
    assert extract_terms("ภาษาไทย") == {"ภาษาไทย"}


def test_text_without_spaces_is_compared_by_pairs() -> None:
    assert extract_terms("東京都") == {"東京", "京都"}
    assert extract_terms("東") == {"東"}
    assert extract_terms("使用Redis吧") >= {"使用", "redis", "吧"}


def test_keywords_leave_out_what_only_shapes_the_question() -> None:
    assert query_keywords("What is the port of Redis?") == {"port", "redis"}
    assert query_keywords("What's it? I’m who you’re") == frozenset()
    assert query_keywords("not before or after May") == {"not", "before", "after", "may"}


def test_the_stop_list_is_small_and_in_lower_case() -> None:
    assert 100 <= len(STOP_WORDS) <= 130
    assert all(word == word.lower() for word in STOP_WORDS)
    assert STOP_WORDS.isdisjoint({"not", "no", "never", "may", "before", "after", "first"})


# --- mentions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "date",
    [
        "2023-05-07",
        "5/7/2023",
        "7 May 2023",
        "7th May",
        "May 7",
        "May 7th, 2023",
        "Sept. 3",
        "June, 2021",
        "October 2022",
        "January 5",
        "Dec 2022",
        "Dec. 3",
        "3 Dec",
        "3rd Dec. 2022",
        "1st Jan, 2022",
        "Dec 2nd",
        "12/31/22",
    ],
)
def test_dates_are_mentions(date: str) -> None:
    assert extract_mentions(f"we met on {date} in town") == (date,)


def test_names_inside_a_sentence_are_mentions() -> None:
    text = "Then we met Ada Lovelace and Grace, near NASA with Anne-Marie's dog."
    assert extract_mentions(text) == ("Ada Lovelace", "Grace", "NASA", "Anne-Marie")


@pytest.mark.parametrize(
    "text",
    [
        "Then we left. Nobody came",
        "Hello\nWorld",
        "- Item",
        "said: Well",
        '"Quoted',
        "so I left",
        "we Are",
        "a B c",
        "",
    ],
)
def test_an_opening_capital_is_no_name(text: str) -> None:
    assert extract_mentions(text) == ()


def test_two_letters_make_a_name_and_one_does_not() -> None:
    assert extract_mentions("we met Al there, not B or C") == ("Al",)


def test_names_are_apart_where_more_than_a_blank_is_between() -> None:
    assert extract_mentions("we met Ada, Bob  Carl and Dora Eve") == ("Ada", "Bob", "Dora Eve")
    assert extract_mentions("near Ada’s house and Bob's") == ("Ada", "Bob")


def test_what_only_looks_like_a_date_is_none() -> None:
    assert extract_mentions("it is 12023-05-071 or a/1/2/2023/5 or 7 Maya") == ("Maya",)


def test_a_name_at_the_very_end_is_found() -> None:
    assert extract_mentions("we met Ada") == ("Ada",)
    assert extract_mentions("x Ada") == ("Ada",)


def test_a_name_right_after_an_identifier_or_a_date_is_found() -> None:
    assert extract_mentions("in src/app.py Ada fixed it") == ("src/app.py", "Ada")
    assert extract_mentions("on 7 May 2023 Ada left") == ("7 May 2023", "Ada")


def test_parts_of_identifiers_and_dates_are_not_names() -> None:
    assert extract_mentions("it raised ORA-00942 again") == ("ORA-00942",)
    assert extract_mentions("back in May 2023 it worked") == ("May 2023",)


def test_each_mention_is_listed_once_identifiers_first() -> None:
    text = "we told Ada that src/app.py of Ada, due 2023-05-07, broke src/app.py"
    assert extract_mentions(text) == ("src/app.py", "2023-05-07", "Ada")


@given(st.text())
def test_mentions_are_verbatim_and_distinct(text: str) -> None:
    mentions = extract_mentions(text)
    assert all(mention and mention in text for mention in mentions)
    assert len(set(mentions)) == len(mentions)


# --- hostile input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece", ["a'", "漢", "\u0301\u0323", "1 May ", "A's "], ids=ascii)
def test_a_megabyte_of_one_pattern_takes_linear_time(piece: str) -> None:
    text = "x" + piece * (1_000_000 // len(piece))
    extract_terms(text)
    extract_mentions(text[:100_000])


def test_a_name_may_stand_behind_a_word_that_ends_in_any_letter() -> None:
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0é":
        assert extract_mentions(f"we asked o{letter} Marta about it")[-1] == "Marta"
