"""`longtail bench encoders`, as the command line shows it."""

import json
from pathlib import Path
from typing import Annotated

import typer


def encoders(
    data: Annotated[Path, typer.Option(help="Folder with locomo_dev.json.")],
    encoder: Annotated[
        list[str] | None, typer.Option(help="minilm, or onnx:/folder; several times for several.")
    ] = None,
    conversations: Annotated[int, typer.Option(min=1, max=5, help="How many of LoCoMo's.")] = 2,
    questions: Annotated[int | None, typer.Option(min=1, help="How many in all, drawn with a seed.")] = None,
    service: Annotated[
        bool, typer.Option("--service/--no-service", help="Also the whole service on each encoder.")
    ] = True,
    cache: Annotated[
        Path, typer.Option(help="File that keeps vectors from run to run.", envvar="LONGTAIL_ENCODER_CACHE")
    ] = Path("encoders.vectors"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Encoders side by side: evidence in a prompt, milliseconds, megabytes (some minutes for each)."""
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from bench.quality.encoders import SHOWN, list_rows, run

    with Progress(console=Console(stderr=True), transient=True) as progress:
        result = run(
            encoder or ["minilm"],
            data,
            conversations=conversations,
            questions=questions,
            with_service=service,
            cache=cache,
            progress=progress,
        )
    if as_json:
        print(json.dumps(result))
        return
    table = Table("encoder", "way", *SHOWN, "dims", "MB", "query ms", "texts/s")
    for row in list_rows(result):
        table.add_row(*row)
    Console().print(table)
    print(f"{result['turns']} turns, {result['questions']} questions; load average {result['load_average']}")
