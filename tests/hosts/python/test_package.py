"""The package itself: its types hold against the frameworks' own, its examples run, and it brings one dependency."""

import doctest
import importlib
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[3] / "clients" / "python"


def test_its_types_hold_against_the_frameworks_own() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "longtail_client"],
        cwd=CLIENT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert (CLIENT / "longtail_client" / "py.typed").exists()


@pytest.mark.parametrize("name", ["config", "filters", "items", "reading", "request"])
def test_the_examples_in_its_docstrings_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"longtail_client.{name}"))
    assert result.attempted > 0 and result.failed == 0


def test_it_brings_httpx_and_nothing_else() -> None:
    needed = [one for one in requires("longtail-client") or () if "extra ==" not in one]
    assert len(needed) == 1 and needed[0].startswith("httpx")
