"""What a profile is made from: the best memories of a namespace, what was said of late, how the last session ended."""

from typing import TYPE_CHECKING, Final
from uuid import UUID

from models.domain.profile.lines import ProfileSource
from models.store.engine import Cursors

if TYPE_CHECKING:
    from psycopg import Cursor

MEMORIES_READ: Final = 120
TURNS_READ: Final = 40
ENDING_READ: Final = 8

_CURRENT: Final = "NOT EXISTS (SELECT 1 FROM supersessions WHERE supersessions.older_turn_id = turns.id)"
_MEMORIES: Final = f"""
SELECT memories.turn_id::text, memories.id::text, turns.session_id, turns.role, turns.name, memories.body,
       memories.last_seen_at, memories.mention_count - 1 + items.useful_count
FROM memories JOIN items ON items.id = memories.turn_id AND items.is_active JOIN turns ON turns.id = memories.turn_id
WHERE memories.tenant_id = %(tenant_id)s AND memories.namespace = %(namespace)s AND memories.forgotten_at IS NULL
  AND turns.session_id <> %(session_id)s AND {_CURRENT}
ORDER BY memories.gate_score DESC, memories.last_seen_at DESC, memories.id LIMIT {MEMORIES_READ}"""
_RECENT: Final = f"""
SELECT turns.id::text, NULL::text, turns.session_id, turns.role, turns.name, turns.content, turns.ts, 0
FROM turns JOIN items ON items.id = turns.id AND items.is_active
WHERE turns.tenant_id = %(tenant_id)s AND turns.namespace = %(namespace)s AND turns.role = 'user'
  AND turns.session_id <> %(session_id)s AND {_CURRENT}
ORDER BY turns.seq DESC LIMIT {TURNS_READ}"""
_ENDING: Final = f"""
SELECT turns.id::text, NULL::text, turns.session_id, turns.role, turns.name, turns.content, turns.ts, 0
FROM turns JOIN items ON items.id = turns.id AND items.is_active
WHERE turns.tenant_id = %(tenant_id)s AND turns.session_id = (
    SELECT session_id FROM sessions
    WHERE sessions.tenant_id = %(tenant_id)s AND sessions.namespace = %(namespace)s
      AND sessions.session_id <> %(session_id)s AND sessions.last_turn_at IS NOT NULL
    ORDER BY sessions.last_turn_at DESC, sessions.session_id LIMIT 1)
ORDER BY turns.position DESC LIMIT {ENDING_READ}"""


def send_profile(
    cursors: Cursors, *, tenant_id: UUID, namespace: str, session_id: str | None
) -> "tuple[Cursor[ProfileSource], Cursor[ProfileSource], Cursor[ProfileSource]]":
    """Ask for memories, the newest user turns and the end of the last session; the session named is left out."""
    values = {"tenant_id": tenant_id, "namespace": namespace, "session_id": session_id or ""}
    memories, recent, ending = (
        cursors.send(statement, values, into=ProfileSource) for statement in (_MEMORIES, _RECENT, _ENDING)
    )
    return memories, recent, ending
