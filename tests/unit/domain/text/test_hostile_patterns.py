"""No expression of the domain or of the document reader can be made slow: each is attacked with texts made from itself.

The expressions are not listed here. They are what `re` is asked for while the modules are imported anew, and what
stands in their functions; the texts are read off each expression: what leads to a repetition, and what it repeats.
Most are linear by themselves, wherever they are searched. The others are only ever asked at one place, or about one
sentence: the texts that slow them down are given to every function that reads a text instead.
"""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

import pytest

PACKAGES: Final = ("models/domain", "models/documents")
# Each with how many of the slowest texts go on to the next; the first few keep an exponential or cubic search short.
SIZES: Final = (
    (14, 99),
    (24, 99),
    (200, 99),
    (1_000, 99),
    (4_000, 6),
    (16_000, 2),
    (64_000, 1),
    (250_000, 1),
)  # at the end a nanosecond for every two characters makes half a minute
STEADY_GROWTH: Final = 6  # for four times the text: linear takes four times as long, quadratic sixteen times
READ: Final = 50_000  # what functions are given: dozens of expressions look at it
# Who takes longer than this is looked at more closely; how the time grows then decides, on a slow machine as on a
# fast one.
SECONDS_PER_CHARACTER: Final = 5e-7
SECONDS_PER_CHARACTER_READ: Final = 12e-6  # a function asks dozens of expressions
SECONDS_OF_GRACE: Final = 0.01
SHORTER: Final = 4  # a text is compared with one of a quarter of its length
MOST_GROWTH: Final = 8  # four times for four times the text is linear, sixteen times is quadratic
COMMON_UNITS: Final = (
    " ",
    "\n",
    "a",
    "a ",
    "1",
    "1.",
    "-",
    "a-",
    "(",
    "'",
    '"a',
    "`",
    "<",
    "中",
    "A",
    "\t\n",
    "é ",
)
CANDIDATES: Final = "aA1 \n.,-_/\\:;'\"()[]{}<>`*#@!?=~$%&|+é中İ\t0zZ\u200b"
MOST_REPEATS_OF_A_BODY: Final = 3
PARTS: Final = 8
PLAIN: Final = (codes.LITERAL, codes.RANGE)
LISTING: Final = """
import importlib, json, re, sys
found = set()
compile_once = re._compile
def note(pattern, flags):
    asking = sys._getframe(2).f_globals.get("__name__", "")
    if asking.startswith("models.") and isinstance(pattern, str):
        found.add((pattern, int(flags)))
    return compile_once(pattern, flags)
re._compile = note
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps(sorted(found)))
"""


Attack = tuple[str, str, str]  # the text is the first, the second again and again, and the third


def list_paths() -> list[Path]:
    return [path for package in PACKAGES for path in sorted(Path(package).rglob("*.py"))]


def list_calls_in_functions() -> Iterator[tuple[str, ast.Call]]:
    """Calls like `re.split(…)` that run while a text is read, not while the module is imported."""
    for path in list_paths():
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                for call in ast.walk(function):
                    if (
                        isinstance(call, ast.Call)
                        and isinstance(call.func, ast.Attribute)
                        and isinstance(call.func.value, ast.Name)
                        and call.func.value.id == "re"
                        and call.func.attr not in ("escape", "compile")
                    ):
                        yield f"{path}:{call.lineno}", call


@cache
def list_expressions() -> tuple[tuple[str, int], ...]:
    modules = [".".join(path.with_suffix("").parts) for path in list_paths() if path.stem != "__init__"]
    command = [sys.executable, "-c", LISTING, *modules]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {(pattern, flags) for pattern, flags in json.loads(told)}
    for _, call in list_calls_in_functions():
        if call.args and isinstance(call.args[0], ast.Constant):
            found.add((str(call.args[0].value), 0))
    return tuple(sorted(found))


# --- texts read off an expression ------------------------------------------------------------------------


def is_in_set(letter: str, items: Iterable[tuple[Any, Any]]) -> bool:
    is_wanted, found = True, False
    for code, value in items:
        if code is codes.NEGATE:
            is_wanted = False
        elif code is codes.LITERAL:
            found |= letter == chr(value)
        elif code is codes.RANGE:
            found |= value[0] <= ord(letter) <= value[1]
        elif code is codes.CATEGORY:
            found |= is_in_category(letter, value)
    return found is is_wanted


def is_in_category(letter: str, category: Any) -> bool:
    name = str(category).lower()
    kind = name.rpartition("_")[2]
    holds = {"digit": letter.isdigit(), "space": letter.isspace(), "word": letter.isalnum() or letter == "_"}
    return holds[kind] is not ("_not_" in name)


def write_text(nodes: Any, variant: int) -> str:
    """A text that the expression takes, or nearly: `variant` turns its alternatives and letter classes."""
    written = []
    for code, value in nodes:
        if code is codes.LITERAL:
            written.append(chr(value))
        elif code is codes.NOT_LITERAL:
            written.append("a" if value != ord("a") else "b")
        elif code is codes.ANY:
            written.append("a")
        elif code is codes.IN:
            letters = [letter for letter in CANDIDATES if is_in_set(letter, value)]
            if not letters:  # a class of letters far from ours; its first says enough
                letters = [
                    chr(one if kind is codes.LITERAL else one[0]) for kind, one in value if kind in PLAIN
                ]
            written.append(letters[variant % len(letters)] if letters else "")
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, body = value
            times = max(int(least), min(int(most), variant % (MOST_REPEATS_OF_A_BODY + 1)))
            written.append(write_text(body, variant) * times)
        elif code is codes.BRANCH:
            written.append(write_text(value[1][variant % len(value[1])], variant))
        elif code is codes.SUBPATTERN:
            written.append(write_text(value[3], variant))
        elif code is codes.ATOMIC_GROUP:
            written.append(write_text(value, variant))
    return "".join(written)


def find_repetitions(nodes: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Every body that may be repeated without a small bound, and a text that leads to it."""
    lead = before
    for node in nodes:
        code, value = node
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if int(value[1]) > 8:
                yield lead, value[2]
            yield from find_repetitions(value[2], lead)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from find_repetitions(branch, lead)
        elif code is codes.SUBPATTERN:
            yield from find_repetitions(value[3], lead)
        elif code is codes.ATOMIC_GROUP:
            yield from find_repetitions(value, lead)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from find_repetitions(value[1], lead)
        lead += write_text([node], 1)


def make_attacks(pattern: str, flags: int) -> list[Attack]:
    """Texts made of what the expression takes, and of what it repeats."""
    tree = _parser.parse(pattern, flags)
    attacks = [("", unit, "!") for unit in COMMON_UNITS]
    for variant in range(3):
        whole = write_text(tree, variant)
        attacks += [
            ("", whole[:cut], "") for cut in (len(whole), len(whole) - 1, len(whole) // 2) if whole[:cut]
        ]
    for lead, body in find_repetitions(tree, ""):
        for variant in (0, 1):
            unit = write_text(body, variant)
            attacks += [(lead, unit, "\0"), ("", unit, "\0"), ("", lead + unit, "\0")] if unit else []
    return list(dict.fromkeys(attacks))


def make_text(attack: Attack, size: int) -> str:
    start, unit, end = attack
    return start + unit * (size // len(unit)) + end


def clock(read: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    read(text)
    return time.process_time() - started


def search_all(compiled: re.Pattern[str], text: str) -> None:
    for _ in compiled.finditer(text):
        pass


def is_over(seconds: float, text: str, seconds_per_character: float) -> bool:
    return seconds > SECONDS_OF_GRACE + seconds_per_character * len(text)


def is_too_slow(
    read: Callable[[str], object],
    attack: Attack,
    size: int,
    seconds_per_character: float = SECONDS_PER_CHARACTER,
) -> bool:
    """Whether it takes long, and far more than four times as long as for a quarter of the text."""
    long, short = make_text(attack, size), make_text(attack, size // SHORTER)
    seconds = clock(read, long)
    if not is_over(seconds, long, seconds_per_character):
        return False
    return min(seconds, clock(read, long)) > MOST_GROWTH * min(clock(read, short) for _ in range(3))


@cache
def find_slow_attack(pattern: str, flags: int) -> Attack | None:
    """The first attack that takes a search through the whole text more than linear time."""
    search = partial(search_all, re.compile(pattern, flags))
    attacks = make_attacks(pattern, flags)
    seconds: dict[Attack, float] = {}
    for size, slowest in SIZES:
        before, seconds = seconds, {}
        for attack in attacks:
            text = make_text(attack, size)
            seconds[attack] = clock(search, text)
            if is_over(seconds[attack], text, SECONDS_PER_CHARACTER) and is_too_slow(search, attack, size):
                return attack
        attacks = sorted(seconds, key=seconds.__getitem__)[-slowest:]
        if len(attacks) == 1 and seconds[attacks[0]] < STEADY_GROWTH * before[attacks[0]]:
            return None  # it grew as the text did: nothing is left to be seen in a longer one
    return None


# --- functions that read a text --------------------------------------------------------------------------

GIVEN: Final[dict[object, object]] = {
    str: "m1",
    int: 100,
    datetime: datetime(2024, 5, 1, tzinfo=UTC),
    Mapping[str, str]: {},
}


def list_readers() -> dict[str, Callable[[str], object]]:
    """Every public function whose first argument is a text and whose other ones can be guessed."""
    readers: dict[str, Callable[[str], object]] = {}
    for path in list_paths():
        module = importlib.import_module(".".join(path.with_suffix("").parts))
        for name, function in vars(module).items():
            if name.startswith("_") or getattr(function, "__module__", None) != module.__name__:
                continue
            plain = (
                inspect.unwrap(function) if callable(function) else function
            )  # a cache would answer at once
            if not inspect.isfunction(plain):
                continue
            first, *others = (*inspect.signature(plain, eval_str=True).parameters.values(), None)
            needed = [one for one in others if one is not None and one.default is one.empty]
            if (
                first is not None
                and (first.annotation, first.kind) == (str, first.POSITIONAL_OR_KEYWORD)
                and all(one.annotation in GIVEN for one in needed)
            ):
                given = {one.name: GIVEN[one.annotation] for one in needed}
                readers[f"{path.stem}.{name}"] = partial(plain, **given)
    return readers


# --- claims ----------------------------------------------------------------------------------------------


def test_the_expressions_are_found_by_themselves() -> None:
    written = sum(path.read_text().count("re.compile(") for path in list_paths())
    assert len(list_expressions()) >= written > 150


def test_the_functions_are_found_by_themselves() -> None:
    assert {
        *(
            "anchors.find_anchors",
            "authored.read_authored",
            "conversation.read_conversation",
            "escaping.escape_frames",
        ),
        *("gating.read_text_signals", "markers.strip_injected", "spans.find_technical_spans"),
        *(
            "prose.strip_code",
            "temporal.temporal_intent",
            "terms.extract_terms",
            "timeframes.find_time_frames",
        ),
        *("markdown.parse_markdown", "links.find_links"),
    } <= list_readers().keys()


def test_no_expression_is_put_together_while_a_text_is_read() -> None:
    loose = [where for where, call in list_calls_in_functions() if not isinstance(call.args[0], ast.Constant)]
    assert loose == []


@pytest.mark.parametrize(
    "slow", [r"(?:a+)+$", r"\s+$", r"(?:a|a)*b", r"<[^>]*>.*x", r"\w+@", r"(?:x+x+)+y", r"a.*b.*c"]
)
def test_an_expression_that_is_slow_is_caught(slow: str) -> None:
    assert find_slow_attack(slow, 0) is not None


@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_texts_take_every_expression_or_all_its_readers_linear_time(part: int) -> None:
    expressions = list_expressions()[part::PARTS]
    slow = [attack for one in expressions if (attack := find_slow_attack(*one)) is not None]
    assert len(slow) <= len(expressions) / 4
    readers = list_readers()
    found = [
        (name, attack)
        for attack in slow
        for name, read in readers.items()
        if is_too_slow(read, attack, READ, SECONDS_PER_CHARACTER_READ)
    ]
    assert found == []
