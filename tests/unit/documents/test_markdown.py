"""Markdown into leaf blocks: what is one block, where it lies in bytes, what it stands under."""

import itertools
import sys
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from models.documents import markdown as module
from models.documents.cache import PartitionCache
from models.documents.markdown import MAX_LIST_DEPTH, MAX_QUOTE_DEPTH, parse_markdown, partition_document
from models.domain.rules.tiers import Block, Link, Tier, enforce_hard_reserve

SAMPLE = """\
---
applyTo: '**'
---

# Agent rules

You are the reviewer of this repository.

## Style

- Use tabs.
- [ ] Run `make check`:

  ```sh
  make check

  - not an item
  ```

  | a | b |
  |---|---|
  | 1 | 2 |

  1. First the linter,
     then the types
  2. Then the tests.

  Only then push.
* Größe: naïve café ☕ 日本語

> **Note** never quote me
> - quoted item
lazy end

Under
way
---

| x | y |
|---|---|
| - | 1 |

<details>
<summary>- html</summary>

    indented - code

~~~
# fenced

- text
~~~

***

# Empty
"""


def shape(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in parse_markdown(text)]


def assert_exact(text: str) -> tuple[Block, ...]:
    """Check what holds for every document: exact slices, order, no overlap, gaps that add up."""
    raw = text.encode()
    blocks = parse_markdown(text)
    rebuilt = b""
    for block in blocks:
        assert block.start >= len(rebuilt)
        assert block.text
        rebuilt += raw[len(rebuilt) : block.start] + block.text.encode()
        assert block.end == len(rebuilt)
    assert rebuilt + raw[len(rebuilt) :] == raw
    return blocks


def gaps(text: str, blocks: tuple[Block, ...]) -> list[str]:
    raw = text.encode()
    edges = [0, *itertools.chain.from_iterable((block.start, block.end) for block in blocks), len(raw)]
    return [raw[edges[i] : edges[i + 1]].decode() for i in range(0, len(edges), 2)]


class TestBlocks:
    def test_a_rules_file_falls_into_the_blocks_a_reader_sees(self) -> None:
        blocks = assert_exact(SAMPLE)
        fence = "- [ ] Run `make check`:\n\n  ```sh\n  make check\n\n  - not an item\n  ```\n\n"
        table = "  | a | b |\n  |---|---|\n  | 1 | 2 |"
        assert [(block.kind, block.text) for block in blocks] == [
            ("front_matter", "---\napplyTo: '**'\n---"),
            ("paragraph", "You are the reviewer of this repository."),
            ("list_item", "- Use tabs."),
            ("list_item", fence + table),
            ("list_item", "  1. First the linter,\n     then the types"),
            ("list_item", "  2. Then the tests."),
            ("list_item", "  Only then push."),
            ("list_item", "* Größe: naïve café ☕ 日本語"),
            ("block_quote", "> **Note** never quote me\n> - quoted item\nlazy end"),
            ("table", "| x | y |\n|---|---|\n| - | 1 |"),
            ("html", "<details>\n<summary>- html</summary>"),
            ("code_block", "    indented - code"),
            ("code_fence", "~~~\n# fenced\n\n- text\n~~~"),
            ("thematic_break", "***"),
            ("heading", "# Empty"),
        ]

    def test_gaps_hold_blank_lines_and_headings_only(self) -> None:
        joined = "\n".join(gaps(SAMPLE, parse_markdown(SAMPLE)))
        written = [line for line in joined.split("\n") if line.strip()]
        assert written == ["# Agent rules", "## Style", "Under", "way", "---"]

    @pytest.mark.parametrize("text", ["", "\n", " \t\n\n", "\ufeff", "\ufeff\n", "\r"])
    def test_a_blank_document_has_no_blocks(self, text: str) -> None:
        assert parse_markdown(text) == ()

    def test_each_leaf_item_is_its_own_block(self) -> None:
        assert shape("- a\n  - b\n    1) c\n  - d\n- e") == [
            ("list_item", "- a"),
            ("list_item", "  - b"),
            ("list_item", "    1) c"),
            ("list_item", "  - d"),
            ("list_item", "- e"),
        ]

    def test_an_item_that_opens_with_an_item_is_one_block(self) -> None:
        assert shape("- - a\n  - b\n") == [("list_item", "- - a"), ("list_item", "  - b")]

    def test_an_empty_item_is_a_block(self) -> None:
        assert shape("-\n  - a\n-\n") == [("list_item", "-"), ("list_item", "  - a"), ("list_item", "-")]

    def test_paragraphs_of_one_item_stay_together(self) -> None:
        assert shape("1. a\n\n   b\n   > c\n\n2. d") == [
            ("list_item", "1. a\n\n   b\n   > c"),
            ("list_item", "2. d"),
        ]

    def test_text_after_a_nested_list_is_a_further_block_of_the_item(self) -> None:
        assert shape("- a\n  - b\n\n  c\n") == [
            ("list_item", "- a"),
            ("list_item", "  - b"),
            ("list_item", "  c"),
        ]

    def test_a_lazy_line_belongs_to_its_item(self) -> None:
        assert shape("- a\nb\n\nc") == [("list_item", "- a\nb"), ("paragraph", "c")]

    def test_task_items_and_all_markers_are_items(self) -> None:
        text = "- [x] a\n\n+ b\n\n* c\n\n1. d\n\n2) e"
        assert [kind for kind, _ in shape(text)] == ["list_item"] * 5

    def test_a_nested_item_inside_a_quote_inside_an_item_stays_with_the_outer_item(self) -> None:
        assert shape("- a\n  > - b\n  >   - c\n") == [("list_item", "- a\n  > - b\n  >   - c")]

    def test_a_quote_after_a_quote_is_read_again(self) -> None:
        assert shape("> a\n\n- b\n\n> c\n\n- d") == [
            ("block_quote", "> a"),
            ("list_item", "- b"),
            ("block_quote", "> c"),
            ("list_item", "- d"),
        ]

    def test_a_link_definition_is_not_a_paragraph(self) -> None:
        assert shape("[a]: b.md\n\ntext") == [("link_definition", "[a]: b.md"), ("paragraph", "text")]

    def test_an_unclosed_fence_runs_to_the_end(self) -> None:
        assert shape("```\n- a\n\n- b") == [("code_fence", "```\n- a\n\n- b")]


class TestHeadings:
    def test_a_block_carries_the_headings_above_it(self) -> None:
        text = "a\n\n# One #\nb\n\nTwo\nlines\n---\nc\n\n#### Four\nd\n\n## Other\ne\n\n# New\nf"
        assert [(block.text, block.heading_path) for block in parse_markdown(text)] == [
            ("a", ()),
            ("b", ("One",)),
            ("c", ("One", "Two lines")),
            ("d", ("One", "Two lines", "Four")),
            ("e", ("One", "Other")),
            ("f", ("New",)),
        ]

    def test_a_heading_without_words_is_left_out_of_the_path_but_ends_a_section(self) -> None:
        assert [block.heading_path for block in parse_markdown("# A\n## B\nx\n\n##\ny")] == [
            ("A", "B"),
            ("A",),
        ]

    @pytest.mark.parametrize(
        ("text", "idle"),
        [
            ("# A", ["# A"]),
            ("# A\n# B\nx", ["# A"]),
            ("## A\n# B\nx", ["## A"]),
            ("# A\n## B\nx", []),
            ("# A\n## B", ["## B"]),
            ("# A\n## B\n# C\nx", ["## B"]),
            ("# A\n\n***\n\n# B\nx", ["# A"]),
            ("# A\nx\n\n## B\n## C", ["## B", "## C"]),
            ("A\n=\n\nB\n=", ["A\n=", "B\n="]),
        ],
    )
    def test_a_heading_is_a_block_when_it_heads_nothing(self, text: str, idle: list[str]) -> None:
        blocks = assert_exact(text)
        assert [block.text for block in blocks if block.kind == "heading"] == idle

    def test_an_idle_heading_stands_under_its_own_parents(self) -> None:
        assert [block.heading_path for block in parse_markdown("# A\n## B")] == [("A",)]

    def test_a_heading_inside_an_item_or_a_quote_heads_nothing_outside(self) -> None:
        assert [block.heading_path for block in parse_markdown("- # A\n\n> # B\n\nx")] == [(), (), ()]


class TestFrontMatter:
    def test_front_matter_is_one_block_and_its_lines_are_no_items(self) -> None:
        text = "---\ntags:\n- a\n- b\n---\n- c"
        assert shape(text) == [("front_matter", "---\ntags:\n- a\n- b\n---"), ("list_item", "- c")]

    def test_offsets_after_front_matter_still_count_from_the_start(self) -> None:
        blocks = assert_exact("---\ntitle: ü\n...\n\n```\n[a](b.md)\n```\n\n# T\n\n[a](b.md)\n")
        assert [(block.kind, block.start, block.end) for block in blocks] == [
            ("front_matter", 0, 17),
            ("code_fence", 19, 36),
            ("paragraph", 43, 52),
        ]
        assert [len(block.links) for block in blocks] == [0, 0, 1]

    def test_a_document_of_front_matter_alone_is_one_block(self) -> None:
        assert shape("---\na: b\n---") == [("front_matter", "---\na: b\n---")]

    def test_a_break_at_the_top_hides_no_text(self) -> None:
        kinds = [kind for kind, _ in shape("---\n\nNote: a\n\n---\n\nb")]
        assert kinds == ["thematic_break", "paragraph", "thematic_break", "paragraph"]


class TestIntroductions:
    def list_introductions(self, text: str) -> list[tuple[str, tuple[str, ...]]]:
        blocks = assert_exact(text)
        return [(block.text.strip(), block.introductions) for block in blocks if block.kind == "list_item"]

    def test_the_sentence_above_a_list_goes_with_its_items(self) -> None:
        text = "Mind this. You must\nnot:\n\n- push\n- pull\n\nElse:\n\nx\n\n- drop\n"
        assert self.list_introductions(text) == [
            ("- push", ("You must not:",)),
            ("- pull", ("You must not:",)),
            ("- drop", ()),
        ]

    def test_a_paragraph_of_nothing_else_is_marked(self) -> None:
        blocks = parse_markdown("A. You may:\n\n- a\n\nNever:\n1. b\n\nNever:\n\n```\nc\n```\n\nNever:")
        assert [(block.text, block.is_introduction) for block in blocks if block.kind == "paragraph"] == [
            ("A. You may:", False),
            ("Never:", True),
            ("Never:", False),
            ("Never:", False),
        ]

    def test_an_item_introduces_the_list_nested_in_it(self) -> None:
        text = "Never:\n- push:\n  - to main\n\n    not to prod\n- pull\n  - from main\n    - or prod:\n      - now\n"
        assert self.list_introductions(text) == [
            ("- push:", ("Never:",)),
            ("- to main\n\n    not to prod", ("Never:", "push:")),
            ("- pull", ("Never:",)),
            ("- from main", ()),
            ("- or prod:", ()),
            ("- now", ("or prod:",)),
        ]

    def test_what_comes_after_the_list_is_not_introduced(self) -> None:
        assert self.list_introductions("Never:\n- a\n\n# B\n- b\n") == [("- a", ("Never:",)), ("- b", ())]

    def test_text_after_a_nested_list_belongs_to_its_item(self) -> None:
        text = "Never:\n\n- a\n  - b\n\n  c\n"
        assert self.list_introductions(text) == [("- a", ("Never:",)), ("- b", ()), ("c", ("Never:",))]

    def test_quotes_headings_and_code_introduce_nothing(self) -> None:
        for above in ("> Never:\n\n", "# Never:\n", "```\nNever:\n```\n", "    Never:\n\n"):
            assert self.list_introductions(above + "- a\n") == [("- a", ())]


class TestBytes:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    def test_line_ends_and_a_byte_order_mark_move_offsets_and_nothing_else(self, end: str, mark: str) -> None:
        text = mark + SAMPLE.replace("\n", end)
        blocks = assert_exact(text)
        plain = [(block.kind, block.text.replace(end, "\n"), block.heading_path) for block in blocks]
        assert plain == [(block.kind, block.text, block.heading_path) for block in parse_markdown(SAMPLE)]
        assert blocks[0].start == len(mark.encode())

    def test_offsets_count_bytes_not_characters(self) -> None:
        (first, second) = assert_exact("- é☕\n- 😀\n")
        assert (first.start, first.end, second.start, second.end) == (0, 7, 8, 14)

    def test_tabs_indent_like_the_standard_says(self) -> None:
        assert shape("-\ta\n\n\tb\n\n\t- c\n") == [("list_item", "-\ta\n\n\tb"), ("list_item", "\t- c")]

    def test_characters_that_only_python_takes_for_line_ends_end_no_line(self) -> None:
        text = "- a\x0b- b\x0c- c\x1c\x85\u2028- d\n- e"
        assert shape(text) == [("list_item", "- a\x0b- b\x0c- c\x1c\x85\u2028- d"), ("list_item", "- e")]

    def test_a_nul_is_kept(self) -> None:
        assert shape("- a\0b\n") == [("list_item", "- a\0b")]

    def test_a_text_that_is_not_unicode_is_refused(self) -> None:
        with pytest.raises(UnicodeEncodeError):
            parse_markdown("- \ud800")


class TestLinks:
    def test_links_are_found_in_prose_items_quotes_and_tables(self) -> None:
        text = "[a](1.md)\n\n- [b](2.md)\n\n> [[3]]\n\n| [c](4.md) |\n|---|\n"
        assert [block.links[0].target for block in parse_markdown(text)] == ["1.md", "2.md", "3", "4.md"]

    def test_links_in_code_and_html_are_none(self) -> None:
        text = "---\na: '[[x]]'\n---\n```\n[a](b.md)\n```\n\n    [a](b.md)\n\n<p>\n[a](b.md)\n</p>\n\n`[a](b.md)`\n"
        assert all(block.links == () for block in parse_markdown(text))

    def test_code_inside_an_item_or_a_quote_has_no_links(self) -> None:
        text = "- [a](b.md)\n  ```\n  [c](d.md)\n  ```\n\n> ```\n> [c](d.md)\n> ```\n"
        item, quote = parse_markdown(text)
        assert [link.target for link in item.links] == ["b.md"]
        assert quote.links == ()

    def test_a_reference_link_goes_where_its_definition_says(self) -> None:
        link = Link(target="a b.md", fragment="c", style="markdown")
        use, definition = parse_markdown("See [the guide][Guide].\n\n[guide]: a%20b.md#c\n")
        assert use.links == (link,)
        assert definition.links == (link,)

    def test_an_idle_heading_keeps_its_links(self) -> None:
        (heading,) = parse_markdown("# See [a](b.md)")
        assert [link.target for link in heading.links] == ["b.md"]


class TestLimits:
    def test_items_are_blocks_down_to_the_limit_and_deeper_ones_stay_in_the_last(self) -> None:
        assert MAX_LIST_DEPTH == 16
        text = (
            "".join("  " * depth + f"- {depth}\n" for depth in range(MAX_LIST_DEPTH + 3)) + "\nafter\n\n- b\n"
        )
        blocks = assert_exact(text)
        assert [block.kind for block in blocks] == ["list_item"] * 16 + ["paragraph", "list_item"]
        assert blocks[14].text == "  " * 14 + "- 14"
        assert blocks[15].text.split() == ["-", "15", "-", "16", "-", "17", "-", "18"]

    def test_the_limit_counts_open_lists_not_all_lists(self) -> None:
        text = "- a\n\n+ b\n\n" * (MAX_LIST_DEPTH + 1)
        assert [kind for kind, _ in shape(text)] == ["list_item"] * 2 * (MAX_LIST_DEPTH + 1)

    def test_quotes_nested_deeper_than_the_limit_stay_in_their_quote(self) -> None:
        assert MAX_QUOTE_DEPTH == 3
        assert shape(">>>>> a\nb\n\n> c\n\n>>>> d") == [
            ("block_quote", ">>>>> a\nb"),
            ("block_quote", "> c"),
            ("block_quote", ">>>> d"),
        ]

    @pytest.mark.parametrize(
        "text",
        [
            ">" * 1_000_000,
            "> " * 500_000 + "a",
            "[" * 1_000_000,
            "*" * 1_000_000,
            "1. " * 333_333 + "a",
            "> - " * 250_000 + "a",
            "#" * 1_000_000,
            "`" * 1_000_000,
            "<a " * 333_333,
            "".join("  " * depth + "- a\n" for depth in range(999)),
            "".join(">" * depth + " a\n" for depth in range(1, 1400)),
        ],
        ids=lambda text: repr(text[:8]),
    )
    def test_a_megabyte_of_markers_neither_crashes_nor_crawls(self, text: str) -> None:
        blocks = parse_markdown(text)
        assert sum(len(block.text) for block in blocks) <= len(text)

    @pytest.mark.parametrize(
        "make",
        [
            lambda n: "- a\n" * n,
            lambda n: ">" * 100 + "a\n" + "b\n" * n,
            lambda n: "[a]: b\n" * n,
            lambda n: "- " * n + "a",
            lambda n: "a|b\n-|-\n" * n,
            lambda n: "# a\n" * n,
        ],
        ids=["items", "lazy quote", "definitions", "one line of lists", "tables", "headings"],
    )
    def test_eight_times_the_text_takes_about_eight_times_as_many_steps(self, make) -> None:  # type: ignore[no-untyped-def]
        small, large = (count_calls(partial(parse_markdown, make(count))) for count in (500, 4000))
        assert large < 16 * small  # quadratic would be 64


def count_calls(work: Callable[[], object]) -> int:
    """How many functions are called, of Python and of C: the same on every machine."""
    calls = itertools.count()
    sys.setprofile(lambda _frame, event, _argument: next(calls) if event.endswith("call") else None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(calls)


LINES = st.sampled_from(
    [
        "",
        "",
        "text",
        "- item",
        "* item [a](b.md#c)",
        "1. item",
        "2) item",
        "- [ ] task",
        "-",
        "> quote",
        ">",
        "```",
        "~~~",
        "# Heading é",
        "###",
        "===",
        "---",
        "***",
        "| a | b |",
        "|---|---|",
        "<div>",
        "<!-- x",
        "[ref]: target.md",
        "key: value",
        "Größe ☕ 日本語 😀",
        "\\- not",
        "\x0c",
    ]
)
DOCUMENTS = st.builds(
    lambda mark, lines: mark + "".join(prefix + line + end for prefix, line, end in lines),
    st.sampled_from(["", "", "\ufeff", "---\na: b\n---\n"]),
    st.lists(
        st.tuples(
            st.sampled_from(["", "", "", "  ", "    ", "\t", "   ", "> ", "- ", "  - ", "      "]),
            LINES,
            st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n"]),
        ),
        max_size=14,
    ),
)


class TestEveryDocument:
    @settings(max_examples=150)
    @given(DOCUMENTS)
    def test_blocks_and_gaps_reproduce_the_file_and_gaps_are_headings_or_blank(self, text: str) -> None:
        blocks = assert_exact(text)
        assert all(not block.text.split("\n")[0].isspace() or "\x0c" in block.text for block in blocks)
        for gap in gaps(text.removeprefix("\ufeff"), parse_markdown(text.removeprefix("\ufeff"))):
            headings = parse_markdown(gap)
            assert all(block.kind == "heading" for block in headings), gap

    @settings(max_examples=100)
    @given(st.text())
    def test_any_text_is_partitioned_exactly(self, text: str) -> None:
        assert_exact(text)

    @settings(max_examples=150)
    @given(DOCUMENTS)
    def test_the_lines_of_list_items_and_quotes_are_those_the_parser_names(self, text: str) -> None:
        text = "x\n\n" + text.removeprefix("\ufeff").replace("\r\n", "\n").replace(
            "\r", "\n"
        )  # no front matter
        lines = text.split("\n")
        wanted: dict[int, str] = {}
        quote_depth = 0
        for token in MarkdownIt("commonmark").enable("table").disable("inline").parse(text):
            if token.type == "list_item_open" and not quote_depth:
                wanted.update(dict.fromkeys(range(*token.map or ()), "list_item"))
            if token.type == "blockquote_open":
                if token.level == 0:
                    wanted.update(dict.fromkeys(range(*token.map or ()), "block_quote"))
                quote_depth += 1
            quote_depth -= token.type == "blockquote_close"
        found: dict[int, str] = {}
        for block in parse_markdown(text):
            first = text.encode()[: block.start].count(b"\n")
            if block.kind in ("list_item", "block_quote"):
                found.update(dict.fromkeys(range(first, first + block.text.count("\n") + 1), block.kind))
        written = {number for number, line in enumerate(lines) if line.strip(" \t")}
        assert {n: kind for n, kind in found.items() if n in written} == {
            n: kind for n, kind in wanted.items() if n in written
        }


class TestPartitionDocument:
    def test_a_document_is_tiered_end_to_end(self) -> None:
        text = "---\na: b\n---\n# R\n\nNever commit secrets.\n\nIt was a dark night.\n\n- Use tabs.\n\n> Quoted.\n"
        partition = partition_document(text, count_tokens=len, tokenizer_id="tiers")
        assert [(node.kind, node.tier) for node in partition.nodes] == [
            ("front_matter", Tier.HARD),
            ("paragraph", Tier.SOFT),
            ("paragraph", Tier.LORE),
            ("list_item", Tier.HARD),
            ("block_quote", Tier.SOFT),
        ]
        assert (partition.hard_tokens, partition.soft_tokens, partition.lore_tokens) == (12 + 11, 21 + 9, 20)
        assert partition.tokenizer_id == "tiers"

    def test_an_introduction_stands_with_its_items_and_not_alone(self) -> None:
        text = "# Git\n\nYou must not:\n\n- push to main\n- secrets\n\nUse tabs.\n"
        nodes = partition_document(text, count_tokens=len, tokenizer_id="introduced").nodes
        assert [(node.text, node.tier, node.heading_path) for node in nodes] == [
            ("You must not:", Tier.LORE, ("Git",)),
            ("- push to main", Tier.HARD, ("Git", "You must not:")),
            ("- secrets", Tier.HARD, ("Git", "You must not:")),
            ("Use tabs.", Tier.SOFT, ("Git",)),
        ]
        assert [sorted(node.reading.modalities) for node in nodes] == [
            [],
            ["prohibition"],
            ["prohibition"],
            ["obligation"],
        ]

    def test_a_command_and_its_ban_under_an_introduction_are_a_conflict(self) -> None:
        text = "Push to main.\n\nNever:\n\n- push to main\n"
        parts = partition_document(text, count_tokens=len, tokenizer_id="introduced")
        assert [conflict.action for conflict in parts.conflicts] == ["push main"]

    def test_an_item_that_rules_by_its_introduction_is_not_demoted(self) -> None:
        text = "Never:\n\n- secrets in logs\n\nHistory:\n\n- the project began in May\n"
        parts = partition_document(text, count_tokens=len, tokenizer_id="introduced")
        fitted = enforce_hard_reserve(parts, hard_cap_tokens=20, policy="demote")
        assert [node.text for node in fitted.hard] == ["- secrets in logs"]

    def test_the_same_text_and_tokenizer_are_counted_once(self) -> None:
        counted: list[str] = []

        def count(text: str) -> int:
            counted.append(text)
            return 1

        first = partition_document("- once\n", count_tokens=count, tokenizer_id="counted once")
        assert partition_document("- once\n", count_tokens=count, tokenizer_id="counted once") is first
        assert counted == ["- once"]
        other = partition_document("- once\n", count_tokens=len, tokenizer_id="counted otherwise")
        assert (first.hard_tokens, other.hard_tokens) == (1, 6)

    def test_the_cache_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert (module.CACHE_MAX_DOCUMENTS, module.CACHE_MAX_CHARACTERS) == (64, 4_000_000)
        cache = PartitionCache(max_documents=2, max_characters=10)
        monkeypatch.setattr(module, "_CACHE", cache)
        for text in ("- a", "- b", "- c", "- a long item"):
            partition_document(text, count_tokens=len, tokenizer_id="bounded")
        assert len(cache) == 2
