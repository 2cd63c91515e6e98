"""Raw turns: accepted once each, read back page by page, and by a bounded search."""

import time

from api.access.decisions import check_session, choose_namespace
from api.runtime import Runtime
from api.turns.schemas import (
    DuplicateOut,
    GrepHit,
    GrepIn,
    GrepOut,
    TurnOut,
    TurnPageOut,
    TurnSecretOut,
    TurnsIn,
    TurnsOut,
)
from models.domain.heartbeats import find_skipped
from models.domain.records import Identity
from models.errors import DeadlineExceeded, InvalidInput
from models.messages import INGEST
from models.store.conversation.history import LAST_SEQ, Found, KeptTurn, list_turns, search_turns
from models.store.conversation.sessions import find_home
from models.store.conversation.turns import accept_turns
from models.store.engine import single_statement, tenant_transaction
from models.store.tenancy.tokens import Caller
from models.store.work import measure_backlog


def accept(
    runtime: Runtime, caller: Caller, session_id: str, request: TurnsIn, *, idempotency_key: str | None
) -> TurnsOut:
    """Append turns once each and wake the workers; what a host says to itself is skipped."""
    identity = request.identity()
    turns = [turn.to_domain() for turn in request.turns]
    ignored = runtime.settings.ignored_session_patterns()
    skipped = find_skipped(turns, names=(session_id, request.session_key), ignored=ignored)
    places = [place for place in range(len(turns)) if place not in skipped]
    timeout_ms = runtime.settings.statement_timeout_ms
    began_ns = time.time_ns()
    if not places:
        with tenant_transaction(runtime.engine, caller, timeout_ms=timeout_ms) as connection:
            home = find_home(connection, session_id=session_id, identity=identity)
            backlog = measure_backlog(connection, tenant_id=caller.tenant_id, namespace=home.namespace)
        return TurnsOut(accepted=[], duplicates=[], skipped=sorted(skipped), pending=backlog.pending)
    with single_statement(runtime.engine, timeout_ms=timeout_ms) as connection:
        accepted = accept_turns(
            connection,
            whose=caller,
            session_id=session_id,
            identity=identity,
            turns=[turns[place] for place in places],
            places=places,
            idempotency_key=request.idempotency_key or idempotency_key,
            is_shared=request.shared,
        )
    if runtime.traces:
        runtime.traces.add_accepted(accepted.turn_ids, began_ns=began_ns)
    if accepted.turn_ids:
        runtime.doorbell.ring(INGEST)
    runtime.tally.add("turns", len(accepted.turn_ids), outcome="accepted")
    runtime.tally.add("turns", len(accepted.duplicates), outcome="known")
    runtime.tally.add("turns", len(accepted.erased), outcome="erased")
    runtime.tally.add("turns", len(skipped), outcome="skipped")
    return TurnsOut(
        accepted=[str(turn_id) for turn_id in accepted.turn_ids],
        duplicates=[
            DuplicateOut(index=one.index, turn_id=str(one.turn_id), content_differs=one.content_differs)
            for one in accepted.duplicates
        ],
        skipped=sorted(skipped),
        erased=list(accepted.erased),
        pending=accepted.pending,
        secrets=[
            TurnSecretOut(index=place, **one.model_dump())
            for place in places
            for one in request.turns[place].secrets
        ],
    )


GREP_PAGE_ROWS = 20_000
GREP_SECONDS = 2.0


def page_turns(
    runtime: Runtime, caller: Caller, session_id: str, *, asked: Identity, cursor: int | None, limit: int
) -> TurnPageOut:
    """A page of the raw record, oldest first."""
    check_session(runtime, caller, session_id, asked)
    with runtime.transaction(caller) as connection:
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


def grep(runtime: Runtime, caller: Caller, request: GrepIn) -> GrepOut:
    """Matches in the raw record, newest first, until there are enough, the record ends or time is up."""
    identity = request.identity()
    namespace = choose_namespace(caller, identity)
    if request.session_id is not None:
        with tenant_transaction(runtime.engine, caller) as connection:
            home = find_home(connection, session_id=request.session_id, identity=identity)
        namespace = None if home.is_known else home.namespace  # all of a session that the caller may see
    deadline = time.monotonic() + GREP_SECONDS
    before: int | None = int(request.cursor) if request.cursor else LAST_SEQ
    found: list[Found] = []
    scanned = 0
    while before is not None and len(found) < request.limit:
        left_ms = int((deadline - time.monotonic()) * 1000)
        if left_ms <= 0:
            break
        try:
            with tenant_transaction(runtime.engine, caller, timeout_ms=left_ms) as connection:
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
                    namespace=namespace,
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
