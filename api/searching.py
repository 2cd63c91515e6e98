"""Search: ranked memory for a query, outside of any prompt."""

from dataclasses import replace
from datetime import UTC, datetime

from api.explaining import explain_candidates
from api.gathering import Gathered, check_namespace
from api.recall import TOKENS_PER_HIT, Recalled, ask, in_context, rank_recalled, read_named, send_recall
from api.runtime import Runtime
from api.schemas import SearchHit, SearchIn, SearchOut
from models.domain.records import Identity, durable_namespace
from models.errors import InvalidInput
from models.store.access import Caller
from models.store.context import read_context
from models.store.engine import one_round_trip

ENCODING_TIMEOUT_SECONDS = 10.0


def search_memory(runtime: Runtime, caller: Caller, request: SearchIn) -> SearchOut:
    """The best `k` items of one namespace; what nearly repeats a better one is not listed."""
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
        budget_tokens=request.k * TOKENS_PER_HIT,
        now=request.now or datetime.now(UTC),
        profile=request.profile,
        explains=request.explain,
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
    reasons: dict[str, str] = {}
    for found in ranked:
        candidate = found.candidate
        if found.repeats is not None:
            reasons[candidate.id] = f"nearly the same as {found.repeats}"
        elif len(hits) == request.k:
            reasons[candidate.id] = f"behind the first {request.k}"
        else:
            hits[candidate.id] = _hit(found)
    return SearchOut(
        results=list(hits.values()),
        explain={"candidates": explain_candidates(ranked, chosen=hits, reasons=reasons)}
        if request.explain
        else None,
        degraded=got.degraded,
        pending=context.backlog.pending,
        lag_seconds=context.backlog.lag_seconds,
    )


def _hit(found: Recalled) -> SearchHit:
    candidate = found.candidate
    return SearchHit(
        id=candidate.id,
        kind=candidate.kind,
        text=candidate.text,
        score=found.scored.score,
        source_turn_ids=list(candidate.source_turn_ids),
        role=candidate.role,
        session_id=candidate.session_id,
        ts=datetime.fromtimestamp(candidate.said_at, UTC),
        similarity=candidate.similarity,
        superseded_by=found.superseded_by.id if found.superseded_by else None,
    )
