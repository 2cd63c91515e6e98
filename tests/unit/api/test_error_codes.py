"""Claims about docs/errors.md: every code the service can answer is listed, and none that it cannot."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "errors.md").read_text()
# Not answered over HTTP: they end on the command line or in a worker's log.
ELSEWHERE = {
    *("service_error", "permanent_error", "misconfigured", "broker_unavailable"),
    *("compaction_overtaken", "encoder_mismatch", "lease_lost"),
}
# Rooms whose codes do not go into a problem document: the command line, the older daemon's protocol, the stack.
OWN_CODES = {"client.py", "rpc", "cli", "stack", "host", "watching"}
# From Starlette's own refusals, by the phrase of their status.
BY_PHRASE = {"not_found", "method_not_allowed"}


def codes_in(source: Path) -> Iterator[str]:
    tree = ast.parse(source.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                    yield keyword.value.value
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "refuse" and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value
            if name == "_refuse" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                yield node.args[1].value
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "code":
            assert isinstance(node.value, ast.Constant) or source.name != "errors.py"
            if isinstance(node.value, ast.Constant):
                yield node.value.value


def degraded_in(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "miss":
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield first.value


def answered_codes() -> set[str]:
    from api.routing.problems import VALIDATION_CODES

    sources = [
        *(
            path
            for path in (ROOT / "api").rglob("*.py")
            if path.relative_to(ROOT / "api").parts[0] not in OWN_CODES
        ),
        *(ROOT / "models" / "store").rglob("*.py"),
        ROOT / "models" / "errors.py",
    ]
    found = {code for path in sources for code in codes_in(path)}
    found |= {code for code, _ in VALIDATION_CODES.values()} | {"invalid_value"} | BY_PHRASE
    return found - ELSEWHERE


def listed(heading: str) -> dict[str, str]:
    """Codes of a section's table, with their status."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, flags=re.MULTILINE)
    assert len(rows) == len(dict(rows)), "a code is listed twice"
    return dict(rows)


def test_every_code_that_can_be_answered_is_listed_and_no_other() -> None:
    assert set(listed("Codes")) == answered_codes()


def test_every_code_has_a_status_that_its_error_has() -> None:
    from api.routing.problems import STATUS_OF_ERROR
    from models import errors

    for kind in vars(errors).values():
        if isinstance(kind, type) and kind.code in listed("Codes"):
            status = next(status for known, status in STATUS_OF_ERROR if issubclass(kind, known))
            assert str(status) in listed("Codes")[kind.code], kind


def test_every_degradation_of_an_answer_is_listed() -> None:
    found = {code for path in (ROOT / "api").rglob("*.py") for code in degraded_in(path)}
    assert found
    assert found <= set(listed("Degraded answers"))


@pytest.mark.parametrize("code", sorted(listed("Codes")))
def test_a_listed_code_says_what_to_do(code: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{code}` |"))
    assert len(row.split("|")[3].strip()) > 10
