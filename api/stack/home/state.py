"""What a healthy start wrote down for every later command: run/state.json, private, replaced as a whole."""

import json
from typing import Any

from api.stack.home.files import write_file
from api.stack.home.layout import Layout


def read_state(layout: Layout) -> dict[str, Any]:
    """The state of the last start that was not stopped, or {}; says nothing on whether it still runs."""
    try:
        loaded = json.loads(layout.state_file.read_text())
    except (OSError, json.JSONDecodeError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def write_state(layout: Layout, state: dict[str, Any]) -> None:
    """Publish the addresses; from now on other commands find the stack."""
    write_file(layout.state_file, json.dumps(state, indent=2) + "\n")


def clear_state(layout: Layout) -> None:
    """Forget the addresses; the stack no longer answers there."""
    for file in (layout.state_file, layout.run / "supervisord.pid", layout.control_socket):
        file.unlink(missing_ok=True)
