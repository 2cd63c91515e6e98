"""Where everything lies. Decided from the home folder alone, so every command finds the same places.

home/                    0700 (0711 where root starts servers under another account: they pass through)
  token  postgres.password  ports.json                      0600
  run/     supervisord.conf  state.json  up.lock  supervisor.sock  doors.sock
  logs/    one file a part, rotated
servers/                 home itself, or /var/lib/longtail/<hash of home> where the servers cannot enter home
  postgres/  configuration; data/ belongs to the service account, 0700
  redis/     likewise
  sockets/   belongs to the service account, 0700
  binaries/  copies of the servers, where the service account cannot read the installed ones
"""

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from api.stack.home.accounts import Account, can_enter, find_operator, find_service_account
from api.stack.home.files import make_folder
from models.errors import Misconfigured

SOCKET_PATH_BYTES_MAX = 103  # sun_path holds 104 with its NUL on BSD and macOS, 108 on Linux
DOORS_SOCKET = "doors.sock"  # where the supervisor keeps the listening sockets of the API
LONGEST_SOCKET_NAME = ".s.PGSQL.65535.lock"
FORBIDDEN_IN_HOME = "\"'\\;#%?"
SYSTEM_SERVERS = Path("/var/lib/longtail")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Every folder and file of one local stack."""

    home: Path
    servers: Path
    sockets: Path
    operator: Account
    service: Account

    @property
    def run(self) -> Path:
        return self.home / "run"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def state_file(self) -> Path:
        return self.run / "state.json"

    @property
    def lock_file(self) -> Path:
        return self.run / "up.lock"

    @property
    def supervisor_conf(self) -> Path:
        return self.run / "supervisord.conf"

    @property
    def control_socket(self) -> Path:
        return find_control_socket(self.home)

    @property
    def doors_socket(self) -> Path:
        return self.control_socket.with_name(DOORS_SOCKET)

    @property
    def token_file(self) -> Path:
        return self.home / "token"

    @property
    def password_file(self) -> Path:
        return self.home / "postgres.password"

    @property
    def ports_file(self) -> Path:
        return self.home / "ports.json"

    @property
    def postgres(self) -> Path:
        return self.servers / "postgres"

    @property
    def postgres_data(self) -> Path:
        return self.postgres / "data"

    @property
    def redis(self) -> Path:
        return self.servers / "redis"

    @property
    def redis_data(self) -> Path:
        return self.redis / "data"

    @property
    def redis_socket(self) -> Path:
        return self.sockets / "redis.sock"

    @property
    def binaries(self) -> Path:
        return self.servers / "binaries"

    @property
    def drops_privileges(self) -> bool:
        """Whether the servers run under another account than the operator's."""
        return self.operator.uid != self.service.uid

    def log_file(self, part: str) -> Path:
        return self.logs / f"{part}.log"


def name_home(home: Path) -> str:
    """Twelve hex digits that stand for the home folder in places outside it.

    >>> name_home(Path("/srv/longtail"))
    'aebca252f406'
    """
    return hashlib.sha256(str(home).encode()).hexdigest()[:12]


def find_short_folder(home: Path) -> Path:
    """A folder whose path is short enough for sockets, for homes whose path is not."""
    if os.geteuid() == 0 and Path("/run").is_dir():
        return Path("/run") / f"longtail-{name_home(home)}"
    return Path("/tmp") / f"longtail-{os.geteuid()}-{name_home(home)}"  # noqa: S108 - owner and mode are checked


def find_control_socket(home: Path) -> Path:
    """Where supervisord listens: in home/run, else in the short folder."""
    socket = home / "run" / "supervisor.sock"
    # supervisord binds a temporary name (its process id appended) and links it
    if len(os.fsencode(socket)) + len(".4194304") <= SOCKET_PATH_BYTES_MAX:
        return socket
    return find_short_folder(home) / "supervisor.sock"


def check_home(home: Path) -> None:
    """Refuse paths that the servers' configuration files and addresses cannot spell."""
    text = str(home)
    if any(character in text for character in FORBIDDEN_IN_HOME) or not text.isprintable():
        raise Misconfigured(
            f"LONGTAIL_HOME {text!r} holds one of {FORBIDDEN_IN_HOME} or a control character",
            field="home",
            remedy="set LONGTAIL_HOME to a folder with a plain name",
        )


def plan_layout(home: Path, run_as: str) -> Layout:
    """Decide where the parts of this stack lie; writes nothing.

    Memory must never seem lost because permissions changed: data found in either place is used where it is.
    """
    home = Path(os.path.realpath(home.expanduser()))
    check_home(home)
    if home.parent != home and _is_closed(home):
        raise Misconfigured(
            f"{home} cannot be entered by this user",
            field="home",
            remedy="run as the user who owns it, or set LONGTAIL_HOME to a folder of your own",
        )
    operator = find_operator()
    service = find_service_account(operator, run_as)
    servers = home if operator.uid == service.uid else _choose_servers(home, service)
    sockets = servers / "sockets"
    if len(os.fsencode(sockets / LONGEST_SOCKET_NAME)) > SOCKET_PATH_BYTES_MAX:
        sockets = find_short_folder(home) / "servers"
    return Layout(home=home, servers=servers, sockets=sockets, operator=operator, service=service)


def _is_closed(home: Path) -> bool:
    try:
        return home.is_dir() and not os.access(home, os.X_OK)
    except PermissionError:
        return True


def _choose_servers(home: Path, service: Account) -> Path:
    apart = SYSTEM_SERVERS / name_home(home)
    if (apart / "postgres" / "data").exists():
        return apart
    nearest = home.parent
    while not nearest.exists():
        nearest = nearest.parent
    if can_enter(service, nearest):
        return home
    if (home / "postgres" / "data").exists():
        raise Misconfigured(
            f"the user {service.name!r}, who runs PostgreSQL, cannot enter {home}, where its data lies",
            field="home",
            remedy=f"let that user pass through {nearest} (chmod o+x), or set LONGTAIL_RUN_AS",
        )
    return apart


def prepare_folders(layout: Layout, *, with_servers: bool) -> None:
    """Create what is missing and set modes and owners; existing data is left alone."""
    home = layout.home
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misconfigured(
            f"cannot create {home.parent}: {error.strerror}",
            field="home",
            remedy="set LONGTAIL_HOME to a folder you can write to",
        ) from error
    passed_through = with_servers and layout.drops_privileges and layout.servers == home
    make_folder(home, mode=0o711 if passed_through else 0o700)
    if layout.operator.uid != 0 and home.stat().st_uid != layout.operator.uid:
        raise Misconfigured(
            f"{home} belongs to another user",
            field="home",
            remedy="run as the user who owns it, or set LONGTAIL_HOME to a folder of your own",
        )
    make_folder(layout.run)
    make_folder(layout.logs)
    if layout.control_socket.parent != layout.run:
        _make_short_folder(layout)
    if with_servers:
        _prepare_server_folders(layout)


def _prepare_server_folders(layout: Layout) -> None:
    # The configuration stays the operator's: root must not write into a folder that another account controls.
    passage = 0o711 if layout.drops_privileges else 0o700
    if layout.servers != layout.home:
        make_folder(SYSTEM_SERVERS, mode=0o711)
        make_folder(layout.servers, mode=passage)
    if layout.sockets.parent != layout.servers:
        _make_short_folder(layout)
    for folder in (layout.postgres, layout.redis, layout.binaries):
        make_folder(folder, mode=passage)
    for folder in (layout.redis_data, layout.sockets):
        make_folder(folder, owner=layout.service)


def remove_short_folder(layout: Layout) -> None:
    """Leave nothing of ours in /run or /tmp once the stack is down."""
    short = find_short_folder(layout.home)
    for folder in (short / "servers", short):
        try:
            folder.rmdir()
        except OSError:
            continue  # never made, or not empty: a socket somebody may still use


def _make_short_folder(layout: Layout) -> None:
    folder = find_short_folder(layout.home)
    make_folder(folder, mode=0o711 if layout.drops_privileges else 0o700)
    found = folder.lstat()
    # /tmp is everybody's: a folder somebody else put there first is not ours to trust
    if found.st_uid != layout.operator.uid or stat.S_ISLNK(found.st_mode):
        raise Misconfigured(
            f"{folder} belongs to another user",
            field="home",
            remedy="set LONGTAIL_HOME to a shorter path, whose sockets fit inside it",
        )
