"""Another encoder for a memory that is there: asked for by the operator, done by the workers, told from the rows.

Nobody is rung for: the sweep finds what was asked for within seconds, Redis or not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from models.errors import Conflict, Misconfigured, NotFound
from models.settings import Settings, sqlalchemy_url

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from models.store.index.encoders import KnownEncoder

COUNTING_MS: Final = 600_000


def start(settings: Settings, source: str) -> dict[str, Any]:
    """Have the workers fill the table of the encoder that `source` means, which is made here, and switch to it."""
    from models.migrations.encoders import admit_encoder, load_or_refuse
    from models.store.index.encoders import ask_to_fill, require_active

    loaded = load_or_refuse(source)
    with _as_owner(settings) as connection:
        active = require_active(connection)
        if active.name == loaded.name:
            admit_encoder(connection, loaded, source=source)  # the same model, perhaps from another place
        else:
            admit_encoder(connection, loaded, source=source)
            ask_to_fill(connection, name=loaded.name)
    return tell(settings)


def roll_back(settings: Settings) -> dict[str, Any]:
    """While another is filled, give that up; after the switch, have the encoder serve again that served before."""
    from models.store.index.encoders import ask_to_fill, find_beside, give_up_filling, take_over

    with _as_owner(settings) as connection:
        filling = find_beside(connection, duty="filling")
        standby = find_beside(connection, duty="standby")
        if filling is not None:
            give_up_filling(connection, name=filling.name)
        elif standby is None:
            raise NotFound(
                "there is no encoder to go back to",
                remedy="'longtail reembed --status' lists those that have a table; 'longtail reembed --to' goes to any",
            )
        elif not take_over(connection, name=standby.name):
            ask_to_fill(
                connection, name=standby.name
            )  # a few turns came by another way: workers fill them first
    return tell(settings)


def drop_old(settings: Settings, name: str | None = None) -> dict[str, Any]:
    """Remove the tables of encoders that serve nobody; of one alone, when it is named."""
    from models.store.index.encoders import list_encoders, remove_encoder
    from models.store.index.tables import drop_table

    with _as_owner(settings) as connection:
        known = list_encoders(connection)
        old = [one.name for one in known if not one.is_active and one.duty != "filling"]
        active = next((one.name for one in known if one.is_active), None)
    if name is not None:
        old = [name]
    _check_served_by(settings, active)
    with _as_owner(settings) as connection:
        for one in old:
            remove_encoder(connection, name=one)
            drop_table(connection, name=one)
    return {**tell(settings), "dropped": old}


def tell(settings: Settings, *, only_filling: bool = False) -> dict[str, Any]:
    """Every encoder with a table here: which serves, how full the others are, and what keeps one from going on.

    With `only_filling`, of that one alone: counting reads every row.
    """
    from models.store.index.encoders import list_encoders

    with _as_owner(settings, is_alone=False) as connection:
        known = list_encoders(connection)
        return {
            "active": next((one.name for one in known if one.is_active), None),
            "filling": next((one.name for one in known if one.duty == "filling"), None),
            "standby": next((one.name for one in known if one.duty == "standby"), None),
            "encoders": [
                _describe(connection, one) for one in known if one.duty == "filling" or not only_filling
            ],
        }


def describe_progress(one: dict[str, Any]) -> str:
    """How far an encoder is that is being filled.

    >>> describe_progress({"name": "mine", "items": 3, "missing": 9, "problem": None})
    're-embedding to mine: 3 of 12 items (25%)'
    """
    total = one["items"] + one["missing"]
    share = f"{one['items'] / total:.0%}" if total else "all"
    problem = f"; paused: {one['problem']}" if one["problem"] else ""
    return f"re-embedding to {one['name']}: {one['items']} of {total} items ({share}){problem}"


def _describe(connection: "Connection", known: "KnownEncoder") -> dict[str, Any]:
    from models.store.index.encoders import measure_fill

    fill = measure_fill(connection, name=known.name)
    return {
        "name": known.name,
        "source": known.source,
        "dimensions": known.dimensions,
        "digest": known.digest,
        "state": "active" if known.is_active else known.duty or "idle",
        "items": fill.items,
        "missing": fill.missing,
        "bytes": fill.bytes,
        "problem": known.problem,
        "asked_at": known.asked_at.isoformat() if known.asked_at else None,
        "served_from": known.served_from.isoformat() if known.served_from else None,
    }


@contextmanager
def _as_owner(settings: Settings, *, is_alone: bool = True) -> "Iterator[Connection]":
    """One transaction; who changes something is alone with the schema: no migration and no second command meanwhile."""
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import OperationalError

    from models.errors import DatabaseUnavailable
    from models.migrations.run import ADVISORY_LOCK

    url = settings.owner_database_url()
    if not url:
        raise Misconfigured(
            "no database is running here",
            remedy="start it with 'longtail up', or set LONGTAIL_DATABASE_URL to the owner's address",
        )
    engine = create_engine(sqlalchemy_url(url), connect_args={"connect_timeout": 5})
    try:
        with engine.begin() as connection:
            if is_alone:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
            connection.execute(text(f"SET LOCAL statement_timeout = {COUNTING_MS}"))
            yield connection
    except OperationalError as error:
        raise DatabaseUnavailable(
            f"PostgreSQL does not answer: {error.orig}", remedy="run 'longtail doctor'"
        ) from error
    finally:
        engine.dispose()


def _check_served_by(settings: Settings, active: str | None) -> None:
    """An API that has not noticed the switch yet still reads the old table."""
    from api.stack.supervision import health

    if settings.knows_no_service():
        return
    status, found = health.read_service_status(settings.service_url(), settings.client_token())
    if status == 200 and found.get("encoder") != active:
        raise Conflict(
            f"the API still serves with '{found.get('encoder')}', and the active encoder is '{active}'",
            remedy="it follows within seconds where it can load the model; else see 'longtail logs api'",
        )
