"""What `explain` shows of recall: every candidate, every term of its score, its rank in each leg, and its fate."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
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
            "superseded_by": found.superseded_by,
            "superseded_at": name_moment(found.candidate.superseded_at),
            "chosen": fates[found.candidate.id].is_in,
            "reason": fates[found.candidate.id].reason,
        }
        for found in recalled
    ]


def name_moment(seconds: float | None) -> str | None:
    """A moment in seconds since 1970, as it is written.

    >>> name_moment(0.0), name_moment(None)
    ('1970-01-01T00:00:00+00:00', None)
    """
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def _terms(scored: Scored) -> dict[str, Any]:
    return scored._asdict() if isinstance(scored, Relevance) else asdict(scored)
