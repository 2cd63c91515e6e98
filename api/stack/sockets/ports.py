"""TCP ports on the loopback: a free one, the same one next time, and who sits on one that is taken."""

import json
import socket
from pathlib import Path

from api.stack.home.files import write_file
from models.errors import Misconfigured


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    with socket.socket(_family(host), socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def find_free(host: str = "127.0.0.1") -> int:
    """A port nobody listens on, chosen by the kernel."""
    with socket.socket(_family(host), socket.SOCK_STREAM) as probe:
        try:
            probe.bind((host, 0))
        except OSError as error:
            raise Misconfigured(
                f"cannot listen on {host!r}: {error.strerror or error}",
                field="host",
                remedy="set LONGTAIL_HOST to an address of this machine, such as 127.0.0.1",
            ) from error
        port: int = probe.getsockname()[1]
        return port


def local_url(host: str, port: int) -> str:
    """Where a client on this machine finds an HTTP server that listens on `host`.

    >>> local_url("0.0.0.0", 80), local_url("::", 80), local_url("10.1.2.3", 80)
    ('http://127.0.0.1:80', 'http://[::1]:80', 'http://10.1.2.3:80')
    """
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    return f"http://{f'[{reachable}]' if ':' in reachable else reachable}:{port}"


def describe_holder(port: int) -> str:
    """Who listens on the port, as far as this user may see: 'nginx, process 812'."""
    import psutil

    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return "a process that this user may not look at"
    for connection in connections:
        listens = connection.status == psutil.CONN_LISTEN
        if listens and connection.laddr and connection.laddr.port == port and connection.pid:
            try:
                return f"{psutil.Process(connection.pid).name()}, process {connection.pid}"
            except psutil.Error:
                return f"process {connection.pid}"
    return "a process that this user may not look at"


def claim_port(file: Path, purpose: str, *, host: str = "127.0.0.1", wanted: int = 0) -> int:
    """The port for `purpose`: the wanted one; else last time's while it is free; else a new one."""
    if wanted:
        if not is_free(wanted, host):
            find_free(host)  # a bad LONGTAIL_HOST is another mistake than a taken port
            raise Misconfigured(
                f"port {wanted} on {host} is taken by {describe_holder(wanted)}",
                code="port_taken",
                field="port",
                remedy="stop that process, choose another port, or set LONGTAIL_PORT=0 for any free one",
            )
        return wanted
    remembered = _read(file)
    port = remembered.get(purpose, 0)
    if not port or not is_free(port, host):
        port = find_free(host)
    if remembered.get(purpose) != port:
        write_file(file, json.dumps({**remembered, purpose: port}) + "\n")
    return port


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _read(file: Path) -> dict[str, int]:
    try:
        loaded = json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return {name: port for name, port in loaded.items() if isinstance(port, int) and 0 < port < 65536}
