"""Links that become hop edges: what counts, what does not, and that no input makes the scanner slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.documents.links import find_links, normalize_label
from models.domain.rules.tiers import Link


def markdown(target: str, fragment: str | None = None) -> Link:
    return Link(target=target, fragment=fragment, style="markdown")


def wiki(target: str, fragment: str | None = None) -> Link:
    return Link(target=target, fragment=fragment, style="wiki")


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[text](other.md#part)", [markdown("other.md", "part")]),
        ("[text](other.md)", [markdown("other.md")]),
        ("[text](#part)", [markdown("", "part")]),
        ("[text](other.md#)", [markdown("other.md")]),
        ("[a](b.md), [c](d.md)", [markdown("b.md"), markdown("d.md")]),
        ("[a](b.md) [again](b.md)", [markdown("b.md")]),
        ("[a]( b.md )", [markdown("b.md")]),
        ("[a](b.md 'title')", [markdown("b.md")]),
        ('[a](b.md "a (long) title")', [markdown("b.md")]),
        ("[a](b.md (title))", [markdown("b.md")]),
        ("[a](<my notes.md#x y>)", [markdown("my notes.md", "x y")]),
        ("[a](my%20notes.md#a%2Fb)", [markdown("my notes.md", "a/b")]),
        ("[a](c%23.md)", [markdown("c#.md")]),
        ("[a](b_(c).md)", [markdown("b_(c).md")]),
        (r"[a](b\(c.md)", [markdown("b(c.md")]),
        (r"[a \] b](c.md)", [markdown("c.md")]),
        ("[a [nested] text](c.md)", [markdown("c.md")]),
        ("[![badge](b.svg)](ci.md)", [markdown("ci.md")]),
        ("[[1]](notes.md)", [markdown("notes.md")]),
        ("[a\nb](c.md)", [markdown("c.md")]),
        ("[x](c:d.md)", [markdown("c:d.md")]),
        ("[[Wiki Link]]", [wiki("Wiki Link")]),
        ("[[page#section|alias]]", [wiki("page", "section")]),
        ("[[page|alias # 2]]", [wiki("page")]),
        ("[[ page # section ]]", [wiki("page", "section")]),
        ("[[#section]]", [wiki("", "section")]),
        ("![[embedded]]", [wiki("embedded")]),
        (r"[[page\|alias in a table]]", [wiki("page")]),
        ("[[a]] then [b](c.md)", [wiki("a"), markdown("c.md")]),
        ("- [ ] do [this](c.md)", [markdown("c.md")]),
        ("``a ` b`` [c](d.md)", [markdown("d.md")]),
        ("`unclosed [c](d.md)", [markdown("d.md")]),
        (r"\`[c](d.md)\`", [markdown("d.md")]),
    ],
)
def test_links_to_documents_and_sections_are_found(text: str, links: list[Link]) -> None:
    assert list(find_links(text, {})) == links


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no link",
        "[text]",
        "[text] (b.md)",
        "[text](b c.md)",
        "[text](b.md",
        "[text]()",
        "[text](#)",
        "text](b.md)",
        r"\[text](b.md)",
        r"[text\](b.md)",
        "`[text](b.md)`",
        "`` [a](b.md) ` [c](d.md) ``",
        "`[[page]]`",
        r"\[[page]]",
        "[[]]",
        "[[ ]]",
        "[[a\nb]]",
        "![image](b.png)",
        "[web](https://example.org/a.md#b)",
        "[web](//example.org/a.md)",
        "[mail](mailto:a@example.org)",
    ],
)
def test_what_only_looks_like_a_link_is_none(text: str) -> None:
    assert find_links(text, {}) == ()


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[text][Style  Guide]", [markdown("style.md", "x")]),
        ("[style guide][]", [markdown("style.md", "x")]),
        ("[style\nguide]", [markdown("style.md", "x")]),
        ("[style guide] and [b](c.md)", [markdown("style.md", "x"), markdown("c.md")]),
        ("[a [b] c][style guide]", [markdown("style.md", "x")]),
        ("[unknown][nobody] [style guide]", [markdown("style.md", "x")]),
        ("[unknown][nobody]", []),
        ("[style guide][nobody]", []),
        ("![style guide]", []),
        ("[style [x] guide]", []),
        ("[web]", []),
    ],
)
def test_reference_links_go_where_their_definition_says(text: str, links: list[Link]) -> None:
    references = {"style guide": "style.md#x", "web": "https://example.org"}
    assert list(find_links(text, references)) == links


def test_labels_are_compared_without_case_and_spacing() -> None:
    assert normalize_label(" Straße \n 1") == normalize_label("STRASSE 1") == "strasse 1"


@given(st.text("[]()!`\\<>#|ab \n\"'", max_size=60))
def test_any_text_gives_links_without_empty_ones(text: str) -> None:
    for link in find_links(text, {"a": "b.md"}):
        assert link.target or link.fragment
        assert link.fragment is None or link.fragment


@pytest.mark.parametrize("unit", ["[", "[]", "[[a", "[a](", '[a](b "', "[a](<b", "[a](b(", "`a``", "!["])
def test_a_megabyte_of_markup_is_read_in_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    find_links(text, {"x": "y.md"})


@pytest.mark.parametrize(
    "text",
    [
        "[" * 500_000 + "]" * 500_000,
        "[a](" + " " * 1_000_000,
        "[a](b" + " " * 1_000_000 + "'",
        "[a](" + "b" * 1_000_000,
        "[[" + "a" * 1_000_000,
        "".join("`" * length + "a" for length in range(1, 1400)),
    ],
    ids=["balanced", "spaces", "spaces before a title", "long target", "long wiki", "every length of ticks"],
)
def test_a_megabyte_of_one_unfinished_link_is_read_in_linear_time(text: str) -> None:
    assert find_links(text, {"x": "y.md"}) == ()
