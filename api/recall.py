"""Ranked recall: candidates from the store, scores from the domain; used by assemble and search alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection

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
from models.store.embeddings import Vector
from models.store.recall import Candidate, find_candidates

CANDIDATES_PER_LEG = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A candidate and every term of its score."""

    candidate: Candidate
    scored: ScoredCandidate


def recall(
    connection: Connection,
    *,
    tenant_id: UUID,
    encoder: str,
    namespaces: Sequence[str],
    session_id: str | None,
    query: str,
    query_vector: Vector | None,
    now: datetime,
    profile: ScoringProfile = DEFAULT_PROFILE,
) -> list[Recalled]:
    """Everything found by meaning, words or name, best first."""
    keywords = query_keywords(query)
    names = [folded for name in extract_identifiers(query) for folded in fold_identifier(name)[:1]]
    candidates = find_candidates(
        connection,
        tenant_id=tenant_id,
        encoder=encoder,
        namespaces=[*namespaces, GLOBAL_NAMESPACE],
        query=query,
        query_vector=query_vector,
        identifiers=names,
        keywords=keywords,
        count=CANDIDATES_PER_LEG,
        similarity_floor=profile.theta1,
    )
    most_read = max((candidate.access_count for candidate in candidates), default=0)
    facts = [
        CandidateFacts(
            id=str(candidate.id),
            scope=_scope_of(candidate, session_id),
            cosine=candidate.similarity,
            lexical_rank=candidate.lexical_rank,
            vector_rank=candidate.vector_rank,
            age_seconds=max(0.0, (now - candidate.ts).total_seconds()),
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
    return [Recalled(candidate=by_id[scored.id], scored=scored) for scored in ranked]


def _scope_of(candidate: Candidate, session_id: str | None) -> Scope:
    if candidate.kind in {"rule", "lore"}:
        return "lore"
    if candidate.namespace == GLOBAL_NAMESPACE:
        return "global"
    if candidate.kind == "turn" and candidate.session_id == session_id:
        return "session"
    return "durable"
