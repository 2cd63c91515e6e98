"""What ranked items bring along: their neighbours over links and coverage (memory-model.md section 7)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

HOP_ATTENUATION = 0.5  # η, section 7
HOP_FLOOR = 0.15  # section 7: a hop that scores less is noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A neighbour worth recalling, with the ranked item that vouches for it."""

    id: str
    score: float
    parent: str


def score_hops(
    scores: Mapping[str, float],
    neighbours: Mapping[str, Iterable[str]],
    *,
    attenuation: float = HOP_ATTENUATION,
    floor: float = HOP_FLOOR,
) -> tuple[Hop, ...]:
    """Neighbours of ranked items at η·best parent, kept from the floor up, best first, ties by id.

    `scores` are the ranked items, `neighbours[id]` the ids one hop from it. Depth is 1: only a ranked item
    vouches, never a hop. A neighbour that is ranked itself appears only where the hop lifts it.

    >>> score_hops({"guide": 0.8, "aside": 0.2}, {"guide": ["setup"], "aside": ["setup", "trivia"]})
    (Hop(id='setup', score=0.4, parent='guide'),)
    """
    best: dict[str, Hop] = {}
    for parent in sorted(scores, key=lambda id_: (-_finite(scores[id_]), id_)):
        score = attenuation * _finite(scores[parent])
        if score < floor:
            break  # parents come best first: no later one can reach the floor
        for neighbour in neighbours.get(parent, ()):
            if neighbour not in best and score > _finite(scores.get(neighbour, 0.0)):
                best[neighbour] = Hop(id=neighbour, score=score, parent=parent)
    return tuple(sorted(best.values(), key=lambda hop: (-hop.score, hop.id)))


def _finite(score: float) -> float:
    return score if math.isfinite(score) else 0.0
