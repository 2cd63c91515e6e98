"""Every Python that Longtail installs on reads its patterns alike: nothing newer than what all of them read right.

Python 3.11.0 to 3.11.4 misread possessive repetitions (`a*+`) and atomic groups (`(?>a)`) without a word. What ships
holds neither: a pattern says what may follow instead.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "models", "workers", "bench")
# What a backslash or brackets hold is text, not repetition.
QUOTED = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
NEWER = re.compile(r"(?<=[^*+?|(\s])(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})\+|\(\?>")


def find_newer(text: str) -> str | None:
    found = NEWER.search(QUOTED.sub("x", text))
    return found and found[0]


def list_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Every text in the source; of one with braces, what stands around them."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values]
            yield f"{path.relative_to(ROOT)}:{node.lineno}", "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def list_patterns(value: Any, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    """Every compiled pattern in a value and in what it holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for one in value.values():
            yield from list_patterns(one, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from list_patterns(one, depth - 1)
    elif depth and hasattr(type(value), "__dataclass_fields__"):
        for name in type(value).__dataclass_fields__:
            yield from list_patterns(getattr(value, name), depth - 1)


def list_modules(package: str) -> list[str]:
    paths = importlib.import_module(package).__path__
    return [found.name for found in pkgutil.walk_packages(paths, f"{package}.")]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_text_in_the_source_is_a_pattern_that_gives_nothing_back(package: str) -> None:
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    assert [(where, text) for path in paths for where, text in list_texts(path) if find_newer(text)] == []


@pytest.mark.parametrize("package", ["models.domain", "models.documents"])
def test_no_compiled_pattern_gives_nothing_back(package: str) -> None:
    modules = [importlib.import_module(name) for name in list_modules(package)]
    held = [(one.__name__, found) for one in modules for found in list_patterns(vars(one))]
    assert len(held) > 5
    assert [(name, found.pattern) for name, found in held if find_newer(str(found.pattern))] == []


@pytest.mark.parametrize(
    "pattern",
    ["a*+", "a++b", "a?+", "a{2}+", "a{1,3}+", "a{2,}+", r"\++ +\s++", "[+]++", "(?:a|b)*+", "(?>a)"],
)
def test_a_pattern_that_gives_nothing_back_is_seen(pattern: str) -> None:
    assert find_newer(pattern)


@pytest.mark.parametrize(
    "pattern", ["a+", r"\++", "[*+]+", "[a+]+b", r"a\*+", "+++ b/x", "[]*+]", "a{2}", "a+?"]
)
def test_a_pattern_that_every_python_reads_alike_is_left_alone(pattern: str) -> None:
    assert find_newer(pattern) is None
