"""Recall, as assemble and search share it: what the store finds, in the order the domain gives it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from api.recall.candidates import complete_candidates
from api.recall.question import Question
from api.recall.ranking import AUTHORED_KINDS, Recalled, arrange, rank
from models.domain.recall.hops import HOP_ATTENUATION, HOP_FLOOR, score_hops
from models.domain.recall.recovery import RankedMatch, RetrievalSignals, detect_failure
from models.domain.recall.relevance import DEFAULT_WEIGHTS, score_hop
from models.domain.recall.time import temporal
from models.store.engine import Cursors
from models.store.recall import (
    ITEM_ID,
    KIND,
    Candidate,
    CandidateRow,
    find_linked,
    send_covered,
    send_given,
    send_near,
)
from models.store.summaries import Coverage, find_coverage

if TYPE_CHECKING:
    from psycopg import Cursor

MOST_RANKED: Final = 200  # of what was found and of what stands beside it; more fit into no prompt
HOPS_FROM: Final = 10  # of the ranked, how many may bring along what they link to


def recall(
    cursors: Cursors,
    question: Question,
    near: Sequence[CandidateRow],
    *,
    encoder: str,
    tail: Sequence[str] = (),
    most: int = MOST_RANKED,
) -> tuple[Recalled, ...]:
    """What is found, best first; for questions about time, dated turns lead. `tail`: ids of turns in the prompt.

    `near` is what `send_nearest` asked for. What ranks behind the first `most` is listed at the end, with that as its
    fate, if the question explains.
    """
    rows = [*question.rows, *near]
    coverage = _send_coverage(cursors, question, rows, tail=tail)  # answered while they are ranked
    candidates = complete_candidates(
        rows,
        vector=question.vector,
        count=question.breadth.candidates,
        similarity_floor=DEFAULT_WEIGHTS.theta1,
    )
    if not candidates.records:
        return ()
    ranked, beyond = rank(question, candidates, most=most)
    hops = _read_hops(cursors, question, ranked, encoder=encoder)
    covered = {row.summary_id: frozenset(row.turn_ids) for row in coverage.fetchall()} if coverage else {}
    return (*arrange(ranked, hops, covered, session_id=question.session_id), *beyond)


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
