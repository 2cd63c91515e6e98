"""Migrations form one line: each number once, each after the one before it."""

import re
from pathlib import Path

VERSIONS = sorted((Path(__file__).parents[3] / "models" / "migrations" / "versions").glob("[0-9]*.py"))


def read(path: Path, name: str) -> str | None:
    found = re.search(rf'^{name} = (?:"(\d+)"|None)$', path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, f"{path.name} names no {name}"
    return found[1]


def test_every_migration_follows_the_one_before_it_and_is_called_by_its_number() -> None:
    numbers = [read(path, "revision") for path in VERSIONS]
    assert [path.name[:4] for path in VERSIONS] == numbers
    assert len(set(numbers)) == len(numbers)
    assert [read(path, "down_revision") for path in VERSIONS] == [None, *numbers[:-1]]
