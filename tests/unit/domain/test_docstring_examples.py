"""The worked examples in the docstrings of the domain print what they say."""

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import models.domain


def list_examples() -> Iterator[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    for found in pkgutil.walk_packages(models.domain.__path__, "models.domain."):
        for example in finder.find(importlib.import_module(found.name)):
            if example.examples:
                yield example


@pytest.mark.parametrize("example", list(list_examples()), ids=lambda example: str(example.name))
def test_an_example_prints_what_its_docstring_says(example: doctest.DocTest) -> None:
    printed: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(example, out=printed.append, clear_globs=False)
    assert results.attempted > 0
    assert not results.failed, "".join(printed)


def test_most_public_functions_of_the_domain_carry_a_worked_example() -> None:
    shown = {example.name for example in list_examples()}
    public = [
        f"{found.name}.{name}"
        for found in pkgutil.walk_packages(models.domain.__path__, "models.domain.")
        for name, value in vars(importlib.import_module(found.name)).items()
        if inspect.isfunction(value) and value.__module__ == found.name and not name.startswith("_")
    ]
    assert sum(name in shown for name in public) >= len(public) * 0.5
