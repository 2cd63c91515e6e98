"""How a text is folded, what is hidden in it, and where its clauses open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.grammar.clauses import (
    MASK,
    fold_text,
    hide_mentions,
    hide_quoted_speech,
    list_openings,
    read_word,
)

_MARKED = st.text(alphabet='ab `"“”(){}[]<!->~*_\n.,;:—İ’', max_size=80)


@given(st.one_of(st.text(), _MARKED))
def test_folding_and_hiding_keep_the_length(text: str) -> None:
    folded = fold_text(text)
    assert len(folded) == len(text)
    assert len(fold_text(text, unwrap=False)) == len(text)
    assert len(hide_mentions(folded)) == len(text)
    assert len(hide_quoted_speech(folded)) == len(text)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Don’T", "don't"),
        ("Donʼt", "don't"),
        ("a - b", "a — b"),
        ("a -- b", "a  — b"),
        ("İX", "İx"),
        ("one\ntwo", "one two"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("one\n- two", "one\n- two"),
        ("one\n1. two", "one\n1. two"),
        ("one\n> two", "one\n> two"),
        ("one\n```\ntwo", "one\n``` two"),
        ("one\n**two**", "one **two**"),
    ],
)
def test_folding_lowers_straightens_and_unwraps(text: str, folded: str) -> None:
    assert fold_text(text) == folded


def test_lines_stay_when_asked() -> None:
    assert fold_text("One\nTwo", unwrap=False) == "one\ntwo"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("use `x` now", "use ### now"),
        ("use ``a`b`` now", "use ####### now"),
        ("a ` b", "a ` b"),
        ("`a` ` b", "### ` b"),
        ("`` a ` b", "`` a ` b"),
        ('say "no" twice', "say #### twice"),
        ('"no" twice', '"no" twice'),
        ("see [x](y) now", "see [x     now"),
        ("use it (never) now", "use it         now"),
        ("use f(x) now", "use f    now"),
        ("done. (never) now", "done. (never) now"),
        ("a <!-- b --> c", "a            c"),
        ("a <!-- b", "a       "),
    ],
)
def test_mentions_are_hidden(text: str, hidden: str) -> None:
    assert hide_mentions(text) == hidden.replace("#", MASK)


def test_fenced_code_is_hidden_up_to_its_own_fence() -> None:
    assert hide_mentions("a\n```\nuse\n~~~\n```\nb").split() == ["a", "b"]
    assert hide_mentions("a\n~~~\nuse").split() == ["a"]


def test_speech_and_quoted_lines_are_hidden() -> None:
    assert hide_quoted_speech('"no" twice') == MASK * 4 + " twice"
    assert hide_quoted_speech("“no” twice") == MASK * 4 + " twice"
    assert hide_quoted_speech("> never\nok") == " " * 7 + "\nok"
    assert hide_quoted_speech('5" of rain') == '5" of rain'


@pytest.mark.parametrize(
    ("text", "openings"),
    [
        ("use x. read y", [("", "use"), (".", "read")]),
        ("use x, read y", [("", "use"), (",", "read")]),
        ("use x; read y: go", [("", "use"), (";", "read"), (":", "go")]),
        ("use x — read y", [("", "use"), ("—", "read")]),
        ("use x —— read y", [("", "use"), ("——", "read")]),
        ("use 3–4 x – read", [("", "use"), ("–", "read")]),
        ("v1.2,3:4 x", [("", "")]),
        ("use x?! read", [("", "use"), ("?!", "read")]),
        ("**use x.** read", [("", "use"), (".**", "read")]),
        ("use e.g. tabs", [("", "use")]),
        ("- [x] use\n2. **read**", [("", "use"), ("\n", "read")]),
        ("3 tabs", [("", "")]),
        ("_use_ x", [("", "use")]),
        ("go_router x", [("", "")]),
        ("don't go", [("", "don't")]),
        ("", [("", "")]),
    ],
)
def test_clauses_open_at_edges(text: str, openings: list[tuple[str, str]]) -> None:
    assert [(opening[1], opening[2]) for opening in list_openings(text)] == openings


def test_an_opening_knows_the_determiner_behind_its_word() -> None:
    assert list_openings("frob the index")[0][3] == "the"
    assert list_openings("frob theory")[0][3] is None


def test_a_word_is_read_behind_markup_only() -> None:
    word = read_word("use **[tabs", 3)
    assert word is not None
    assert word[1] == "tabs"
    assert read_word("use, tabs", 3) is None
    assert read_word("use", 3) is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<!-- a --> b", ["b"]),
        ("a <!-- x --> b <!-- y --> c", ["a", "b", "c"]),
        ("a <!-- x", ["a"]),
        ("```\nuse tabs", []),
        ("> ```\nuse tabs\n> ```\nb", ["b"]),
        ("\t```\nuse tabs\n\t```\nb", ["b"]),
        ("~~~\nuse tabs\n```\nx\n~~~\nb", ["b"]),
        ("a\n```\nx\n```\nb\n```\ny\n```\nc", ["a", "b", "c"]),
    ],
)
def test_comments_and_fences_leave_what_stands_around_them(text: str, left: list[str]) -> None:
    assert hide_mentions(text).split() == left
    assert len(hide_mentions(text)) == len(text)
