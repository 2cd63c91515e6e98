"""What a backup needs of the database, as its owner: one moment to copy, what it held, and a place for what it replaces."""

from sqlalchemy import Connection, text

from models.tables import SCHEMA

ASIDE = f"{SCHEMA}_before_restore"


def export_snapshot(connection: Connection) -> str:
    """The name of the transaction's moment; `pg_dump --snapshot` sees the same while the transaction is open."""
    connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
    connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    name: str = connection.execute(text("SELECT pg_export_snapshot()")).scalar_one()
    return name


def read_revision(connection: Connection) -> str | None:
    """The schema's version, or None where there is no schema of ours."""
    if connection.execute(text(f"SELECT to_regclass('{SCHEMA}.alembic_version')")).scalar_one() is None:
        return None
    found: str | None = connection.execute(
        text(f"SELECT version_num FROM {SCHEMA}.alembic_version")
    ).scalar_one_or_none()
    return found


def count_rows(connection: Connection) -> dict[str, int]:
    """How many rows each table of the schema holds, whichever version it has."""
    names = connection.execute(
        text(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(:schema) ORDER BY 1"
        ),
        {"schema": SCHEMA},
    ).scalars()
    return {
        name: connection.execute(text(f'SELECT count(*) FROM {SCHEMA}."{name}"')).scalar_one()
        for name in list(names)
    }


def count_service_sessions(connection: Connection) -> int:
    """How many connections of the API and the workers this database has."""
    found: int = connection.execute(
        text(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND usename IN ('longtail_api', 'longtail_worker')"
        )
    ).scalar_one()
    return found


def set_aside(connection: Connection) -> None:
    """Make room for a restore; what was there can be put back until it is dropped."""
    connection.execute(text(f"DROP SCHEMA IF EXISTS {ASIDE} CASCADE"))
    connection.execute(text(f"ALTER SCHEMA {SCHEMA} RENAME TO {ASIDE}"))


def put_back(connection: Connection) -> None:
    """Undo `set_aside`, with whatever a broken restore left."""
    connection.execute(text(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE"))
    connection.execute(text(f"ALTER SCHEMA {ASIDE} RENAME TO {SCHEMA}"))


def drop_aside(connection: Connection) -> None:
    """What a restore replaced is gone from here on."""
    connection.execute(text(f"DROP SCHEMA IF EXISTS {ASIDE} CASCADE"))
