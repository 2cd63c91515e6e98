"""Search: ranked memory for a query, outside of any prompt."""

from dataclasses import replace
from datetime import UTC, datetime

from api.assembling import Gathered, resolve_namespace
from api.recall import Question, recall, recall_by_words
from api.runtime import Runtime
from api.schemas import SearchHit, SearchIn, SearchOut
from models.domain.records import Identity
from models.errors import InvalidInput
from models.store.access import Caller
from models.store.documents import authored_namespace, bindings_of
from models.store.engine import tenant_transaction
from models.store.turns import find_session
from models.store.work import measure_backlog


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
    encoding = runtime.start_encoding(request.query)
    if encoding is None:
        got.miss("encoder_unavailable", f"{runtime.encoder_problem}: found by words and names only")
    with tenant_transaction(
        runtime.engine, caller.tenant_id, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        session = request.session_id and find_session(
            connection, tenant_id=caller.tenant_id, session_id=request.session_id
        )
        namespace = resolve_namespace(caller, identity, request.session_id or "", session or None)
        bindings = bindings_of(user_id=request.user_id, agent_id=request.agent_id)
        question = Question(
            tenant_id=caller.tenant_id,
            namespaces=[namespace, *(authored_namespace(binding) for binding in bindings)],
            session_id=request.session_id,
            text=request.query,
            now=datetime.now(UTC),
        )
        named = recall_by_words(connection, question)
        question = replace(question, named=named, vector=encoding.result(timeout=10) if encoding else None)
        encode = runtime.encoder.encode if runtime.encoder else None
        ranked = recall(connection, question, encoder=runtime.settings.encoder, encode=encode)
        backlog = measure_backlog(connection, tenant_id=caller.tenant_id, namespace=namespace)
    hits: dict[str, SearchHit] = {}
    for found in ranked:
        candidate = found.candidate
        key = str(candidate.source_turn_ids[0]) if candidate.source_turn_ids else str(candidate.id)
        hits.setdefault(
            key,
            SearchHit(
                id=str(candidate.id),
                kind=candidate.kind,
                text=candidate.text,
                score=found.scored.score,
                source_turn_ids=[str(turn_id) for turn_id in candidate.source_turn_ids],
                role=candidate.role,
                session_id=candidate.session_id,
                ts=candidate.ts,
                similarity=candidate.similarity,
            ),
        )
    return SearchOut(
        results=list(hits.values())[: request.k],
        degraded=got.degraded,
        pending=backlog.pending,
        lag_seconds=backlog.lag_seconds,
    )
