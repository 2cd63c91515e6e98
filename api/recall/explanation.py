"""What `explain` shows of recall: every candidate, every term of its score, its rank in each leg, and its fate."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from api.recall.profiles import Scored
from api.recall.ranking import Recalled
from models.domain.prompt.fate import Fate
from models.domain.recall.relevance import Relevance


def explain_candidates(recalled: Sequence[Recalled], fates: Mapping[str, Fate]) -> list[dict[str, Any]]:
    """The candidates in the order in which they were tried; each is chosen or has a reason why not."""
    return [
        {
            **_terms(found.scored),
            "kind": found.candidate.kind,
            "session_id": found.candidate.session_id,
            "source_turn_ids": list(found.candidate.source_turn_ids),
            "rank": found.rank,
            "vector_rank": found.candidate.vector_rank,
            "lexical_rank": found.candidate.lexical_rank,
            "temporal": asdict(found.dated) if found.dated else None,
            "hop_from": found.hop_from,
            "recovered": found.is_recovered,
            "superseded_by": found.superseded_by.id if found.superseded_by else None,
            "chosen": fates[found.candidate.id].is_in,
            "reason": fates[found.candidate.id].reason,
        }
        for found in recalled
    ]


def _terms(scored: Scored) -> dict[str, Any]:
    return scored._asdict() if isinstance(scored, Relevance) else asdict(scored)
