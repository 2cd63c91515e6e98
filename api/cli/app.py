"""The root of the command line: it gathers the command groups and turns errors into words and exit codes.

Exit codes: 0 well, 1 the thing asked about is not well, 2 wrong use or configuration, 130 interrupted.
"""

import sys

import typer

from api.cli.hosts import audit_commands, gateway_commands, host_commands, import_commands
from api.cli.memory import (
    browse_commands,
    document_commands,
    durable_commands,
    erase_commands,
    explain_commands,
    history_commands,
    memory_commands,
    secret_commands,
    transfer_commands,
    watch_commands,
)
from api.cli.panels import arrange
from api.cli.stack import (
    backup_commands,
    calibrate_commands,
    dead_letter_commands,
    reembed_commands,
    report_commands,
    stack_commands,
    token_commands,
)

app = typer.Typer(
    name="longtail",
    help="A self-hosted memory for long-running agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    """A self-hosted memory for long-running agents."""
    if version:
        from api.version import find_version

        typer.echo(f"longtail {find_version()}")
        raise typer.Exit


def register_commands() -> None:
    """Add every command group of this installation."""
    from importlib import import_module

    stack_commands.register(app)
    memory_commands.register(app)
    history_commands.register(app)
    durable_commands.register(app)
    browse_commands.register(app)
    dead_letter_commands.register(app)
    explain_commands.register(app)
    document_commands.register(app)
    calibrate_commands.register(app)
    transfer_commands.register(app)
    erase_commands.register(app)
    backup_commands.register(app)
    reembed_commands.register(app)
    host_commands.register(app)
    import_commands.register(app)
    audit_commands.register(app)
    token_commands.register(app)
    watch_commands.register(app)
    report_commands.register(app)
    secret_commands.register(app)
    gateway_commands.register(app)
    # By name: the command line offers the benchmarks, but nothing of the service rests on them.
    app.add_typer(import_module("bench.commands").bench, name="bench")
    arrange(app)


def run() -> int:
    """Run the command line; return the exit code where it does not end the process itself."""
    from models.errors import ServiceError
    from models.loading import end_loading

    register_commands()
    end_loading()
    try:
        app()
    except ServiceError as error:
        _explain(error.detail, error.remedy)
    except OSError as error:
        if error.filename is None:  # no file that somebody named, but a fault of ours
            raise
        _explain(f"{error.filename}: {error.strerror}", "check the path and its permissions")
    except ValueError as error:
        from pydantic import ValidationError

        if not isinstance(error, ValidationError):
            raise
        for wrong in error.errors():
            if not wrong["loc"]:  # about several at once; their input is all of the settings, secrets too
                _explain(wrong["msg"], None)
                continue
            name = "LONGTAIL_" + "_".join(str(part) for part in wrong["loc"]).upper()
            _explain(
                f"{name} is {wrong['input']!r}: {wrong['msg']}", f"set {name} to a fitting value, or unset it"
            )
    return 2


def _explain(detail: str, remedy: str | None) -> None:
    print(f"error: {detail}", file=sys.stderr)
    if remedy:
        from api.cli.wording import in_commands

        print(f"what to do: {in_commands(remedy)}", file=sys.stderr)
