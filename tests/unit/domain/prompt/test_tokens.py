"""The chars estimate: exact constants, the script of the whole text, and when counts add up."""

import subprocess
import sys
import unicodedata
from fractions import Fraction
from math import ceil
from typing import Final, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.prompt.tokens import (
    CharsCounter,
    RunningCount,
    Script,
    SummedCount,
    TokenCounter,
    detect_script,
    estimate_tokens,
    start_count,
)

COUNTER: Final = CharsCounter()
CODE_POINTS_PER_TOKEN: Final = {
    Script.PLAIN: Fraction(4),
    Script.CYRILLIC_ARABIC_HEBREW: Fraction("2.5"),
    Script.CJK: Fraction("1.6"),
}
# Short alphabets that mix all three prices, so that seams between scripts are common.
TEXTS: Final = st.text(alphabet=st.sampled_from("ab é—😀 жשع 世かカ한"), max_size=40)


class WordCounter:
    """An honest second counter: words by whitespace."""

    id = "words"

    def count(self, text: str) -> int:
        return len(text.split())


def price(text: str) -> Fraction:
    return 1 / CODE_POINTS_PER_TOKEN[detect_script(text)]


def waste(text: str) -> Fraction:
    """How much the rounding up of one text adds, in [0, 1)."""
    return Fraction(COUNTER.count(text)) - len(text) * price(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("a" * 8000, 2000),
        ("é" * 9, 3),  # accents do not reprice
        ("😀" * 4, 1),  # an emoji is one code point of plain text
        ("👩‍👩‍👧‍👦", 2),  # seven code points: four people and what joins them
        ("def f(x):\n    return x", 6),  # code is plain: blanks and line ends are code points too
        ("# Größe прове́рить\n", 8),  # one Cyrillic comment reprices the code around it
        ("ж", 1),
        ("ж" * 5, 2),  # 5 / 2.5
        ("ж" * 6, 3),
        ("世" * 8, 5),  # 8 / 1.6
        ("世" * 9, 6),
        ("a" * 99 + "ж", 40),  # one letter reprices all 100
        ("a" * 99 + "世", 63),  # 100 / 1.6 = 62.5
        ("世" + "a" * 99, 63),
        ("ж" * 50 + "世" * 50, 63),  # the costliest script wins in either order
        ("世" * 50 + "ж" * 50, 63),
        ("\ud800" * 5, 2),  # a lone surrogate is a code point like another
    ],
)
def test_the_count_is_code_points_over_chi_rounded_up(text: str, tokens: int) -> None:
    assert COUNTER.count(text) == tokens


@pytest.mark.parametrize("script", list(Script))
def test_the_division_is_exact_at_any_size(script: Script) -> None:
    for code_points in [*range(200), 10**6, 10**17 + 1, 16 * 10**20 + 1]:
        assert estimate_tokens(code_points, script) == ceil(code_points / CODE_POINTS_PER_TOKEN[script])


def test_the_counter_is_called_chars() -> None:
    assert COUNTER.id == "chars"


def test_scripts_are_ordered_by_price() -> None:
    assert Script.PLAIN < Script.CYRILLIC_ARABIC_HEBREW < Script.CJK


def test_every_named_letter_of_a_script_is_priced_as_that_script() -> None:
    cjk_names = (
        *("CJK UNIFIED IDEOGRAPH-", "CJK COMPATIBILITY IDEOGRAPH-", "KANGXI RADICAL ", "CJK RADICAL "),
        *("HIRAGANA LETTER ", "KATAKANA LETTER ", "HALFWIDTH KATAKANA LETTER "),
        *("HANGUL ", "HALFWIDTH HANGUL "),
    )
    middle_names = ("CYRILLIC ", "ARABIC ", "HEBREW ")
    seen = dict.fromkeys(Script, 0)
    for code_point in range(sys.maxunicode + 1):
        letter = chr(code_point)
        if not unicodedata.category(letter).startswith(("L", "So")) or 0xD800 <= code_point < 0xE000:
            continue
        name = unicodedata.name(letter, "")
        if name.startswith(cjk_names):
            expected = Script.CJK
        elif name.startswith(middle_names):
            expected = Script.CYRILLIC_ARABIC_HEBREW
        elif name.startswith(("LATIN ", "GREEK ", "DEVANAGARI ", "THAI ", "BOX DRAWINGS ", "BRAILLE ")):
            expected = Script.PLAIN
        else:
            continue
        assert detect_script(letter) is expected, f"U+{code_point:04X} {name}"
        seen[expected] += 1
    assert seen[Script.CJK] > 90_000
    assert seen[Script.CYRILLIC_ARABIC_HEBREW] > 1_200
    assert seen[Script.PLAIN] > 1_500


@pytest.mark.parametrize(
    "text",
    [
        "\u10ff\u1200",  # either side of Hangul Jamo
        "\u302f\u303f\u3130\u318f",
        "\u321f\u327f\u32cf\u3358\u33ff",
        "\u30fb\uff65",  # the middle dot is punctuation of several scripts
        "\u4dc0\u4dff",  # hexagrams, between the Han blocks
        "\ua000\ua95f\ua980",
        "\ufb00\ufb1c",
        "\ufe00\ufe2d\ufe30\ufeff",  # the byte order mark says nothing about the script
        "\u03ff\u0530\u058f\u0700\u074f\u0780\u086f\u0900",
        "\u2ddf\u2e00\u2e7f\u2fe0\u2fff",
        "\ufdd0\ufdef",
        "\U0001f600\U0001f200\U0001ffff\U00040000",
        "“curly” — naïve café €",
    ],
)
def test_neighbours_of_the_priced_blocks_stay_plain(text: str) -> None:
    assert detect_script(text) is Script.PLAIN


def test_no_ascii_character_reprices_a_text_that_is_not_ascii() -> None:
    ascii_characters = "".join(map(chr, range(128)))
    assert detect_script("é" + ascii_characters) is Script.PLAIN
    assert detect_script("ж" + ascii_characters) is Script.CYRILLIC_ARABIC_HEBREW


@pytest.mark.parametrize(
    "text", ["\U00020000", "\U0003134a", "\U000323af", "\U0002f800", "\U0001b000", "\U0001aff0"]
)
def test_extension_planes_are_cjk(text: str) -> None:
    assert detect_script(text) is Script.CJK


@given(TEXTS, TEXTS)
def test_counts_add_up_exactly_when_rounding_covers_the_repricing_within_one_token(a: str, b: str) -> None:
    joined = a + b
    repricing = len(a) * (price(joined) - price(a)) + len(b) * (price(joined) - price(b))
    spare = waste(a) + waste(b) - repricing
    difference = COUNTER.count(a) + COUNTER.count(b) - COUNTER.count(joined)
    assert (difference == 0) == (0 <= spare < 1)
    assert (difference > 0) == (spare >= 1)


@given(TEXTS, TEXTS)
def test_joining_texts_of_one_script_saves_at_most_one_token(a: str, b: str) -> None:
    if detect_script(a) == detect_script(b):
        saved = COUNTER.count(a) + COUNTER.count(b) - COUNTER.count(a + b)
        assert saved == (1 if waste(a) + waste(b) >= 1 else 0)


@given(TEXTS, TEXTS)
def test_a_longer_text_never_costs_less(a: str, b: str) -> None:
    assert COUNTER.count(a + b) >= max(COUNTER.count(a), COUNTER.count(b))


@given(st.lists(TEXTS, max_size=6), TEXTS)
def test_a_running_count_is_the_count_of_the_concatenation(parts: list[str], last: str) -> None:
    running = RunningCount()
    for position, part in enumerate(parts):
        assert running.would_be(part) == COUNTER.count("".join(parts[: position + 1]))
        running.add(part)
        assert running.total == COUNTER.count("".join(parts[: position + 1]))
    before = running.total
    assert running.would_be(last) == COUNTER.count("".join(parts) + last)
    assert running.total == before


def test_a_new_running_count_is_zero() -> None:
    assert RunningCount().total == 0


def test_a_running_count_never_forgets_the_costliest_script() -> None:
    running = RunningCount()
    running.add("世")
    running.add("a" * 99)
    assert running.total == 63
    assert running.would_be("a" * 60) == 100


def test_chars_grow_exactly_and_other_counters_by_their_parts() -> None:
    assert isinstance(start_count(COUNTER), RunningCount)
    words: TokenCounter = WordCounter()
    summed = start_count(words)
    assert isinstance(summed, SummedCount)
    assert summed.total == 0
    summed.add("one two")
    assert (summed.total, summed.would_be("three four five"), summed.total) == (2, 5, 2)
    summed.add("three four")
    assert summed.total == 4


def test_ascii_is_counted_without_reading_it() -> None:
    class Unread(str):
        """A text whose characters nobody may look at one by one."""

        def __iter__(self, *_: object) -> NoReturn:
            raise AssertionError("it was read")

        __getitem__ = encode = __iter__

    assert COUNTER.count(Unread("the quick brown fox " * 1000)) == 5000


@pytest.mark.parametrize("tail", ["é", "ж", "世", "\ud800"])
def test_a_megabyte_of_accents_is_counted_in_one_pass(tail: str) -> None:
    COUNTER.count("é" * 1_000_000 + tail)
    COUNTER.count("ж" * 1_000_000 + tail)


def test_counting_imports_nothing_heavy() -> None:
    script = (
        "import sys, models.domain.prompt.tokens;"
        "sys.exit(bool({'numpy', 'tokenizers', 'onnxruntime', 'sqlalchemy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
