"""When each scheduled task last ran, how long it took, and whether it worked. No tenant, no words."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRun:
    """The last run of a task, and how many there were."""

    name: str
    began_at: datetime
    seconds: float
    error: str | None  # what kind of error it ended with; None: it worked
    runs: int
    failures: int


_RECORD = text("""
INSERT INTO task_runs (name, began_at, seconds, error, runs, failures)
VALUES (:name, :began_at, :seconds, CAST(:error AS text), 1, CAST(CAST(:error AS text) IS NOT NULL AS integer))
ON CONFLICT (name) DO UPDATE SET began_at = excluded.began_at, seconds = excluded.seconds, error = excluded.error,
    runs = task_runs.runs + 1, failures = task_runs.failures + excluded.failures
""")


def record_run(
    connection: Connection, *, name: str, began_at: datetime, seconds: float, error: str | None
) -> None:
    """A task ran; only its last run is kept."""
    connection.execute(_RECORD, {"name": name, "began_at": began_at, "seconds": seconds, "error": error})


def list_runs(connection: Connection) -> dict[str, TaskRun]:
    """The last run of every task that ever ran, by name."""
    rows = connection.execute(text("SELECT name, began_at, seconds, error, runs, failures FROM task_runs"))
    return {row.name: TaskRun(**row._mapping) for row in rows}
