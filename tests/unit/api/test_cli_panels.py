"""Claims about `longtail --help`: each command stands under one heading, and no heading names what is gone."""

import typer

from api.cli.app import app, register_commands
from api.cli.panels import PANELS, arrange, name_command


def test_every_command_stands_under_one_heading_and_every_heading_names_commands_that_are() -> None:
    register_commands()
    there = {name_command(command) for command in app.registered_commands}
    there |= {group.name for group in app.registered_groups if group.name}
    named = [name for names in PANELS.values() for name in names]
    assert sorted(named) == sorted(there)


def test_a_command_without_a_heading_comes_last_and_keeps_its_help() -> None:
    small = typer.Typer()
    for name in ("unheard-of", "status", "up"):
        small.command(name)(lambda: None)
    arrange(small)
    assert [(command.name, command.rich_help_panel) for command in small.registered_commands] == [
        ("up", "Start and look"),
        ("status", "Start and look"),
        ("unheard-of", None),
    ]
