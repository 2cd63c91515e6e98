"""The order of what was found, and what is known of each: no reading here, only what the domain says of it."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from api.recall.candidates import Candidates
from api.recall.profiles import Scored, rank_by_profile
from api.recall.question import Question
from models.domain.prompt.fate import Fate, decide_fate
from models.domain.recall.relevance import PassageColumns
from models.domain.recall.scoring import Scope
from models.domain.recall.selection import find_repeats
from models.domain.recall.smalltalk import TALK_EVIDENCE, WEAK_RECALL, carries_nothing, is_hollow
from models.domain.recall.time import temporal
from models.domain.recall.time.timeframes import find_time_frames, measure_time_fit
from models.domain.records import GLOBAL_NAMESPACE
from models.domain.text.terms import query_keywords
from models.domain.updates.statements import put_newer_first
from models.store.recall.candidates import Candidate

SLOTS_TIMEOUT_SECONDS: Final = 1.0
MOST_DATED: Final = 60  # of the ranked, how many may lead the answer to a question about time
STRONG_SHARE: Final = 0.5  # of the best score: what comes before the summaries of the session
ANSWERING_ROLES: Final = frozenset({"assistant", "tool"})
SAID_KINDS: Final = frozenset({"turn", "memory"})
AUTHORED_KINDS: Final = frozenset({"rule", "lore"})


class Recalled(NamedTuple):
    """A candidate, every term of its score, and why a question about time moved it up, if it did."""

    candidate: Candidate
    scored: Scored
    rank: int | None = None  # by score, from 1; what a link led to has none
    dated: temporal.TemporalChoice | None = None
    superseded_by: str | None = (
        None  # what says how it is now; the turn's id where that is not among the ranked
    )
    repeats: str | None = None  # the better one that says nearly the same
    hop_from: str | None = None  # the ranked node whose link led here
    covers: frozenset[str] = frozenset()  # of a summary: the turns it stands for, if found or in the tail
    is_recovered: bool = False  # a raw turn under a summary, looked up because nothing else matched well
    fate: Fate | None = None  # of one that is not tried: under the floor, or so much came before it


def rank(question: Question, candidates: Candidates, *, most: int) -> tuple[list[Recalled], list[Recalled]]:
    """The best `most`, best first, dated choices leading; and what ranks behind them, if the question explains."""
    place_by_id = {candidate.id: place for place, candidate in enumerate(candidates.records)}
    ranked = rank_by_profile(
        question.profile,
        _describe(candidates.records, question),
        candidates.records,
        question=question.text,
        keywords=question.keywords,
        most=None if question.explains else most,
    )
    tried = ranked[:most]
    choices = _choose_dated(question, tried, candidates, place_by_id)
    rank_by_id = {scored.id: (place, scored) for place, scored in enumerate(ranked, start=1)}
    choice_by_id = {choice.id: choice for choice in choices}
    order = temporal.put_choices_first([scored.id for scored in tried], choices)
    places = [place_by_id[key] for key in order]
    records = [candidates.records[place] for place in places]
    repeats = find_repeats([record.text for record in records], candidates.single_rows()[places])
    empty = _find_small_talk(candidates.records, question, {scored.id: scored.evidence for scored in tried})
    recalled = [
        Recalled(
            candidate=record,
            scored=rank_by_id[record.id][1],
            rank=rank_by_id[record.id][0],
            dated=choice_by_id.get(record.id),
            repeats=records[repeats[place]].id if place in repeats else None,
            fate=decide_fate(is_small_talk=True)
            if record.id in empty
            else _find_fate(record, rank_by_id[record.id][1], question, is_dated=record.id in choice_by_id),
        )
        for place, record in enumerate(records)
    ]
    beyond = [
        Recalled(
            candidate=candidates.records[place_by_id[scored.id]],
            scored=scored,
            rank=rank_by_id[scored.id][0],
            fate=decide_fate(ranked_behind=most),
        )
        for scored in ranked[most:]
    ]
    return recalled, beyond


def _find_fate(record: Candidate, scored: Scored, question: Question, *, is_dated: bool) -> Fate | None:
    """That something said is out whatever room there is: it scores under the floor, and no question about time chose it."""
    if scored.score >= question.floor or is_dated or record.kind in AUTHORED_KINDS:
        return None
    if record.kind == "summary" and record.session_id == question.session_id:
        return None  # what the session was about before its tail, whatever is asked
    return decide_fate(under_floor=question.floor)


def _find_small_talk(
    records: Sequence[Candidate], question: Question, evidence: Mapping[str, float]
) -> frozenset[str]:
    """What a prompt does without: turns that carry nothing by themselves. A search lists them like others."""
    if question.room_tokens is None:
        return frozenset()
    said = [record for record in records if record.kind in SAID_KINDS]
    beside = {(record.session_id, record.position): record for record in said}
    is_weak = max(evidence.values(), default=0.0) < WEAK_RECALL
    found = set()
    for record in said:
        place = record.position or 0
        before, behind = (beside.get((record.session_id, place + step)) for step in (-1, 1))
        # A "yes" without its question in the prompt says nothing.
        is_reply = before is not None and before.text.rstrip().endswith("?")
        leads = behind is not None and evidence.get(behind.id, 0.0) >= TALK_EVIDENCE
        if carries_nothing(record.text, asked=question.keywords, answers_question=is_reply) or is_hollow(
            record.text,
            evidence=evidence.get(record.id, 0.0),
            load=record.load,
            asked=question.keywords,
            answers_question=is_reply,
            leads_to_match=leads,
            is_weak=is_weak,
        ):
            found.add(record.id)
    return frozenset(found)


def arrange(
    ranked: Sequence[Recalled],
    hops: Sequence[Recalled],
    covered: Mapping[str, frozenset[str]],
    *,
    session_id: str | None,
) -> list[Recalled]:
    """The ranked in the order in which they are to be tried: hops by their score, the newer first, summaries last."""
    recalled = _with_hops(ranked, hops)
    by_id = {one.candidate.id: one for one in recalled}
    by_item = {one.candidate.item_id: key for key, one in by_id.items()}
    newer = {
        key: by_item[one.candidate.superseded_by]
        for key, one in by_id.items()
        if one.candidate.superseded_by in by_item
    }
    ordered = [
        by_id[key]._replace(superseded_by=newer.get(key) or by_id[key].candidate.superseded_by)
        for key in put_newer_first(list(by_id), newer)
    ]
    return _with_summaries(ordered, covered, session_id)


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
        useful_count=columns.useful_count,
        authority=columns.authority,
        confidence=columns.confidence,
        is_answer=[_is_answer(record, question) for record in records],
        is_teller=[_is_named(record.name, question) for record in records],
    )


def _with_hops(ranked: Sequence[Recalled], hops: Sequence[Recalled]) -> list[Recalled]:
    """Dated choices lead whatever their score: a hop takes its place among those behind them."""
    if not hops:
        return list(ranked)
    leading = [one for one in ranked if one.dated is not None]
    rest = [one for one in ranked if one.dated is None]
    return [*leading, *sorted([*rest, *hops], key=lambda one: -one.scored.score)]


def _with_summaries(
    recalled: list[Recalled], covered: Mapping[str, frozenset[str]], session_id: str | None
) -> list[Recalled]:
    """Summaries fill what good matches leave: raw turns say it in full, so a summary never takes their place.

    Those of the session that asks come before its weaker matches, those of others after everything.
    """
    summaries = [one for one in recalled if one.candidate.kind == "summary"]
    if not summaries:
        return recalled
    raw = [one for one in recalled if one.candidate.kind != "summary"]
    summaries = [one._replace(covers=covered.get(one.candidate.id, frozenset())) for one in summaries]
    own = [one for one in summaries if one.candidate.session_id == session_id]
    others = [one for one in summaries if one.candidate.session_id != session_id]
    best = max((one.scored.score for one in raw), default=0.0)
    strong = [one for one in raw if one.dated is not None or one.scored.score >= best * STRONG_SHARE]
    weak = [one for one in raw if not (one.dated is not None or one.scored.score >= best * STRONG_SHARE)]
    return [*strong, *own, *weak, *others]


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
    return not _is_named(candidate.name, question)


def _is_named(speaker: str | None, question: Question) -> bool:
    return bool(speaker and name_words(speaker) & question.keywords)


@lru_cache(maxsize=1024)
def name_words(speaker: str) -> frozenset[str]:
    """The words by which a question may name a speaker; few people speak in hundreds of turns.

    >>> sorted(name_words("Ann Doe"))
    ['ann', 'doe']
    """
    return query_keywords(speaker)


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
