"""A systemd user unit: the stack starts with the machine and comes back when it falls."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from api.stack.home.files import write_file
from models.errors import Misconfigured

NAME = "longtail.service"
MARK = "# written by 'longtail install service'"
PREFIX: Final = "LONGTAIL_"
SECRETS: Final = frozenset({"token", "summarizer_api_key"})
ADDRESSES: Final = ("_url", "_endpoint")  # which may hold a password, as a user's or as a parameter


def find_unit() -> Path:
    """Where systemd looks for a user's own units: $XDG_CONFIG_HOME, else ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "systemd" / "user" / NAME


def is_secret(name: str, value: str) -> bool:
    """Whether a setting must not stand in a unit, which every account of the machine may read.

    >>> is_secret("token", "abc"), is_secret("port", "8765")
    (True, False)
    >>> is_secret("redis_url", "redis://:secret@cache/0"), is_secret("redis_url", "redis://cache/0")
    (True, False)
    """
    return name in SECRETS or (
        name.endswith(ADDRESSES) and any(sign in value for sign in ("@", "?", "password"))
    )


def read_environment(environment: Mapping[str, str], home: Path) -> tuple[dict[str, str], list[str]]:
    """The variables of ours that are set, for the unit, and the names of those that hold a secret."""
    from models.settings import Settings

    known = {f"{PREFIX}{name}".upper(): name for name in Settings.model_fields} | {
        "LONGTAIL_SECRETS_DIR": "secrets_dir"
    }
    found = {key: value for key, value in sorted(environment.items()) if value and key in known}
    hidden = [key for key, value in found.items() if is_secret(known[key], value)]
    written = {key: value for key, value in found.items() if key not in hidden}
    if "LONGTAIL_HOME" in written:
        written["LONGTAIL_HOME"] = str(home)
    return written, hidden


def render_unit(*, command: Path, variables: Mapping[str, str]) -> str:
    """The unit's text, with the settings that are not the defaults."""
    settings = [f'Environment="{key}={_escape(value)}"' for key, value in variables.items()]
    lines = [
        MARK,
        "[Unit]",
        "Description=Longtail, a memory for long-running agents",
        "",
        "[Service]",
        f'ExecStart="{_escape(command)}" up',
        *settings,
        "Restart=on-failure",
        "RestartSec=5",
        "KillMode=mixed",
        "TimeoutStopSec=180",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines) + "\n"


def install_unit(variables: Mapping[str, str]) -> Path:
    """Write the unit, with these settings; one that somebody else wrote is left alone."""
    path = find_unit()
    if path.exists() and not path.read_text().startswith(MARK):
        raise Misconfigured(
            f"{path} is not ours", remedy="move it away, or keep it and start 'longtail up' there"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, render_unit(command=_find_command(), variables=variables), mode=0o644)
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


def _escape(value: Path | str) -> str:
    quoted = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return quoted.replace("\n", "\\n")
