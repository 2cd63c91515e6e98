"""`longtail report`: the reports of the schema `reporting`, as tables, CSV or JSON; read with the role that sees no text."""

import csv
import json
import os
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from models.store.reporting.reports import Report

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
BAR_WIDTHS: Final = (16, 8)  # the second where the first does not fit
ENDLESS: Final = 10_000  # characters


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
    from models.store.reporting.reports import list_reports, read_report

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
    if not found.rows:
        console.print(f"{found.name}: no rows yet", highlight=False)
        return
    found = _name_tenant_once(console, found)
    # Into a file or a pipe nothing is folded.
    room = console.width if console.is_terminal or "COLUMNS" in os.environ else ENDLESS
    bars = BAR_WIDTHS if found.name in CHARTED else ()
    for has_short_heads, bar in [
        *((short, bar) for bar in bars for short in (False, True)),
        (False, 0),
        (True, 0),
    ]:
        grid = _lay_out(found, has_short_heads=has_short_heads, bar=bar)
        width = console.measure(grid, options=console.options.update(max_width=ENDLESS)).maximum
        if width <= room:
            console.width = max(width, console.width)
            console.print(grid)
            break
    else:
        _show_row_by_row(console, found)
    if len(found.rows) < found.row_count:
        console.print(f"{len(found.rows)} of {found.row_count} rows; --limit shows more", highlight=False)


def _name_tenant_once(console: "Console", found: "Report") -> "Report":
    """Rows of one tenant do without its column: it is named above them, and the room is the table's."""
    if found.columns[0] != "tenant" or len({row[0] for row in found.rows}) > 1:
        return found
    console.print(f"tenant {found.rows[0][0]}", highlight=False, markup=False, soft_wrap=True)
    return replace(found, columns=found.columns[1:], rows=tuple(row[1:] for row in found.rows))


def _lay_out(found: "Report", *, has_short_heads: bool, bar: int) -> "Table":
    from rich.bar import Bar
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None)
    for column in found.columns:
        grid.add_column(column.replace("_", "_\n") if has_short_heads else column, no_wrap=True)
    place = found.columns.index(CHARTED[found.name]) if bar else None
    if place is not None:
        grid.add_column("", no_wrap=True)
    top = max((float(row[place] or 0) for row in found.rows), default=0.0) if place is not None else 0.0
    for row in found.rows:
        cells: list[Any] = [Text(_cell(value)) for value in row]
        if place is not None:
            cells.append(Bar(size=max(top, 1e-9), begin=0, end=float(row[place] or 0), width=bar))
        grid.add_row(*cells)
    return grid


def _show_row_by_row(console: "Console", found: "Report") -> None:
    """More columns than the terminal is wide: a line each, what is empty left out."""
    from rich.table import Table
    from rich.text import Text

    for row in found.rows:
        grid = Table(box=None, show_header=False)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for column, value in zip(found.columns, row, strict=True):
            if _cell(value):
                grid.add_row(column, Text(_cell(value)))
        console.print(grid)
        console.print()


def _plain(value: Any) -> Any:
    from decimal import Decimal

    return float(value) if isinstance(value, Decimal) else str(value)


def _cell(value: Any) -> str:
    from datetime import UTC, datetime

    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
