"""Which turns are replaced by newer ones, decided when a turn has its vectors (memory-model.md section 7)."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection

from models.domain.updates.claims import read_statement
from models.domain.updates.decision import LEAST_COSINE, decide
from models.store.memory.guidance import inherit_guidance
from models.store.memory.updates import Near, Supersession, add_supersessions, find_near_statements


def mark_updates(
    connection: Connection, tenant_id: UUID, namespace: str, turn_ids: Sequence[UUID], *, encoder: str
) -> int:
    """Compare what these turns state with what their speakers stated before and since; returns how many are replaced.

    What replaces a rule is a rule: it stands in the older one's place, also where nobody would call it a wish.
    """
    if not turn_ids:
        return 0
    near = find_near_statements(
        connection,
        tenant_id=tenant_id,
        namespace=namespace,
        encoder=encoder,
        turn_ids=turn_ids,
        least_similarity=LEAST_COSINE,
    )
    marks: dict[tuple[UUID, UUID], Supersession] = {}
    for pair in near:
        mark = _judge(pair)
        if mark is not None:
            marks.setdefault((mark.older_turn_id, mark.newer_turn_id), mark)
    inherit_guidance(
        connection,
        tenant_id=tenant_id,
        pairs=[(*turns, mark.newer_statement) for turns, mark in marks.items()],
    )
    add_supersessions(connection, tenant_id=tenant_id, namespace=namespace, marks=list(marks.values()))
    return len(marks)


def _judge(pair: Near) -> Supersession | None:
    mine = (pair.said_at, pair.turn_id, pair.body)
    other = (pair.other_said_at, pair.other_turn_id, pair.other_body)
    (_, older_id, older), (changed_at, newer_id, newer) = sorted((mine, other))
    verdict = decide(read_statement(older), read_statement(newer), pair.similarity)
    if verdict is None:
        return None
    return Supersession(
        older_turn_id=older_id,
        newer_turn_id=newer_id,
        older_statement=older,
        newer_statement=newer,
        reason=verdict.reason,
        about=verdict.about,
        similarity=pair.similarity,
        changed_at=changed_at,
    )
