"""Commands that move memory: export, import, erase."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from api.client import ServiceClient

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
PIECE_BYTES = 256 * 1024


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.command()(export)
    app.command("import")(import_)
    app.command()(erase)


def _client() -> "ServiceClient":
    from api.client import ServiceClient
    from models.settings import get_settings

    return ServiceClient.from_settings(get_settings())


def export(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; standard output without it.")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option("--user", "--namespace", help="Only this namespace, as a user's id.")
    ] = None,
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None,
) -> None:
    """Write everything that is kept, with its lineage, as lines of JSON; see docs/api.md."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    with _client() as client, Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("exporting", total=None)
        lines = written = 0
        part = out.with_name(out.name + ".part") if out else None
        with part.open("wb") if part else _standard_output() as file:
            for piece in client.export(namespace=namespace, session_id=session):
                file.write(piece)
                lines += piece.count(b"\n")
                written += len(piece)
                progress.update(bar, description=f"exporting: {lines} records, {written / 1e6:.1f} MB")
            file.flush()
        if part and out:  # a file of that name is always a whole export
            part.replace(out)


def _standard_output() -> Any:
    from contextlib import nullcontext

    return nullcontext(sys.stdout.buffer)


def import_(
    kind: Annotated[str, typer.Argument(help="What the file is: 'longtail', an export of Longtail.")],
    path: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The file.")],
    new_ids: Annotated[
        bool, typer.Option("--new-ids", help="Make every id anew: for a second tenant on the same server.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take memory in from a file: all of it or nothing. Sending it again adds nothing."""
    from models.errors import InvalidInput

    if kind not in IMPORTS:
        raise InvalidInput(f"'{kind}' is no kind of import", remedy=f"use one of: {', '.join(IMPORTS)}")
    answer = IMPORTS[kind](path, new_ids, as_json)
    if as_json:
        print(json.dumps(answer))
        return
    records = sum(answer["records"].values())
    print(f"{records} records read, {sum(answer['new'].values())} of them new; the workers index them now.")


def _import_export(path: Path, new_ids: bool, is_quiet: bool) -> dict[str, Any]:
    from rich.console import Console
    from rich.progress import Progress

    with _client() as client, Progress(console=Console(stderr=True), disable=is_quiet) as progress:
        bar = progress.add_task("importing", total=path.stat().st_size)

        def pieces() -> Iterator[bytes]:
            with path.open("rb") as file:
                while piece := file.read(PIECE_BYTES):
                    yield piece
                    progress.advance(bar, len(piece))

        return client.import_(pieces(), ids="new" if new_ids else "keep")


IMPORTS: dict[str, Callable[[Path, bool, bool], dict[str, Any]]] = {"longtail": _import_export}


def erase(
    namespace: Annotated[str, typer.Argument(help="The namespace, as a user's id.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this, say what would go.")] = False,
    reason: Annotated[str | None, typer.Option("--reason", help="Written down with the erasure.")] = None,
    as_json: AsJson = False,
) -> None:
    """Erase a namespace for good: raw turns, memories, guidance, summaries, documents. The erasure is written down."""
    with _client() as client:
        answer = client.erase(namespace, confirm=namespace if yes else None, reason=reason)
    if as_json:
        print(json.dumps(answer))
        return
    gone = ", ".join(f"{count} {table}" for table, count in answer["counts"].items() if count)
    print(f"'{namespace}' is erased: {gone or 'nothing was left of it'}.")
