"""Search: ranked memory for a query, outside of any prompt; filters, and pages of one ranking."""

import base64
import math
import struct
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from api.access.decisions import check_namespace
from api.recall.explanation import explain_candidates
from api.recall.question import LEAST_RANKED, Question, ask
from api.recall.ranking import Recalled, scope_of
from api.recall.service import recall, send_nearest
from api.routing.cursors import invalid_cursor
from api.routing.trail import Trail
from api.runtime import Runtime, Serving
from api.search.schemas import SearchHit, SearchIn, SearchOut
from models.domain.prompt.fate import Fate, decide_fate
from models.domain.recall.sessions import choose_one_of_each_session, witness
from models.domain.records import Identity, durable_namespace
from models.errors import InvalidInput
from models.store.engine import one_round_trip
from models.store.index.items import load_items
from models.store.recall.candidates import Breadth, CandidateRow, send_named
from models.store.recall.context import Context, Origin, receive_context, send_context
from models.store.tenancy.tokens import Caller

ENCODING_TIMEOUT_SECONDS = 10.0
FOUND = Breadth(60, 60)  # the pages of a list go deeper than a small prompt
FILTERED = Breadth(400, 400)  # a filter throws most of what is found away, so more is looked for
MOST_FILTERED = 1000
PLACE = struct.Struct(">16sff")  # of a result on a later page: its id, its score, its similarity or NaN
MOST_IN_CURSOR = 400


def search_memory(runtime: Runtime, caller: Caller, request: SearchIn) -> SearchOut:
    """The best `k` items of one namespace that the filters let through; the same item is never listed twice.

    Grouped by session: the best item of each of the best `k` sessions.
    """
    identity = Identity(user_id=request.user_id, session_key=request.session_key, agent_id=request.agent_id)
    if identity.is_empty and request.session_id is None:
        raise InvalidInput(
            "the search names nobody",
            field="user_id",
            remedy="send user_id, session_key, agent_id or session_id",
        )
    trail = Trail()
    serving = runtime.serving
    question = ask(
        runtime,
        caller,
        session_id=request.session_id,
        text=request.query,
        now=request.now or datetime.now(UTC),
        breadth=FOUND,
        profile=request.profile,
        explains=request.explain,
        serving=serving,
    )
    explained: list[dict[str, Any]] = []
    if request.cursor is not None:
        rest = _unpack(request.cursor)
        context, _ = _read_context(runtime, caller, request, identity, None)
        hits, places = _load_page(runtime, caller, context, rest[: request.k]), rest[request.k :]
    else:
        ranked, context, explained = _rank(runtime, caller, request, identity, question, serving, trail)
        hits = ranked[: request.k]
        places = [
            (UUID(hit.item_id), hit.score, hit.similarity)
            for hit in ranked[request.k : request.k + MOST_IN_CURSOR]
        ]
    return SearchOut(
        results=[SearchHit.model_validate(hit.model_dump(exclude={"item_id"})) for hit in hits],
        next_cursor=_pack(places) if places else None,
        explain={"candidates": explained} if request.explain else None,
        degraded=trail.degraded,
        pending=context.backlog.pending,
        lag_seconds=context.backlog.lag_seconds,
    )


class RankedHit(SearchHit):
    """A result and its row in the index."""

    item_id: str


def _rank(
    runtime: Runtime,
    caller: Caller,
    request: SearchIn,
    identity: Identity,
    question: Question,
    serving: Serving,
    trail: Trail,
) -> tuple[list[RankedHit], Context, list[dict[str, Any]]]:
    """The whole ranking, filtered; search for more where a filter will throw most of it away."""
    is_filtered = any((request.scopes, request.kinds, request.roles, request.since, request.until))
    breadth, most = (FILTERED, MOST_FILTERED) if is_filtered else (FOUND, LEAST_RANKED)
    encoding = runtime.start_encoding([request.query], serving)
    if encoding is None:
        trail.miss("encoder_unavailable", f"{runtime.encoder_problem}: found by words and names only")
    question = replace(question, breadth=breadth)
    context, rows = _read_context(runtime, caller, request, identity, question)
    encoder = question.encoder
    timeout_ms = runtime.settings.statement_timeout_ms
    vector = encoding.result(timeout=ENCODING_TIMEOUT_SECONDS)[0] if encoding else None
    question = question.within(context, rows=rows, vector=vector)
    with one_round_trip(runtime.engine, caller, timeout_ms=timeout_ms) as cursors:
        sent = send_nearest(cursors, question, encoder=encoder)
        near = sent.fetchall() if sent else ()
        ranked = recall(cursors, question, near, encoder=encoder, most=most).found
    kept, fates = choose_listed(ranked, request)
    explained = explain_candidates(ranked, fates) if request.explain else []
    return [_show(found) for found in kept], context, explained


def choose_listed(ranked: Sequence[Recalled], request: SearchIn) -> tuple[list[Recalled], dict[str, Fate]]:
    """What is listed, page after page, in order; and what became of every candidate on the first page."""
    fates = {
        found.candidate.id: found.fate
        or decide_fate(is_filtered=not _is_wanted(found, request), repeats=found.repeats)
        for found in ranked
    }
    kept = [found for found in ranked if fates[found.candidate.id].is_in]
    if request.group_by == "session":
        sessions = [found.candidate.session_id for found in kept]
        places = choose_one_of_each_session(sessions, [witness(found.scored) for found in kept])
        fates |= {
            found.candidate.id: decide_fate(single="spoken_for" if session else "homeless")
            for place, (found, session) in enumerate(zip(kept, sessions, strict=True))
            if place not in set(places)
        }
        kept = [kept[place] for place in places]
    fates |= {found.candidate.id: decide_fate(listed=request.k) for found in kept[request.k :]}
    return kept, fates


def _read_context(
    runtime: Runtime, caller: Caller, request: SearchIn, identity: Identity, question: Question | None
) -> tuple[Context, Sequence[CandidateRow]]:
    """Where to search, and what holds words of the question, if there is one."""
    session_id = request.session_id or ""
    encoder = question.encoder if question else runtime.serving.name
    origin = Origin(
        tenant_id=caller.tenant_id,
        session_id=session_id,
        namespace=None if identity.is_empty else durable_namespace(identity, session_id),
        user_id=request.user_id,
        session_key=request.session_key,
        agent_id=request.agent_id,
    )
    timeout_ms = runtime.settings.statement_timeout_ms
    with one_round_trip(runtime.engine, caller, timeout_ms=timeout_ms) as cursors:
        first = send_context(cursors, origin=origin, tail_chars=0, encoder=encoder)
        rows = (
            send_named(
                cursors, origin=origin, encoder=encoder, terms=question.keywords, breadth=question.breadth
            ).fetchall()
            if question
            else []
        )
        context = receive_context(first)
    check_namespace(caller, context.namespace)
    return context, rows


def _is_wanted(found: Recalled, request: SearchIn) -> bool:
    candidate = found.candidate
    return (
        (request.kinds is None or candidate.kind in request.kinds)
        and (request.roles is None or candidate.role in request.roles)
        and (request.scopes is None or scope_of(candidate, request.session_id) in request.scopes)
        and (request.since is None or candidate.said_at >= request.since.timestamp())
        and (request.until is None or candidate.said_at < request.until.timestamp())
    )


def _show(found: Recalled) -> RankedHit:
    candidate = found.candidate
    return RankedHit(
        item_id=candidate.item_id,
        id=candidate.id,
        kind=candidate.kind,
        text=candidate.text,
        score=found.scored.score,
        source_turn_ids=list(candidate.source_turn_ids),
        role=candidate.role,
        session_id=candidate.session_id,
        ts=datetime.fromtimestamp(candidate.said_at, UTC),
        similarity=candidate.similarity,
        superseded_by=found.superseded_by,
    )


Place = tuple[UUID, float, float | None]


def _load_page(
    runtime: Runtime, caller: Caller, context: Context, places: Sequence[Place]
) -> list[RankedHit]:
    """The results a cursor names, in its order, as far as they are still there and the caller may see them."""
    with runtime.transaction(caller) as connection:
        items = load_items(
            connection,
            tenant_id=caller.tenant_id,
            namespaces=context.places,
            ids=[item_id for item_id, _, _ in places],
        )
    return [
        RankedHit(
            item_id=str(item.item_id),
            id=str(item.id),
            kind=item.kind,
            text=item.text,
            score=score,
            source_turn_ids=[str(turn_id) for turn_id in item.source_turn_ids],
            role=item.role,
            session_id=item.session_id,
            ts=item.ts,
            similarity=similarity,
        )
        for item_id, score, similarity in places
        if (item := items.get(item_id)) is not None
    ]


def _pack(places: Sequence[Place]) -> str:
    """The rest of a ranking as a cursor: nothing is kept on the server, and nothing can change between pages."""
    packed = b"".join(
        PLACE.pack(item_id.bytes, score, math.nan if similarity is None else similarity)
        for item_id, score, similarity in places
    )
    return base64.urlsafe_b64encode(packed).decode()


def _unpack(cursor: str) -> list[Place]:
    try:
        packed = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
        places = [
            (UUID(bytes=item_id), score, None if math.isnan(similarity) else similarity)
            for item_id, score, similarity in PLACE.iter_unpack(packed)
        ]
    except (ValueError, struct.error) as error:
        raise invalid_cursor() from error
    if not all(math.isfinite(score) and math.isfinite(similarity or 0.0) for _, score, similarity in places):
        raise invalid_cursor()
    return places
