"""In which order sessions are listed for a question: by the best that was said in them, whoever said it.

For passages an answer costs a share of its match, because the person's own words are wanted. To know which
conversation was about something, the answers are as good a witness: requests for advice are often known by them.
"""

from collections.abc import Sequence

from models.domain.recall.relevance import Relevance
from models.domain.recall.scoring import ScoredCandidate


def witness(scored: Relevance | ScoredCandidate) -> float:
    """How strongly a passage speaks for its session: its weight before the cost of answers, from 0 up.

    The score is X/(1 + X) with X = weight·(1 − cost), so the weight is score/(1 − score)/(1 − cost). The seed's forms
    know no such cost; there it is score/(1 − score).
    """
    cost = scored.answer_cost if isinstance(scored, Relevance) else 0.0
    kept = (1 - scored.score) * (1 - cost)
    return scored.score / kept if kept > 0 else 0.0


def choose_one_of_each_session(sessions: Sequence[str | None], witnesses: Sequence[float]) -> list[int]:
    """Of a ranking, best first, the place of each session's first passage, the sessions by their strongest witness.

    What belongs to no session is left out; sessions that are equally strong keep the order of the ranking.

    >>> choose_one_of_each_session(["a", "b", None, "b"], [0.5, 0.4, 0.9, 0.7])
    [1, 0]
    """
    first: dict[str, int] = {}
    strongest: dict[str, float] = {}
    for place, (session, strength) in enumerate(zip(sessions, witnesses, strict=True)):
        if session is not None:
            first.setdefault(session, place)
            strongest[session] = max(strongest.get(session, 0.0), strength)
    return [first[session] for session in sorted(first, key=lambda session: -strongest[session])]
