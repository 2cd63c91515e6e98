"""Commands of the operator: tokens and tenants. They speak to the database as its owner, on the operator's machine."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

if TYPE_CHECKING:
    from sqlalchemy import Connection

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
OfTenant = Annotated[str, typer.Option("--tenant", help="The tenant.")]
TokenId = Annotated[str, typer.Argument(metavar="ID", help="As 'longtail token list' shows it.")]
SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    token = typer.Typer(help="Tokens: who may call, and what they open.", no_args_is_help=True)
    token.command("create")(create_token)
    token.command("list")(show_tokens)
    token.command("revoke")(revoke)
    token.command("rotate")(rotate)
    tenant = typer.Typer(help="Tenants: memories that know nothing of each other.", no_args_is_help=True)
    tenant.command("create")(create_tenant)
    tenant.command("list")(show_tenants)
    tenant.command("erase")(erase)
    app.add_typer(token, name="token")
    app.add_typer(tenant, name="tenant")


@contextmanager
def _owner(tenant_id: UUID | None = None) -> "Iterator[Connection]":
    """A transaction as the owner of the database, about one tenant where one is named."""
    from models.settings import get_settings
    from models.store.engine import open_engine, plain_transaction, tenant_transaction

    engine = open_engine(get_settings().owner_database_url())
    try:
        if tenant_id is None:
            with plain_transaction(engine, timeout_ms=600_000) as connection:
                yield connection
        else:
            with tenant_transaction(engine, tenant_id) as connection:
                yield connection
    finally:
        engine.dispose()


def create_token(
    tenant: Annotated[str, typer.Option("--tenant", help="The tenant; made where it is new.")] = "default",
    scope: Annotated[
        str, typer.Option("--scope", help="read, write and admin, with commas between.")
    ] = "read,write",
    namespace: Annotated[
        list[str] | None,
        typer.Option("--namespace", help="Opens this namespace and nothing else; repeatable."),
    ] = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="Opens this agent's memory and documents; repeatable.")
    ] = None,
    expires: Annotated[str | None, typer.Option("--expires", help="As 30d, 12h or 8w.")] = None,
    label: Annotated[str | None, typer.Option("--label", help="What it is for.")] = None,
    as_json: AsJson = False,
) -> None:
    """Issue a token. It is shown once: only its hash is kept."""
    from models.errors import InvalidInput
    from models.store.tenancy.tenants import ensure_tenant, list_tenants
    from models.store.tenancy.tokens import SCOPES, Rights, issue_token, make_token

    scopes = [part.strip() for part in scope.split(",") if part.strip()]
    if not scopes or set(scopes) - set(SCOPES):
        raise InvalidInput(f"the scopes are '{scope}'", remedy=f"use some of {','.join(SCOPES)}")
    rights = Rights(
        scopes=sorted(set(scopes)),
        namespaces=namespace or None,
        agents=agent or None,
        label=label,
        expires_at=read_expiry(expires, now=datetime.now(UTC)),
    )
    with _owner() as connection:
        is_new = not list_tenants(connection, name=tenant)
        tenant_id = ensure_tenant(connection, name=tenant)
    token = make_token()
    with _owner(tenant_id) as connection:
        token_id = issue_token(connection, token=token, rights=rights)
    _say(
        {"token": token, "id": str(token_id), "tenant": tenant},
        as_json,
        f"{token}\n\nid {token_id}, of tenant '{tenant}'{', which is new' if is_new else ''}",
    )


def read_expiry(given: str | None, *, now: datetime) -> datetime | None:
    """The moment so far ahead.

    >>> read_expiry("30d", now=datetime(2026, 1, 1)).date().isoformat()
    '2026-01-31'
    """
    from models.errors import InvalidInput

    if given is None:
        return None
    found = re.fullmatch(r"([1-9]\d{0,4})([mhdw])", given.strip())
    if found is None:
        raise InvalidInput(f"'{given}' is no length of time", remedy="write it as 30d, 12h, 90m or 8w")
    return now + timedelta(seconds=int(found[1]) * SECONDS[found[2]])


def show_tokens(tenant: OfTenant = "default", as_json: AsJson = False) -> None:
    """Tokens of a tenant: what each opens, until when, when it was last used."""
    from models.store.tenancy.tokens import list_tokens

    with _owner(_find_tenant(tenant)) as connection:
        found = list_tokens(connection)
    if as_json:
        typer.echo(json.dumps({"tokens": [asdict(one) for one in found]}, default=_plain))
        return
    for one in found:
        opens = ", ".join([*(one.namespaces or ()), *(f"agent {name}" for name in one.agents or ())])
        state = (
            "revoked"
            if one.revoked_at
            else f"until {one.expires_at:%Y-%m-%d}"
            if one.expires_at
            else "no end"
        )
        used = f"used {one.last_used_at:%Y-%m-%d %H:%M}" if one.last_used_at else "never used"
        typer.echo(
            f"{one.id}  {','.join(one.scopes):<16}  {opens or 'all'}  {state}, {used}  {one.label or ''}".rstrip()
        )


def revoke(token_id: TokenId, as_json: AsJson = False) -> None:
    """Revoke a token: it opens nothing from now on."""
    from models.store.tenancy.tokens import revoke_token

    wanted = _read_id(token_id)
    with _owner(_tenant_of(wanted)) as connection:
        since = revoke_token(connection, token_id=wanted)
    _say({"id": token_id, "revoked_at": since}, as_json, f"token {token_id} is revoked")


def rotate(token_id: TokenId, as_json: AsJson = False) -> None:
    """Put a new token in the place of an old one, with the same rights; the old one is revoked."""
    from models.store.tenancy.tokens import make_token, rotate_token

    wanted, token = _read_id(token_id), make_token()
    with _owner(_tenant_of(wanted)) as connection:
        new_id = rotate_token(connection, token_id=wanted, token=token)
    if new_id is None:
        raise _no_token(wanted)
    _say({"token": token, "id": str(new_id)}, as_json, f"{token}\n\nid {new_id}; {token_id} is revoked")


def create_tenant(
    name: Annotated[str, typer.Argument(help="What it is called; a known one is left as it is.")],
    as_json: AsJson = False,
) -> None:
    """Make a tenant."""
    from shlex import quote

    from models.store.tenancy.tenants import ensure_tenant, list_tenants

    with _owner() as connection:
        is_new = not list_tenants(connection, name=name)
        tenant_id = ensure_tenant(connection, name=name)
    _say(
        {"id": str(tenant_id), "name": name},
        as_json,
        f"tenant '{name}' is {'made' if is_new else 'there already'}. "
        f"Next: longtail token create --tenant {quote(name)}",
    )


def show_tenants(
    erased: Annotated[bool, typer.Option("--erased", help="Those that were erased, and when.")] = False,
    as_json: AsJson = False,
) -> None:
    """Tenants, and how much each holds."""
    from models.store.tenancy.tenants import list_erased_tenants, list_tenants

    if erased:
        with _owner() as connection:
            gone = list_erased_tenants(connection)
        if as_json:
            typer.echo(json.dumps({"erased": [asdict(one) for one in gone]}, default=_plain))
            return
        for one in gone:
            why = f" ({one.reason})" if one.reason else ""
            typer.echo(f"{one.name}: {sum(one.counts.values())} rows on {one.erased_at:%Y-%m-%d %H:%M}Z{why}")
        return
    with _owner() as connection:
        found = list_tenants(connection)
    if as_json:
        typer.echo(json.dumps({"tenants": [asdict(tenant) for tenant in found]}, default=_plain))
        return
    for tenant in found:
        typer.echo(f"{tenant.name}: {tenant.tokens} tokens, {tenant.sessions} sessions, {tenant.turns} turns")


def erase(
    name: Annotated[str, typer.Argument(help="The tenant.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without it, say what would go.")] = False,
    reason: Annotated[str | None, typer.Option("--reason", help="Written down with the erasure.")] = None,
    as_json: AsJson = False,
) -> None:
    """Remove a tenant for good: its tokens, raw turns, memories, documents, everything."""
    from models.store.tenancy.tenants import erase_tenant, list_tenants

    tenant_id = _find_tenant(name)
    with _owner() as connection:
        held = list_tenants(connection, name=name)[0]
        counts = erase_tenant(connection, tenant_id=tenant_id, name=name, reason=reason) if yes else {}
    if not yes:
        said = f"would remove {held.turns} turns of {held.sessions} sessions and {held.tokens} tokens; repeat with --yes"
        _say({"tenant": name, "erased": False, "turns": held.turns}, as_json, said)
        raise typer.Exit(1)
    rows = sum(counts.values())
    _say({"tenant": name, "erased": True, "counts": counts}, as_json, f"tenant '{name}' is gone: {rows} rows")


def _find_tenant(name: str) -> UUID:
    from models.errors import NotFound
    from models.store.tenancy.tenants import list_tenants

    with _owner() as connection:
        found = list_tenants(connection, name=name)
    if not found:
        raise NotFound(f"there is no tenant '{name}'", remedy="'longtail tenant list' shows them")
    return found[0].id


def _tenant_of(token_id: UUID) -> UUID:
    from models.store.tenancy.tokens import find_tenant_of

    with _owner() as connection:
        found = find_tenant_of(connection, token_id=token_id)
    if found is None:
        raise _no_token(token_id)
    return found


def _no_token(token_id: UUID) -> Exception:
    from models.errors import NotFound

    return NotFound(f"no token {token_id} opens anything", remedy="'longtail token list' shows them")


def _read_id(given: str) -> UUID:
    from api.cli.ids import read_id

    return read_id(given, noun="of a token", remedy="'longtail token list' shows them")


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _say(answer: dict[str, Any], as_json: bool, words: str) -> None:
    typer.echo(json.dumps(answer, default=_plain) if as_json else words)
