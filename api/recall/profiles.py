"""Ways to rank what was found, by name: ours, or one of the seed's two forms with its own constants, to compare."""

from collections.abc import Mapping, Sequence

from models.domain.recall.questions import asks_for_answers, asks_for_several
from models.domain.recall.relevance import Passage, PassageColumns, Relevance, rank_passages
from models.domain.recall.scoring import (
    SEED_PROFILES,
    CandidateFacts,
    ProfileName,
    ScoredCandidate,
    ScoringProfile,
    is_found,
    rank_candidates,
)
from models.domain.text.terms import extract_terms, query_keywords
from models.store.recall.candidates import Candidate

Scored = Relevance | ScoredCandidate


def rank_by_profile(
    name: ProfileName,
    passages: PassageColumns,
    candidates: Sequence[Candidate],
    *,
    question: str,
    keywords: frozenset[str],
    most: int | None,
) -> Sequence[Scored]:
    """The best `most` passages in the order of that profile; `candidates` holds their records, in the same order."""
    seed = SEED_PROFILES.get(name)
    if seed is not None:
        by_row = [Passage(*row) for row in zip(*passages, strict=True)]
        by_id = {candidate.id: candidate for candidate in candidates}
        return _rank_as_seed(by_row, by_id, question=question, profile=seed)[:most]
    return rank_passages(
        passages,
        texts=[candidate.text for candidate in candidates],
        asked=keywords,
        asks_for_answers=asks_for_answers(question),
        asks_for_several=asks_for_several(question),
        most=most,
    )


def _rank_as_seed(
    passages: Sequence[Passage],
    candidates: Mapping[str, Candidate],
    *,
    question: str,
    profile: ScoringProfile,
) -> Sequence[ScoredCandidate]:
    """Likeness, recency, use and authority. What merely stands beside a match is left out: the seed has no neighbours."""
    most_reads = max((passage.useful_count for passage in passages), default=0)
    facts = (
        CandidateFacts(
            id=passage.id,
            scope=passage.scope,
            cosine=passage.cosine,
            lexical_rank=candidates[passage.id].lexical_rank,
            vector_rank=candidates[passage.id].vector_rank,
            age_seconds=passage.age_seconds,
            useful_count=passage.useful_count,
            max_useful_count=most_reads,
            authority=passage.authority,
            confidence=passage.confidence,
            terms=extract_terms(candidates[passage.id].text),
        )
        for passage in passages
    )
    found = [one for one in facts if is_found(one, profile=profile)]
    return rank_candidates(found, keywords=query_keywords(question), profile=profile)
