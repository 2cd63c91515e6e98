"""Ranked recall: candidates from the store, scores from the domain; used by assemble and search alike."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from api.runtime import Runtime
from models.domain import temporal
from models.domain.hops import HOP_ATTENUATION, HOP_FLOOR, score_hops
from models.domain.records import GLOBAL_NAMESPACE
from models.domain.scoring import (
    DEFAULT_PROFILE,
    CandidateFacts,
    Scope,
    ScoredCandidate,
    ScoringProfile,
    rank_candidates,
    score_hop,
)
from models.domain.selection import PackItem, find_marks, find_repeats, make_text_key
from models.domain.terms import query_keywords
from models.store.access import Caller
from models.store.context import Context
from models.store.embeddings import Vector
from models.store.engine import Cursors
from models.store.nearest import Way, choose_way
from models.store.recall import Candidate, NamedItem, find_candidates, find_linked, measure_likeness

if TYPE_CHECKING:
    from psycopg import Cursor

SLOTS_TIMEOUT_SECONDS = 1.0
HOPS_FROM = 10  # of the ranked, how many may bring along what they link to
AUTHORED_KINDS = frozenset({"rule", "lore"})
CANDIDATES_PER_LEG = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A candidate, every term of its score, and why a question about time moved it up, if it did."""

    candidate: Candidate
    scored: ScoredCandidate
    dated: temporal.TemporalChoice | None = None
    repeats: str | None = None  # the better one that says nearly the same
    hop_from: str | None = None  # the ranked node whose link led here


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, by whom, when, and what was learned about it on the way."""

    tenant_id: UUID
    session_id: str | None
    text: str
    now: datetime
    keywords: frozenset[str] = frozenset()
    intent: float = 0.0  # how much it asks about time
    namespaces: Sequence[str] = ()
    bindings: Sequence[str] = ()  # whose documents apply
    named: Sequence[NamedItem] = ()  # found by words, while the vector was being made
    way: Way = "exact"  # how the nearest vectors are found
    vector: Vector | None = None
    slots: "Future[Vector] | None" = None  # vectors of the events a question about time is about


def ask(runtime: Runtime, caller: Caller, *, session_id: str | None, text: str, now: datetime) -> Question:
    """A question as it reads; what the events in it are like is worked out meanwhile."""
    intent = temporal.temporal_intent(text)
    slots = temporal.event_slots(text) if temporal.is_active(intent) else ()
    return Question(
        tenant_id=caller.tenant_id,
        session_id=session_id,
        text=text,
        now=now,
        keywords=query_keywords(text),
        intent=intent,
        slots=runtime.start_encoding(slots),
    )


def in_context(question: Question, context: Context) -> Question:
    """The question with where to search and what was found by words."""
    return replace(
        question,
        namespaces=context.places,
        bindings=context.bindings,
        named=context.named,
        way=choose_way(context.sizes, wanted=CANDIDATES_PER_LEG),
    )


def send_recall(
    cursors: Cursors, question: Question, *, encoder: str, profile: ScoringProfile = DEFAULT_PROFILE
) -> "Cursor[Candidate]":
    """Ask for everything found by meaning, words or name."""
    return find_candidates(
        cursors,
        tenant_id=question.tenant_id,
        encoder=encoder,
        namespaces=question.namespaces,
        query_vector=question.vector,
        way=question.way,
        named=question.named,
        count=CANDIDATES_PER_LEG,
        similarity_floor=profile.theta1,
        wants_dated=temporal.is_active(question.intent),
    )


def rank_recalled(
    cursors: Cursors,
    question: Question,
    candidates: list[Candidate],
    *,
    encoder: str,
    profile: ScoringProfile = DEFAULT_PROFILE,
) -> list[Recalled]:
    """The candidates, best first; for questions about time, dated turns lead."""
    candidates = _without_poor_dated(candidates, question.intent)
    now = question.now.timestamp()
    most_read = max((candidate.access_count for candidate in candidates), default=0)
    facts = [
        CandidateFacts(
            id=candidate.id,
            scope=_scope_of(candidate, question.session_id),
            cosine=candidate.similarity,
            lexical_rank=candidate.lexical_rank,
            vector_rank=candidate.vector_rank,
            age_seconds=max(0.0, now - candidate.seen_at),
            access_count=candidate.access_count,
            max_access_count=most_read,
            authority=candidate.authority,
            confidence=None,
            terms=frozenset(),
        )
        for candidate in candidates
    ]
    by_id = {candidate.id: candidate for candidate in candidates}
    ranked = rank_candidates(facts, keywords=question.keywords, profile=profile)
    choices = _choose_dated(cursors, question, ranked, by_id, encoder=encoder)
    scored_by_id = {scored.id: scored for scored in ranked}
    choice_by_id = {choice.id: choice for choice in choices}
    order = temporal.put_choices_first([scored.id for scored in ranked], choices)
    repeats = find_repeats(_to_compare(by_id[key], scored_by_id[key]) for key in order)
    recalled = [
        Recalled(
            candidate=by_id[key],
            scored=scored_by_id[key],
            dated=choice_by_id.get(key),
            repeats=repeats.get(key),
        )
        for key in order
    ]
    return _with_hops(cursors, question, recalled, encoder=encoder)


def _to_compare(candidate: Candidate, scored: ScoredCandidate) -> PackItem:
    return PackItem(
        id=candidate.id,
        tokens=0,
        score=scored.score,
        vector=candidate.vector,
        text_key=make_text_key(candidate.text),
        marks=find_marks(candidate.text),
    )


def _with_hops(
    cursors: Cursors, question: Question, recalled: list[Recalled], *, encoder: str
) -> list[Recalled]:
    """What the links of well-ranked authored nodes lead to joins the ranking at a share of their score."""
    scores = {
        one.candidate.id: one.scored.score
        for one in recalled[:HOPS_FROM]
        if one.candidate.kind in AUTHORED_KINDS and one.scored.score * HOP_ATTENUATION >= HOP_FLOOR
    }
    if not scores:
        return recalled
    linked = find_linked(cursors, tenant_id=question.tenant_id, bindings=question.bindings, ids=list(scores))
    known = {one.candidate.id: one.scored.score for one in recalled}
    hops = [hop for hop in score_hops({**known, **scores}, linked) if hop.id not in known]
    if not hops:
        return recalled
    named = [NamedItem(item_id=hop.id, weight=hop.score) for hop in hops]
    found = find_candidates(
        cursors,
        tenant_id=question.tenant_id,
        encoder=encoder,
        namespaces=question.namespaces,
        query_vector=None,
        way=question.way,
        named=named,
        count=CANDIDATES_PER_LEG,
        similarity_floor=0.0,
    )
    by_id = {candidate.id: candidate for candidate in found.fetchall()}
    joined = [
        Recalled(
            candidate=by_id[hop.id],
            scored=score_hop(hop.id, hop.score),
            hop_from=hop.parent,
        )
        for hop in hops
        if hop.id in by_id
    ]
    # Dated choices lead whatever their score: a hop takes its place among those behind them.
    leading = [one for one in recalled if one.dated is not None]
    rest = [one for one in recalled if one.dated is None]
    return [*leading, *sorted([*rest, *joined], key=lambda one: -one.scored.score)]


def _without_poor_dated(candidates: list[Candidate], intent: float) -> list[Candidate]:
    """Of what only its dates brought in, the recovery set alone stays."""
    ranked = [one for one in candidates if one.vector_rank is not None or one.lexical_rank is not None]
    only_dated = {one.id: one for one in candidates if one.vector_rank is None and one.lexical_rank is None}
    kept = temporal.select_anchor_rich(
        intent,
        [
            temporal.AnchoredTurn(id=key, similarity=one.similarity or 0.0, anchor_density=one.anchor_density)
            for key, one in only_dated.items()
        ],
    )
    return [*ranked, *(only_dated[key] for key in kept)]


def _choose_dated(
    cursors: Cursors,
    question: Question,
    ranked: Sequence[ScoredCandidate],
    by_id: dict[str, Candidate],
    *,
    encoder: str,
) -> tuple[temporal.TemporalChoice, ...]:
    """The turns that answer a question about time: relevant, dated, and each covering another event."""
    if not temporal.is_active(question.intent) or not ranked:
        return ()
    likeness: dict[str, Sequence[float]] = {}
    if question.slots is not None and question.vector is not None:
        items = {by_id[scored.id].item_id: scored.id for scored in ranked}
        found = measure_likeness(
            cursors,
            tenant_id=question.tenant_id,
            encoder=encoder,
            ids=list(items),
            vectors=question.slots.result(timeout=SLOTS_TIMEOUT_SECONDS),
        )
        likeness = {items[item_id]: similarities for item_id, similarities in found.items()}
    return temporal.select_temporal(
        question.intent,
        [
            temporal.TemporalCandidate(
                id=scored.id,
                score=scored.score,
                anchor_density=by_id[scored.id].anchor_density,
                slot_similarities=tuple(likeness.get(scored.id, ())),
            )
            for scored in ranked
        ],
    )


def _scope_of(candidate: Candidate, session_id: str | None) -> Scope:
    if candidate.kind in AUTHORED_KINDS:
        return "lore"
    if candidate.namespace == GLOBAL_NAMESPACE:
        return "global"
    if candidate.kind in {"turn", "memory"} and candidate.session_id == session_id:
        return "session"
    return "durable"
