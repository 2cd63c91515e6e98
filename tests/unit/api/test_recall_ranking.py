"""Claims about the ranking of recall: what is not tried is named with the number that was."""

from datetime import UTC, datetime
from uuid import uuid4

import numpy as np
import pytest

from api.recall.candidates import Candidates
from api.recall.question import Question
from api.recall.ranking import rank
from models.store.recall.candidates import Breadth, Candidate

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def found(number: int) -> Candidate:
    key = f"t{number}"
    return Candidate(
        id=key,
        item_id=key,
        kind="turn",
        namespace="ann",
        session_id="s",
        position=number,
        role="user",
        name=None,
        text=f"Stamp {number} shows a bird.",
        said_at=NOW.timestamp() - number,
        seen_at=NOW.timestamp() - number,
        authority=0.0,
        confidence=None,
        load=0.0,
        anchor_density=0.0,
        useful_count=0,
        source_turn_ids=(key,),
        superseded_by=None,
        superseded_at=None,
        superseded_by_words=None,
        windows=None,
        lexical_weight=float(number + 1),
    )


@pytest.mark.parametrize("most", [3, 10])
def test_what_ranks_too_low_to_be_tried_is_listed_with_the_number_that_was_tried(most: int) -> None:
    candidates = Candidates(
        records=[found(number) for number in range(12)],
        rows=np.zeros((0, 4), dtype=np.float32),
        owners=np.zeros(0, dtype=np.intp),
    )
    question = Question(
        tenant_id=uuid4(),
        session_id=None,
        text="which stamp shows a bird?",
        now=NOW,
        breadth=Breadth(12, 0),
        explains=True,
    )
    tried, beyond = rank(question, candidates, most=most)
    assert (len(tried), len(beyond)) == (most, 12 - most)
    assert [one.rank for one in beyond] == list(range(most + 1, 13))
    assert {one.fate.reason for one in beyond if one.fate} == {f"ranked behind the first {most}"}


def test_what_scores_under_the_floor_is_not_tried_and_the_reason_names_the_floor() -> None:
    candidates = Candidates(
        records=[found(number) for number in range(12)],
        rows=np.zeros((0, 4), dtype=np.float32),
        owners=np.zeros(0, dtype=np.intp),
    )
    question = Question(
        tenant_id=uuid4(),
        session_id=None,
        text="which stamp shows a bird?",
        now=NOW,
        breadth=Breadth(12, 0),
        keywords=frozenset({"stamp", "shows", "bird"}),
        floor=0.3,
    )
    tried, _ = rank(question, candidates, most=12)
    assert {one.fate is None for one in tried} == {True, False}
    assert all((one.fate is None) == (one.scored.score >= 0.3) for one in tried)
    assert {one.fate.reason for one in tried if one.fate} == {"scores under the floor of 0.3"}
    assert not any(one.fate.wants_room for one in tried if one.fate)


def test_a_summary_of_the_session_that_asks_needs_no_score() -> None:
    summary = found(0)._replace(kind="summary", lexical_weight=0.0, confidence=0.9)
    candidates = Candidates(
        records=[summary, found(5)],
        rows=np.zeros((0, 4), dtype=np.float32),
        owners=np.zeros(0, dtype=np.intp),
    )
    for session_id, is_tried in (("s", True), ("another", False)):
        question = Question(
            tenant_id=uuid4(),
            session_id=session_id,
            text="which stamp?",
            now=NOW,
            breadth=Breadth(12, 0),
            floor=0.3,
        )
        tried, _ = rank(question, candidates, most=12)
        fates = {one.candidate.id: one.fate for one in tried}
        assert (fates["t0"] is None) == is_tried
