"""Under which heading of `longtail --help` each command stands; the everyday ones come first."""

from typing import Final

import typer

PANELS: Final = {
    "Start and look": ("up", "down", "status", "logs", "doctor", "demo"),
    "Turns and prompts": ("ingest", "assemble", "search", "explain", "history", "grep", "sessions"),
    "What is remembered": (
        *("memories", "guidance", "profile", "docs", "watch", "remember", "namespaces", "journal"),
        *("flush", "erase", "erasures"),
    ),
    "Long sessions": ("compact", "expand", "lineage"),
    "Hosts and other memories": ("install", "uninstall", "mcp", "proxy", "spool", "import", "audit"),
    "Operation": (
        *("backup", "restore", "export", "reembed", "token", "tenant", "report", "calibrate"),
        *("dead-letters", "secrets", "bench"),
    ),
}


def arrange(app: typer.Typer) -> None:
    """Give every command its heading, and put the commands of a heading into the order above."""
    panel_of = {name: panel for panel, names in PANELS.items() for name in names}
    place = {name: index for index, name in enumerate(panel_of)}
    for command in app.registered_commands:
        command.rich_help_panel = panel_of.get(name_command(command))
    for group in app.registered_groups:
        group.rich_help_panel = panel_of.get(group.name or "")
    app.registered_commands.sort(key=lambda command: place.get(name_command(command), len(place)))
    app.registered_groups.sort(key=lambda group: place.get(group.name or "", len(place)))


def name_command(command: typer.models.CommandInfo) -> str:
    """What is typed: its own name, else its function's."""
    return command.name or (command.callback.__name__.replace("_", "-") if command.callback else "")
