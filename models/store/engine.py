"""Connections: an engine per process, and transactions that belong to one tenant."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Protocol, TypeVar
from uuid import UUID

import psycopg
from pgvector.psycopg import register_vector
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from models.errors import Conflict, DatabaseUnavailable, DeadlineExceeded, Forbidden, Misconfigured, Overtaken
from models.settings import sqlalchemy_url
from models.store.watchdog import Watchdog

QUERY_CANCELED = "57014"
MET_ANOTHER_WRITER = frozenset({"40P01", "40001"})  # a deadlock, or two snapshots that do not fit
GRAPH_BREADTH = 128  # rows the graph index keeps in view at once: enough for one search of recall
# Plans are the same on a server of ours and on one that an operator keeps with its defaults.
SESSION_SETTINGS = {
    "search_path": "longtail, public",
    # Planning the recall statement costs more than running it; its best plan does not depend on the values.
    "plan_cache_mode": "force_generic_plan",
    # Every statement is short: compiling it, or starting processes for it, takes longer than running it.
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "random_page_cost": "1.1",
    # Second lock behind `transfer_stall_seconds`: whoever forgets a transaction does not hold it for ever.
    "idle_in_transaction_session_timeout": 120_000,
    # A search through the graph goes on until it has enough rows that the filters let through.
    "hnsw.ef_search": GRAPH_BREADTH,
    "hnsw.iterative_scan": "relaxed_order",
}
GRACE_MS = 250  # the server may cancel by itself first, which costs no connection
_WATCHDOG = Watchdog()
_SET_TENANT = text(
    "SELECT set_config('longtail.tenant_id', :tenant, true), set_config('longtail.pass', :pass, true), "
    "set_config('longtail.opens', :opens, true), set_config('longtail.token_id', :token, true), "
    "set_config('statement_timeout', :timeout, true)"
)
_SET_TENANT_RAW = (
    "SELECT set_config('longtail.tenant_id', %(tenant)s, true), set_config('longtail.pass', %(pass)s, true), "
    "set_config('longtail.opens', %(opens)s, true), set_config('longtail.token_id', %(token)s, true), "
    "set_config('statement_timeout', %(timeout)s, true)"
)
ALL_OF_TENANT = "*"  # `longtail.opens` of a transaction that sees every namespace of its tenant
INSUFFICIENT_PRIVILEGE = "42501"
REFUSED, OF_ANOTHER = "LT403", "LT409"  # what `find_home` raises (models/sql/10_callers.sql)

_SET_TIMEOUT_RAW = "SELECT set_config('statement_timeout', %s, true)"


class Opening(Protocol):
    """Whoever a transaction is for: row security shows it these rows and no others."""

    @property
    def tenant_id(self) -> UUID: ...

    @property
    def token_id(self) -> UUID: ...

    @property
    def opens(self) -> str:
        """`*` for the whole tenant, else the namespaces as PostgreSQL writes an array."""


Whose = UUID | Opening  # a tenant as a whole, or a caller and what the token opens


_PASSES: dict[UUID, UUID] = {}  # by tenant: those this process was given, never written anywhere


def keep_pass(tenant_id: UUID, secret: UUID) -> None:
    """PostgreSQL gave this process a tenant's pass, with a token's caller or with work on its rows."""
    _PASSES[tenant_id] = secret


def has_pass(tenant_id: UUID) -> bool:
    """Whether a service role may act for the tenant in this process."""
    return tenant_id in _PASSES


def pass_of(whose: Whose) -> str:
    """The pass of a tenant; nothing where none was given, and then a service role sees nothing either.

    A caller without one is known from before an outage: PostgreSQL has not been asked about the token yet.
    """
    if isinstance(whose, UUID):
        return str(_PASSES.get(whose, ""))
    if whose.tenant_id not in _PASSES:
        raise DatabaseUnavailable(
            "PostgreSQL has not said yet whose token this is", remedy="the call may be repeated"
        )
    return str(_PASSES[whose.tenant_id])


def _settings_of(whose: Whose, timeout_ms: int) -> dict[str, str]:
    tenant_id, opens, token = (
        (whose, ALL_OF_TENANT, "")
        if isinstance(whose, UUID)
        else (whose.tenant_id, whose.opens, str(whose.token_id))
    )
    return {
        "tenant": str(tenant_id),
        "pass": pass_of(whose),
        "opens": opens,
        "token": token,
        "timeout": str(timeout_ms),
    }


def open_engine(
    url: str | None, *, pool_size: int = 4, connect_timeout_seconds: float = 2.0, waits_for_disk: bool = True
) -> Engine:
    """An engine for a service role. Build it after fork: connections do not survive one.

    `waits_for_disk=False` is for work that can be done again: should the machine lose power, the last fraction of a
    second of it is undone, in order and whole, and the rows that ask for it are as they were before.
    """
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
        hide_parameters=True,  # they hold what people said, and errors end up in logs
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
        driver.execute("; ".join(f"SET {name} = {value}" for name, value in SESSION_SETTINGS.items()))
        if not waits_for_disk:
            driver.execute("SET synchronous_commit = off")
        driver.autocommit = False

    return engine


@contextmanager
def tenant_transaction(
    engine: Engine, whose: Whose, *, timeout_ms: int = 30_000, is_snapshot: bool = False
) -> Iterator[Connection]:
    """One transaction in which only this tenant exists, and of it what the caller's token opens.

    It commits at the end and rolls back on any error.

    `is_snapshot`: all its statements see the same moment, for whoever compares what several of them read.
    """
    with _watched_transaction(engine, timeout_ms) as connection:
        if is_snapshot:
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        connection.execute(_SET_TENANT, _settings_of(whose, timeout_ms))
        yield connection


@contextmanager
def one_round_trip(engine: Engine, whose: Whose, *, timeout_ms: int) -> "Iterator[Cursors]":
    """Statements sent together and answered together, in one transaction of this tenant, or of this caller.

    What they return may be read inside, which waits for all that were sent so far. On a busy machine a round trip
    costs more than most statements do.
    """
    with single_statement(engine, timeout_ms=timeout_ms + GRACE_MS) as connection:
        driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
        try:
            with driver.pipeline():
                driver.execute(_SET_TENANT_RAW, _settings_of(whose, timeout_ms), prepare=True)
                yield Cursors(driver)
        except psycopg.Error:
            if driver.broken or driver.closed:
                connection.invalidate()
            raise


Row = TypeVar("Row", bound=tuple[Any, ...])
Result = TypeVar("Result")


class Cursors:
    """Runs statements on a connection of the driver, rows as it hands them over."""

    def __init__(self, driver: "psycopg.Connection[Any]") -> None:
        self._driver = driver

    def limit(self, timeout_ms: int) -> None:
        """What is sent from here on has so much time, each statement for itself."""
        self._driver.execute(_SET_TIMEOUT_RAW, (str(timeout_ms),), prepare=True)

    def send(
        self, statement: str, parameters: Mapping[str, Any], *, into: type[Row] | None = None
    ) -> "psycopg.Cursor[Any]":
        """Send a statement, planned once a connection; its rows come when they are fetched, as `into` if given."""
        cursor = self._driver.cursor(binary=True)
        if into is not None:
            make = into._make  # type: ignore[attr-defined]  # a NamedTuple's, in the order of the columns
            cursor.row_factory = lambda _cursor: make
        return cursor.execute(statement, parameters, prepare=True)


def to_uuid_array(ids: Iterable[str]) -> str:
    """Ids as PostgreSQL writes an array of them: much quicker to send than a list.

    >>> to_uuid_array(["a", "b"])
    '{a,b}'
    """
    return "{" + ",".join(ids) + "}"


def to_text_array(words: Iterable[str]) -> str:
    """Words as PostgreSQL writes an array of them, each in quotes.

    >>> to_text_array(['ann', 'a "b"'])
    '{"ann","a \\\\"b\\\\""}'
    """
    escaped = (word.replace("\\", "\\\\").replace('"', '\\"') for word in words)
    return "{" + ",".join(f'"{word}"' for word in escaped) + "}"


@contextmanager
def single_statement(engine: Engine, *, timeout_ms: int) -> Iterator[Connection]:
    """A connection on which each statement is a transaction of its own: one round trip, one commit."""
    with translated_errors(), _in_autocommit(engine).connect() as connection:
        driver: Any = connection.connection.driver_connection
        with _WATCHDOG.watch(driver.fileno(), seconds=timeout_ms / 1000):
            yield connection


@lru_cache(maxsize=16)  # a process has one or two; a test run has many
def _in_autocommit(engine: Engine) -> Engine:
    """The same engine and pool; made once, because making it costs as much as a short statement."""
    return engine.execution_options(isolation_level="AUTOCOMMIT")


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
            "no database connection became free in time",
            code="database_busy",
            remedy="the call may be repeated",
        ) from error
    except (OperationalError, psycopg.OperationalError) as error:
        cause = error.orig if isinstance(error, OperationalError) else error
        if getattr(cause, "sqlstate", None) == QUERY_CANCELED:
            raise DeadlineExceeded("PostgreSQL did not finish within the time given to it") from error
        if getattr(cause, "sqlstate", None) in MET_ANOTHER_WRITER:
            raise Overtaken(
                "another writer was quicker; nothing was changed", remedy="repeat the call"
            ) from error
        raise DatabaseUnavailable(
            f"PostgreSQL does not answer: {_first_line(cause)}", remedy="run 'longtail doctor'"
        ) from error
    except (DBAPIError, psycopg.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        _raise_refusal(cause)
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            raise DatabaseUnavailable(
                f"the connection to PostgreSQL was lost: {_first_line(error.orig)}",
                remedy="run 'longtail doctor'",
            ) from error
        raise


def _raise_refusal(cause: BaseException | None) -> None:
    """What the database refused, in its own words: they name no owner."""
    state = getattr(cause, "sqlstate", None)
    said = str(cause).splitlines()[0] if cause else ""
    if state == INSUFFICIENT_PRIVILEGE and "row-level security" in said:
        raise Forbidden(
            "the token does not open what this call would write to",
            remedy="name an identity that the token opens, or use a token of the whole tenant",
        ) from cause
    if state not in (REFUSED, OF_ANOTHER):
        return
    if state == REFUSED:
        raise Forbidden(
            said, remedy="name an identity that the token opens, or use a token of the whole tenant"
        ) from cause
    raise Conflict(
        said,
        code="session_of_another",
        field="session_id",
        remedy="send the identity that opened it, choose another session_id, or open the session with "
        '"shared": true in its first turns',
    ) from cause


def repeat_if_overtaken(work: "Callable[[], Result]", *, attempts: int = 4) -> "Result":
    """Do a whole transaction again when another writer came in between; it changed nothing the first time."""
    for attempt in range(1, attempts):
        try:
            return work()
        except Overtaken:
            time.sleep(0.05 * attempt)
    return work()


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
