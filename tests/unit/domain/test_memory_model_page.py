"""docs/memory-model.md against the code: its examples run, its constants are the code's, and it leaves nothing out."""

import ast
import dataclasses
import doctest
import importlib
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "memory-model.md").read_text(encoding="utf-8")
DOMAIN = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "models" / "domain").rglob("[!_]*.py")
)  # dotted names

_FENCED = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_CONSTANT_ROW = re.compile(r"^\| `(.+?)` \| (.+?) \| `([\w.]+)` \|$", re.MULTILINE)
_CONSTANT_NAME = re.compile(r"(?P<owner>\w+)(?:\.(?P<field>\w+)|\[\"(?P<key>\w+)\"\])?")


@cache
def split_sections() -> dict[str, str]:
    """The text under each second-level heading, by heading."""
    _, *rest = _SECTION.split(DOCUMENT)
    return dict(zip(rest[::2], rest[1::2], strict=True))


def find_section(title: str) -> str:
    (text,) = (text for heading, text in split_sections().items() if heading.endswith(title))
    return text


def list_examples() -> list[doctest.DocTest]:
    """Every fenced example as a test of its own, named by its line: a reader may run one block alone."""
    parser = doctest.DocTestParser()
    examples = []
    for block in _FENCED.finditer(DOCUMENT):
        line = DOCUMENT.count("\n", 0, block.start(1))
        name = f"memory-model.md:{line + 1}"
        examples.append(parser.get_doctest(block[1], {}, name, "docs/memory-model.md", line))
    return examples


def list_constants() -> list[tuple[str, str, str]]:
    """The rows of the last table: name, value as written, module."""
    return _CONSTANT_ROW.findall(find_section("Constants"))


def read_constant(name: str, module: ModuleType) -> object:
    """The value in the code behind a name of the table: a constant, a field's default or an entry."""
    parts = _CONSTANT_NAME.fullmatch(name)
    assert parts is not None, f"'{name}' is not a name, a name.field or a name[\"key\"]"
    owner = getattr(module, parts["owner"])
    if parts["field"]:
        return read_field(owner, parts["field"])
    return read_entries(owner)[parts["key"]] if parts["key"] else owner


def read_field(owner: Any, name: str) -> object:
    if isinstance(owner, type) and issubclass(owner, BaseModel):
        return owner.model_fields[name].default
    if isinstance(owner, type) and dataclasses.is_dataclass(owner):
        return {field.name: field.default for field in dataclasses.fields(owner)}[name]
    return getattr(owner, name)


def read_entries(owner: Any) -> dict[str, object]:
    """A table of weights by key: a mapping, cues with a name and a weight, or tuples that begin with both."""
    if isinstance(owner, Mapping):
        return {key.name if isinstance(key, Enum) else str(key): value for key, value in owner.items()}
    pairs = (entry[:2] if isinstance(entry, tuple) else (entry.name, entry.weight) for entry in owner)
    return dict(pairs)


def is_number(value: object) -> bool:
    return type(value) in (int, float)


def is_weighed(entry: object) -> bool:
    if isinstance(entry, tuple):
        return len(entry) > 1 and isinstance(entry[0], str) and is_number(entry[1])
    return is_number(getattr(entry, "weight", None))


def list_code_constants(module: ModuleType, tree: ast.Module) -> Iterator[str]:
    """Every public number that a module defines, under the name the table gives it."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            owner = getattr(module, node.name)
            if dataclasses.is_dataclass(owner):
                fields = dataclasses.fields(owner)
                yield from (f"{node.name}.{field.name}" for field in fields if is_number(field.default))
            continue
        for target in _list_targets(node):
            if isinstance(target, ast.Name) and not target.id.startswith("_"):
                yield from _name_numbers(target.id, getattr(module, target.id))


def _list_targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []


def _name_numbers(name: str, value: object) -> Iterator[str]:
    if is_number(value):
        yield name
    is_table = isinstance(value, Mapping) and all(is_number(entry) for entry in value.values())
    is_cue_list = isinstance(value, tuple) and value and all(map(is_weighed, value))
    if is_table or is_cue_list:
        yield from (f'{name}["{key}"]' for key in read_entries(value))


@pytest.mark.parametrize("example", list_examples(), ids=lambda example: str(example.name))
def test_an_example_prints_what_the_document_says(example: doctest.DocTest) -> None:
    printed: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(example, out=printed.append)
    assert results.attempted > 0
    assert results.failed == 0, "".join(printed)


def test_no_example_stands_outside_a_block_that_is_run() -> None:
    run = sum(len(example.examples) for example in list_examples())
    assert run == len(re.findall(r"^\s*>>> ", DOCUMENT, re.MULTILINE))


def test_every_section_works_out_a_number() -> None:
    headings = [heading for heading, text in split_sections().items() if ">>> " not in text]
    assert [heading.split(". ", 1)[1] for heading in headings] == [
        "Lifecycle journal",
        "Degradation",
        "Constants",
    ]


@pytest.mark.parametrize(("name", "written", "module"), list_constants())
def test_a_constant_of_the_table_has_the_value_of_the_code(name: str, written: str, module: str) -> None:
    value = read_constant(name, importlib.import_module(module))
    assert ast.literal_eval(written) == value, f"{module}.{name} is {value!r}, the document says {written}"


def test_every_row_of_the_table_is_read() -> None:
    rows = [line for line in find_section("Constants").splitlines() if line.startswith("| `")]
    assert len(list_constants()) == len(rows) == len({(name, module) for name, _, module in list_constants()})


def test_the_domain_has_modules() -> None:
    assert len(DOMAIN) > 40  # an empty list would make the claims below about nothing


@pytest.mark.parametrize("dotted", DOMAIN)
def test_the_table_names_every_public_number_of_the_domain(dotted: str) -> None:
    tree = ast.parse((ROOT / dotted.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8"))
    module = importlib.import_module(dotted)
    named = {name for name, _, place in list_constants() if place == module.__name__}
    public = set(list_code_constants(module, tree))
    assert public <= named


@pytest.mark.parametrize("dotted", DOMAIN)
def test_every_module_of_the_domain_is_mentioned(dotted: str) -> None:
    text = DOCUMENT.replace(find_section("Constants"), "")
    assert f"`{dotted}`" in text
