"""`longtail reembed`: another encoder for all that is remembered, while everything goes on."""

import json
import time
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from models.settings import Settings

LEAST_PAUSE_SECONDS: Final = 1.0
PAUSE_PER_SECOND_OF_COUNTING: Final = 5.0  # a large memory takes seconds to count


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    app.command()(reembed)


def reembed(
    to: Annotated[
        str | None,
        typer.Option("--to", help="minilm, or onnx:/folder with a model; else what LONGTAIL_ENCODER says."),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Ask for it, and return.")] = False,
    show: Annotated[
        bool, typer.Option("--status", help="Only show every encoder and how far it is.")
    ] = False,
    roll_back: Annotated[
        bool,
        typer.Option("--roll-back", help="Back to the encoder before; while one is filled, give that up."),
    ] = False,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Remove the vectors of encoders that do not serve.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Re-embed everything with another encoder, in the background; searches go on, and are switched at its end."""
    from api.stack import reembedding
    from models.errors import InvalidInput
    from models.settings import get_settings

    settings = get_settings()
    if sum((to is not None, show, roll_back, drop_old)) > 1:
        raise InvalidInput(
            "these options exclude each other", remedy="give --to, --status, --roll-back or --drop-old"
        )
    if show:
        _show(reembedding.tell(settings), as_json)
    elif drop_old:
        _show(reembedding.drop_old(settings), as_json)
    else:
        report = (
            reembedding.roll_back(settings)
            if roll_back
            else reembedding.start(settings, to or settings.encoder)
        )
        if report["filling"] and not detach:
            report = _wait(settings, report, is_quiet=as_json)
        _show(report, as_json)


def _wait(settings: "Settings", report: dict[str, Any], *, is_quiet: bool) -> dict[str, Any]:
    """Until the switch is made; Ctrl-C only ends the waiting."""
    from rich.console import Console

    from api.stack import reembedding

    console = Console(stderr=True)
    told = ""
    try:
        while report["filling"]:
            line = reembedding.describe_progress(
                next(one for one in report["encoders"] if one["name"] == report["filling"])
            )
            if not is_quiet and line != told:
                console.print(line, highlight=False, soft_wrap=True, markup=False)
                told = line
            began = time.monotonic()
            report = reembedding.tell(settings)
            took = time.monotonic() - began
            time.sleep(max(LEAST_PAUSE_SECONDS, took * PAUSE_PER_SECOND_OF_COUNTING))
    except KeyboardInterrupt:
        console.print(
            "It goes on in the background: 'longtail reembed --status' shows how far it is, '--roll-back' gives it up."
        )
        raise typer.Exit(130) from None
    return report


def _show(report: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(report))
        return
    from rich.console import Console

    _print(Console(), report)


def _print(console: "Console", report: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table("encoder", "state", "items", "missing", "MB", "from", box=None)
    for one in report["encoders"]:
        table.add_row(
            one["name"],
            one["state"],
            str(one["items"]),
            str(one["missing"]),
            f"{one['bytes'] / 1e6:.1f}",
            one["source"],
        )
    console.print(table)
    for one in report["encoders"]:
        if one["problem"]:
            console.print(
                f"{one['name']} is paused: {one['problem']}", highlight=False, soft_wrap=True, markup=False
            )
    if report.get("dropped"):
        console.print(f"Dropped: {', '.join(report['dropped'])}.")
    if report["standby"]:
        console.print(
            f"Searches are served by {report['active']}. 'longtail reembed --roll-back' goes back to {report['standby']}, "
            "'--drop-old' removes it.",
            highlight=False,
            soft_wrap=True,
        )
