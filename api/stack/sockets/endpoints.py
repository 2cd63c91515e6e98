"""Where the line server listens: `unix`, `unix:/path`, `daemon`, `tcp:127.0.0.1:port`, `open-tcp:127.0.0.1:port`, or
several with commas between."""

import contextlib
import ipaddress
import json
import os
import socket
import stat
from dataclasses import dataclass
from pathlib import Path

from api.stack.home.layout import SOCKET_PATH_BYTES_MAX, find_control_socket
from models.errors import Misconfigured

SOCKET_NAME = "rpc.sock"
ENDPOINTS_FILE = "rpc.json"  # in the home's run folder: where the server of this home listens
REMEDY = (
    "set LONGTAIL_RPC_LISTEN to off, unix, unix:/path, daemon, tcp:127.0.0.1:port, open-tcp:127.0.0.1:port, "
    "or several of them with commas"
)
DAEMON_SOCKET = "~/.clawdb/run/libravdb.sock"  # where clients of the older daemon look when nobody tells them
BACKLOG = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One address; a unix socket vouches for its callers by its mode, TCP for nobody unless the operator says so."""

    path: Path | None = None
    host: str = ""
    port: int = 0
    is_open: bool = False  # TCP whose every caller on this machine is taken for the owner

    @property
    def is_unix(self) -> bool:
        return self.path is not None

    @property
    def vouches(self) -> bool:
        """Whether whoever comes in here is the home's own."""
        return self.is_unix or self.is_open

    def __str__(self) -> str:
        if self.path is not None:
            return f"unix:{self.path}"
        return f"tcp:[{self.host}]:{self.port}" if ":" in self.host else f"tcp:{self.host}:{self.port}"


def read_endpoints(text: str, *, home: Path) -> list[Endpoint]:
    """The endpoints a setting names; one that is not on loopback is refused.

    >>> [str(one) for one in read_endpoints("unix:/run/a.sock, tcp:127.0.0.1:37421", home=Path("/h"))]
    ['unix:/run/a.sock', 'tcp:127.0.0.1:37421']
    >>> [one.vouches for one in read_endpoints("daemon, tcp:[::1]:1, open-tcp:[::1]:2", home=Path("/h"))]
    [True, False, True]
    >>> read_endpoints("off", home=Path("/h"))
    []
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return [] if parts in ([], ["off"]) else [_read_endpoint(part, home) for part in parts]


def _read_endpoint(text: str, home: Path) -> Endpoint:
    if text == "daemon":
        text = f"unix:{DAEMON_SOCKET}"
    scheme, _, rest = text.partition(":")
    if scheme == "unix":
        # Beside supervisord's socket, whose folder is private and whose path is short enough.
        path = Path(rest).expanduser() if rest else find_control_socket(home).with_name(SOCKET_NAME)
        if not path.is_absolute() or len(os.fsencode(path)) + len(".4194304") > SOCKET_PATH_BYTES_MAX:
            raise Misconfigured(
                f"{text!r} is no place for a socket: its path must be absolute and shorter",
                field="rpc_listen",
                remedy=REMEDY,
            )
        return Endpoint(path=path)
    host, _, port = rest.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if scheme not in ("tcp", "open-tcp") or not port.isdecimal() or not int(port) <= 65535:
        raise Misconfigured(f"{text!r} is no endpoint", field="rpc_listen", remedy=REMEDY)
    if host != "localhost" and not _is_loopback(host):
        raise Misconfigured(
            f"{text!r} is not on loopback: lines are not encrypted", field="rpc_listen", remedy=REMEDY
        )
    host = "127.0.0.1" if host == "localhost" else host
    return Endpoint(host=host, port=int(port), is_open=scheme == "open-tcp")


def find_endpoints(home: Path) -> list[str]:
    """Where the server of this home says it listens."""
    try:
        found: list[str] = json.loads((home / "run" / ENDPOINTS_FILE).read_text())["endpoints"]
    except (OSError, ValueError, KeyError):
        return []
    return found


def is_answered(endpoint: str) -> bool:
    """Whether somebody listens where an endpoint of `find_endpoints` points."""
    scheme, _, rest = endpoint.partition(":")
    host, _, port = rest.rpartition(":")
    address = rest if scheme == "unix" else (host.strip("[]"), int(port))
    family = socket.AF_UNIX if scheme == "unix" else socket.AF_INET6 if "[" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(address)
        except OSError:
            return False
        return True


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_socket(endpoint: Endpoint) -> socket.socket:
    """A listening socket; a unix one is its owner's alone from the first moment on. Raises OSError."""
    if endpoint.path is None:
        family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((endpoint.host, endpoint.port))
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
        return listening
    return _open_unix(endpoint.path)


def _open_unix(path: Path) -> socket.socket:
    if _is_taken(path):
        raise OSError(f"somebody listens on {path} already")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
        listening.bind(str(unfinished))
        unfinished.chmod(0o600)  # before anybody can connect: it does not listen yet
        listening.listen(BACKLOG)
        unfinished.replace(path)  # also over one that a crash left
    except OSError:
        listening.close()
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
        raise
    return listening


def _is_taken(path: Path) -> bool:
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise OSError(f"{path} is there and is no socket")
    except FileNotFoundError:
        return False
    return is_answered(f"unix:{path}")


def remove_socket(endpoint: Endpoint, listening_inode: int) -> None:
    """Take our socket's file away, unless somebody else's is there by now."""
    if endpoint.path is None:
        return
    with contextlib.suppress(FileNotFoundError):
        if endpoint.path.lstat().st_ino == listening_inode:
            endpoint.path.unlink()
