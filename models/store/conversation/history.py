"""The raw record, read back: pages of a session, its outline, and a bounded search over every turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, text
from sqlalchemy.exc import DataError

from models.domain.prompt.tail import TailTurn
from models.domain.records import Turn
from models.errors import InvalidInput
from models.store.conversation.turns import to_turn

LAST_SEQ: Final = 2**62
EXCERPT_CHARS: Final = 80  # on each side of a match


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlinedTurn:
    """A turn without its words: where it stands, and whether a summary covers it."""

    turn: TailTurn
    id: UUID
    position: int
    is_covered: bool


_OUTLINE = text("""
SELECT turns.id, turns.position, turns.role, turns.metadata ->> 'host_turn' AS host_turn,
       edge.turn_id IS NOT NULL AS is_covered
FROM turns LEFT JOIN summary_turns AS edge ON edge.turn_id = turns.id
WHERE turns.tenant_id = :tenant_id AND turns.session_id = :session_id ORDER BY turns.position
""")


def load_outline(connection: Connection, *, tenant_id: UUID, session_id: str) -> list[OutlinedTurn]:
    """Every turn of a session in order; bundles can only be told from the beginning."""
    rows = connection.execute(_OUTLINE, {"tenant_id": tenant_id, "session_id": session_id})
    return [
        OutlinedTurn(
            turn=TailTurn(id=str(row.id), role=row.role, host_turn=row.host_turn),
            id=row.id,
            position=row.position,
            is_covered=row.is_covered,
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTurn:
    """A raw turn and the summary that covers it, if one does."""

    turn: Turn
    summary_id: UUID | None


_COLUMNS: Final = (
    "turns.id, turns.session_id, turns.position, turns.seq, turns.namespace, turns.role, turns.content, turns.ts, "
    "turns.name, turns.host_message_id, turns.metadata, edge.summary_id"
)


def list_turns(
    connection: Connection, *, tenant_id: UUID, session_id: str, after_position: int, count: int
) -> list[KeptTurn]:
    """The turns of a session behind a position, oldest first, word for word."""
    rows = connection.execute(
        text(
            f"SELECT {_COLUMNS} FROM turns LEFT JOIN summary_turns AS edge ON edge.turn_id = turns.id "
            "WHERE turns.tenant_id = :tenant_id AND turns.session_id = :session_id AND turns.position > :after "
            "ORDER BY turns.position LIMIT :count"
        ),
        {"tenant_id": tenant_id, "session_id": session_id, "after": after_position, "count": count},
    )
    return [KeptTurn(turn=to_turn(row), summary_id=row.summary_id) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A turn that matches a pattern, and the words around its first match."""

    id: UUID
    session_id: str
    position: int
    role: str
    name: str | None
    ts: datetime
    excerpt: str
    match_start: int  # in the excerpt
    match_end: int
    summary_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """One page of a search: matches newest first, and how far it came."""

    found: tuple[Found, ...]
    scanned: int
    last_seq: int | None  # the oldest turn looked at; None when none was left


# The scan is bounded by rows, the match by the statement's time; OFFSET 0 keeps one before the other.
_GREP = """
WITH scanned AS MATERIALIZED (
    SELECT id, session_id, position, seq, role, name, ts, content FROM turns
    WHERE tenant_id = :tenant_id AND seq < :before
      AND (CAST(:session_id AS text) IS NULL OR session_id = :session_id)
      AND (CAST(:namespace AS text) IS NULL OR namespace = :namespace)
      AND (CAST(:role AS text) IS NULL OR role = :role)
    ORDER BY seq DESC LIMIT :rows
), matched AS (
    SELECT scanned.*, {start} AS found_at, {end} AS found_end FROM scanned WHERE {condition}
    ORDER BY seq DESC LIMIT :count
)
SELECT matched.*, edge.summary_id,
       substr(matched.content, greatest(found_at - :around, 1)::integer,
              (least(found_end - found_at, 400) + 2 * :around)::integer) AS excerpt,
       totals.rows_scanned, totals.oldest
FROM (SELECT count(*) AS rows_scanned, min(seq) AS oldest FROM scanned) AS totals
LEFT JOIN matched ON true LEFT JOIN summary_turns AS edge ON edge.turn_id = matched.id
ORDER BY matched.seq DESC
"""
_PLAIN = {
    "start": "strpos({text}, {pattern})",
    "end": "strpos({text}, {pattern}) + char_length(:pattern)",
    "condition": "strpos({text}, {pattern}) > 0",
}
_REGEX = {
    "start": "regexp_instr(content, :pattern, 1, 1, 0, :flags)",
    "end": "regexp_instr(content, :pattern, 1, 1, 1, :flags)",
    "condition": "regexp_like(content, :pattern, :flags)",
}


def search_turns(
    connection: Connection,
    *,
    tenant_id: UUID,
    pattern: str,
    is_regex: bool,
    ignores_case: bool,
    before_seq: int,
    rows: int,
    count: int,
    session_id: str | None = None,
    namespace: str | None = None,
    role: str | None = None,
) -> Searched:
    """Look through the next `rows` raw turns, newest first, for a pattern (plain, or PostgreSQL's regular one)."""
    if is_regex:
        parts = dict(_REGEX)
    else:
        text_of, pattern_of = (
            ("lower(content)", "lower(:pattern)") if ignores_case else ("content", ":pattern")
        )
        parts = {key: part.format(text=text_of, pattern=pattern_of) for key, part in _PLAIN.items()}
    values: dict[str, Any] = {
        "tenant_id": tenant_id,
        "before": before_seq,
        "session_id": session_id,
        "namespace": namespace,
        "role": role,
        "rows": rows,
        "count": count,
        "pattern": pattern,
        "around": EXCERPT_CHARS,
    }
    if is_regex:
        values["flags"] = "in" if ignores_case else "n"  # n: lines are lines, as in grep
    try:
        if is_regex:  # also where no turn is there to be matched
            connection.execute(text("SELECT regexp_like('', :pattern, :flags)"), values)
        answered = connection.execute(text(_GREP.format(**parts)), values).all()
    except DataError as error:
        raise InvalidInput(
            f"the pattern is no regular expression that PostgreSQL knows: {str(error.orig).splitlines()[0]}",
            code="invalid_pattern",
            field="pattern",
            remedy="correct it, or search for it as plain text",
        ) from error
    found = tuple(_to_found(row) for row in answered if row.id is not None)
    scanned = answered[0].rows_scanned if answered else 0
    oldest = answered[0].oldest if answered else None
    if len(found) == count:  # more may match behind the last one
        oldest = answered[-1].seq
    return Searched(found=found, scanned=scanned, last_seq=oldest)


def _to_found(row: Any) -> Found:
    start = min(row.found_at - 1, EXCERPT_CHARS)
    return Found(
        id=row.id,
        session_id=row.session_id,
        position=row.position,
        role=row.role,
        name=row.name,
        ts=row.ts,
        excerpt=row.excerpt,
        match_start=start,
        match_end=min(start + (row.found_end - row.found_at), len(row.excerpt)),
        summary_id=row.summary_id,
    )


def load_kept_turns(connection: Connection, *, tenant_id: UUID, ids: Sequence[UUID]) -> list[KeptTurn]:
    """The turns with these ids, in order of their session."""
    rows = connection.execute(
        text(
            f"SELECT {_COLUMNS} FROM turns LEFT JOIN summary_turns AS edge ON edge.turn_id = turns.id "
            "WHERE turns.tenant_id = :tenant_id AND turns.id = ANY(:ids) ORDER BY turns.position"
        ),
        {"tenant_id": tenant_id, "ids": list(ids)},
    )
    return [KeptTurn(turn=to_turn(row), summary_id=row.summary_id) for row in rows]
