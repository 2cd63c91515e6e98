"""A systemd user unit: the stack starts with the machine and comes back when it falls."""

import os
import shutil
import sys
from pathlib import Path

from api.stack.home.files import write_file
from models.errors import Misconfigured

NAME = "longtail.service"
MARK = "# written by 'longtail install service'"


def find_unit() -> Path:
    """Where systemd looks for a user's own units: $XDG_CONFIG_HOME, else ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "systemd" / "user" / NAME


def render_unit(*, command: Path, home: Path | None) -> str:
    """The unit's text; `home` is written down where it is not the default."""
    at_home = [f'Environment="LONGTAIL_HOME={_escape(home)}"'] if home else []
    lines = [
        MARK,
        "[Unit]",
        "Description=Longtail, a memory for long-running agents",
        "",
        "[Service]",
        f'ExecStart="{_escape(command)}" up',
        *at_home,
        "Restart=on-failure",
        "RestartSec=5",
        "KillMode=mixed",
        "TimeoutStopSec=180",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines) + "\n"


def install_unit(home: Path | None) -> Path:
    """Write the unit; one that somebody else wrote is left alone."""
    path = find_unit()
    if path.exists() and not path.read_text().startswith(MARK):
        raise Misconfigured(
            f"{path} is not ours", remedy="move it away, or keep it and start 'longtail up' there"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, render_unit(command=_find_command(), home=home), mode=0o644)
    return path


def uninstall_unit() -> Path | None:
    """Remove what `install_unit` wrote; None where there is nothing of ours."""
    path = find_unit()
    if not path.exists() or not path.read_text().startswith(MARK):
        return None
    path.unlink()
    return path


def _find_command() -> Path:
    """The `longtail` of this environment."""
    beside = Path(sys.executable).with_name("longtail")
    found = beside if beside.exists() else Path(shutil.which("longtail") or beside)
    return found.absolute()


def _escape(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
