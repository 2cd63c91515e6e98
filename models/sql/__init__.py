"""Re-creatable SQL, applied in name order after every migration: functions, policies, grants, views."""

from __future__ import annotations

from collections.abc import Collection
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection


def apply_scripts(connection: Connection, only: Collection[str] | None = None) -> None:
    """Run all of them, or those named, in order, in the connection's transaction."""
    # Straight to the driver: a script has several statements and its own percent signs.
    driver = connection.connection.driver_connection
    assert driver is not None
    for entry in sorted(resources.files("models.sql").iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".sql") and (only is None or entry.name in only):
            driver.execute(entry.read_text(encoding="utf-8"))
