"""A profile: for a list, and for the prompt of a session that asks nothing yet."""

from datetime import UTC, datetime

from api.access.decisions import choose_namespace
from api.profile.schemas import ProfileLineOut, ProfileOut
from api.recall.question import Question
from api.recall.ranking import Recalled
from api.runtime import Runtime
from models.domain.profile.lines import ProfileLine, make_profile
from models.domain.recall.relevance import score_hop
from models.domain.records import Identity
from models.errors import InvalidInput
from models.store.engine import Cursors, one_round_trip
from models.store.memory.profile import send_profile
from models.store.recall.candidates import Candidate, send_given
from models.store.tenancy.tokens import Caller


def show_profile(runtime: Runtime, caller: Caller, *, asked: Identity) -> ProfileOut:
    """What is known of one user; a token of the whole tenant names whose."""
    namespace = choose_namespace(caller, asked)
    if namespace is None:
        raise InvalidInput(
            "whose profile is it?", field="user_id", remedy="send user_id, session_key or agent_id"
        )
    with one_round_trip(runtime.engine, caller, timeout_ms=runtime.settings.statement_timeout_ms) as cursors:
        lines = _read_lines(cursors, caller, namespace, session_id=None, now=datetime.now(UTC))
    return ProfileOut(namespace=namespace, lines=[_show_line(line) for line in lines])


def recall_profile(
    cursors: Cursors, caller: Caller, question: Question, namespace: str, *, encoder: str
) -> tuple[Recalled, ...]:
    """The lines as recall would have found them, best first: each a candidate that says its one statement."""
    lines = _read_lines(cursors, caller, namespace, session_id=question.session_id, now=question.now)
    by_turn = {line.source.turn_id: line for line in lines}
    if not by_turn:
        return ()
    rows = send_given(cursors, tenant_id=caller.tenant_id, encoder=encoder, ids=list(by_turn)).fetchall()
    found = {candidate.item_id: candidate for candidate in (Candidate(*row) for row in rows)}
    return tuple(
        Recalled(
            candidate=found[turn_id]._replace(text=line.text),
            scored=score_hop(found[turn_id].id, line.value)._replace(scope="durable"),
            rank=place,
        )
        for place, (turn_id, line) in enumerate(by_turn.items(), start=1)
        if turn_id in found
    )


def _read_lines(
    cursors: Cursors, caller: Caller, namespace: str, *, session_id: str | None, now: datetime
) -> tuple[ProfileLine, ...]:
    memories, recent, ending = send_profile(
        cursors, tenant_id=caller.tenant_id, namespace=namespace, session_id=session_id
    )
    return make_profile(memories.fetchall(), recent.fetchall(), ending.fetchall()[::-1], now=now)


def _show_line(line: ProfileLine) -> ProfileLineOut:
    return ProfileLineOut(
        kind=line.kind,
        text=line.text,
        turn_id=line.source.turn_id,
        session_id=line.source.session_id,
        memory_id=line.source.memory_id,
        speaker=line.source.name,
        said_at=line.source.said_at,
        worth=round(line.worth, 4),
        value=round(line.value, 4),
    )
