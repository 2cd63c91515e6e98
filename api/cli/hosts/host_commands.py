"""Commands for hosts: install, uninstall, and the spool their hooks leave things in."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from api.host.claude_install import Change
    from api.host.spool import Spool

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Host = Annotated[
    str, typer.Argument(help="The host: 'claude-code'; or 'service', a systemd unit that runs the stack.")
]
SERVICE = "service"
Project = Annotated[
    bool, typer.Option("--project", help="In ./.claude/settings.json, for this project alone.")
]
FLUSH_SECONDS = 600.0
DONE = {
    "installed": "Hooks are in {file}; Claude Code uses them from its next start.",
    "unchanged": "The hooks are in {file} already.",
    "restored": "{file} is as it was before.",
    "removed": "Our hooks are gone from {file}; what was changed since they were put in is still there.",
    "absent": "No hooks of ours are in {file}.",
}
spool = typer.Typer(help="What hooks left while the API was away.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.command()(install)
    app.command()(uninstall)
    app.add_typer(spool, name="spool")


def install(
    host: Host,
    project: Project = False,
    user: Annotated[
        str | None,
        typer.Option("--user", help="Whose memory; without it, the login name of whoever runs the host."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Connect a host: its settings get our hooks, and keep everything else. Needs nothing running."""
    if host == SERVICE:
        _install_service(as_json)
        return
    from api.host.claude_install import build_commands, find_settings
    from api.host.claude_install import install as add
    from models.settings import get_settings

    _check_host(host)
    home = get_settings().home.expanduser().absolute()
    baked = str(home) if os.environ.get("LONGTAIL_HOME") else None
    with _as_ours():
        change = add(find_settings(is_project=project), home, build_commands(home=baked, user_id=user))
    _show(change, as_json)


def uninstall(host: Host, project: Project = False, as_json: AsJson = False) -> None:
    """Disconnect a host: its settings become what they were."""
    if host == SERVICE:
        _uninstall_service(as_json)
        return
    from api.host.claude_install import find_settings
    from api.host.claude_install import uninstall as remove
    from models.settings import get_settings

    _check_host(host)
    with _as_ours():
        change = remove(find_settings(is_project=project), get_settings().home.expanduser().absolute())
    _show(change, as_json)


def _install_service(as_json: bool) -> None:
    from api.stack.unit import NAME, install_unit, read_environment
    from models.settings import get_settings

    variables, hidden = read_environment(os.environ, get_settings().home.expanduser().absolute())
    path = install_unit(variables)
    if as_json:
        print(
            json.dumps({"file": str(path), "done": "installed", "settings": [*variables], "left_out": hidden})
        )
        return
    if hidden:
        print(f"Not written, because the unit can be read by everybody: {', '.join(hidden)}.")
        print("Put each into a file of LONGTAIL_SECRETS_DIR, and install again with that variable set.")
    print(f"The unit is {path}. Start it now and at every login with:")
    print(f"  systemctl --user daemon-reload && systemctl --user enable --now {NAME}")
    print("and without a login with: loginctl enable-linger")


def _uninstall_service(as_json: bool) -> None:
    from api.stack.unit import NAME, find_unit, uninstall_unit

    path = uninstall_unit()
    if as_json:
        print(json.dumps({"file": str(find_unit()), "done": "removed" if path else "absent"}))
    elif path is None:
        print(f"No unit of ours is at {find_unit()}.")
    else:
        print(f"{path} is gone. If it still runs: systemctl --user disable --now {NAME}")


@spool.command("show")
def show_spool(as_json: AsJson = False) -> None:
    """Show what waits, what was put aside and why, and what was lost because the spool was full."""
    found = _open_spool()
    report = {**found.measure(), "lost": found.read_dropped(), "put_aside": list(found.read_aside())}
    if as_json:
        print(json.dumps(report))
        return
    print(describe_spool(report))
    for one in report["put_aside"]:
        print(f"  aside since {one.get('at')}: {one.get('why')} ({one.get('bytes')} bytes)")


@spool.command("flush")
def flush_spool(as_json: AsJson = False) -> None:
    """Send what waits, in order. Exits 1 when something still waits afterwards."""
    from api.host.configuration import Configuration
    from api.host.delivery import deliver
    from api.host.loopback import Client

    found = _open_spool()
    delivery = deliver(found, Client(Configuration(home=_home())), seconds=FLUSH_SECONDS)
    report = {
        "sent": delivery.sent,
        "refused": delivery.refused,
        "skipped": delivery.skipped,
        "stopped": delivery.stopped,
        **found.measure(),
    }
    if as_json:
        print(json.dumps(report))
    else:
        noise = f" {delivery.skipped} turns were noise and not kept." if delivery.skipped else ""
        print(f"{delivery.sent} sent, {delivery.refused} refused and put aside.{noise}")
        if delivery.stopped:
            print(f"stopped: {delivery.stopped}")
        print(describe_spool(report))
    if delivery.stopped:
        raise typer.Exit(1)


@spool.command("clear")
def clear_spool() -> None:
    """Forget what was put aside and the count of what was lost. What waits stays."""
    found = _open_spool()
    before = found.measure()
    found.clear_losses()
    print(
        f"{before['aside']} put aside and {before['dropped']} lost are forgotten; {before['waiting']} still wait."
    )


def describe_spool(report: dict[str, object]) -> str:
    """One line on what waits in the spool.

    >>> describe_spool({"waiting": 0, "bytes": 0, "oldest_at": None, "aside": 0, "dropped": 0})
    'spool: nothing waits'
    >>> describe_spool({"waiting": 1, "bytes": 9, "oldest_at": "2026-05-01", "aside": 0, "dropped": 0})
    'spool: 1 call waits (9 bytes, the oldest since 2026-05-01)'
    """
    words = "nothing waits"
    if report["waiting"]:
        words = "1 call waits" if report["waiting"] == 1 else f"{report['waiting']} calls wait"
        words += f" ({report['bytes']} bytes, the oldest since {report['oldest_at']})"
    if report["aside"]:
        words += f"; {report['aside']} put aside ('longtail spool show')"
    if report["dropped"]:
        words += f"; {report['dropped']} LOST because the spool was full: import the host's transcripts"
    return f"spool: {words}"


def _home() -> str:
    from models.settings import get_settings

    return str(get_settings().home)


def _open_spool() -> "Spool":
    from api.host.configuration import Configuration
    from api.host.spool import Spool

    configuration = Configuration(home=_home())
    return Spool(configuration.home, max_bytes=configuration.spool_max_bytes)


def _check_host(host: str) -> None:
    from models.errors import InvalidInput

    if host != "claude-code":
        raise InvalidInput(
            f"'{host}' is no host we can install into", remedy="use 'claude-code'; other hosts: docs/hosts"
        )


@contextmanager
def _as_ours() -> Iterator[None]:
    """A refusal becomes an error of the command line."""
    from api.host.claude_install import InstallationRefused
    from models.errors import InvalidInput

    try:
        yield
    except InstallationRefused as error:
        raise InvalidInput(str(error), remedy=error.remedy) from error


def _show(change: "Change", as_json: bool) -> None:
    if as_json:
        print(
            json.dumps(
                {"settings": str(change.settings), "action": change.action, "commands": change.commands}
            )
        )
        return
    print(DONE[change.action].format(file=change.settings))
    if change.action == "installed":
        print(
            "Remove them with 'longtail uninstall claude-code'; docs/hosts/claude-code.md says what they do."
        )
