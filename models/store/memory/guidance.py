"""Spoken rules: added, superseded, listed, and read for a prompt."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from pgvector import HalfVector
from sqlalchemy import Connection, Row, text

from models.store.engine import Cursors
from models.store.index.embeddings import Vector, table_of

if TYPE_CHECKING:
    from psycopg import Cursor
from models.store.memory.memories import LAST_ID

Claims = Sequence[tuple[str, str]]  # what a rule asks: pairs of modality and action


def add_guidance(
    connection: Connection,
    *,
    tenant_id: UUID,
    collection: str,
    turn_id: UUID,
    body: str,
    modalities: Sequence[str],
    claims: Claims,
    stability_weight: float,
    stated_at: datetime,
    expires_at: datetime | None = None,
    is_correction: bool = False,
) -> None:
    """A rule or standing wish spoken in conversation, verbatim, from now on in every prompt it may fit.

    A turn states one once, and a later reading of it may see more; what was forgotten stays forgotten and what its
    user put in other words stays as it is, unless the words of the turn's memory were corrected. A turn that is not the
    user's states none, whoever asks for it.
    """
    known = (
        "DO UPDATE SET body = excluded.body, modalities = excluded.modalities, "
        "claims = excluded.claims, expires_at = excluded.expires_at"
    ) + (
        ", forgotten_at = NULL, corrected_at = NULL"
        if is_correction
        else " WHERE guidance.forgotten_at IS NULL AND guidance.corrected_at IS NULL"
    )
    connection.execute(
        text(
            "INSERT INTO guidance (tenant_id, collection, turn_id, body, modalities, claims, stability_weight, "
            "stated_at, expires_at, superseded_by) SELECT :tenant_id, :collection, :turn_id, :body, :modalities, "
            "CAST(:claims AS jsonb), :stability_weight, :stated_at, CAST(:expires_at AS timestamptz), "
            "(SELECT newer.id FROM supersessions JOIN guidance AS newer ON newer.turn_id = supersessions.newer_turn_id "
            "WHERE supersessions.older_turn_id = :turn_id ORDER BY supersessions.changed_at DESC LIMIT 1) "
            "WHERE NOT EXISTS (SELECT FROM forgotten WHERE item_id = :turn_id) "
            "AND (:is_correction OR EXISTS (SELECT FROM turns WHERE id = :turn_id AND role = 'user')) "
            f"ON CONFLICT (turn_id) {known}"
        ),
        {
            "tenant_id": tenant_id,
            "collection": collection,
            "turn_id": turn_id,
            "body": body,
            "modalities": list(modalities),
            "claims": json.dumps(claims),
            "stability_weight": stability_weight,
            "stated_at": stated_at,
            "expires_at": expires_at,
            "is_correction": is_correction,
        },
    )


def correct_guidance(
    connection: Connection,
    *,
    tenant_id: UUID,
    guidance_id: UUID,
    body: str,
    modalities: Sequence[str],
    claims: Claims,
    expires_at: datetime | None,
) -> None:
    """Give a wish other words; the turn that spoke it stays as it is."""
    connection.execute(
        text(
            "UPDATE guidance SET body = :body, modalities = :modalities, claims = CAST(:claims AS jsonb), "
            "expires_at = CAST(:expires_at AS timestamptz), corrected_at = now(), forgotten_at = NULL "
            "WHERE tenant_id = :tenant_id AND id = :id"
        ),
        {
            "tenant_id": tenant_id,
            "id": guidance_id,
            "body": body,
            "modalities": list(modalities),
            "claims": json.dumps(claims),
            "expires_at": expires_at,
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A standing wish as it was spoken."""

    id: UUID
    body: str
    name: str | None  # of who said it, where several speak
    stated_at: datetime
    claims: Claims | None  # None: not read yet


def load_spoken(connection: Connection, *, tenant_id: UUID, collection: str, count: int) -> list[Spoken]:
    """The newest guidance of a collection that still stands."""
    rows = connection.execute(
        text(
            "SELECT id, body, (SELECT name FROM turns WHERE turns.id = turn_id) AS name, stated_at, claims FROM guidance "
            "WHERE tenant_id = :tenant_id AND collection = :collection "
            "AND superseded_by IS NULL AND forgotten_at IS NULL AND (expires_at IS NULL OR expires_at > now()) "
            "ORDER BY stated_at DESC LIMIT :count"
        ),
        {"tenant_id": tenant_id, "collection": collection, "count": count},
    )
    return [
        Spoken(
            id=row.id,
            body=row.body,
            name=row.name,
            stated_at=row.stated_at,
            claims=None if row.claims is None else [(modality, action) for modality, action in row.claims],
        )
        for row in rows
    ]


def load_quotes(
    connection: Connection, *, tenant_id: UUID, turn_ids: Sequence[UUID]
) -> dict[UUID, str | None]:
    """The words of these turns that were kept as a wish, also of one that was forgotten; None: in other words since."""
    rows = connection.execute(
        text(
            "SELECT turn_id, CASE WHEN corrected_at IS NULL THEN body END AS quote FROM guidance "
            "WHERE tenant_id = :tenant_id AND turn_id = ANY(:turn_ids)"
        ),
        {"tenant_id": tenant_id, "turn_ids": list(turn_ids)},
    )
    return {row.turn_id: row.quote for row in rows}


def keep_claims(connection: Connection, *, guidance_id: UUID, claims: Claims) -> None:
    """Keep what a wish asks, read after it was stored."""
    connection.execute(
        text("UPDATE guidance SET claims = CAST(:claims AS jsonb) WHERE id = :id"),
        {"id": guidance_id, "claims": json.dumps(claims)},
    )


def supersede_guidance(
    connection: Connection, *, guidance_id: UUID, by_id: UUID, actions: Sequence[str]
) -> None:
    """Mark a wish that a newer one contradicts, as any update is marked; both are kept."""
    connection.execute(
        text(
            "INSERT INTO supersessions (older_turn_id, newer_turn_id, tenant_id, namespace, older_statement, "
            "newer_statement, reason, about, changed_at) "
            "SELECT older.turn_id, newer.turn_id, older.tenant_id, items.namespace, older.body, newer.body, 'denied', "
            ":about, newer.stated_at FROM guidance AS older JOIN items ON items.id = older.turn_id "
            "JOIN guidance AS newer ON newer.id = :by AND EXISTS (SELECT FROM items WHERE items.id = newer.turn_id) "
            "WHERE older.id = :id ON CONFLICT (older_turn_id, newer_turn_id) DO NOTHING"
        ),
        {"id": guidance_id, "by": by_id, "about": ", ".join(actions)},
    )


def inherit_guidance(
    connection: Connection, *, tenant_id: UUID, pairs: Sequence[tuple[UUID, UUID, str]]
) -> None:
    """Where a turn (the second) replaces a rule (that of the first) and states none, the sentence of it that does stands."""
    if pairs:
        connection.execute(
            text(
                "INSERT INTO guidance (tenant_id, collection, turn_id, body, modalities, stability_weight, stated_at) "
                "SELECT older.tenant_id, older.collection, turns.id, :sentence, older.modalities, "
                "older.stability_weight, turns.ts FROM guidance AS older JOIN turns ON turns.id = :newer "
                "JOIN items ON items.id = turns.id WHERE older.tenant_id = :tenant_id AND older.turn_id = :older "
                "AND older.forgotten_at IS NULL ON CONFLICT (turn_id) DO NOTHING"
            ),
            [
                {"tenant_id": tenant_id, "older": older, "newer": newer, "sentence": sentence}
                for older, newer, sentence in pairs
            ],
        )


class Guidance(NamedTuple):
    """A standing wish as it is stored."""

    id: UUID
    turn_id: UUID
    name: str | None  # of who said it, where several speak
    body: str
    modalities: Sequence[str]
    stability_weight: float
    stated_at: datetime
    similarity: float | None  # to the query; None when its vector or the query's is not there


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenRule:
    """A rule or standing wish spoken in conversation, as it stands now."""

    id: UUID
    collection: str
    turn_id: UUID
    namespace: str
    session_id: str
    name: str | None
    body: str
    modalities: tuple[str, ...]
    stability_weight: float
    stated_at: datetime
    superseded_by: UUID | None
    forgotten_at: datetime | None
    expires_at: datetime | None
    corrected_at: datetime | None


_SPOKEN: Final = (
    "SELECT guidance.id, guidance.collection, guidance.turn_id, turns.namespace, turns.session_id, turns.name, "
    "guidance.body, guidance.modalities, guidance.stability_weight, guidance.stated_at, guidance.superseded_by, "
    "guidance.forgotten_at, guidance.expires_at, guidance.corrected_at "
    "FROM guidance JOIN turns ON turns.id = guidance.turn_id "
    "WHERE guidance.tenant_id = :tenant_id "
)


def find_spoken_rule(connection: Connection, *, tenant_id: UUID, guidance_id: UUID) -> SpokenRule | None:
    """The guidance record with this id."""
    row = connection.execute(
        text(f"{_SPOKEN} AND guidance.id = :id"), {"tenant_id": tenant_id, "id": guidance_id}
    ).one_or_none()
    return _to_spoken(row) if row is not None else None


def _to_spoken(row: Row[Any]) -> SpokenRule:
    return SpokenRule(**{**row._mapping, "modalities": tuple(row.modalities)})


def list_spoken_rules(
    connection: Connection,
    *,
    tenant_id: UUID,
    namespace: str | None = None,
    collection: str | None = None,
    only_standing: bool = True,
    before_id: UUID = LAST_ID,
    count: int = 100,
) -> list[SpokenRule]:
    """A page of guidance, those noted last first; `only_standing`: nothing superseded, forgotten or at its end."""
    rows = connection.execute(
        text(
            f"{_SPOKEN} AND guidance.id < :before_id "
            "AND (CAST(:namespace AS text) IS NULL OR turns.namespace = :namespace) "
            "AND (CAST(:collection AS text) IS NULL OR guidance.collection = :collection) "
            "AND (NOT :only_standing OR (guidance.superseded_by IS NULL AND guidance.forgotten_at IS NULL "
            "AND (guidance.expires_at IS NULL OR guidance.expires_at > now()))) "
            "ORDER BY guidance.id DESC LIMIT :count"
        ),
        {
            "tenant_id": tenant_id,
            "before_id": before_id,
            "namespace": namespace,
            "collection": collection,
            "only_standing": only_standing,
            "count": count,
        },
    )
    return [_to_spoken(row) for row in rows]


MOST_STANDING = 256  # of the newest standing wishes, how many are compared with a query


_GUIDANCE = """
WITH standing AS (
    SELECT guidance.id, turn_id, (SELECT name FROM turns WHERE turns.id = turn_id) AS name, body, modalities,
           stability_weight, stated_at,
           (SELECT max(1 - (embedding <=> CAST(%(vector)s AS halfvec))) FROM {table} AS stored
            WHERE stored.item_id = guidance.turn_id AND stored.tenant_id = %(tenant_id)s) AS similarity
    FROM guidance
    WHERE tenant_id = %(tenant_id)s AND collection = ANY(%(collections)s) AND superseded_by IS NULL
      AND forgotten_at IS NULL AND (expires_at IS NULL OR expires_at > now())
    ORDER BY stated_at DESC LIMIT %(most)s
)
(SELECT * FROM standing ORDER BY similarity DESC NULLS LAST LIMIT %(count)s)
UNION (SELECT * FROM standing ORDER BY stated_at DESC LIMIT %(count)s)
"""


def load_guidance(
    cursors: Cursors,
    *,
    tenant_id: UUID,
    encoder: str,
    collections: Sequence[str],
    query_vector: Vector | None,
    count: int,
) -> "Cursor[Guidance]":
    """Standing guidance of these collections: the likest to the query and the newest, `count` of each."""
    return cursors.send(
        _GUIDANCE.format(table=table_of(encoder)),
        {
            "tenant_id": tenant_id,
            "collections": list(collections),
            "vector": None if query_vector is None else HalfVector(query_vector),
            "count": count,
            "most": MOST_STANDING,
        },
        into=Guidance,
    )
