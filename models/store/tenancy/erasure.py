"""Erasing: the one way a raw turn ever leaves, on request, in one function of the owner's, written down."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

import psycopg
from sqlalchemy import Connection, text

Kind = Literal["namespace", "session", "memory", "document"]


OnStep = Callable[[int, int], None]  # is told which step of how many is done
_STEP: Final = re.compile(r"(\d+) of (\d+)")


def erase(
    connection: Connection,
    *,
    kind: Kind,
    name: str,
    token_id: UUID | None,
    reason: str | None,
    erasure_id: UUID,
    on_step: OnStep | None = None,
) -> dict[str, int] | None:
    """Remove a thing of the transaction's tenant and everything made from it; how many rows of each table went.

    None: there is no such thing. A document's name is its binding and its name, with a newline between.
    """
    with _told(connection, on_step):
        found: dict[str, int] | None = connection.execute(
            text("SELECT longtail.erase(:kind, :name, :token_id, :reason, :id)"),
            {"kind": kind, "name": name, "token_id": token_id, "reason": reason, "id": erasure_id},
        ).scalar_one()
    return found


@contextmanager
def _told(connection: Connection, on_step: OnStep | None) -> Iterator[None]:
    """PostgreSQL's notices come while the statement runs, before anything of it is visible to others."""
    if on_step is None:
        yield
        return
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        found = _STEP.fullmatch(notice.message_detail or "")
        if found and notice.message_primary == "longtail.erase":
            on_step(int(found[1]), int(found[2]))

    driver.add_notice_handler(hear)
    try:
        yield
    finally:
        driver.remove_notice_handler(hear)


def find_buried(connection: Connection, *, kind: str, names: Sequence[str]) -> list[bool]:
    """Of each name, whether such a thing was erased in the transaction's tenant: a turn, a session, a document."""
    found: list[bool] = connection.execute(
        text("SELECT longtail.is_buried(:kind, :names)"), {"kind": kind, "names": list(names)}
    ).scalar_one()
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What is left of an erasure: that it happened."""

    id: UUID
    namespace: str
    token_id: UUID | None
    reason: str | None
    counts: Mapping[str, int]
    kind: Kind
    target: str | None
    erased_at: datetime


def list_erasures(
    connection: Connection, *, tenant_id: UUID, count: int = 100, only: UUID | None = None
) -> list[Erasure]:
    """The newest erasures of a tenant, newest first; or the one of that id."""
    rows = connection.execute(
        text(
            "SELECT id, namespace, token_id, reason, counts, kind, target, erased_at FROM erasures "
            "WHERE tenant_id = :tenant_id AND (CAST(:only AS uuid) IS NULL OR id = :only) "
            "ORDER BY erased_at DESC, id DESC LIMIT :count"
        ),
        {"tenant_id": tenant_id, "count": count, "only": only},
    )
    return [Erasure(**row._mapping) for row in rows]
