"""One summary, and what it covers."""

from uuid import UUID

from sqlalchemy import Connection

from api.access import NOBODY
from api.runtime import Runtime
from api.summaries.schemas import ExpandOut, SummaryOut
from api.turns.service import show_turn
from models.domain.records import Identity
from models.errors import NotFound
from models.store.engine import tenant_transaction
from models.store.history import load_kept_turns
from models.store.sessions import find_home
from models.store.summaries import (
    Summary,
    expand_to_summaries,
    expand_to_turns,
    load_sources,
    load_summaries,
)
from models.store.tokens import Caller


def read_summary(
    runtime: Runtime, caller: Caller, summary_id: UUID, *, asked: Identity = NOBODY
) -> SummaryOut:
    """One summary with everything known about it."""
    with tenant_transaction(
        runtime.engine, caller, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
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
    with tenant_transaction(
        runtime.engine, caller, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
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
