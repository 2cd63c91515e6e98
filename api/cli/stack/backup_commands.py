"""Commands that keep a copy of everything: backup and restore, as the owner of the database, on the operator's machine."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from api.stack.backup import Say

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.command()(backup)
    app.command()(restore)


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write, as memory.backup.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file of that name.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write everything of every tenant into one private file, while the service runs."""
    from api.cli.files import unwritable
    from api.stack.backup import back_up
    from api.stack.home.layout import plan_layout
    from models.errors import InvalidInput
    from models.settings import get_settings

    if file.exists() and not force:
        raise InvalidInput(f"{file} exists", remedy="name another file, or add --force to replace it")
    settings = get_settings()
    try:
        with _progress(is_quiet=as_json) as say:
            made = back_up(settings, plan_layout(settings.home, settings.run_as), file, say)
    except OSError as error:
        raise unwritable(file, error) from error
    _tell(
        {"file": str(file), "bytes": file.stat().st_size, "sha256": made.dump_sha256, "revision": made.revision,
         "created_at": made.created_at, "rows": made.rows},
        as_json,
        f"{file}: {file.stat().st_size / 1e6:.1f} MB, {made.rows.get('turns', 0)} turns, "
        f"{sum(made.rows.values())} rows of {len(made.rows)} tables, read back and found whole.",
    )  # fmt: skip


def restore(
    file: Annotated[Path, typer.Argument(help="A file that 'longtail backup' wrote.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what this memory holds.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Only check the file; change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup in place: checked before, counted and proved afterwards; on failure all is as it was."""
    from api.cli.files import unreadable
    from api.stack.archive import check_dump, read_manifest
    from api.stack.backup import restore as put_in_place
    from api.stack.home.layout import plan_layout
    from models.settings import get_settings

    settings = get_settings()
    try:
        with _progress(is_quiet=as_json) as say:
            if check:
                made = read_manifest(file)
                check_dump(file, made, lambda done: say("checking", done, made.dump_bytes))
                found: dict[str, Any] = {
                    "rows": made.rows,
                    "created_at": made.created_at,
                    "version": made.version,
                }
            else:
                layout = plan_layout(settings.home, settings.run_as)
                found = put_in_place(settings, layout, file, force=force, say=say)
    except OSError as error:
        raise unreadable(file, error) from error
    turns = found["rows"].get("turns", 0)
    if check:
        _tell(found, as_json, f"{file} is whole: {turns} turns of {found['created_at']}.")
        return
    broken = found["lineage_violations"]
    _tell(
        found,
        as_json,
        f"{turns} turns of {found['created_at']} are back; the lineage of {found['lineage_sessions']} compacted sessions "
        + ("is whole." if not broken else f"has {broken} violations: 'longtail lineage verify' names them.")
        + _tell_what_stays_away(found),
    )
    if broken:
        raise typer.Exit(1)


def _tell_what_stays_away(found: dict[str, Any]) -> str:
    told = ""
    if found["erased_again"]:
        told += f"\nErased again, as it was after the backup was made: {found['erased_again']}."
    if found["revoked_again"]:
        told += f"\nTokens that were revoked since and stay so: {found['revoked_again']}."
    return told


@contextmanager
def _progress(*, is_quiet: bool) -> "Iterator[Say]":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    with Progress(*columns, console=Console(stderr=True), disable=is_quiet, transient=True) as progress:
        bar = progress.add_task("starting", total=None)

        def say(what: str, done: int, total: int | None) -> None:
            known = (
                f" {done / 1e6:.1f} MB"
                if what in ("copying", "restoring", "checking", "reading back")
                else ""
            )
            progress.update(bar, description=what + known, completed=done, total=total)

        yield say


def _tell(found: dict[str, Any], as_json: bool, words: str) -> None:
    if as_json:
        print(json.dumps(found, indent=2))
        return
    from rich.console import Console

    Console().print(words, highlight=False, soft_wrap=True)
