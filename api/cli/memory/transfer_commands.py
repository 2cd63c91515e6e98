"""Commands that move memory: export, and the way an export comes back; `import` itself is in import_commands."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.connection import open_client

PIECE_BYTES = 256 * 1024


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.command()(export)


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

    from models.errors import InvalidInput

    if out is not None and out.is_dir():
        raise InvalidInput(f"{out} is a folder", remedy="name the file to write, as -o memory.ndjson")
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    with open_client() as client, Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("exporting", total=None)
        lines = written = 0
        part = out.with_name(out.name + ".part") if out else None
        with _open_private(part) if part else _standard_output() as file:
            for piece in client.export(namespace=namespace, session_id=session):
                file.write(piece)
                lines += piece.count(b"\n")
                written += len(piece)
                progress.update(bar, description=f"exporting: {lines} records, {written / 1e6:.1f} MB")
            file.flush()
        if part and out:  # a file of that name is always a whole export
            part.replace(out)


def _open_private(path: Path) -> Any:
    """What somebody said is nobody else's to read."""
    from api.cli.files import unwritable

    try:
        path.unlink(missing_ok=True)
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except OSError as error:
        raise unwritable(path, error) from error


def _standard_output() -> Any:
    from contextlib import nullcontext

    return nullcontext(sys.stdout.buffer)


def import_export(path: Path, *, new_ids: bool, is_quiet: bool) -> dict[str, Any]:
    """Take an export of ours back: all of it or nothing."""
    from rich.console import Console
    from rich.progress import Progress

    with open_client() as client, Progress(console=Console(stderr=True), disable=is_quiet) as progress:
        bar = progress.add_task("importing", total=path.stat().st_size)

        def pieces() -> Iterator[bytes]:
            with path.open("rb") as file:
                while piece := file.read(PIECE_BYTES):
                    yield piece
                    progress.advance(bar, len(piece))

        return client.import_(pieces(), ids="new" if new_ids else "keep")
