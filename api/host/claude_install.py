"""Putting our hooks into Claude Code's settings file, and taking them out byte for byte.

What the file was before is kept in $LONGTAIL_HOME/hosts. If it is still as we left it, taking out puts that back; if
somebody changed it meanwhile, our hooks are cut out of what is there now.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from api.host import start
from api.host.claude_settings import UnusableSettings, add_hooks, find_commands, remove_hooks

SECONDS: Final = {"SessionStart": 10, "UserPromptSubmit": 10, "Stop": 5, "PreCompact": 5, "SessionEnd": 5}


class InstallationRefused(Exception):
    """Nothing was changed; the message says why, the remedy what to do."""

    def __init__(self, detail: str, remedy: str) -> None:
        super().__init__(detail)
        self.remedy = remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What was done to which file."""

    settings: Path
    action: str  # installed, unchanged, restored, removed, absent
    commands: dict[str, str]


def find_settings(*, is_project: bool) -> Path:
    """~/.claude/settings.json (or where CLAUDE_CONFIG_DIR points), or the one of the project we are in."""
    if is_project:
        return Path.cwd() / ".claude" / "settings.json"
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "settings.json"


def build_commands(*, home: str | None, user_id: str | None) -> dict[str, tuple[str, int]]:
    """The command of each event: this interpreter, isolated from the project the host works on."""
    options = [*(["--home", home] if home else []), *(["--user", user_id] if user_id else [])]
    program = [sys.executable, "-I", "-S", os.path.abspath(start.__file__)]
    return {
        event: (shlex.join([*program, "hook", "claude-code", event, *options]), seconds)
        for event, seconds in SECONDS.items()
    }


def install(settings: Path, home: Path, commands: dict[str, tuple[str, int]]) -> Change:
    """Add our hooks; a second time changes nothing."""
    target = Path(os.path.realpath(settings))
    before = _read(target)
    wanted = {event: command for event, (command, _) in commands.items()}
    try:
        if before is not None and find_commands(_decode(before, target)) == wanted:
            return Change(settings=settings, action="unchanged", commands=wanted)
        text = _decode(before, target) if before is not None else "{}\n"
        after = add_hooks(text, commands).encode()
        record = _Record(home, target)
        known = record.read()
        if known is None or before is None or _hash(before) != known["installed"]:
            original = remove_hooks(text).encode() if before is not None else None
        else:
            original = _original_of(known)
    except UnusableSettings as error:
        raise _refuse(target, error) from error
    made_folder = not target.parent.is_dir()
    try:
        record.write(original=original, installed=after, made_folder=made_folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, after)
    except OSError as error:
        raise _cannot_write(target, error) from error
    return Change(settings=settings, action="installed", commands=wanted)


def uninstall(settings: Path, home: Path) -> Change:
    """Take our hooks out: the file as it was where nobody changed it since, else without our hooks."""
    target = Path(os.path.realpath(settings))
    now = _read(target)
    record = _Record(home, target)
    known = record.read()
    if now is None:
        record.remove()
        return Change(settings=settings, action="absent", commands={})
    try:
        commands = find_commands(_decode(now, target))
        is_untouched = known is not None and _hash(now) == known["installed"]
        if is_untouched and known is not None:
            after, action = _original_of(known), "restored"
        elif commands:
            after, action = remove_hooks(_decode(now, target)).encode(), "removed"
        else:
            after, action = now, "absent"
    except UnusableSettings as error:
        raise _refuse(target, error) from error
    try:
        if after is None:
            target.unlink()
            if known is not None and known.get("made_folder") and not any(target.parent.iterdir()):
                target.parent.rmdir()
        elif after != now:
            _replace(target, after)
        record.remove()
    except OSError as error:
        raise _cannot_write(target, error) from error
    return Change(settings=settings, action=action, commands=commands)


class _Record:
    """What a settings file was before us."""

    def __init__(self, home: Path, target: Path) -> None:
        name = hashlib.sha256(str(target).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._path = home / "hosts" / f"claude-code-{name}.json"
        self._target = target

    def read(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self._path.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return found if isinstance(found, dict) and "installed" in found else None

    def write(self, *, original: bytes | None, installed: bytes, made_folder: bool) -> None:
        known = self.read()
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = {
            "settings": str(self._target),
            "original": None if original is None else base64.b64encode(original).decode(),
            "installed": _hash(installed),
            "made_folder": made_folder or bool(known and original is None and known.get("made_folder")),
        }
        _replace(self._path, json.dumps(state, indent=2).encode() + b"\n", mode=0o600)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


def _original_of(record: dict[str, Any]) -> bytes | None:
    found = record.get("original")
    return None if found is None else base64.b64decode(found)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InstallationRefused(
            f"{target} cannot be read: {error.strerror}",
            "give yourself permission to read it; nothing was changed",
        ) from error


def _decode(data: bytes, target: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InstallationRefused(
            f"{target} is not UTF-8: {error.reason} at byte {error.start}",
            "save it as UTF-8; nothing was changed",
        ) from error


def _refuse(target: Path, error: UnusableSettings) -> InstallationRefused:
    return InstallationRefused(
        f"{target} is not a settings file we can add to: {error}",
        "mend it, then try again; nothing was changed",
    )


def _cannot_write(target: Path, error: OSError) -> InstallationRefused:
    where = error.filename or target
    return InstallationRefused(
        f"cannot write {where}: {error.strerror}", "give yourself write permission there"
    )


def _replace(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write the file in one step; a new one is private, an old one keeps its mode."""
    if mode is None:
        mode = path.stat().st_mode & 0o7777 if path.exists() else 0o600
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
