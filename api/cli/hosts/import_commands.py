"""`longtail import KIND [PATH]`: memory of other systems, and our own exports."""

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.connection import open_client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from api.importers.records import Report, Source
    from models.encoders.protocol import Encoder, Vectors

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
OWN = "longtail"


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    app.command("import")(import_)


def import_(
    kind: Annotated[
        str,
        typer.Argument(
            help="longtail (an export of ours), openclaw, lossless-claw, mem0, hindsight, claude-code, chatgpt or jsonl."
        ),
    ],
    path: Annotated[
        Path | None, typer.Argument(help="The file or folder; without it, where the host keeps its own.")
    ] = None,
    new_ids: Annotated[
        bool,
        typer.Option(
            "--new-ids", help="Of an export: make every id anew, for a second tenant on the same server."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and count everything; send nothing.")
    ] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Send again what earlier runs sent.")] = False,
    user: Annotated[
        str | None,
        typer.Option(
            "--user", help="Whose memory it becomes; without it, whom the file names, else the login name."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Take memory in. Interrupt it, run it again: it goes on where it was, and nothing is kept twice."""
    from api.importers.registry import SOURCES
    from models.errors import InvalidInput

    if kind != OWN and kind not in SOURCES:
        raise InvalidInput(
            f"'{kind}' is no kind of import", remedy=f"use one of: {', '.join((OWN, *SOURCES))}"
        )
    if path is None and (kind == OWN or SOURCES[kind].default_path is None):
        raise InvalidInput(f"an import of '{kind}' needs a path", remedy="name the file")
    if path is not None and not path.exists():
        raise InvalidInput(f"there is no {path}", remedy="check the path")
    if kind == OWN:
        if dry_run or restart or user:
            raise InvalidInput(
                "an export of ours is taken whole", remedy="leave --dry-run, --restart and --user away"
            )
        assert path is not None
        _import_own(path, new_ids, as_json)
        return
    report = _run(SOURCES[kind], path, user, is_dry_run=dry_run, is_new_start=restart, is_quiet=as_json)
    if as_json:
        print(json.dumps(report.to_json()))
        return
    from rich.console import Console

    show_report(Console(), report)


def _import_own(path: Path, new_ids: bool, as_json: bool) -> None:
    from api.cli.memory.transfer_commands import import_export

    answer = import_export(path, new_ids=new_ids, is_quiet=as_json)
    if as_json:
        print(json.dumps(answer))
        return
    records, new = sum(answer["records"].values()), sum(answer["new"].values())
    index = "; the workers index them now" if new else ""
    print(f"{records} records read, {new} of them new{index}.")


def _run(
    source: "Source",
    path: Path | None,
    user: str | None,
    *,
    is_dry_run: bool,
    is_new_start: bool,
    is_quiet: bool,
) -> "Report":
    from contextlib import ExitStack

    from rich.console import Console
    from rich.progress import Progress

    from api.host.configuration import find_user
    from api.importers.marks import ImportMarks
    from api.importers.records import Report, Unit
    from api.importers.runner import ImportRun
    from models.errors import InvalidInput
    from models.settings import get_settings

    settings = get_settings()
    assert source.default_path is not None or path is not None
    place = path or (source.default_path() if source.default_path else Path())
    if not place.exists():
        raise InvalidInput(f"there is no {place}", remedy="name the file or folder to import")
    owner = user or find_user()
    marks = ImportMarks(
        settings.home,
        source.kind,
        place,
        owner=f"{owner}\n{settings.client_token()}\n{settings.service_url()}",
    )
    if is_new_start:
        marks.forget()
    units = source.find_units(place)
    report = Report(kind=source.kind, path=str(place), is_dry_run=is_dry_run)
    with ExitStack() as stack:
        client = None if is_dry_run else stack.enter_context(open_client())
        if client is not None:
            client.status()  # where nothing answers, nothing was imported, whatever earlier runs wrote down
        progress = stack.enter_context(Progress(console=Console(stderr=True), disable=is_quiet))
        bar = progress.add_task(
            "reading" if is_dry_run else "importing", total=sum(unit.size for unit in units)
        )

        def advance(unit: Unit) -> None:
            progress.advance(bar, unit.size)

        run = ImportRun(
            report,
            client=client,
            marks=marks,
            user_id=owner,
            agent_id=source.agent_id,
            is_user_named=user is not None,
            encode=_encode,
            tail_min_turns=settings.tail_min_turns,
        )
        return run.run(units, advance)


@cache
def _load_encoder() -> "Encoder":
    from models.encoders.registry import load_encoder
    from models.settings import get_settings

    settings = get_settings()
    return load_encoder(settings.encoder, threads=settings.encoder_threads)


def _encode(texts: "Sequence[str]") -> "Sequence[Vectors]":
    """Windows of each text; the model is loaded for sources that have summaries, and not before."""
    return _load_encoder().encode_windows(texts)


def show_report(console: "Console", report: "Report") -> None:
    """What was kept, what was dropped and why."""
    from rich.markup import escape
    from rich.table import Table

    from api.cli.wording import count_of

    table = Table("what", "how many", "of which")
    kept, dropped = sum(report.kept.values()), sum(report.dropped.values())
    table.add_row(
        "read", count_of(report.units, "file"), f"{report.units_known} unchanged since an earlier run"
    )
    sessions = count_of(len(report.sessions), "session")
    table.add_row("kept", count_of(kept, "turn"), f"{_list(report.kept)} in {sessions}" if kept else "")
    table.add_row("dropped", str(dropped), escape(_list(report.dropped)))
    if report.stripped:
        table.add_row(
            "cut out of kept turns", str(sum(report.stripped.values())), escape(_list(report.stripped))
        )
    if report.summaries or report.summaries_known:
        known = f"{report.summaries_known} were known already" if report.summaries_known else ""
        table.add_row("turns covered by", count_of(report.summaries, "summary", "summaries"), known)
    if report.is_dry_run:
        table.add_row("sent", "nothing", "a dry run")
    else:
        known = f"{report.known} were known already" + (
            f", {report.resumed} sent before" if report.resumed else ""
        )
        table.add_row("sent", f"{report.accepted} new", known)
    if report.refused:
        table.add_row(
            "refused by the server", str(sum(report.refused.values())), escape(_list(report.refused))
        )
    console.print(table)
    for note in report.notes:
        console.print(f"  {note}", markup=False, highlight=False, soft_wrap=True)


def _list(counts: Any) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
