"""Commands that move memory: export, erase, and the way an export comes back; `import` itself is in import_commands."""

import json
import sys
from collections.abc import Iterator
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


def import_export(path: Path, *, new_ids: bool, is_quiet: bool) -> dict[str, Any]:
    """Take an export of ours back: all of it or nothing."""
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
