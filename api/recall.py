"""Ranked recall: candidates from the store, scores from the domain; used by assemble and search alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection

from models.domain import temporal
from models.domain.patterns import extract_identifiers, fold_identifier
from models.domain.records import GLOBAL_NAMESPACE
from models.domain.scoring import (
    DEFAULT_PROFILE,
    CandidateFacts,
    Scope,
    ScoredCandidate,
    ScoringProfile,
    rank_candidates,
)
from models.domain.terms import query_keywords
from models.store.embeddings import Vector, load_vectors
from models.store.recall import Candidate, NamedItem, find_by_words, find_candidates

CANDIDATES_PER_LEG = 60
EncodeTexts = Callable[[Sequence[str]], Vector]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A candidate, every term of its score, and why a question about time moved it up, if it did."""

    candidate: Candidate
    scored: ScoredCandidate
    dated: temporal.TemporalChoice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, by whom, when."""

    tenant_id: UUID
    namespaces: Sequence[str]
    session_id: str | None
    text: str
    now: datetime
    vector: Vector | None = None
    named: Sequence[NamedItem] = ()  # found by words, while the vector was being made


def recall_by_words(connection: Connection, question: Question) -> list[NamedItem]:
    """What holds words or names of the question; it needs no vector."""
    names = [folded for name in extract_identifiers(question.text) for folded in fold_identifier(name)[:1]]
    return find_by_words(
        connection,
        namespaces=[*question.namespaces, GLOBAL_NAMESPACE],
        query=question.text,
        identifiers=names,
        count=CANDIDATES_PER_LEG,
    )


def recall(
    connection: Connection,
    question: Question,
    *,
    encoder: str,
    encode: EncodeTexts | None = None,
    profile: ScoringProfile = DEFAULT_PROFILE,
) -> list[Recalled]:
    """Everything found by meaning, words or name, best first; for questions about time, dated turns lead."""
    keywords = query_keywords(question.text)
    intent = temporal.temporal_intent(question.text)
    candidates = find_candidates(
        connection,
        tenant_id=question.tenant_id,
        encoder=encoder,
        namespaces=[*question.namespaces, GLOBAL_NAMESPACE],
        query_vector=question.vector,
        named=question.named,
        keywords=keywords,
        count=CANDIDATES_PER_LEG,
        similarity_floor=profile.theta1,
        wants_dated=temporal.is_active(intent),
    )
    candidates = _without_poor_dated(candidates, intent)
    most_read = max((candidate.access_count for candidate in candidates), default=0)
    facts = [
        CandidateFacts(
            id=str(candidate.id),
            scope=_scope_of(candidate, question.session_id),
            cosine=candidate.similarity,
            lexical_rank=candidate.lexical_rank,
            vector_rank=candidate.vector_rank,
            age_seconds=max(0.0, (question.now - candidate.ts).total_seconds()),
            access_count=candidate.access_count,
            max_access_count=most_read,
            authority=candidate.authority,
            confidence=None,
            terms=candidate.matched,
        )
        for candidate in candidates
    ]
    by_id = {str(candidate.id): candidate for candidate in candidates}
    ranked = rank_candidates(facts, keywords=keywords, profile=profile)
    choices = _choose_dated(connection, question, ranked, by_id, intent, encoder=encoder, encode=encode)
    scored_by_id = {scored.id: scored for scored in ranked}
    choice_by_id = {choice.id: choice for choice in choices}
    order = temporal.put_choices_first([scored.id for scored in ranked], choices)
    return [
        Recalled(candidate=by_id[key], scored=scored_by_id[key], dated=choice_by_id.get(key)) for key in order
    ]


def _without_poor_dated(candidates: list[Candidate], intent: float) -> list[Candidate]:
    """Of what only its dates brought in, the recovery set alone stays."""
    ranked = [one for one in candidates if one.vector_rank is not None or one.lexical_rank is not None]
    only_dated = {
        str(one.id): one for one in candidates if one.vector_rank is None and one.lexical_rank is None
    }
    kept = temporal.select_anchor_rich(
        intent,
        [
            temporal.AnchoredTurn(id=key, similarity=one.similarity or 0.0, anchor_density=one.anchor_density)
            for key, one in only_dated.items()
        ],
    )
    return [*ranked, *(only_dated[key] for key in kept)]


def _choose_dated(
    connection: Connection,
    question: Question,
    ranked: Sequence[ScoredCandidate],
    by_id: dict[str, Candidate],
    intent: float,
    *,
    encoder: str,
    encode: EncodeTexts | None,
) -> tuple[temporal.TemporalChoice, ...]:
    """The turns that answer a question about time: relevant, dated, and each covering another event."""
    if not temporal.is_active(intent) or not ranked:
        return ()
    slots = temporal.event_slots(question.text)
    likeness: dict[str, tuple[float, ...]] = {}
    if slots and encode is not None:
        wanted = encode(slots)
        ids = [by_id[scored.id].id for scored in ranked]
        stored = load_vectors(connection, tenant_id=question.tenant_id, encoder=encoder, ids=ids)
        likeness = {
            str(key): tuple(float(value) for value in (windows @ wanted.T).max(axis=0))
            for key, windows in stored.items()
        }
    return temporal.select_temporal(
        intent,
        [
            temporal.TemporalCandidate(
                id=scored.id,
                score=scored.score,
                anchor_density=by_id[scored.id].anchor_density,
                slot_similarities=likeness.get(scored.id, ()),
            )
            for scored in ranked
        ],
    )


def _scope_of(candidate: Candidate, session_id: str | None) -> Scope:
    if candidate.kind in {"rule", "lore"}:
        return "lore"
    if candidate.namespace == GLOBAL_NAMESPACE:
        return "global"
    if candidate.kind == "turn" and candidate.session_id == session_id:
        return "session"
    return "durable"
