"""Line tables and front matter: offsets in characters and bytes, and what opens a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.documents.lines import count_front_matter_lines, split_lines


def test_every_line_end_of_the_standard_cuts_and_no_other() -> None:
    lines = split_lines("a\nb\r\nc\rd\x0be\u2028f\n\ng")
    assert [lines.line(index) for index in range(len(lines))] == ["a", "b", "c", "d\x0be\u2028f", "", "g"]


def test_a_final_line_end_opens_no_line() -> None:
    assert len(split_lines("a\n")) == 1
    assert len(split_lines("a\n\n")) == 2
    assert len(split_lines("")) == 0


def test_offsets_in_bytes_and_characters_part_where_the_text_is_not_ascii() -> None:
    lines = split_lines("é\r\n☕b\n😀")
    assert (lines.starts, lines.ends) == ([0, 3, 6], [1, 5, 7])
    assert (lines.byte_starts, lines.byte_ends) == ([0, 4, 9], [2, 8, 13])


def test_a_byte_order_mark_belongs_to_no_line() -> None:
    lines = split_lines("\ufeffa\nb")
    assert (lines.starts, lines.byte_starts) == ([1, 3], [3, 5])
    assert lines.line(0) == "a"


def test_a_line_of_spaces_and_tabs_is_blank() -> None:
    lines = split_lines(" \t\n\n x\n\x0c")
    assert [lines.is_blank(index) for index in range(4)] == [True, True, False, False]


@given(st.text("aé☕😀\r\n \ufeff", max_size=30))
def test_byte_offsets_are_where_the_encoded_lines_are(text: str) -> None:
    lines = split_lines(text)
    raw = text.encode()
    for index in range(len(lines)):
        assert raw[lines.byte_starts[index] : lines.byte_ends[index]].decode() == lines.line(index)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("---\na: b\n---\n", 3),
        ("---\na: b\n---", 3),
        ("---\na: b\n...\nrest", 3),
        ("--- \t\na: b\n---\t\nrest\n---", 3),
        ("---\r\na:\r\n  - b\r\n---\r\n", 4),
        ("\ufeff---\na: b\n---\n", 3),
        ("---\n# comment\n\na: b\n---\n", 5),
        ("", 0),
        ("---", 0),
        ("---\na: b\n", 0),
        ("---\n---\n", 0),
        ("---\n\na: b\n---\n", 0),
        ("---\nno key here\n---\n", 0),
        ("---\nhttp://a.b\n---\n", 0),
        ("----\na: b\n---\n", 0),
        (" ---\na: b\n---\n", 0),
        ("---\na: b\n ---\n", 0),
        ("x\n---\na: b\n---\n", 0),
        ("--- a: b\n---\n", 0),
    ],
)
def test_front_matter_is_a_closed_mapping_on_the_first_line(text: str, count: int) -> None:
    assert count_front_matter_lines(split_lines(text)) == count
