"""`longtail dead-letters`: what the workers gave up, and another try. For the operator, as the database's owner."""

import json
from typing import Annotated

import typer

from api.cli.stack.token_commands import OfTenant, _find_tenant, _owner, _plain

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def register(app: typer.Typer) -> None:
    """Add the group to the root."""
    group = typer.Typer(help="What the workers gave up; the turns themselves are kept.", no_args_is_help=True)
    group.command("list")(show_dead_letters)
    group.command("replay")(replay)
    app.add_typer(group, name="dead-letters")


def show_dead_letters(
    tenant: OfTenant = "default",
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """What was given up, the newest first: at which stage, after how many attempts, why."""
    from dataclasses import asdict

    from models.store.work import list_dead_letters

    tenant_id = _find_tenant(tenant)
    with _owner(tenant_id) as connection:
        found = list_dead_letters(connection, tenant_id=tenant_id, count=limit)
    if as_json:
        typer.echo(json.dumps({"dead_letters": [asdict(one) for one in found]}, default=_plain))
        return
    for one in found:
        typer.echo(f"{one.item_id}  {one.stage:<10} {one.failed_at:%Y-%m-%d %H:%M}  {one.reason}")
    if not found:
        typer.echo("There are no dead letters.")


def replay(
    item: Annotated[
        str | None, typer.Argument(metavar="ID", help="As 'longtail dead-letters list' shows it.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every one of the tenant.")] = False,
    tenant: OfTenant = "default",
    as_json: AsJson = False,
) -> None:
    """Give them back to the workers, from the first stage on. Exits 1 where none is left to replay."""
    from api.cli.ids import read_id
    from models.errors import InvalidInput
    from models.store.work import revive_work

    if (item is None) is not every:
        raise InvalidInput("which ones?", remedy="give an id, or --all, one of them")
    wanted = None if item is None else read_id(item, remedy="'longtail dead-letters list' shows the ids")
    tenant_id = _find_tenant(tenant)
    with _owner(tenant_id) as connection:
        revived = revive_work(connection, tenant_id=tenant_id, item_id=wanted)
    typer.echo(json.dumps({"replayed": revived}) if as_json else f"{revived} are tried again")
    if not revived:
        raise typer.Exit(1)
