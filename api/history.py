"""Reading back: raw turns page by page, summaries down to what they cover, and a bounded search."""

import time
from uuid import UUID

from sqlalchemy import Connection

from api.compacting import check_session
from api.history_schemas import ExpandOut, GrepHit, GrepIn, GrepOut, SummaryOut, TurnOut, TurnPageOut
from api.runtime import Runtime
from models.errors import DeadlineExceeded, Forbidden, InvalidInput, NotFound
from models.store.access import Caller
from models.store.engine import tenant_transaction
from models.store.history import LAST_SEQ, Found, KeptTurn, list_turns, load_kept_turns, search_turns
from models.store.summaries import (
    Summary,
    expand_to_summaries,
    expand_to_turns,
    load_sources,
    load_summaries,
)

GREP_PAGE_ROWS = 20_000
GREP_SECONDS = 2.0


def page_turns(
    runtime: Runtime, caller: Caller, session_id: str, *, cursor: int | None, limit: int
) -> TurnPageOut:
    """A page of the raw record, oldest first."""
    check_session(runtime, caller, session_id)
    with tenant_transaction(
        runtime.engine, caller.tenant_id, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        kept = list_turns(
            connection,
            tenant_id=caller.tenant_id,
            session_id=session_id,
            after_position=-1 if cursor is None else cursor,
            count=limit + 1,
        )
    return TurnPageOut(
        turns=[show_turn(one) for one in kept[:limit]],
        next_cursor=str(kept[limit - 1].turn.position) if len(kept) > limit else None,
    )


def show_turn(kept: KeptTurn) -> TurnOut:
    """A raw turn as it is answered."""
    turn = kept.turn
    return TurnOut(
        id=str(turn.id),
        session_id=turn.session_id,
        position=turn.position,
        role=turn.role,
        content=turn.content,
        ts=turn.ts,
        name=turn.name,
        host_message_id=turn.host_message_id,
        metadata=dict(turn.metadata),
        summary_id=str(kept.summary_id) if kept.summary_id else None,
    )


def read_summary(runtime: Runtime, caller: Caller, summary_id: UUID) -> SummaryOut:
    """One summary with everything known about it."""
    with tenant_transaction(
        runtime.engine, caller.tenant_id, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        return _show_summary(connection, caller, _find(connection, caller, summary_id))


def expand_summary(
    runtime: Runtime, caller: Caller, summary_id: UUID, *, depth: int, cursor: int | None, limit: int
) -> ExpandOut:
    """What lies below a summary: every summary, and the raw turns page by page, down to `depth` edges."""
    with tenant_transaction(
        runtime.engine, caller.tenant_id, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        _find(connection, caller, summary_id)
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


def _find(connection: Connection, caller: Caller, summary_id: UUID) -> Summary:
    found = load_summaries(connection, tenant_id=caller.tenant_id, ids=[summary_id])
    if not found:
        raise NotFound(
            f"no summary {summary_id} in this tenant", remedy="ids are in the items of an assembly"
        )
    if caller.namespace is not None and found[0].namespace != caller.namespace:
        raise Forbidden(f"the token opens namespace '{caller.namespace}' only")
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


def grep(runtime: Runtime, caller: Caller, request: GrepIn) -> GrepOut:
    """Matches in the raw record, newest first, until there are enough, the record ends or time is up."""
    if caller.namespace is not None and request.user_id not in (None, caller.namespace):
        raise Forbidden(f"the token opens namespace '{caller.namespace}' only")
    deadline = time.monotonic() + GREP_SECONDS
    before: int | None = int(request.cursor) if request.cursor else LAST_SEQ
    found: list[Found] = []
    scanned = 0
    while before is not None and len(found) < request.limit:
        left_ms = int((deadline - time.monotonic()) * 1000)
        if left_ms <= 0:
            break
        try:
            with tenant_transaction(runtime.engine, caller.tenant_id, timeout_ms=left_ms) as connection:
                page = search_turns(
                    connection,
                    tenant_id=caller.tenant_id,
                    pattern=request.pattern,
                    is_regex=request.regex,
                    ignores_case=request.ignore_case,
                    before_seq=before,
                    rows=GREP_PAGE_ROWS,
                    count=request.limit - len(found),
                    session_id=request.session_id,
                    namespace=caller.namespace or request.user_id,
                    role=request.role,
                )
        except DeadlineExceeded as error:
            if scanned:
                break
            raise InvalidInput(
                f"the pattern is too slow: {GREP_SECONDS:.0f} s were not enough for {GREP_PAGE_ROWS} turns",
                code="pattern_too_slow",
                field="pattern",
                remedy="search one session, or use a simpler pattern",
            ) from error
        found += page.found
        scanned += page.scanned
        before = page.last_seq if page.scanned == GREP_PAGE_ROWS or len(found) == request.limit else None
    return GrepOut(
        matches=[_show_hit(one) for one in found],
        scanned=scanned,
        is_complete=before is None,
        next_cursor=None if before is None else str(before),
    )


def _show_hit(one: Found) -> GrepHit:
    return GrepHit(
        turn_id=str(one.id),
        session_id=one.session_id,
        position=one.position,
        role=one.role,
        name=one.name,
        ts=one.ts,
        excerpt=one.excerpt,
        match_start=one.match_start,
        match_end=one.match_end,
        summary_id=str(one.summary_id) if one.summary_id else None,
    )
