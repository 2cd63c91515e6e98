"""Which turns a host shows the model anyway: by the host's own id, else by role and words."""

from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from api.assemble.gathering import Gathered
from api.assemble.schemas import AssembleIn
from api.routing.trail import Trail
from api.runtime import Runtime
from models.domain.prompt.markers import strip_injected
from models.domain.records import Turn
from models.errors import TransientError
from models.store.conversation.turns import find_by_host_ids
from models.store.engine import tenant_transaction
from models.store.tenancy.tokens import Caller

log = structlog.get_logger(__name__)
LOOK_UP_TIMEOUT_MS = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Turns on the host's screen: those of the tail, and older ones that recall found."""

    tail: frozenset[str] = frozenset()
    older: frozenset[str] = frozenset()


def find_shown(runtime: Runtime, caller: Caller, request: AssembleIn, got: Gathered, trail: Trail) -> Shown:
    """The turns among the request's messages. Words are compared without what we injected into them."""
    if not request.messages:
        return Shown()
    ids = {message.id for message in request.messages if message.id}
    words = {(message.role, strip_injected(message.content, caller.marker)) for message in request.messages}
    tail = {str(turn.id) for turn in got.turns if _is_among(turn, ids, words)}
    found = [one.candidate for one in got.recalled if one.candidate.kind in {"turn", "memory"}]
    older = {one.item_id for one in found if (one.role, one.text) in words}
    strangers = ids - {turn.host_message_id for turn in got.turns}
    if strangers and any(one.session_id == request.session_id for one in found):
        older |= _look_up(runtime, caller, request.session_id, strangers, trail)
    return Shown(tail=frozenset(tail), older=frozenset(older - tail))


def _is_among(turn: Turn, ids: set[str], words: set[tuple[str, str]]) -> bool:
    return turn.host_message_id in ids or (turn.role, turn.content) in words


def _look_up(
    runtime: Runtime, caller: Caller, session_id: str, host_ids: Iterable[str], trail: Trail
) -> set[str]:
    """Turns older than the tail, by the host's ids: a question to PostgreSQL, asked only where recall may need it."""
    try:
        with (
            trail.timed("visible"),
            tenant_transaction(runtime.engine, caller, timeout_ms=LOOK_UP_TIMEOUT_MS) as connection,
        ):
            return find_by_host_ids(
                connection, tenant_id=caller.tenant_id, session_id=session_id, host_ids=list(host_ids)
            )
    except TransientError as error:
        log.warning("visible.not_looked_up", error=error.code)
        trail.miss(
            error.code, "older messages were not looked up by their ids: one of them may be recalled again"
        )
        return set()
