"""One summary, and what it covers."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection

from api.access.decisions import NOBODY, check_session
from api.runtime import Runtime
from api.summaries.schemas import ExpandOut, SummaryOut
from api.turns.service import show_turn
from models.domain.prompt.tail import find_base_start
from models.domain.records import Identity
from models.errors import NotFound
from models.store.compaction.summaries import (
    Summary,
    expand_to_summaries,
    expand_to_turns,
    list_of_session,
    load_sources,
    load_summaries,
)
from models.store.conversation.history import OutlinedTurn, load_kept_turns, load_outline
from models.store.conversation.sessions import find_home
from models.store.tenancy.tokens import Caller


def read_summary(
    runtime: Runtime, caller: Caller, summary_id: UUID, *, asked: Identity = NOBODY
) -> SummaryOut:
    """One summary with everything known about it."""
    with runtime.transaction(caller) as connection:
        return _show_summary(connection, caller, _find(connection, caller, summary_id, asked))


def expand_summary(
    runtime: Runtime,
    caller: Caller,
    summary_id: UUID,
    *,
    depth: int,
    cursor: int | None,
    limit: int,
    asked: Identity = NOBODY,
) -> ExpandOut:
    """What lies below a summary: every summary, and the raw turns page by page, down to `depth` edges."""
    with runtime.transaction(caller) as connection:
        _find(connection, caller, summary_id, asked)
        below = []
        if cursor is None:  # the summaries come with the first page
            below = expand_to_summaries(
                connection, tenant_id=caller.tenant_id, summary_id=summary_id, depth=depth
            )
        ids = expand_to_turns(
            connection,
            tenant_id=caller.tenant_id,
            summary_id=summary_id,
            depth=depth,
            after_position=-1 if cursor is None else cursor,
            count=limit + 1,
        )
        turns = load_kept_turns(connection, tenant_id=caller.tenant_id, ids=ids[:limit])
        return ExpandOut(
            turns=[show_turn(one) for one in turns],
            summaries=[_show_summary(connection, caller, one) for one in below],
            next_cursor=str(turns[-1].turn.position) if len(ids) > limit else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A session without its words: every turn, every summary made of it, and where the base tail begins."""

    turns: list[OutlinedTurn]
    made: list[Summary]  # retired ones too
    active: list[SummaryOut]  # what stands for its older turns now, oldest part first
    tail_from: int  # position


def outline_session(runtime: Runtime, caller: Caller, session_id: str) -> Outline:
    """What covers what in a session, read at one moment."""
    check_session(runtime, caller, session_id)
    with runtime.transaction(caller, is_snapshot=True) as connection:
        turns = load_outline(connection, tenant_id=caller.tenant_id, session_id=session_id)
        made = list_of_session(connection, tenant_id=caller.tenant_id, session_id=session_id)
        standing = sorted((one for one in made if one.is_active), key=lambda one: one.first_position)
        active = [_show_summary(connection, caller, one) for one in standing]
    start = find_base_start([one.turn for one in turns], min_turns=runtime.settings.tail_min_turns)
    return Outline(turns=turns, made=made, active=active, tail_from=turns[start].position if turns else 0)


def _find(connection: Connection, caller: Caller, summary_id: UUID, asked: Identity) -> Summary:
    found = load_summaries(connection, tenant_id=caller.tenant_id, ids=[summary_id])
    if not found:
        raise NotFound(
            f"no summary {summary_id} in this tenant", remedy="ids are in the items of an assembly"
        )
    find_home(connection, session_id=found[0].session_id, identity=asked)  # refuses whoever may not see it
    return found[0]


def _show_summary(connection: Connection, caller: Caller, summary: Summary) -> SummaryOut:
    turns, children = load_sources(connection, tenant_id=caller.tenant_id, summary_id=summary.id)
    assert summary.made_at is not None
    return SummaryOut(
        id=str(summary.id),
        session_id=summary.session_id,
        level=summary.level,
        text=summary.body,
        is_active=summary.is_active,
        parent_id=str(summary.parent_id) if summary.parent_id else None,
        source_turn_ids=[str(turn_id) for turn_id in turns],
        source_summary_ids=[str(child) for child in children],
        prior_ids=[str(prior) for prior in summary.prior_ids],
        method=summary.method,
        attempt=summary.attempt,
        backend=summary.backend,
        confidence=summary.confidence,
        decay=1 - summary.confidence,
        align=summary.align,
        cover=summary.cover,
        tokens=summary.summary_tokens,
        source_tokens=summary.source_tokens,
        turn_count=summary.turn_count,
        turn_tokens=summary.turn_tokens,
        first_position=summary.first_position,
        last_position=summary.last_position,
        earliest_at=summary.earliest_at,
        latest_at=summary.latest_at,
        made_at=summary.made_at,
    )
