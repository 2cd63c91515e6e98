"""Listening sockets that outlive the API: the supervisor keeps a copy, so that connections wait through a restart.

The API opens its sockets as ever and hands each over under a name; when it starts again it asks for them first. Both
sides speak datagrams on a unix socket beside the supervisor's own, which only its owner can open:

    {"keep": name, "path": …} + the socket      kept, in place of a former one of that name
    {"take": name} → {"found": true} + the socket, or {"found": false}

Standard library only: supervisord loads this.
"""

import atexit
import contextlib
import json
import os
import socket
from array import array
from pathlib import Path
from typing import Any

VARIABLE = "LONGTAIL_DOORS"  # where the keeper listens; unset where nobody keeps sockets
MESSAGE_BYTES = 4096
ANSWER_SECONDS = 2.0


class Keeper:
    """Keeps sockets for the API; supervisord's own loop calls it when something arrives."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, tuple[socket.socket, str | None]] = {}
        path.unlink(missing_ok=True)
        self._letters = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._letters.bind(str(path))
        path.chmod(0o600)
        self._letters.setblocking(False)

    def fileno(self) -> int:
        return self._letters.fileno()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def handle_read_event(self) -> None:
        """Take in or hand out one socket."""
        data, descriptors, _, sender = socket.recv_fds(self._letters, MESSAGE_BYTES, 1)
        given = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        try:
            letter = json.loads(data)
            name = str(letter.get("keep") or letter.get("take") or "")
        except (ValueError, AttributeError):
            letter, name = {}, ""
        if "keep" in letter and len(given) == 1:
            self._keep(name, given.pop(), letter.get("path"))
        elif "take" in letter and sender:
            self._hand_out(name, sender)
        for one in given:
            one.close()

    def handle_error(self) -> None:
        """A letter that cannot be read or answered is nobody's: the API then opens a socket of its own."""

    def _keep(self, name: str, given: socket.socket, path: str | None) -> None:
        former = self._kept.pop(name, None)
        if former is not None:
            former[0].close()
        self._kept[name] = (given, path)

    def _hand_out(self, name: str, sender: Any) -> None:
        kept = self._kept.get(name)
        answer = json.dumps({"found": kept is not None}).encode()
        if kept is None:
            self._letters.sendto(answer, sender)
        else:
            _send(self._letters, answer, kept[0], sender)

    def close(self) -> None:
        """The end of the stack: whoever connects from now on is refused."""
        for kept, path in self._kept.values():
            kept.close()
            if path:
                Path(path).unlink(missing_ok=True)
        self._kept.clear()
        self._letters.close()
        self._path.unlink(missing_ok=True)


class _NoMethods:
    """What supervisord offers on its own socket in our name: nothing."""


def make_keeper(supervisord: Any, path: str) -> _NoMethods:
    """Called by supervisord at its start: an entry of `[rpcinterface:…]` in its configuration."""
    keeper = Keeper(Path(path))
    supervisord.options.get_socket_map()[keeper.fileno()] = keeper
    atexit.register(keeper.close)
    return _NoMethods()


def take_socket(name: str) -> socket.socket | None:
    """The listening socket of a former process under this name, if there is a keeper and it has one."""
    address = os.environ.get(VARIABLE)
    if not address:
        return None
    own = Path(f"{address}.{os.getpid()}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as letters:
        try:
            own.unlink(missing_ok=True)
            letters.bind(str(own))
            letters.settimeout(ANSWER_SECONDS)
            letters.sendto(json.dumps({"take": name}).encode(), address)
            _, descriptors, _, _ = socket.recv_fds(letters, MESSAGE_BYTES, 1)
        except OSError:
            return None  # no keeper: a socket of our own does
        finally:
            with contextlib.suppress(OSError):
                own.unlink(missing_ok=True)
    return socket.socket(fileno=descriptors[0]) if descriptors else None


def keep_socket(name: str, listening: socket.socket, *, path: Path | None = None) -> bool:
    """Have a copy kept for the next process; returns whether somebody does."""
    address = os.environ.get(VARIABLE)
    if not address:
        return False
    letter = json.dumps({"keep": name, "path": str(path) if path else None}).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as letters:
        try:
            letters.settimeout(ANSWER_SECONDS)
            _send(letters, letter, listening, address)
        except OSError:
            return False
    return True


def _send(letters: socket.socket, letter: bytes, given: socket.socket, address: Any) -> None:
    """A letter with a socket in it; `socket.send_fds` takes an address and does not use it."""
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [given.fileno()]))
    letters.sendmsg([letter], [rights], 0, address)
