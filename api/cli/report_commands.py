"""`longtail report`: the reports of the schema `reporting`, as tables, CSV or JSON; read with the role that sees no text."""

import csv
import json
import shlex
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from models.store.reports import Report

# The column whose size is drawn as a bar beside its row.
CHARTED: Final = {
    "assembly_daily": "p95_ms",
    "compaction_yield": "saved_share",
    "gate_daily": "keep_rate",
    "lag_hourly": "p95_seconds",
    "memory_growth": "memories",
    "most_recalled": "prompts",
    "prompt_cache": "unchanged_share",
    "usage": "turns",
}
BAR_WIDTH: Final = 24
WIDTH_FOR_CHARTS: Final = 120  # of the terminal: a narrow one has room for the numbers alone


def register(app: typer.Typer) -> None:
    """Add this command to the root."""
    app.command()(report)


def report(
    name: Annotated[str | None, typer.Argument(help="Which report; without one they are listed.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many rows at most.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, for a spreadsheet.")] = False,
    connection: Annotated[
        bool, typer.Option("--connection", help="Print the psql line that opens the reports for SQL.")
    ] = False,
) -> None:
    """Print a report: gate decisions, growth, latency, lag, what is recalled and what never is."""
    from rich.console import Console

    from models.errors import InvalidInput
    from models.settings import get_settings
    from models.store.engine import open_engine, plain_transaction
    from models.store.reports import list_reports, read_report

    if as_json and as_csv:
        raise InvalidInput("--json and --csv exclude each other", remedy="give one of them")
    address = get_settings().role_database_url("longtail_report")
    engine = open_engine(address, pool_size=1)
    if connection:
        assert address is not None  # open_engine refuses to go on without one
        typer.echo(f"psql {shlex.quote(address)}")
        return
    try:
        with plain_transaction(engine) as opened:
            if name is None:
                _show_list(list_reports(opened), as_json=as_json)
                return
            found = read_report(opened, name=name, tenant=tenant, limit=limit)
    finally:
        engine.dispose()
    if as_json:
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        print(json.dumps(rows, default=_plain))
    elif as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(found.columns)
        writer.writerows([_cell(value) for value in row] for row in found.rows)
    else:
        _show(Console(), found)


def _show_list(reports: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([{"name": name, "means": means} for name, means in reports.items()]))
        return
    width = max(map(len, reports), default=0)
    for name, means in reports.items():
        typer.echo(f"{name:<{width}}  {means}")
    typer.echo(
        "\nlongtail report NAME [--csv|--json] [--tenant NAME] [--limit N]; 'longtail report --connection' for SQL"
    )


def _show(console: "Console", found: "Report") -> None:
    from rich.bar import Bar
    from rich.table import Table
    from rich.text import Text

    if not found.rows:
        console.print(f"{found.name}: no rows yet", highlight=False)
        return
    charted = CHARTED.get(found.name) if console.width >= WIDTH_FOR_CHARTS else None
    grid = Table(box=None)
    for column in (*found.columns, *([""] if charted else [])):
        grid.add_column(column, overflow="fold")
    place = found.columns.index(charted) if charted else None
    top = max((float(row[place] or 0) for row in found.rows), default=0.0) if place is not None else 0.0
    for row in found.rows:
        cells: list[Any] = [Text(_cell(value)) for value in row]
        if place is not None:
            size = float(row[place] or 0)
            cells.append(Bar(size=max(top, 1e-9), begin=0, end=size, width=BAR_WIDTH))
        grid.add_row(*cells)
    console.print(grid)
    if len(found.rows) < found.row_count:
        console.print(f"{len(found.rows)} of {found.row_count} rows; --limit shows more", highlight=False)


def _plain(value: Any) -> Any:
    from decimal import Decimal

    return float(value) if isinstance(value, Decimal) else str(value)


def _cell(value: Any) -> str:
    from datetime import datetime

    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
