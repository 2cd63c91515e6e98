"""supervisord: its configuration, its start, and the questions we put to it over its socket."""

import http.client
import os
import shlex
import socket
import subprocess
import sys
import time
import xmlrpc.client
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.stack.home.layout import Layout
from api.stack.supervision.parts import IN_START_ORDER, Part, inherited_environment
from models.errors import Misconfigured, TransientError

IDENTITY = "longtail"
GUARDIAN = "api.stack.supervision.guardian"
START_RETRIES = 1_000_000_000  # a part is never given up; `steady` bounds the pauses
START_SECONDS_MAX = 20.0
LOG_BYTES_MAX = "10MB"
LOG_BACKUPS = 3

HEADER = """\
; Written by `longtail up`; changes here are lost.
[unix_http_server]
file={socket}
chmod=0600

[supervisord]
identifier={identity}
nodaemon=true
silent=true
logfile={logs}/supervisord.log
logfile_maxbytes={log_bytes}
logfile_backups={log_backups}
pidfile={run}/supervisord.pid
childlogdir={logs}
directory={home}
umask=077
minprocs=64
{user}
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface

[rpcinterface:doors]
supervisor.rpcinterface_factory = api.stack.sockets.doors:make_keeper
path={doors}
"""

PROGRAM = """
[program:{name}]
command={command}
directory={folder}
environment={environment}
{user}autostart={autostart}
autorestart=true
startsecs={start_seconds}
startretries={retries}
stopsignal={stop_signal}
stopwaitsecs={stop_wait_seconds}
killasgroup=true
umask=077
priority={priority}
redirect_stderr=true
stdout_logfile={log}
stdout_logfile_maxbytes={log_bytes}
stdout_logfile_backups={log_backups}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessState:
    """One part as supervisord sees it now."""

    name: str
    state: str  # STOPPED STARTING RUNNING BACKOFF STOPPING EXITED FATAL UNKNOWN
    pid: int
    started_at: int
    stopped_at: int
    now: int
    problem: str

    @property
    def uptime_seconds(self) -> int:
        return max(0, self.now - self.started_at) if self.pid else 0


def render_configuration(layout: Layout, parts: list[Part]) -> str:
    """The file supervisord reads; parts stop in the reverse of the order given."""
    text = HEADER.format(
        socket=_escape(str(layout.control_socket)),
        identity=IDENTITY,
        doors=_escape(str(layout.doors_socket)),
        logs=_escape(str(layout.logs)),
        run=_escape(str(layout.run)),
        home=_escape(str(layout.home)),
        log_bytes=LOG_BYTES_MAX,
        log_backups=LOG_BACKUPS,
        user="user=root\n" if layout.operator.uid == 0 else "",
    )
    return text + "".join(render_part(layout, part, position) for position, part in enumerate(parts))


def render_part(layout: Layout, part: Part, position: int) -> str:
    """One part's section of that file; those with a higher position stop first."""
    return PROGRAM.format(
        name=part.name,
        command=_escape(shlex.join(part.command)),
        folder=_escape(str(part.folder)),
        environment=_render_environment(part.environment),
        user=f"user={part.user}\n" if part.user else "",
        autostart=str(part.autostart).lower(),
        start_seconds=part.start_seconds,
        retries=START_RETRIES,
        stop_signal=part.stop_signal,
        stop_wait_seconds=part.stop_wait_seconds,
        priority=(position + 1) * 10,
        log=_escape(str(layout.log_file(part.name))),
        log_bytes=LOG_BYTES_MAX,
        log_backups=LOG_BACKUPS,
    )


def _escape(text: str) -> str:
    """Text that supervisord reads back unchanged: it expands %, and takes ' ;' and ' #' for comments."""
    if "\n" in text or " ;" in text or " #" in text:
        raise Misconfigured(
            f"{text!r} cannot be written into supervisord's configuration",
            remedy="use paths and addresses without line breaks, ' ;' and ' #'",
        )
    return text.replace("%", "%%")


def _render_environment(environment: dict[str, str]) -> str:
    # its reader knows no escapes inside quotes, and strips quotes of both kinds from the ends
    for name, value in environment.items():
        if '"' in value or value.strip("'") != value:
            raise Misconfigured(
                f"{name} holds a quotation mark", field=name, remedy="percent-encode it (%22) in addresses"
            )
    return ",".join(f'{name}="{_escape(value)}"' for name, value in environment.items())


def start_supervisord(layout: Layout) -> subprocess.Popen[bytes]:
    """Start it and its guardian in a session of their own, so that neither Ctrl-C nor a closed terminal reaches the parts.

    Returns the guardian, which ends with it.
    """
    with open(layout.log_file("supervisord-output"), "wb") as output:
        os.fchmod(output.fileno(), 0o600)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", GUARDIAN, str(layout.supervisor_conf)],
            env={**inherited_environment(os.environ), "LONGTAIL_HOME": str(layout.home)},
            cwd=layout.home,
            umask=0o077,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    await_supervisord(layout, process)
    return process


def await_supervisord(layout: Layout, process: subprocess.Popen[bytes]) -> None:
    """Wait until it answers; Misconfigured, and the process ended, where it does not."""
    supervisor = Supervisor(layout.control_socket)
    deadline = time.monotonic() + START_SECONDS_MAX
    while not supervisor.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise Misconfigured(
                f"supervisord did not start: {_read_complaint(layout.log_file('supervisord-output'))}",
                remedy=f"see {layout.log_file('supervisord')}",
            )
        time.sleep(0.05)


def _read_complaint(path: Path) -> str:
    lines = path.read_text(errors="replace").strip().splitlines()
    return next(
        (line for line in lines if line.startswith("Error")), lines[-1] if lines else "it gave no reason"
    )


class Supervisor:
    """A conversation with the stack's supervisord; each call is one request."""

    def __init__(self, control_socket: Path, *, timeout_seconds: float = 5.0) -> None:
        self._socket = control_socket
        self._timeout_seconds = timeout_seconds

    def answers(self) -> bool:
        """Whether our supervisord is there."""
        try:
            return bool(self._call("getIdentification") == IDENTITY)
        except TransientError:
            return False

    def pid(self) -> int:
        return int(self._call("getPID"))

    def processes(self) -> dict[str, ProcessState]:
        """Every part by name, in start order."""
        found = {
            info["name"]: ProcessState(
                name=info["name"],
                state=info["statename"],
                pid=info["pid"],
                started_at=info["start"],
                stopped_at=info["stop"],
                now=info["now"],
                problem=info["spawnerr"],
            )
            for info in self._call("getAllProcessInfo")
        }
        return {name: found[name] for name in IN_START_ORDER if name in found}

    def start(self, part: str) -> None:
        """Ask for the part to be started, without waiting; one that runs already is left alone."""
        self._call("startProcess", part, False, tolerate=("ALREADY_STARTED",))

    def add(self, part: str) -> None:
        """Take in a part that was written into the configuration since; those that run are left alone."""
        self._call("reloadConfig")
        self._call("addProcessGroup", part, tolerate=("ALREADY_ADDED",))

    def stop(self, part: str) -> None:
        """Ask for the part to be stopped, without waiting."""
        self._call("stopProcess", part, False, tolerate=("NOT_RUNNING",))

    def shutdown(self) -> None:
        """Ask supervisord to stop what still runs, last part first, and to leave."""
        self._call("shutdown", tolerate=("SHUTDOWN_STATE",))

    def _call(self, method: str, *arguments: Any, tolerate: tuple[str, ...] = ()) -> Any:
        transport = _UnixTransport(self._socket, self._timeout_seconds)
        proxy = xmlrpc.client.ServerProxy("http://localhost", transport=transport, allow_none=True)
        try:
            with proxy:
                return getattr(proxy.supervisor, method)(*arguments)
        except xmlrpc.client.Fault as fault:
            if fault.faultString.partition(":")[0] in tolerate:
                return None
            raise TransientError(
                f"supervisord refused {method}{arguments}: {fault.faultString}",
                remedy="see 'longtail logs supervisord'",
            ) from fault
        except (OSError, http.client.HTTPException, xmlrpc.client.ProtocolError) as error:
            raise TransientError(
                f"supervisord does not answer on {self._socket}: {error}",
                remedy="start the stack with 'longtail up'",
            ) from error


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout_seconds: float) -> None:
        super().__init__("localhost", timeout=timeout_seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class _UnixTransport(xmlrpc.client.Transport):
    def __init__(self, path: Path, timeout_seconds: float) -> None:
        super().__init__()
        self._path = path
        self._timeout_seconds = timeout_seconds

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        connection = _UnixConnection(self._path, self._timeout_seconds)
        self._connection = (host, connection)  # what close() closes
        return connection
