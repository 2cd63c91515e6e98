"""up, down, status, logs, doctor: the commands that look after the local stack."""

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from api.stack.home.layout import Layout
    from api.stack.interruption import StopSignals
    from api.stack.lifecycle import Started

WATCH_SECONDS = 1.0


def register(app: typer.Typer) -> None:
    """Add the commands to the root."""
    app.command()(up)
    app.command()(down)
    app.command()(status)
    app.command()(logs)
    app.command()(doctor)


def up(
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Return when everything is healthy.")
    ] = False,
    flower: Annotated[bool, typer.Option("--flower", help="Also run Flower, a view of the tasks.")] = False,
) -> None:
    """Start everything: PostgreSQL, Redis, the API, the workers. Ctrl-C stops it all."""
    from rich.console import Console

    from api.stack.interruption import StopRequested, StopSignals
    from api.stack.lifecycle import start_stack, stop_stack
    from api.stack.reports.display import StackProgress
    from api.stack.supervision.diagnosis import StartFailed
    from models.settings import get_settings

    console = Console()
    with StopSignals() as signals:
        try:
            with StackProgress(console) as progress:
                started = start_stack(get_settings(), flower=flower, report=progress.report, signals=signals)
        except StartFailed as error:
            _show_failure(error)
            raise typer.Exit(1) from None
        if started.supervisord is None:
            _show_running(console, started)
            return
        _show_status(console, started.layout)
        if detach:
            console.print("It runs in the background; [bold]longtail down[/] stops it.")
            return
        console.print("Ctrl-C stops everything.")
        try:
            code = _watch(console, started.layout, started.supervisord, signals)
            reason = "" if code == 0 else f"supervisord ended unexpectedly (code {code})"
            if code == 0:
                console.print("Stopped by another command.")
        except StopRequested:
            code, reason = 0, ""
        signals.shield()
        with StackProgress(console) as progress:
            stop_stack(started.layout, progress.report)
        if reason:
            print(
                f"error: {reason}; the parts were stopped\nwhat to do: see 'longtail logs supervisord'",
                file=sys.stderr,
            )
            raise typer.Exit(1)


def down() -> None:
    """Stop everything that 'up' started, in order."""
    from rich.console import Console

    from api.stack.interruption import StopSignals
    from api.stack.lifecycle import stop_stack
    from api.stack.reports.display import StackProgress

    console = Console()
    with StopSignals() as signals:
        signals.shield()  # half a stack is worse than either a whole one or none
        with StackProgress(console) as progress:
            stopped = stop_stack(_layout(), progress.report)
    console.print("Stopped." if stopped else "Nothing was running.")


def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Show each part: its health and version, what waits, and how long. Exits 1 when not well."""
    from api.stack.reports.status import gather_status
    from models.settings import get_settings

    report = gather_status(get_settings(), _layout())
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        from rich.console import Console

        console = Console()
        if report["parts"] or report["healthy"] or report["postgres"]["healthy"] or report["api"]["healthy"]:
            from api.stack.reports.display import render_status

            console.print(render_status(report))
        elif any(report["spool"][what] for what in ("waiting", "aside", "dropped")):
            from api.cli.hosts.host_commands import describe_spool

            console.print(describe_spool(report["spool"]), highlight=False, soft_wrap=True, markup=False)
        for problem in report["problems"]:
            console.print(f"[red]not well:[/] {problem}", highlight=False, soft_wrap=True)
        if not report["healthy"]:
            console.print("[bold]longtail up[/] starts the stack; [bold]longtail doctor[/] looks closer.")
    if not report["healthy"]:
        raise typer.Exit(1)


def logs(
    part: Annotated[
        str | None, typer.Argument(help="postgres, redis, api, worker-embed, …; all if left out.")
    ] = None,
    following: Annotated[bool, typer.Option("--follow", "-f", help="Go on as lines are written.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many lines to begin with.")] = 50,
) -> None:
    """Show what the parts wrote."""
    from api.stack.reports.logs import find_logs, follow, read_last_lines

    found = find_logs(_layout(), part)
    width = max(len(name) for name in found) if part is None else 0
    for name, path in found.items():
        for line in read_last_lines(path, lines):
            print(f"{name:<{width}} | {line}" if width else line)
    if following:
        sys.stdout.flush()
        for name, line in follow(found):
            print(f"{name:<{width}} | {line}" if width else line, flush=True)


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Look for what is wrong and say how to mend it. Exits 1 when a check fails."""
    from dataclasses import asdict

    from api.stack.reports.doctor import examine
    from models.settings import get_settings

    findings = examine(get_settings(), _layout())
    failed = any(finding.outcome == "fail" for finding in findings)
    if as_json:
        print(
            json.dumps(
                {"healthy": not failed, "findings": [asdict(finding) for finding in findings]}, indent=2
            )
        )
    else:
        from rich.console import Console

        from api.stack.reports.display import render_findings

        Console().print(render_findings(findings))
    if failed:
        raise typer.Exit(1)


def _layout() -> "Layout":
    from api.stack.home.layout import plan_layout
    from models.settings import get_settings

    settings = get_settings()
    return plan_layout(settings.home, settings.run_as)


def _show_status(console: "Console", layout: "Layout") -> None:
    from api.stack.reports.display import render_status
    from api.stack.reports.status import gather_status
    from models.settings import get_settings

    console.print(render_status(gather_status(get_settings(), layout)))


def _show_running(console: "Console", started: "Started") -> None:
    from api.stack.reports.status import ALIVE, find_inspector
    from api.stack.supervision.supervisor import Supervisor

    console.print(f"Longtail is already running: {started.state['api_url']}", highlight=False, soft_wrap=True)
    console.print(f"Inspector: {find_inspector(started.state['api_url'])}", highlight=False, soft_wrap=True)
    if started.state.get("flower_url"):
        console.print(f"Flower: {started.state['flower_url']}", highlight=False, soft_wrap=True)
    processes = Supervisor(started.layout.control_socket).processes()
    broken = [name for name, process in processes.items() if process.state not in ALIVE]
    if broken:
        console.print(
            f"[red]not well:[/] {', '.join(broken)}; see 'longtail logs {broken[0]}' and 'longtail doctor'"
        )
        raise typer.Exit(1)


def _show_failure(error: Exception) -> None:
    from api.stack.supervision.diagnosis import StartFailed

    assert isinstance(error, StartFailed)
    if error.lines:
        print(f"last lines of 'longtail logs {error.part}':", file=sys.stderr)
        for line in error.lines:
            print(f"  {line}", file=sys.stderr)
    print(f"error: {error.detail}", file=sys.stderr)
    print(f"what to do: {error.remedy}", file=sys.stderr)


def _watch(
    console: "Console", layout: "Layout", supervisord: subprocess.Popen[bytes], signals: "StopSignals"
) -> int:
    """Say when a part was restarted, until supervisord ends; its exit code."""
    from api.stack.supervision.supervisor import Supervisor
    from models.errors import TransientError

    supervisor = Supervisor(layout.control_socket)
    known = {name: process.pid for name, process in supervisor.processes().items()}
    while supervisord.poll() is None:
        signals.raise_if_asked()
        time.sleep(WATCH_SECONDS)
        try:
            processes = supervisor.processes()
        except TransientError:
            continue
        for name, process in processes.items():
            if process.pid and known.get(name) and process.pid != known[name]:
                console.print(
                    f"[yellow]{name} died and was started again[/] (process {process.pid})", highlight=False
                )
            if process.pid:
                known[name] = process.pid
    return supervisord.returncode
