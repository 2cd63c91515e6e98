"""Which encoder filled which table, which one serves, and which is on its way (decision 46).

Rows are the truth: `longtail reembed` marks one as `filling`, workers fill its table and have it take over, the one
before stays as `standby`. Only the owner adds encoders and their tables; `take_over` is the one way to another active one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import Connection, text

from models.errors import Conflict, Misconfigured, NotFound, TransientError
from models.store.engine import keep_pass
from models.store.index.embeddings import table_of

FIRST: Final = UUID(int=0)
# Who writes vectors shares it, who has another encoder take over holds it alone; also in models/sql/47_encoders.sql.
SWITCH_LOCK: Final = 0x454E434F


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEncoder:
    """An encoder that has a table here."""

    name: str
    source: str  # what LONGTAIL_ENCODER would say
    digest: str
    dimensions: int
    is_active: bool
    duty: Literal["filling", "standby"] | None
    problem: str | None
    asked_at: datetime | None
    served_from: datetime | None


_COLUMNS = "name, source, digest, dimensions, is_active, duty, problem, asked_at, served_from"


def list_encoders(connection: Connection) -> list[KnownEncoder]:
    """All of them, the active one first."""
    rows = connection.execute(
        text(f"SELECT {_COLUMNS} FROM longtail.encoders ORDER BY is_active DESC, served_from DESC, name")
    )
    return [KnownEncoder(**row._mapping) for row in rows]


def find_active(connection: Connection) -> KnownEncoder | None:
    """The one that searches are served by; None in a database that was never prepared."""
    row = connection.execute(text(f"SELECT {_COLUMNS} FROM longtail.encoders WHERE is_active")).one_or_none()
    return None if row is None else KnownEncoder(**row._mapping)


def require_active(connection: Connection) -> KnownEncoder:
    """The active one; Misconfigured where nobody prepared the database."""
    found = find_active(connection)
    if found is None:
        raise Misconfigured("the database has no encoder yet", remedy="run 'longtail up' once")
    return found


def find_beside(connection: Connection, *, duty: Literal["filling", "standby"]) -> KnownEncoder | None:
    """The encoder with this duty."""
    row = connection.execute(
        text(f"SELECT {_COLUMNS} FROM longtail.encoders WHERE duty = :duty"), {"duty": duty}
    ).one_or_none()
    return None if row is None else KnownEncoder(**row._mapping)


def check_encoder(connection: Connection, *, name: str, digest: str) -> None:
    """Fail closed when the stored vectors came from another model than the one loaded now."""
    stored = connection.execute(
        text("SELECT digest FROM longtail.encoders WHERE name = :name"), {"name": name}
    ).scalar_one_or_none()
    if stored is not None and stored != digest:
        raise Misconfigured(
            f"encoder '{name}' has fingerprint {digest[:12]}, but its table was filled by {stored[:12]}",
            code="encoder_mismatch",
            remedy="put back the package or the folder that made the first one; another model wants another name: set "
            "LONGTAIL_ENCODER to it and run 'longtail reembed'",
        )


def keep_encoder(
    connection: Connection,
    *,
    name: str,
    source: str,
    fingerprint: Mapping[str, Any],
    digest: str,
    dimensions: int,
) -> None:
    """Write an encoder down, or where it is loaded from now; its table is there. As the owner."""
    connection.execute(
        text(
            "INSERT INTO longtail.encoders (name, table_name, source, fingerprint, digest, dimensions) "
            "VALUES (:name, :table_name, :source, CAST(:fingerprint AS jsonb), :digest, :dimensions) "
            "ON CONFLICT (name) DO UPDATE SET source = excluded.source, fingerprint = excluded.fingerprint, "
            "digest = excluded.digest, dimensions = excluded.dimensions"
        ),
        {
            "name": name,
            "table_name": table_of(name),
            "source": source,
            "fingerprint": json.dumps(dict(fingerprint)),
            "digest": digest,
            "dimensions": dimensions,
        },
    )


def activate_encoder(connection: Connection, *, name: str) -> None:
    """Make it the active one of a memory that holds nothing to re-embed. As the owner."""
    connection.execute(text("UPDATE longtail.encoders SET is_active = false, duty = NULL WHERE is_active"))
    connection.execute(
        text(
            "UPDATE longtail.encoders SET is_active = true, duty = NULL, served_from = clock_timestamp() "
            "WHERE name = :name"
        ),
        {"name": name},
    )


def holds_items(connection: Connection) -> bool:
    """Whether anything is indexed: then another encoder has something to do before it can serve. As the owner."""
    found: bool = connection.execute(text("SELECT EXISTS (SELECT FROM longtail.items)")).scalar_one()
    return found


def guard_encoder(connection: Connection, *, name: str) -> None:
    """Called before vectors are written: until this transaction ends, no other encoder takes over.

    TransientError where one has: what was encoded is of the wrong model, and is encoded again.
    """
    connection.execute(text(f"SELECT pg_advisory_xact_lock_shared({SWITCH_LOCK})"))
    is_replaced = connection.execute(
        text("SELECT EXISTS (SELECT FROM longtail.encoders WHERE name = :name AND NOT is_active)"),
        {"name": name},
    ).scalar_one()
    if is_replaced:
        raise TransientError(f"encoder '{name}' was replaced while it worked", remedy="the work is repeated")


# ------------------------------------------------------------------------------------------ re-embedding


def ask_to_fill(connection: Connection, *, name: str) -> None:
    """Have workers fill this encoder's table, and let it take over when nothing is missing. As the owner."""
    other = find_beside(connection, duty="filling")
    if other is not None and other.name != name:
        raise Conflict(
            f"the memory is being re-embedded to '{other.name}' already",
            remedy="wait until that is done, or give it up with 'longtail reembed --roll-back'",
        )
    connection.execute(
        text(
            "UPDATE longtail.encoders SET duty = 'filling', filled_to = NULL, problem = NULL, leased_until = NULL, "
            "asked_at = coalesce(CASE WHEN duty = 'filling' THEN asked_at END, clock_timestamp()) "
            "WHERE name = :name AND NOT is_active"
        ),
        {"name": name},
    )


def give_up_filling(connection: Connection, *, name: str) -> None:
    """Stop filling; what was filled stays, for another time. As the owner."""
    connection.execute(
        text(
            "UPDATE longtail.encoders SET duty = NULL, problem = NULL WHERE name = :name AND duty = 'filling'"
        ),
        {"name": name},
    )


def is_filling_free(connection: Connection) -> bool:
    """Whether there is an encoder to fill that no worker is at."""
    found: bool = connection.execute(
        text(
            "SELECT EXISTS (SELECT FROM longtail.encoders WHERE duty = 'filling' "
            "AND coalesce(leased_until <= clock_timestamp(), true))"
        )
    ).scalar_one()
    return found


def claim_filling(connection: Connection, *, lease_seconds: float) -> tuple[KnownEncoder, UUID] | None:
    """The encoder to fill and up to where it is, for so long; None where there is none, or somebody is at it."""
    row = connection.execute(
        text(
            "UPDATE longtail.encoders SET leased_until = clock_timestamp() + make_interval(secs => :lease) "
            "WHERE duty = 'filling' AND coalesce(leased_until <= clock_timestamp(), true) "
            f"RETURNING {_COLUMNS}, filled_to"
        ),
        {"lease": lease_seconds},
    ).one_or_none()
    if row is None:
        return None
    values = dict(row._mapping)
    filled_to = values.pop("filled_to") or FIRST
    return KnownEncoder(**values), filled_to


def note_filling(
    connection: Connection, *, name: str, filled_to: UUID, lease_seconds: float, problem: str | None = None
) -> bool:
    """How far it is, who holds it for how much longer, and what is wrong; False where it was given up meanwhile."""
    noted = connection.execute(
        text(
            "UPDATE longtail.encoders SET filled_to = :filled_to, problem = :problem, "
            "leased_until = clock_timestamp() + make_interval(secs => :lease) WHERE name = :name AND duty = 'filling'"
        ),
        {"name": name, "filled_to": filled_to, "lease": lease_seconds, "problem": problem},
    )
    return noted.rowcount > 0


def find_unfilled(connection: Connection, *, name: str, behind: UUID, count: int) -> list[tuple[UUID, UUID]]:
    """Items that the active encoder has vectors of and this one has not, in order of their ids: (tenant, item)."""
    rows = connection.execute(
        text("SELECT * FROM longtail.find_unfilled(:name, :behind, :count)"),
        {"name": name, "behind": behind, "count": count},
    ).all()
    for row in rows:
        keep_pass(row.tenant_id, row._mapping["pass"])
    return [(row.tenant_id, row.item_id) for row in rows]


def lock_switch(connection: Connection) -> None:
    """Until this transaction ends, nobody else writes vectors of the active encoder."""
    connection.execute(text(f"SELECT pg_advisory_xact_lock({SWITCH_LOCK})"))


def take_over(connection: Connection, *, name: str) -> bool:
    """Make this encoder the active one, if nothing is missing in its table; the one before stays as standby."""
    done: bool = connection.execute(text("SELECT longtail.take_over(:name)"), {"name": name}).scalar_one()
    return done


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """How full an encoder's table is."""

    items: int
    missing: int  # that the active one has
    bytes: int


def measure_fill(connection: Connection, *, name: str) -> Fill:
    """Counted, not estimated: a second for each million items. As the owner."""
    active = require_active(connection)
    table = table_of(name)
    row = connection.execute(
        text(
            f"SELECT (SELECT count(*) FROM longtail.{table} WHERE window_no = 0) AS items, "
            f"(SELECT count(*) FROM longtail.{table_of(active.name)} AS had WHERE had.window_no = 0 AND NOT EXISTS "
            f" (SELECT FROM longtail.{table} AS has WHERE has.item_id = had.item_id)) AS missing, "
            "pg_total_relation_size(to_regclass(:table)) AS bytes"
        ),
        {"table": f"longtail.{table}"},
    ).one()
    return Fill(items=row.items, missing=row.missing, bytes=row.bytes)


def remove_encoder(connection: Connection, *, name: str) -> None:
    """Drop an encoder that serves nobody: its vectors, of turns and of statements, and its table. As the owner."""
    known = next((one for one in list_encoders(connection) if one.name == name), None)
    if known is None:
        raise NotFound(f"no encoder '{name}' is known here", remedy="'longtail reembed --status' lists them")
    if known.is_active or known.duty == "filling":
        raise Conflict(
            f"encoder '{name}' is {'the active one' if known.is_active else 'being filled'}",
            remedy="only one that serves nobody can be dropped",
        )
    connection.execute(text("DELETE FROM longtail.statements WHERE encoder = :name"), {"name": name})
    connection.execute(text("DELETE FROM longtail.encoders WHERE name = :name"), {"name": name})
