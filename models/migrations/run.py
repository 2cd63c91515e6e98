"""Brings a database up to date: extension, roles, tables, then everything that can be re-created.

Safe to run from several processes at once and again at any time: an advisory lock lets one work while the
others wait, `lock_timeout` keeps a migration from queueing behind a long transaction and blocking everybody.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote, urlsplit

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from psycopg import sql
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

from models.errors import DatabaseUnavailable, Misconfigured, TransientError
from models.migrations.encoders import settle_encoder
from models.settings import (
    SERVICE_ROLES,
    derive_role_password,
    get_settings,
    sqlalchemy_url,
    without_password,
)
from models.sql import apply_scripts
from models.tables import SCHEMA

ADVISORY_LOCK: Final = 0x4C4F4E47  # "LONG"; any constant that nobody else uses
LOCK_TIMEOUT_MS: Final = 10_000
OLDEST_PGVECTOR: Final = (0, 8)
OLDEST_POSTGRES: Final = 18  # uuidv7() is in its core from there on


def migrate(owner_url: str) -> None:
    """Bring the database at `owner_url` to this version's schema, roles, policies and views.

    Ends with the encoder: one whose fingerprint differs from the stored vectors' is refused.
    """
    with _owner_connection(owner_url) as connection:
        connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
        connection.execute(text(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}"))
        _check_server(connection)
        _ensure_pgvector(connection)
        _ensure_roles(connection, owner_password=unquote(urlsplit(owner_url).password or ""))
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
        connection.execute(text("CREATE SCHEMA IF NOT EXISTS reporting"))
        _upgrade(connection)
        apply_scripts(connection)
        settings = get_settings()
        settle_encoder(connection, wanted=settings.encoder, is_named="encoder" in settings.model_fields_set)


def _upgrade(connection: Connection) -> None:
    config = _config(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    unknown = (
        set(MigrationContext.configure(connection, opts={"version_table_schema": SCHEMA}).get_current_heads())
        - known
    )
    if unknown:
        raise Misconfigured(
            f"the database has the schema of a newer Longtail ({', '.join(sorted(unknown))}); "
            f"this one knows up to {max(known)}",
            remedy="start the version that wrote it, or restore a backup made with this one",
        )
    command.upgrade(config, "head")


def find_drift(owner_url: str) -> str | None:
    """What the tables and the migrations disagree on, or None; the check that CI runs."""
    with _owner_connection(owner_url) as connection:
        try:
            command.check(_config(connection))
        except CommandError as difference:
            return str(difference)
    return None


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", "models:migrations")
    config.attributes["connection"] = connection
    return config


@contextmanager
def _owner_connection(owner_url: str) -> Iterator[Connection]:
    """One transaction as the owner; driver errors become ours, with the address but not the password."""
    engine = create_engine(sqlalchemy_url(owner_url), connect_args={"connect_timeout": 5})
    try:
        with engine.begin() as connection:
            yield connection
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) == "55P03":
            raise TransientError(
                "another transaction holds a lock that the migration needs",
                remedy="end long transactions on this database and start again",
            ) from error
        raise DatabaseUnavailable(
            f"PostgreSQL at {without_password(owner_url)} does not answer: {error.orig}",
            remedy="check LONGTAIL_DATABASE_URL, or unset it to use the embedded server",
        ) from error
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == "42501":
            raise Misconfigured(
                f"the owner role may not prepare the database: {error.orig}",
                remedy="grant it CREATEROLE and CREATE on the database, or let an administrator create the roles",
            ) from error
        raise
    finally:
        engine.dispose()


def _check_server(connection: Connection) -> None:
    number = int(connection.execute(text("SHOW server_version_num")).scalar_one())
    if number // 10_000 < OLDEST_POSTGRES:
        raise Misconfigured(
            f"PostgreSQL is version {number // 10_000}; Longtail needs {OLDEST_POSTGRES} or newer",
            remedy="upgrade the server, or unset LONGTAIL_DATABASE_URL to use the embedded one",
        )


def _ensure_pgvector(connection: Connection) -> None:
    available = connection.execute(
        text("SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'vector'")
    ).one_or_none()
    if available is None:
        raise Misconfigured(
            "this PostgreSQL server has no pgvector",
            remedy="install pgvector 0.8 or newer on the server, or unset LONGTAIL_DATABASE_URL",
        )
    if available.installed_version is None:
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    version = str(available.installed_version or available.default_version)
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_PGVECTOR:
        raise Misconfigured(
            f"pgvector is {version}; Longtail needs 0.8 or newer",
            remedy="upgrade it on the server, then run ALTER EXTENSION vector UPDATE",
        )


def _ensure_roles(connection: Connection, *, owner_password: str) -> None:
    """Service roles that own nothing; with a password only where the owner has one (else peer or trust)."""
    for role in SERVICE_ROLES:
        exists = connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role})
        if exists.first() is None:
            connection.exec_driver_sql(
                f"CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS"
            )
        if owner_password:
            secret = sql.Literal(derive_role_password(owner_password, role)).as_string()
            connection.exec_driver_sql(f"ALTER ROLE {role} PASSWORD {secret}")
