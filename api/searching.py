"""Search: ranked memory for a query, outside of any prompt."""

from dataclasses import replace
from datetime import UTC, datetime

from api.gathering import Gathered, check_namespace
from api.recall import TOKENS_PER_HIT, ask, in_context, rank_recalled, read_named, send_recall
from api.runtime import Runtime
from api.schemas import SearchHit, SearchIn, SearchOut
from models.domain.records import Identity, durable_namespace
from models.errors import InvalidInput
from models.store.access import Caller
from models.store.context import read_context
from models.store.engine import one_round_trip

ENCODING_TIMEOUT_SECONDS = 10.0


def search_memory(runtime: Runtime, caller: Caller, request: SearchIn) -> SearchOut:
    """The best `k` items of one namespace; the same words are never listed twice."""
    identity = Identity(user_id=request.user_id, session_key=request.session_key, agent_id=request.agent_id)
    if identity.is_empty and request.session_id is None:
        raise InvalidInput(
            "the search names nobody",
            field="user_id",
            remedy="send user_id, session_key, agent_id or session_id",
        )
    got = Gathered()
    encoder = runtime.settings.encoder
    encoding = runtime.start_encoding([request.query])
    if encoding is None:
        got.miss("encoder_unavailable", f"{runtime.encoder_problem}: found by words and names only")
    session_id = request.session_id or ""
    question = ask(
        runtime,
        caller,
        session_id=request.session_id,
        text=request.query,
        now=datetime.now(UTC),
        budget_tokens=request.k * TOKENS_PER_HIT,
    )
    timeout_ms = runtime.settings.statement_timeout_ms
    with one_round_trip(runtime.engine, caller.tenant_id, timeout_ms=timeout_ms) as cursors:
        context = read_context(
            cursors,
            tenant_id=caller.tenant_id,
            session_id=session_id,
            namespace=None if identity.is_empty else durable_namespace(identity, session_id),
            user_id=request.user_id,
            agent_id=request.agent_id,
            tail_chars=0,
            terms=question.keywords,
            count=question.breadth,
            encoder=encoder,
        )
    check_namespace(caller, context.namespace)
    with one_round_trip(runtime.engine, caller.tenant_id, timeout_ms=timeout_ms) as cursors:
        question = read_named(cursors, in_context(question, context), encoder=encoder)
    vector = encoding.result(timeout=ENCODING_TIMEOUT_SECONDS)[0] if encoding else None
    question = replace(question, vector=vector)
    with one_round_trip(runtime.engine, caller.tenant_id, timeout_ms=timeout_ms) as cursors:
        sent = send_recall(cursors, question, encoder=encoder)
        near = sent.fetchall() if sent else ()
        ranked = rank_recalled(cursors, question, near, encoder=encoder)
    hits: dict[str, SearchHit] = {}
    for found in ranked:
        candidate = found.candidate
        hits.setdefault(
            candidate.item_id,
            SearchHit(
                id=candidate.id,
                kind=candidate.kind,
                text=candidate.text,
                score=found.scored.score,
                source_turn_ids=list(candidate.source_turn_ids),
                role=candidate.role,
                session_id=candidate.session_id,
                ts=datetime.fromtimestamp(candidate.said_at, UTC),
                similarity=candidate.similarity,
            ),
        )
    return SearchOut(
        results=list(hits.values())[: request.k],
        degraded=got.degraded,
        pending=context.backlog.pending,
        lag_seconds=context.backlog.lag_seconds,
    )
