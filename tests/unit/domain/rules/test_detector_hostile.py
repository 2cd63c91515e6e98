"""Reading stays linear and never fails, whatever a megabyte holds."""

from collections.abc import Callable

import pytest

from models.domain.rules.detector import find_conflicts, read_authored, read_conversation

MEGABYTE = 1_000_000
# About 1 s on a quiet core for the worst of these; a quadratic step would take many minutes, and every test has a
# limit of three.

UNITS = [
    "you ",
    "a",
    "must not ",
    "never use, ",
    ".",
    "...a",
    "?! ",
    "(",
    "` `` ",
    "```\n",
    '"a ',
    "—",
    "](",
    "a-",
    "[ the ",
    "~~~ ",
    "İ",
    "\ud800",
    "no nuts. ",
    "please keep every answer short. ",
    "i want you to always ",
]


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("read", [read_authored, read_conversation])
def test_a_megabyte_of_anything_is_read_in_linear_time(read: Callable[[str], object], unit: str) -> None:
    text = unit * (MEGABYTE // len(unit))
    read(text)


def test_a_document_of_clashing_rules_is_compared_in_linear_time() -> None:
    readings = [read_authored("Use tabs in every test file."), read_authored("Never use tabs.")] * 5_000
    assert len(find_conflicts(readings)) == 5_000
