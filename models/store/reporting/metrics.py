"""Numbers about the whole service, without a tenant in them."""

from typing import NamedTuple

from sqlalchemy import Connection, text


class Measured(NamedTuple):
    """One number: what it is, of which part (a stage, a table; often none), and how much."""

    name: str
    label: str
    value: float


def measure_service(connection: Connection) -> list[Measured]:
    """What waits, what was given up, what the newest proofs of losslessness found, and how large the tables are."""
    rows = connection.execute(text("SELECT name, label, value FROM longtail.measure_service()"))
    return [Measured(row.name, row.label, row.value) for row in rows]
