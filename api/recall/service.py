"""Recall, as assemble and search share it: what the store finds, in the order the domain gives it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from api.recall.candidates import Candidates, complete_candidates
from api.recall.question import LEAST_RANKED, Question
from api.recall.ranking import AUTHORED_KINDS, Recalled, arrange, rank
from models.domain.recall.hops import HOP_ATTENUATION, HOP_FLOOR, score_hops
from models.domain.recall.recovery import RankedMatch, RetrievalSignals, detect_failure
from models.domain.recall.relevance import DEFAULT_WEIGHTS, score_hop
from models.domain.recall.time import temporal
from models.store.compaction.summaries import Coverage, find_coverage
from models.store.engine import Cursors
from models.store.recall.candidates import (
    ITEM_ID,
    KIND,
    Breadth,
    Candidate,
    CandidateRow,
    find_linked,
    send_covered,
    send_given,
    send_near,
)

if TYPE_CHECKING:
    from psycopg import Cursor

NEWER_FROM: Final = 40  # of the ranked, how many may bring along what replaces them
MOST_CHANGES: Final = 4  # of one matter, followed to what is so now
HOPS_FROM: Final = 10  # of the ranked, how many may bring along what they link to


ITEM_CHARS: Final = 16  # what a line of the prompt has around its words: a name, its share of a heading
CHARS_PER_TOKEN: Final = 4
MOST_MORE: Final = 400


class Recall(NamedTuple):
    """What was found, best first; and whether all that reaches the floor is among it."""

    found: tuple[Recalled, ...]
    is_complete: bool


def recall(
    cursors: Cursors,
    question: Question,
    near: Sequence[CandidateRow],
    *,
    encoder: str,
    tail: Sequence[str] = (),
    most: int = LEAST_RANKED,
) -> Recall:
    """What is found, best first; for questions about time, dated turns lead. `tail`: ids of turns in the prompt.

    `near` is what `send_nearest` asked for. Where it does not fill the room and more may reach the floor, more is read
    once. What ranks behind the first `most` is listed at the end, with that as its fate, if the question explains.
    """
    rows, count = [*question.rows, *near], question.breadth.candidates
    coverage = _send_coverage(cursors, question, rows, tail=tail)  # answered while they are ranked
    candidates = _complete(rows, question, count=count)
    if not candidates.records:
        return Recall((), is_complete=True)
    ranked, beyond = rank(question, candidates, most=most)
    is_complete = _is_complete(question, ranked, count=count)
    costs = _estimate_tokens(ranked)
    missing_tokens = (question.room_tokens or 0) - sum(costs)
    if missing_tokens > 0 and not is_complete:
        more = min(missing_tokens * len(costs) // max(sum(costs), 1) + 1, MOST_MORE)  # at what one costs here
        rows += _read_more(cursors, question, rows, count=more, encoder=encoder)
        candidates = _complete(rows, question, count=count + more)
        if coverage is not None:
            coverage.fetchall()
        coverage = _send_coverage(cursors, question, rows, tail=tail)
        ranked, beyond = rank(question, candidates, most=most)
        is_complete = _is_complete(question, ranked, count=count + more)
    hops = _read_hops(cursors, question, ranked, encoder=encoder)
    hops += _read_newer(cursors, question, ranked, encoder=encoder)
    covered = {row.summary_id: frozenset(row.turn_ids) for row in coverage.fetchall()} if coverage else {}
    found = (*arrange(ranked, hops, covered, session_id=question.session_id), *beyond)
    return Recall(found, is_complete=is_complete)


def _complete(rows: Sequence[CandidateRow], question: Question, *, count: int) -> Candidates:
    return complete_candidates(
        rows, vector=question.vector, count=count, similarity_floor=DEFAULT_WEIGHTS.theta1
    )


def _is_complete(question: Question, ranked: Sequence[Recalled], *, count: int) -> bool:
    """Whether all that is near enough to reach the floor was read: the leg of meaning brought fewer than it might."""
    if question.vector is None:
        return False
    return all(one.candidate.vector_rank != count for one in ranked)


def _estimate_tokens(ranked: Sequence[Recalled]) -> list[int]:
    """About what each candidate that may be in a prompt would cost there."""
    return [
        (len(one.candidate.text) + ITEM_CHARS) // CHARS_PER_TOKEN
        for one in ranked
        if not (one.fate or one.repeats)
    ]


def _read_more(
    cursors: Cursors, question: Question, rows: Sequence[CandidateRow], *, count: int, encoder: str
) -> Sequence[CandidateRow]:
    """What is next in meaning behind what is known, with the turns around."""
    if question.vector is None:
        return ()
    wanted = question.breadth.candidates + count
    return send_near(
        cursors,
        tenant_id=question.tenant_id,
        encoder=encoder,
        namespaces=question.namespaces,
        query_vector=question.vector,
        way=question.way,
        known=[row[ITEM_ID] for row in rows],
        breadth=Breadth(wanted, wanted),
        similarity_floor=DEFAULT_WEIGHTS.theta1,
    ).fetchall()


def judge(recalled: Sequence[Recalled]) -> RetrievalSignals:
    """Whether recall has failed: nothing matches well, or only summaries that are not trusted do."""
    return detect_failure(
        [
            RankedMatch(
                evidence=one.scored.evidence,
                is_summary=one.candidate.kind == "summary",
                confidence=one.candidate.confidence,
            )
            for one in recalled
        ]
    )


def recover(
    cursors: Cursors, question: Question, recalled: Sequence[Recalled], *, encoder: str
) -> tuple[Recalled, ...]:
    """Where recall has failed, the raw turns under summaries that are nearest to the question, however far they are."""
    if question.vector is None:
        return ()
    rows = send_covered(
        cursors,
        tenant_id=question.tenant_id,
        encoder=encoder,
        namespaces=question.namespaces,
        query_vector=question.vector,
        way=question.way,
        known=[one.candidate.item_id for one in recalled],
    ).fetchall()
    candidates = complete_candidates(rows, vector=question.vector, count=len(rows), similarity_floor=-1.0)
    if not candidates.records:
        return ()
    ranked, _ = rank(question, candidates, most=len(rows))
    return tuple(one._replace(is_recovered=True) for one in ranked)


def send_nearest(cursors: Cursors, question: Question, *, encoder: str) -> "Cursor[CandidateRow] | None":
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


def _send_coverage(
    cursors: Cursors, question: Question, rows: Sequence[CandidateRow], *, tail: Sequence[str]
) -> "Cursor[Coverage] | None":
    """Ask which of the turns here the summaries stand for."""
    summaries = [row[ITEM_ID] for row in rows if row[KIND] == "summary"]
    if not summaries:
        return None
    said = [row[ITEM_ID] for row in rows if row[KIND] != "summary"]
    return find_coverage(
        cursors, tenant_id=question.tenant_id, summary_ids=summaries, turn_ids=[*tail, *said]
    )


def _read_newer(
    cursors: Cursors, question: Question, ranked: Sequence[Recalled], *, encoder: str
) -> list[Recalled]:
    """What says how it is now, where something well ranked says how it was: brought along, whatever is asked."""
    known = {one.candidate.item_id for one in ranked}
    brought: list[Recalled] = []
    asking = list(ranked[:NEWER_FROM])
    for _ in range(MOST_CHANGES):
        wanted = {one.candidate.superseded_by: one for one in reversed(asking) if one.candidate.superseded_by}
        ids = [key for key in wanted if key not in known]
        if not ids:
            break
        found = send_given(cursors, tenant_id=question.tenant_id, encoder=encoder, ids=ids).fetchall()
        records = [Candidate(*row) for row in found]
        asking = [
            Recalled(
                candidate=record,
                scored=score_hop(record.id, wanted[record.item_id].scored.score),
                hop_from=wanted[record.item_id].candidate.id,
            )
            for record in records
            if record.namespace in question.namespaces
        ]
        known |= {one.candidate.item_id for one in asking}
        brought += asking
    return brought


def _read_hops(
    cursors: Cursors, question: Question, ranked: Sequence[Recalled], *, encoder: str
) -> list[Recalled]:
    """What the links of well-ranked authored nodes lead to, at a share of their score."""
    scores = {
        one.candidate.id: one.scored.score
        for one in ranked[:HOPS_FROM]
        if one.candidate.kind in AUTHORED_KINDS and one.scored.score * HOP_ATTENUATION >= HOP_FLOOR
    }
    if not scores:
        return []
    linked = find_linked(cursors, tenant_id=question.tenant_id, bindings=question.bindings, ids=list(scores))
    known = {one.candidate.id: one.scored.score for one in ranked}
    hops = [hop for hop in score_hops({**known, **scores}, linked) if hop.id not in known]
    if not hops:
        return []
    found = send_given(cursors, tenant_id=question.tenant_id, encoder=encoder, ids=[hop.id for hop in hops])
    records = [Candidate(*row) for row in found.fetchall()]
    by_id = {record.id: record for record in records if record.namespace in question.namespaces}
    return [
        Recalled(candidate=by_id[hop.id], scored=score_hop(hop.id, hop.score), hop_from=hop.parent)
        for hop in hops
        if hop.id in by_id
    ]
