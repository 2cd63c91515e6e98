"""Connections: an engine per process, and transactions that belong to one tenant."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from pgvector.psycopg import register_vector
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from models.errors import DatabaseUnavailable, DeadlineExceeded, Misconfigured
from models.settings import sqlalchemy_url
from models.store.watchdog import Watchdog

QUERY_CANCELED = "57014"
GRACE_MS = 250  # the server may cancel by itself first, which costs no connection
_WATCHDOG = Watchdog()
_SET_TENANT = text(
    "SELECT set_config('longtail.tenant_id', :tenant, true), set_config('statement_timeout', :timeout, true)"
)


def open_engine(url: str | None, *, pool_size: int = 4, connect_timeout_seconds: float = 2.0) -> Engine:
    """An engine for a service role. Build it after fork: connections do not survive one."""
    if not url:
        raise Misconfigured(
            "no database address is known",
            remedy="start the local stack with 'longtail up', or set LONGTAIL_DATABASE_URL",
        )
    engine = create_engine(
        sqlalchemy_url(url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=connect_timeout_seconds,
        pool_recycle=1800,
        connect_args={
            "connect_timeout": max(2, round(connect_timeout_seconds)),
            "application_name": "longtail",
        },
    )

    @event.listens_for(engine, "connect")
    def _prepare(dbapi_connection: Any, _record: Any) -> None:
        driver = dbapi_connection
        driver.autocommit = True
        register_vector(driver)
        driver.execute("SET search_path = longtail, public")
        # Planning the recall statement costs more than running it; its best plan does not depend on the values.
        driver.execute("SET plan_cache_mode = force_generic_plan")
        driver.autocommit = False

    return engine


@contextmanager
def tenant_transaction(engine: Engine, tenant_id: UUID, *, timeout_ms: int = 30_000) -> Iterator[Connection]:
    """One transaction in which only this tenant exists; commits at the end, rolls back on any error."""
    with _watched_transaction(engine, timeout_ms) as connection:
        connection.execute(_SET_TENANT, {"tenant": str(tenant_id), "timeout": str(timeout_ms)})
        yield connection


@contextmanager
def plain_transaction(engine: Engine, *, timeout_ms: int = 30_000) -> Iterator[Connection]:
    """One transaction without a tenant: it sees no tenant's rows, only what definer functions hand out."""
    with _watched_transaction(engine, timeout_ms) as connection:
        yield connection


@contextmanager
def _watched_transaction(engine: Engine, timeout_ms: int) -> Iterator[Connection]:
    with translated_errors(), engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        with _WATCHDOG.watch(driver.fileno(), seconds=(timeout_ms + GRACE_MS) / 1000), connection.begin():
            yield connection


@contextmanager
def translated_errors() -> Iterator[None]:
    """A server that is away becomes DatabaseUnavailable; every other error keeps its name."""
    try:
        yield
    except PoolTimeout as error:
        raise DatabaseUnavailable(
            "no database connection became free in time", remedy="the call may be repeated"
        ) from error
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) == QUERY_CANCELED:
            raise DeadlineExceeded("PostgreSQL did not finish within the time given to it") from error
        raise DatabaseUnavailable(
            f"PostgreSQL does not answer: {_first_line(error.orig)}", remedy="run 'longtail doctor'"
        ) from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise DatabaseUnavailable(
                f"the connection to PostgreSQL was lost: {_first_line(error.orig)}",
                remedy="run 'longtail doctor'",
            ) from error
        raise


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
