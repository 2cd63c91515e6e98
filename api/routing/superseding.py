"""What replaced a turn, as answers show it."""

from collections.abc import Mapping
from uuid import UUID

from api.routing.schemas import SupersededOut
from models.store.memory.updates import Supersession


def show_supersession(marks: Mapping[UUID, Supersession], turn_id: UUID) -> SupersededOut | None:
    """What replaced this turn; None while it stands."""
    mark = marks.get(turn_id)
    if mark is None:
        return None
    return SupersededOut(
        by_turn_id=str(mark.newer_turn_id),
        at=mark.changed_at,
        says=mark.newer_statement,
        instead_of=mark.older_statement,
        reason=mark.reason,
        about=mark.about,
        similarity=mark.similarity,
    )
