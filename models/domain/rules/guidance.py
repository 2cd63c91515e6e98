"""Elevated guidance: where it lives, which rules hold, which enter the prompt (memory-model.md section 9).

A rule that a user spoke once outlives the summary that omits it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from models.domain.grammar.actions import is_comparable
from models.domain.grammar.spans import Modality
from models.domain.recall.scoring import DEFAULT_PROFILE, clamp01

USER_PREFIX: Final = "elevated:user:"
SESSION_PREFIX: Final = "elevated:session:"

AdmissionReason = Literal["relevant", "standing"]
SupersessionReason = Literal["authored", "newer"]
_Side = Literal["for", "against"]


def name_guidance_namespace(durable_namespace: str | None, *, session_id: str) -> str:
    """Where guidance lives: with the user while there is one, else with the session.

    A durable namespace that is itself only this session (section 4) names no user.

    >>> name_guidance_namespace("ada", session_id="s1")
    'elevated:user:ada'
    >>> name_guidance_namespace("session:s1", session_id="s1")
    'elevated:session:s1'
    """
    if durable_namespace and durable_namespace != f"session:{session_id}":
        return USER_PREFIX + durable_namespace
    return SESSION_PREFIX + session_id


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRule:
    """A rule somebody stated: what it asks, when, and whether it stands in an authored document."""

    id: str
    claims: Sequence[tuple[str, str]]  # pairs of modality and action
    said_at: datetime
    is_authored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """An older or weaker rule that gives way; both are kept, this marks the one that lost."""

    superseded_id: str
    by_id: str
    reason: SupersessionReason
    actions: tuple[str, ...]  # on which the two disagree
    is_whole: bool  # whether the rule asks nothing else; if not, what is left of it still holds


def resolve_supersessions(rules: Iterable[StatedRule]) -> tuple[Supersession, ...]:
    """Which spoken rules no longer hold: an authored rule wins over any, a newer one over an older.

    An overruled rule overrules nobody: where the document forbids what was asked for last week, an older
    spoken prohibition stands. One mark for each rule and winner, sorted; the input order does not matter.
    """
    ordered = sorted(rules, key=_spoken_order)
    sides = {rule.id: _take_sides(rule.claims) for rule in ordered}
    authored: dict[tuple[str, _Side], str] = {}
    newest: dict[tuple[str, _Side], StatedRule] = {}
    for rule in ordered:
        if rule.is_authored:
            authored.update((stance, rule.id) for stance in sides[rule.id])
    for rule in ordered:
        if not rule.is_authored:
            newest.update(
                ((action, side), rule)
                for action, side in sides[rule.id]
                if (action, _opposite(side)) not in authored
            )
    marks: dict[tuple[str, str, SupersessionReason], set[str]] = {}
    lost: dict[str, set[tuple[str, _Side]]] = {}
    for rule in ordered:
        if rule.is_authored:
            continue
        for action, side in sides[rule.id]:
            against = (action, _opposite(side))
            rival = newest.get(against)
            mark: tuple[str, str, SupersessionReason]
            if against in authored:
                mark = (rule.id, authored[against], "authored")
            elif rival is not None and _spoken_order(rival) > _spoken_order(rule):
                mark = (rule.id, rival.id, "newer")
            else:
                continue
            marks.setdefault(mark, set()).add(action)
            lost.setdefault(rule.id, set()).add((action, side))
    return tuple(
        Supersession(
            superseded_id=loser,
            by_id=winner,
            reason=reason,
            actions=tuple(sorted(actions)),
            is_whole=len(lost[loser]) == len(sides[loser]),
        )
        for (loser, winner, reason), actions in sorted(marks.items())
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceCandidate:
    """A guidance record that could enter the prompt."""

    id: str
    tokens: int
    cosine: float | None  # to the query; None when unknown
    score: float
    stability_weight: float
    said_at: datetime
    is_standing: bool  # meant for every later turn ("from now on"), not for one task
    is_superseded: bool = False


def order_guidance(
    candidates: Iterable[GuidanceCandidate], *, theta1: float = DEFAULT_PROFILE.theta1
) -> tuple[tuple[GuidanceCandidate, AdmissionReason], ...]:
    """Who may enter, in order: relevant (cos > θ1) by score, then standing by stability and recency.

    Superseded records never enter. Ties go to the smaller id.
    """
    relevant: list[GuidanceCandidate] = []
    standing: list[GuidanceCandidate] = []
    for candidate in candidates:
        if candidate.is_superseded:
            continue
        if clamp01(candidate.cosine) > theta1:
            relevant.append(candidate)
        elif candidate.is_standing:
            standing.append(candidate)
    relevant.sort(key=lambda c: (-clamp01(c.score), c.id))
    standing.sort(key=lambda c: (-clamp01(c.stability_weight), -c.said_at.timestamp(), c.id))
    return (*((c, "relevant") for c in relevant), *((c, "standing") for c in standing))


def _take_sides(claims: Iterable[tuple[str, str]]) -> frozenset[tuple[str, _Side]]:
    """For or against which actions a rule speaks. A permission is for: it lifts a prohibition."""
    return frozenset(
        (action, "against" if modality == Modality.PROHIBITION else "for")
        for modality, action in claims
        if is_comparable(action)
    )


def _opposite(side: _Side) -> _Side:
    return "for" if side == "against" else "against"


def _spoken_order(rule: StatedRule) -> tuple[datetime, str]:
    return (rule.said_at, rule.id)
