"""PostgreSQL: the cluster we keep for the operator, or the checks on one that the operator keeps.

The local cluster trusts the operator's unix account (peer authentication over the socket): the service needs no password.
TCP is open on the loopback only, with the generated one.
"""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from api.stack.home.accounts import run_as
from api.stack.home.files import make_folder, write_file
from api.stack.home.layout import Layout
from api.stack.servers.binaries import PostgresPrograms
from models.errors import DatabaseUnavailable, Misconfigured, ServiceError
from models.settings import without_password

if TYPE_CHECKING:
    import psycopg

OWNER = "longtail_owner"
DATABASE = "longtail"
CONNECT_TIMEOUT_SECONDS = 3
CACHE_FACTOR = 4  # what the planner may expect of the system's cache, for each byte of PostgreSQL's own

CONFIGURATION = """\
# Written by `longtail up`; changes here are lost. Sized for a small machine that runs other things too.
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
data_directory = '{data}'
hba_file = '{folder}/pg_hba.conf'
ident_file = '{folder}/pg_ident.conf'
max_connections = 60
password_encryption = scram-sha-256

shared_buffers = {memory_mb}MB                  # LONGTAIL_POSTGRES_MEMORY_MB
effective_cache_size = {cache_mb}MB
work_mem = 16MB
maintenance_work_mem = {memory_mb}MB            # an HNSW build that fits here is many times faster
# For psql and reports: connections of the service set what their plans rest on themselves (models/store/engine.py).
max_parallel_workers_per_gather = 0     # two cores, short queries
max_parallel_maintenance_workers = 0
# In files: logging out of a desktop removes a user's shared memory (RemoveIPC), and containers give it 64 MB.
dynamic_shared_memory_type = mmap
jit = off
random_page_cost = 1.1
# Plans are kept (plan_cache_mode in models/store/engine.py) until their tables are analysed: one made for a hundred turns
# is ten times too slow for a thousand, and a talkative session has those within a minute.
autovacuum_naptime = 10s
autovacuum_analyze_scale_factor = 0.05

fsync = on
synchronous_commit = on
full_page_writes = on
max_wal_size = 1GB
checkpoint_completion_target = 0.9

timezone = 'UTC'
log_timezone = 'UTC'
log_destination = 'stderr'
logging_collector = off
log_line_prefix = '%m [%p] %q%u '
log_checkpoints = off
# Memory text must not reach the log: neither statements, nor rows, nor the message of an error that quotes one. Errors of
# statements reach whoever sent them; what concerns the server, or ends a connection, is logged.
log_min_messages = log
log_min_error_statement = panic
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
log_error_verbosity = terse
"""

HOST_RULES = """\
# Written by `longtail up`.
local all all                peer map=longtail
host  all all 127.0.0.1/32   scram-sha-256
"""


def prepare_cluster(layout: Layout, programs: PostgresPrograms, port: int, *, memory_mb: int) -> None:
    """Create the cluster at the first start, and write its configuration at every start."""
    if not layout.postgres_data.exists():
        _initialise(layout, programs)
    _check_cluster(layout, programs)
    write_file(
        layout.postgres / "postgresql.conf",
        CONFIGURATION.format(
            port=port,
            sockets=layout.sockets,
            data=layout.postgres_data,
            folder=layout.postgres,
            memory_mb=memory_mb,
            cache_mb=memory_mb * CACHE_FACTOR,
        ),
        mode=0o644,
    )
    # Not the servers' account, where that is another: whatever else runs under it has no business in here.
    accounts = dict.fromkeys(["root", layout.operator.name])
    lines = [f'longtail "{account}" all' for account in accounts]
    write_file(layout.postgres / "pg_hba.conf", HOST_RULES, mode=0o644)
    write_file(layout.postgres / "pg_ident.conf", "\n".join(lines) + "\n", mode=0o644)


def _initialise(layout: Layout, programs: PostgresPrograms) -> None:
    password = secrets.token_urlsafe(32)
    write_file(layout.password_file, password + "\n")
    # initdb runs in a folder of another name: a cluster half made by a crash is never taken for a whole one
    fresh = layout.postgres / "data.new"
    shutil.rmtree(fresh, ignore_errors=True)
    make_folder(fresh, owner=layout.service)
    secret = layout.postgres / ".password"
    write_file(secret, password)
    shutil.chown(secret, layout.service.uid, layout.service.gid)
    try:
        done = run_as(
            layout.service,
            [
                str(programs.initdb), "-D", str(fresh), "-U", "postgres", f"--pwfile={secret}",
                "--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
                "--auth-local=peer", "--auth-host=scram-sha-256", "--data-checksums",
            ],
        )  # fmt: skip
    finally:
        secret.unlink(missing_ok=True)
    if done.returncode != 0:
        shutil.rmtree(fresh, ignore_errors=True)
        raise Misconfigured(
            f"initdb failed in {layout.postgres}: {_complaint(done.stderr or done.stdout)}",
            remedy="run 'longtail doctor'; a full or read-only disk is the usual cause",
        )
    fresh.rename(layout.postgres_data)


def _check_cluster(layout: Layout, programs: PostgresPrograms) -> None:
    data = layout.postgres_data
    owner = data.stat().st_uid
    if owner != layout.service.uid:
        raise Misconfigured(
            f"{data} belongs to user id {owner}, but PostgreSQL would run as {layout.service.name!r}",
            field="run_as",
            remedy=f"set LONGTAIL_RUN_AS to its owner, or chown -R {layout.service.name} {data}",
        )
    check_made_by(data, programs)


def check_made_by(data: Path, programs: PostgresPrograms) -> None:
    """Refuse a cluster of another major version: its files mean nothing to the programs we bring."""
    try:
        made_by = (data / "PG_VERSION").read_text().strip()
    except OSError as error:
        raise Misconfigured(
            f"{data} is not a whole PostgreSQL cluster: {error.strerror}",
            remedy="restore it from a backup, or move it away to begin with an empty memory",
        ) from error
    ours = programs.version.partition(".")[0]
    if made_by != ours:
        raise Misconfigured(
            f"{data} was made by PostgreSQL {made_by}, this installation brings {ours}",
            remedy=f"install the Longtail release that brings PostgreSQL {made_by}, export, then import here",
        )


def server_command(layout: Layout, programs: PostgresPrograms) -> list[str]:
    """The command that runs the cluster in the foreground."""
    return [str(programs.postgres), "-D", str(layout.postgres_data),
            "-c", f"config_file={layout.postgres / 'postgresql.conf'}"]  # fmt: skip


def local_url(layout: Layout, port: int, *, role: str = OWNER, database: str = DATABASE) -> str:
    """The address over the socket: no password, the unix account is the proof."""
    return f"postgresql://{role}@/{database}?host={quote(str(layout.sockets), safe='/')}&port={port}"


def create_database(layout: Layout, port: int) -> None:
    """Make sure the owner, its database and pgvector in it exist; the rest is the migrations' work."""
    from psycopg import sql

    with connected(local_url(layout, port, role="postgres", database="postgres")) as server:
        if not server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [OWNER]).fetchone():
            server.execute(
                sql.SQL("CREATE ROLE {} LOGIN CREATEROLE NOSUPERUSER NOBYPASSRLS").format(
                    sql.Identifier(OWNER)
                )
            )
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            server.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), sql.Identifier(OWNER))
            )
    with connected(local_url(layout, port, role="postgres")) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute("ALTER EXTENSION vector UPDATE")


def probe(url: str) -> dict[str, str | None]:
    """Versions of a server that answers: {"version": "18.6", "pgvector": "0.8.6", …}."""
    with connected(url) as connection:
        row = connection.execute(
            "SELECT current_setting('server_version'),"
            " (SELECT extversion FROM pg_extension WHERE extname = 'vector'),"
            " (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')"
        ).fetchone()
    assert row is not None
    return {"version": row[0].partition(" ")[0], "pgvector": row[1], "pgvector_available": row[2]}


def check_existing(url: str) -> dict[str, str | None]:
    """Refuse a server of the operator's that cannot carry the memory, before anything is started."""
    found = probe(url)
    problem = find_problem(found)
    if problem is not None:
        detail, remedy = problem
        raise Misconfigured(f"the PostgreSQL at {without_password(url)}: {detail}", remedy=remedy)
    return found


def find_problem(found: dict[str, str | None]) -> tuple[str, str] | None:
    """(what is wrong with a probed server, its remedy), or None; the limits are the migrations'.

    >>> find_problem({"version": "18.6", "pgvector": "0.7.4", "pgvector_available": "0.7.4"})[0]
    'pgvector is 0.7.4, Longtail needs 0.8 or later'
    """
    from models.migrations.run import OLDEST_PGVECTOR, OLDEST_POSTGRES

    version = found["version"] or ""
    pgvector = found["pgvector"] or found["pgvector_available"]
    if _numbers(version) < (OLDEST_POSTGRES,):
        return (
            f"it is version {version}, Longtail needs {OLDEST_POSTGRES} or later",
            "upgrade it, or unset LONGTAIL_DATABASE_URL to use the one Longtail brings",
        )
    if pgvector is None:
        return (
            "pgvector is missing",
            "install its package there, or unset LONGTAIL_DATABASE_URL to use the server Longtail brings",
        )
    if _numbers(pgvector) < OLDEST_PGVECTOR:
        oldest = ".".join(map(str, OLDEST_PGVECTOR))
        return (
            f"pgvector is {pgvector}, Longtail needs {oldest} or later",
            "upgrade its package there, then run 'ALTER EXTENSION vector UPDATE' in the database",
        )
    return None


def _numbers(version: str) -> tuple[int, ...]:
    # "19beta1" and "0.8.0": the leading digits of the first two parts
    parts = ["".join(takewhile(str.isdigit, part)) for part in version.split(".")[:2]]
    return tuple(int(part) for part in parts if part)


@contextmanager
def connected(url: str) -> Iterator["psycopg.Connection[tuple[str, ...]]"]:
    """An autocommitting connection that fails within seconds; a server that goes meanwhile is one that does not answer."""
    import psycopg

    try:
        connection = psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_SECONDS)
    except psycopg.OperationalError as error:
        raise _explain(error, url) from error
    except psycopg.ProgrammingError as error:
        raise Misconfigured(
            f"LONGTAIL_DATABASE_URL is not an address PostgreSQL understands: {_first_line(str(error))}",
            field="database_url",
            remedy="write it as postgresql://user:password@host:5432/database",
        ) from error
    try:
        with connection:
            yield connection
    except psycopg.OperationalError as error:
        raise _explain(error, url) from error


def _explain(error: Exception, url: str) -> ServiceError:
    if "authentication failed" in str(error) or "does not exist" in str(error):
        return Misconfigured(
            f"PostgreSQL at {without_password(url)} refuses the login: {_first_line(str(error))}",
            code="database_login_refused",
            field="database_url",
            remedy="check the user, password and database in LONGTAIL_DATABASE_URL",
        )
    return DatabaseUnavailable(
        f"PostgreSQL at {without_password(url)} does not answer: {_first_line(str(error))}",
        remedy="check that it runs and that the address and password are right",
    )


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no message")


def _complaint(text: str) -> str:
    wrong = [line for line in text.splitlines() if "FATAL" in line or "error:" in line]
    return _first_line("\n".join(wrong) or text)
