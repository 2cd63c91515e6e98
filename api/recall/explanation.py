"""What `explain` shows of recall: every candidate, every term of its score, its rank in each leg, and its fate."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from api.recall.profiles import Scored
from api.recall.ranking import MOST_RANKED, Recalled
from models.domain.recall.relevance import Relevance


def explain_candidates(
    recalled: Sequence[Recalled], *, chosen: Collection[str], reasons: Mapping[str, str]
) -> list[dict[str, Any]]:
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
            "superseded_by": found.superseded_by.id if found.superseded_by else None,
            "chosen": found.candidate.id in chosen,
            "reason": None if found.candidate.id in chosen else _reason(found, reasons),
        }
        for found in recalled
    ]


def _reason(found: Recalled, reasons: Mapping[str, str]) -> str | None:
    if found.is_beyond:
        return f"ranked behind the first {MOST_RANKED}"
    return reasons.get(found.candidate.id)


def _terms(scored: Scored) -> dict[str, Any]:
    return scored._asdict() if isinstance(scored, Relevance) else asdict(scored)
