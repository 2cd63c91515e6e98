"""What a hook must know before it can act, from its arguments, LONGTAIL_* variables and the running stack's state file.

The same answers as `models.settings` gives, without the libraries that takes.
"""

import os
import sys

from api.host.quick_json import MalformedJson, parse

DEFAULT_URL = "http://127.0.0.1:8765"
DEADLINE_MS = 2000  # that a prompt may wait for memory
SEND_MS = 500  # that an event may take which only leaves something behind
BUDGET_TOKENS = 2400  # 9,600 characters: Claude Code shows 10,000
SPOOL_MAX_BYTES = 64 * 1024 * 1024


class Configuration:
    """One hook's surroundings."""

    __slots__ = ("budget_tokens", "deadline_ms", "home", "send_ms", "spool_max_bytes", "user_id")

    def __init__(self, *, home: str | None = None, user_id: str | None = None) -> None:
        self.home = os.path.realpath(
            os.path.expanduser(home or os.environ.get("LONGTAIL_HOME") or default_home())
        )
        self.user_id = user_id or find_user()
        self.deadline_ms = _read_number("LONGTAIL_HOOK_DEADLINE_MS", DEADLINE_MS)
        self.send_ms = _read_number("LONGTAIL_HOOK_SEND_MS", SEND_MS)
        self.budget_tokens = _read_number("LONGTAIL_HOOK_BUDGET_TOKENS", BUDGET_TOKENS)
        self.spool_max_bytes = _read_number("LONGTAIL_SPOOL_MAX_BYTES", SPOOL_MAX_BYTES)

    def api_url(self) -> str:
        """LONGTAIL_API_URL, else where the running stack says it listens, else the port that is set, else the default one.

        Empty where any free port was asked for and no stack of this home runs: another's service is no place to send to.
        """
        given = os.environ.get("LONGTAIL_API_URL") or self._read_state().get("api_url")
        if not given:
            port, host = os.environ.get("LONGTAIL_PORT"), os.environ.get("LONGTAIL_HOST") or "127.0.0.1"
            given = "" if port == "0" else f"http://{host}:{port}" if port else DEFAULT_URL
        return str(given).rstrip("/")

    def token(self) -> str | None:
        """LONGTAIL_TOKEN, else the token file."""
        given = os.environ.get("LONGTAIL_TOKEN")
        if given:
            return given
        try:
            with open(os.path.join(self.home, "token"), encoding="ascii", errors="ignore") as file:
                return file.read().strip() or None
        except OSError:
            return None

    def _read_state(self) -> dict[str, object]:
        try:
            with open(os.path.join(self.home, "run", "state.json"), encoding="utf-8") as file:
                state = parse(file.read())
        except (OSError, UnicodeDecodeError, MalformedJson):
            return {}
        return state if isinstance(state, dict) else {}


def default_home() -> str:
    """The user's data folder, as `models.settings.default_home` has it."""
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/longtail")
    base = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
    return os.path.join(base, "longtail")


def find_user() -> str:
    """Whose memory it is on this machine: LONGTAIL_USER_ID, else the login name."""
    return (
        os.environ.get("LONGTAIL_USER_ID")
        or os.environ.get("USER")
        or os.environ.get("LOGNAME")
        or f"uid-{os.getuid()}"
    )


def _read_number(name: str, default: int) -> int:
    given = os.environ.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and int(given) > 0 else default
