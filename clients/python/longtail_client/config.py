"""Where the service is and which token opens it: found the same way the `longtail` command finds them."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_PORT = 8765


@dataclass(frozen=True)
class Config:
    """An address and a token."""

    url: str
    token: str | None = field(default=None, repr=False)
    home: Path = field(default_factory=lambda: find_home(os.environ))


def find_home(env: Mapping[str, str]) -> Path:
    """LONGTAIL_HOME, else the user's data folder.

    >>> find_home({"XDG_DATA_HOME": "/data"}).as_posix()
    '/data/longtail'
    """
    if env.get("LONGTAIL_HOME"):
        return Path(env["LONGTAIL_HOME"])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "longtail"
    data = env.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "longtail"


def find_config(
    *, url: str | None = None, token: str | None = None, env: Mapping[str, str] | None = None
) -> Config:
    """What was given, else the variables, else what `longtail up` left in its home, else the default port.

    Where LONGTAIL_PORT is 0 (any free port) and no stack of that home runs, the address is empty: what listens on the
    default port is somebody else's then.
    """
    env = os.environ if env is None else env
    home = find_home(env)
    port = int(env.get("LONGTAIL_PORT") or DEFAULT_PORT)
    found_url = (
        url
        or env.get("LONGTAIL_API_URL")
        or _read_running_url(home)
        or (f"http://{env.get('LONGTAIL_HOST') or '127.0.0.1'}:{port}" if port else "")
    )
    found_token = token or env.get("LONGTAIL_TOKEN") or _read_text(home / "token")
    return Config(url=found_url.rstrip("/"), token=found_token or None, home=home)


def _read_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:  # not there, or not ours to read: the server will say that a token is needed
        return None


def _read_running_url(home: Path) -> str | None:
    written = _read_text(home / "run" / "state.json")
    try:
        found = json.loads(written or "{}").get("api_url")
    except (ValueError, AttributeError):  # half a file: `longtail up` is writing it
        return None
    return found if isinstance(found, str) else None
