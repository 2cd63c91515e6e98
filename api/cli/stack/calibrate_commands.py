"""`longtail calibrate`: which gate threshold the usefulness labels speak for."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.connection import open_client

if TYPE_CHECKING:
    from rich.console import Console


def register(app: typer.Typer) -> None:
    """Add this command to the root."""
    app.command()(calibrate)


def calibrate(
    precision: Annotated[float, typer.Option(help="The share of kept memories that should be useful.")] = 0.8,
    apply: Annotated[bool, typer.Option("--apply", help="Set the chosen threshold for this tenant.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to the configured threshold.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Write the reliability curve (.png or .svg).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Report how well the gate's score tells useful from useless, and choose a threshold."""
    from rich.console import Console

    with open_client() as client:
        if reset:
            client.call("PUT", "/v1/calibration", json={"threshold": None})
            typer.echo("the configured threshold decides again")
            return
        report = client.call("GET", "/v1/calibration", params={"wanted_precision": precision})
        if apply:
            client.call("PUT", "/v1/calibration", json={"threshold": report["chosen_threshold"]})
    report["applied"] = apply
    if picture is not None:
        draw_reliability(report, picture)
    if as_json:
        print(json.dumps(report))
    else:
        _show(Console(), report, picture)


def _show(console: "Console", report: dict[str, Any], picture: Path | None) -> None:
    from rich.table import Table

    table = Table("score", "labels", "useful", box=None)
    for one in report["curve"]:
        table.add_row(
            f"{one['low']:.2f} to {one['high']:.2f}", f"{one['n']:.0f}", f"{one['useful_share']:.0%}"
        )
    console.print(table)
    enough = "" if report["is_enough"] else " (few: treat it as a hint)"
    console.print(f"{report['labels']} labels{enough}; threshold now {report['current_threshold']:.3f}")
    console.print(
        f"for {report['wanted_precision']:.0%} useful: threshold {report['chosen_threshold']:.3f}, "
        f"precision {report['precision']:.0%}, keeps {report['kept_share']:.0%}. {report['why']}",
        highlight=False,
    )
    console.print(
        f"of {report['decided']} past decisions, {report['would_be_promoted']} more would be kept and "
        f"{report['would_be_rejected']} fewer"
    )
    if report["applied"]:
        console.print("applied: it decides from now on; past decisions stay as they are")
    if picture is not None:
        console.print(f"picture: {picture}")


def draw_reliability(report: dict[str, Any], path: Path) -> None:
    """The reliability curve: the share of useful memories at each score, and where the threshold falls."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        from models.errors import Misconfigured

        raise Misconfigured(
            "pictures need matplotlib", remedy="install the extra: pip install 'longtail[report]'"
        ) from error
    figure = Figure(figsize=(6, 4.5), dpi=120)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    filled = [one for one in report["curve"] if one["n"]]
    axes.scatter(
        [one["mean_score"] for one in filled],
        [one["useful_share"] for one in filled],
        s=[10 + 4 * one["n"] for one in filled],
        alpha=0.6,
        label="labels, by score (area: how many)",
    )
    axes.step(
        [x for x, _ in report["fit"]], [y for _, y in report["fit"]], where="post", label="isotonic fit"
    )
    axes.axvline(report["chosen_threshold"], linestyle="--", color="tab:red", label="chosen threshold")
    axes.axvline(report["current_threshold"], linestyle=":", color="grey", label="threshold now")
    axes.set(xlabel="gate score G", ylabel="share useful", xlim=(0, 1), ylim=(-0.02, 1.02))
    axes.set_title(f"{report['labels']} labels, wanted precision {report['wanted_precision']:.0%}")
    axes.legend(loc="best", fontsize="small")
    figure.tight_layout()
    figure.savefig(path)
