"""The views of the schema `reporting`, by name: numbers for operators, no remembered text."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, column, func, literal_column, select, table, text, true

from models.errors import NotFound

_LIST = text(
    "SELECT relname AS name, obj_description(oid, 'pg_class') AS means FROM pg_class "
    "WHERE relnamespace = 'reporting'::regnamespace AND relkind = 'v' ORDER BY relname"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The newest rows of one report, in the order of its columns."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    row_count: int  # of all rows there are, not only of these


def list_reports(connection: Connection) -> dict[str, str]:
    """Every report by name, with what it tells."""
    return {row.name: row.means for row in connection.execute(_LIST)}


def read_report(connection: Connection, *, name: str, tenant: str | None, limit: int) -> Report:
    """Rows of a report: the newest first where it has a day or an hour, else in its own order."""
    known = list_reports(connection)
    if name not in known:
        raise NotFound(f"there is no report {name!r}", remedy=f"choose one of {', '.join(known)}")
    view = table(name, schema="reporting")
    whose = true() if tenant is None else column("tenant") == tenant
    rows: Select[Any] = select(literal_column("*")).select_from(view).where(whose)
    count = select(func.count()).select_from(view).where(whose)
    names = _columns(connection, name)
    newest = next(
        (one for one in ("day", "hour", "decided_at", "made_at", "failed_at") if one in names), None
    )
    if newest is not None:
        rows = rows.order_by(column(newest).desc(), column("tenant"))
    found = connection.execute(rows.limit(limit))
    return Report(
        name=name,
        columns=tuple(found.keys()),
        rows=tuple(tuple(row) for row in found),
        row_count=connection.execute(count).scalar_one(),
    )


def _columns(connection: Connection, name: str) -> set[str]:
    listed = text(
        "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('reporting.' || quote_ident(:name)) AND attnum > 0"
    )
    return set(connection.execute(listed, {"name": name}).scalars())
