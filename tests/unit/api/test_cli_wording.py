"""Claims about advice: what the API says about its routes is said to people in commands."""

import doctest
import re
from pathlib import Path
from types import ModuleType

import pytest

import api
from api.cli import ids, wording
from api.cli.memory import erase_commands
from api.cli.wording import in_commands

WAYS = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE) /v1/|\?\w+=|\w+=new")
REMEDY = re.compile(r"remedy=\(?\s*(f?\"[^\n]*)")


def test_no_remedy_of_the_api_reaches_a_person_as_a_route_or_a_parameter() -> None:
    folder = Path(api.__file__).parent
    found = [
        remedy
        for file in folder.rglob("*.py")
        if not {"rpc", "stack"} & set(file.parts)
        for remedy in REMEDY.findall(file.read_text())
        if WAYS.search(remedy)
    ]
    assert len(found) > 5, "the expression finds them"
    hosts_only = "POST /v1/feedback"  # there is no command for it
    assert [one for one in found if WAYS.search(in_commands(one).replace(hosts_only, ""))] == []


@pytest.mark.parametrize("module", [wording, ids, erase_commands], ids=lambda module: module.__name__)
def test_the_examples_of_what_is_said_print_what_they_say(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0
