"""Ranked recall: candidates from the store, scores from the domain; used by assemble and search alike."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

import numpy as np

from api.recall.candidates import Candidates, complete_candidates
from api.recall.profiles import Scored, rank_by_profile
from api.runtime import Runtime
from models.domain.recall.conflicts import Statement, find_superseded, put_newer_first
from models.domain.recall.hops import HOP_ATTENUATION, HOP_FLOOR, score_hops
from models.domain.recall.relevance import DEFAULT_WEIGHTS, PassageColumns, score_hop
from models.domain.recall.scoring import SEED_PROFILES, ProfileName, Scope
from models.domain.recall.selection import find_repeats
from models.domain.recall.time import temporal
from models.domain.recall.time.timeframes import find_time_frames, measure_time_fit
from models.domain.records import GLOBAL_NAMESPACE
from models.domain.text.terms import query_keywords
from models.store.context import Context, Origin
from models.store.embeddings import Vector
from models.store.engine import Cursors
from models.store.nearest import Way, choose_way
from models.store.recall import (
    ITEM_ID,
    KIND,
    Breadth,
    Candidate,
    CandidateRow,
    find_linked,
    send_given,
    send_named,
    send_near,
)
from models.store.summaries import Coverage, find_coverage
from models.store.tokens import Caller

if TYPE_CHECKING:
    from psycopg import Cursor

SLOTS_TIMEOUT_SECONDS = 1.0
MOST_RANKED = 200  # of what was found and of what stands beside it; more fit into no prompt
MOST_DATED = 60  # of the ranked, how many may lead the answer to a question about time
STRONG_SHARE = 0.5  # of the best score: what comes before the summaries of the session
HOPS_FROM = 10  # of the ranked, how many may bring along what they link to
MOST_COMPARED = 16  # of the ranked, how many are compared for statements that replace each other
ANSWERING_ROLES = frozenset({"assistant", "tool"})
SAID_KINDS = frozenset({"turn", "memory"})
AUTHORED_KINDS = frozenset({"rule", "lore"})
# For prompts up to so many tokens: what the budget cannot hold is not read. Turns around a weak hit push better hits out of
# a small prompt, and have room in a large one (decision 25).
BREADTHS: Final = ((2400, Breadth(40, 6)), (4800, Breadth(40, 10)), (9600, Breadth(60, 60)))
MOST_BREADTH: Final = Breadth(100, 100)


def choose_breadth(budget_tokens: int) -> Breadth:
    """How many candidates each leg brings, and how many of them with the turns around.

    >>> choose_breadth(1000), choose_breadth(200_000)
    (Breadth(candidates=40, reaching=6), Breadth(candidates=100, reaching=100))
    """
    return next((breadth for budget, breadth in BREADTHS if budget_tokens <= budget), MOST_BREADTH)


class Recalled(NamedTuple):
    """A candidate, every term of its score, and why a question about time moved it up, if it did."""

    candidate: Candidate
    scored: Scored
    rank: int | None = None  # by score, from 1; what a link led to has none
    dated: temporal.TemporalChoice | None = None
    superseded_by: Candidate | None = None  # what the same speaker said later, and otherwise
    repeats: str | None = None  # the better one that says nearly the same
    hop_from: str | None = None  # the ranked node whose link led here
    covers: frozenset[str] = frozenset()  # of a summary: the turns it stands for, if found or in the tail
    is_beyond: bool = False  # so much came before it that it was not tried: only `explain` shows it


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, by whom, when, and what was learned about it on the way."""

    tenant_id: UUID
    session_id: str | None
    text: str
    now: datetime
    breadth: Breadth
    keywords: frozenset[str] = frozenset()
    intent: float = 0.0  # how much it asks about time
    namespaces: Sequence[str] = ()
    bindings: Sequence[str] = ()  # whose documents apply
    rows: Sequence[
        CandidateRow
    ] = ()  # found by words while the vector was being made, and the turns around them
    way: Way = "exact"  # how the nearest vectors are found
    vector: Vector | None = None
    profile: ProfileName = "longtail"  # how what is found is ranked
    explains: bool = False  # whether what is ranked too low to be tried is listed too
    slots: "Future[Vector] | None" = (
        None  # vectors of the events a question about time is about, if they count
    )


def ask(
    runtime: Runtime,
    caller: Caller,
    *,
    session_id: str | None,
    text: str,
    now: datetime,
    breadth: Breadth,
    profile: ProfileName | None = None,
    explains: bool = False,
) -> Question:
    """A question as it reads; for the seed's profiles, what the events in it are like is worked out meanwhile."""
    intent = temporal.temporal_intent(text)
    profile = profile or runtime.settings.recall_profile
    # Ours asks for no vector of each event: it found less with them, and waited for them (decision 26).
    wants_slots = profile in SEED_PROFILES and temporal.is_active(intent)
    return Question(
        tenant_id=caller.tenant_id,
        session_id=session_id,
        text=text,
        now=now,
        breadth=breadth,
        keywords=query_keywords(text),
        intent=intent,
        profile=profile,
        explains=explains,
        slots=runtime.start_encoding(temporal.event_slots(text)) if wants_slots else None,
    )


def in_context(question: Question, context: Context, rows: Sequence[CandidateRow]) -> Question:
    """The question with where to search and what was found by words."""
    return replace(
        question,
        namespaces=context.places,
        bindings=context.bindings,
        rows=rows,
        way=choose_way(context.sizes, wanted=question.breadth.candidates),
    )


def send_words(
    cursors: Cursors, question: Question, origin: Origin, *, encoder: str
) -> "Cursor[CandidateRow]":
    """Ask for what holds the question's words, what the session was about, and the turns around; needs no vector."""
    return send_named(
        cursors, origin=origin, encoder=encoder, terms=question.keywords, breadth=question.breadth
    )


def send_recall(cursors: Cursors, question: Question, *, encoder: str) -> "Cursor[CandidateRow] | None":
    """Ask for what is near in meaning and not known by its words; None without a vector."""
    if question.vector is None:
        return None
    return send_near(
        cursors,
        tenant_id=question.tenant_id,
        encoder=encoder,
        namespaces=question.namespaces,
        query_vector=question.vector,
        way=question.way,
        known=[row[ITEM_ID] for row in question.rows],
        breadth=question.breadth,
        similarity_floor=DEFAULT_WEIGHTS.theta1,
        wants_dated=temporal.is_active(question.intent),
    )


def rank_recalled(
    cursors: Cursors,
    question: Question,
    near: Sequence[CandidateRow],
    *,
    encoder: str,
    tail: Sequence[str] = (),
    most: int = MOST_RANKED,
) -> list[Recalled]:
    """What was found, best first; for questions about time, dated turns lead. `tail`: ids of turns in the prompt."""
    rows = [*question.rows, *near]
    coverage = _ask_coverage(cursors, question, rows, tail=tail)
    candidates = complete_candidates(
        rows,
        vector=question.vector,
        count=question.breadth.candidates,
        similarity_floor=DEFAULT_WEIGHTS.theta1,
    )
    if not candidates.records:
        return []
    place_by_id = {candidate.id: place for place, candidate in enumerate(candidates.records)}
    ranked = rank_by_profile(
        question.profile,
        _describe(candidates.records, question),
        candidates.records,
        question=question.text,
        most=None if question.explains else most,
    )
    tried, beyond = ranked[:most], ranked[most:]
    choices = _choose_dated(question, tried, candidates, place_by_id)
    rank_by_id = {scored.id: (rank, scored) for rank, scored in enumerate(ranked, start=1)}
    choice_by_id = {choice.id: choice for choice in choices}
    order = temporal.put_choices_first([scored.id for scored in tried], choices)
    places = [place_by_id[key] for key in order]
    records = [candidates.records[place] for place in places]
    superseded = _find_superseded(records)
    repeats = find_repeats([record.text for record in records], candidates.single_rows()[places])
    recalled = [
        Recalled(
            candidate=record,
            scored=rank_by_id[record.id][1],
            rank=rank_by_id[record.id][0],
            dated=choice_by_id.get(record.id),
            repeats=records[repeats[place]].id if place in repeats else None,
            superseded_by=superseded.get(record.id),
        )
        for place, record in enumerate(records)
    ]
    recalled = _with_hops(cursors, question, recalled, encoder=encoder)
    found_by_id = {one.candidate.id: one for one in recalled}
    newer = {key: newest.id for key, newest in superseded.items()}
    recalled = [found_by_id[key] for key in put_newer_first(list(found_by_id), newer)]
    recalled = _with_summaries(question, recalled, coverage)
    return recalled + [
        Recalled(
            candidate=candidates.records[place_by_id[scored.id]],
            scored=scored,
            rank=rank_by_id[scored.id][0],
            is_beyond=True,
        )
        for scored in beyond
    ]


def _describe(records: Sequence[Candidate], question: Question) -> PassageColumns:
    """What the score is made of, by column."""
    now = question.now.timestamp()
    frames = find_time_frames(question.text, now=question.now)
    columns: Any = Candidate._make(zip(*records, strict=True))  # the same record, of columns
    return PassageColumns(
        id=columns.id,
        scope=[scope_of(record, question.session_id) for record in records],
        session_id=columns.session_id,
        position=columns.position,
        chars=[len(text) for text in columns.text],
        cosine=columns.similarity,
        lexical_weight=columns.lexical_weight,
        load=columns.load,
        time_fit=[measure_time_fit(frames, said_at) for said_at in columns.said_at]
        if frames
        else [0.0] * len(records),
        age_seconds=[now - seen_at for seen_at in columns.seen_at],
        access_count=columns.access_count,
        authority=columns.authority,
        confidence=columns.confidence,
        is_answer=[_is_answer(record, question) for record in records],
    )


def _ask_coverage(
    cursors: Cursors, question: Question, rows: Sequence[CandidateRow], *, tail: Sequence[str]
) -> "Cursor[Coverage] | None":
    """Ask which of the turns here the summaries stand for; answered while they are ranked."""
    summaries = [row[ITEM_ID] for row in rows if row[KIND] == "summary"]
    if not summaries:
        return None
    said = [row[ITEM_ID] for row in rows if row[KIND] != "summary"]
    return find_coverage(
        cursors, tenant_id=question.tenant_id, summary_ids=summaries, turn_ids=[*tail, *said]
    )


def _with_summaries(
    question: Question, recalled: list[Recalled], coverage: "Cursor[Coverage] | None"
) -> list[Recalled]:
    """Summaries fill what good matches leave: raw turns say it in full, so a summary never takes their place.

    Those of the session that asks come before its weaker matches, those of others after everything.
    """
    summaries = [one for one in recalled if one.candidate.kind == "summary"]
    if not summaries or coverage is None:
        return recalled
    raw = [one for one in recalled if one.candidate.kind != "summary"]
    covered = {row.summary_id: frozenset(row.turn_ids) for row in coverage.fetchall()}
    summaries = [one._replace(covers=covered.get(one.candidate.id, frozenset())) for one in summaries]
    own = [one for one in summaries if one.candidate.session_id == question.session_id]
    others = [one for one in summaries if one.candidate.session_id != question.session_id]
    best = max((one.scored.score for one in raw), default=0.0)
    strong = [one for one in raw if one.dated is not None or one.scored.score >= best * STRONG_SHARE]
    weak = [one for one in raw if not (one.dated is not None or one.scored.score >= best * STRONG_SHARE)]
    return [*strong, *own, *weak, *others]


def _find_superseded(ordered: Sequence[Candidate]) -> dict[str, Candidate]:
    """Of the best, what its speaker said otherwise later: by id, the newest such statement."""
    said = [one for one in ordered[:MOST_COMPARED] if one.kind in SAID_KINDS and one.role == "user"]
    found = find_superseded([Statement(one.name or "", one.said_at, one.text) for one in said])
    return {said[older].id: said[newer] for older, newer in found.items()}


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
    found = send_given(cursors, tenant_id=question.tenant_id, encoder=encoder, ids=[hop.id for hop in hops])
    records = [Candidate(*row) for row in found.fetchall()]
    by_id = {record.id: record for record in records if record.namespace in question.namespaces}
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


def _choose_dated(
    question: Question, ranked: Sequence[Scored], candidates: Candidates, by_id: Mapping[str, int]
) -> tuple[temporal.TemporalChoice, ...]:
    """The turns that answer a question about time: relevant, dated, and each covering another event."""
    if not temporal.is_active(question.intent) or not ranked:
        return ()
    likeness: list[list[float]] | None = None
    if question.slots is not None and question.vector is not None:
        slots = question.slots.result(timeout=SLOTS_TIMEOUT_SECONDS)
        likeness = np.nan_to_num(candidates.measure_likeness(slots)).tolist()
    return temporal.select_temporal(
        question.intent,
        [
            temporal.TemporalCandidate(
                id=scored.id,
                score=scored.score,
                anchor_density=candidates.records[by_id[scored.id]].anchor_density,
                slot_similarities=tuple(likeness[by_id[scored.id]]) if likeness else (),
            )
            for scored in ranked[:MOST_DATED]
        ],
    )


def _is_answer(candidate: Candidate, question: Question) -> bool:
    """Whether a machine said it to a person; one that is asked for by name is a person here."""
    if candidate.role not in ANSWERING_ROLES:
        return False
    return not (candidate.name and query_keywords(candidate.name) & question.keywords)


def scope_of(candidate: Candidate, session_id: str | None) -> Scope:
    """Where a candidate comes from, as scores and filters see it."""
    if candidate.kind in AUTHORED_KINDS:
        return "lore"
    if candidate.kind == "summary":
        return "summary"
    if candidate.namespace == GLOBAL_NAMESPACE:
        return "global"
    if candidate.kind in {"turn", "memory"} and candidate.session_id == session_id:
        return "session"
    return "durable"
