"""Databases of other systems, opened for reading only: a running host is not disturbed and nothing is created."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from models.errors import InvalidInput


@contextmanager
def open_database(file: Path, *, wanted: Sequence[str]) -> Iterator[sqlite3.Connection]:
    """The database, if it is one and has the tables that are wanted."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        try:
            missing = [name for name in wanted if not has_table(database, name)]
        except sqlite3.DatabaseError as error:
            raise InvalidInput(f"{file.name} cannot be read: {error}", remedy="check the path") from error
        if missing:
            raise InvalidInput(
                f"{file.name} has no table {missing[0]}", remedy="check that this is the database meant"
            )
        yield database


def has_table(database: sqlite3.Connection, name: str) -> bool:
    """Whether the database has such a table."""
    found = database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
    return found.fetchone() is not None


def find_value(row: sqlite3.Row, column: str) -> Any:
    """The value of a column that only some versions have; None in the others."""
    return row[column] if column in row.keys() else None  # noqa: SIM118 (a row looks for values)
