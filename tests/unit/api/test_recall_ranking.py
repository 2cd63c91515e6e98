"""Claims about the ranking of recall: what is not tried is named with the number that was."""

from datetime import UTC, datetime
from uuid import uuid4

import numpy as np
import pytest

from api.recall.candidates import Candidates
from api.recall.question import Question
from api.recall.ranking import rank
from models.store.recall import Breadth, Candidate

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
        access_count=0,
        source_turn_ids=(key,),
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
