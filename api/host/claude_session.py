"""What one session of Claude Code shows its model already: turns by their ids, and which rules it was given.

A small file a session in $LONGTAIL_HOME/spool/sessions. Losing one costs nothing but a repetition.
"""

from __future__ import annotations

import os
import time
from binascii import crc32

from api.host.quick_json import MalformedJson, dump, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_IDS = 200  # the newest turns of a session; older ones may be recalled again
MAX_AGE_SECONDS = 30 * 24 * 3600
SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


class ShownSession:
    """Reads its file once and replaces it with every change."""

    def __init__(self, home: str, session_id: str) -> None:
        self.session_id = session_id
        self._folder = os.path.join(home, "spool", "sessions")
        self._path = os.path.join(self._folder, name_file(session_id))
        self._state = self._read()

    def shown_ids(self) -> list[str]:
        """Ids of turns that the host shows."""
        ids = self._state.get("ids")
        return [id for id in ids if isinstance(id, str)] if isinstance(ids, list) else []

    def newest_prompt_id(self) -> str | None:
        """The prompt that the newest answer belongs to, where the host does not say."""
        prompts = [id for id in self.shown_ids() if id.endswith(":user")]
        return prompts[-1].removesuffix(":user") if prompts else None

    def show(self, ids: list[str]) -> None:
        """From now on the host shows these, too."""
        known = self.shown_ids()
        self._state["ids"] = [*known, *(id for id in ids if id not in known)][-MAX_IDS:]
        self._write()

    def forget_what_is_shown(self) -> None:
        """A new beginning, or a compaction: nothing said before is shown any more."""
        self._remove_old_files()
        self._state = {}
        self._write()

    def has_rules(self, parts: list[dict[str, Any]]) -> bool:
        """Whether the model was given exactly these rules in this session."""
        given = self._state.get("rules")
        return given is not None and given == _hash_rules(parts)

    def remember_rules(self, parts: list[dict[str, Any]]) -> None:
        """The model has these rules now."""
        rules = _hash_rules(parts)
        if rules is not None and rules != self._state.get("rules"):
            self._state["rules"] = rules
            self._write()

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._path, encoding="ascii", errors="replace") as file:
                state = parse(file.read())
        except (OSError, MalformedJson):
            return {}
        return state if isinstance(state, dict) else {}

    def _write(self) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        fresh = f"{self._path}.{os.getpid()}"
        descriptor = os.open(
            fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            os.write(descriptor, dump(self._state).encode("ascii"))
        finally:
            os.close(descriptor)
        os.replace(fresh, self._path)

    def _remove_old_files(self) -> None:
        if not os.path.isdir(self._folder):
            return
        oldest = time.time() - MAX_AGE_SECONDS
        with os.scandir(self._folder) as entries:
            old = [entry.path for entry in entries if entry.stat(follow_symlinks=False).st_mtime < oldest]
        for path in old:
            os.unlink(path)


def name_file(session_id: str) -> str:
    """A file name for any session id.

    >>> name_file("a/b")
    'a_b-07f4401c.json'
    """
    words = "".join(character if character in SAFE else "_" for character in session_id[:64])
    return f"{words}-{crc32(session_id.encode('utf-8', 'replace')):08x}.json"


def _hash_rules(parts: list[dict[str, Any]]) -> str | None:
    return next((str(part.get("sha256")) for part in parts if part.get("section") == "authored"), None)
