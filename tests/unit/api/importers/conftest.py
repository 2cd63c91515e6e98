"""What a source gave, as tests ask about it; every turn it gives must be one that the API takes."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import pytest

from api.host.turns import build_turns
from api.importers.records import Dropped, Finding, ImportedSummary, ImportedTurn, Stripped, Unit
from api.turns.schemas import TurnIn


class Found:
    """The findings of some units, sorted."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        found = list(findings)
        self.turns = [one for one in found if isinstance(one, ImportedTurn)]
        self.summaries = [one for one in found if isinstance(one, ImportedSummary)]
        for turn in self.turns:
            facts = {"id": turn.id, "ts": turn.ts, "name": turn.name, "metadata": turn.metadata}
            for built in build_turns(role=turn.role, text=turn.content, **facts):
                TurnIn.model_validate(built)
        self.said = [(turn.role, turn.content) for turn in self.turns]
        self.reasons = Counter(one.reason for one in found if isinstance(one, Dropped | Stripped))
        self.places = [one.where for one in found if isinstance(one, Dropped) and one.where]


@pytest.fixture
def read() -> Callable[[Sequence[Unit]], Found]:
    return lambda units: Found(finding for unit in units for finding in unit.read())


@pytest.fixture
def block() -> str:
    """What our assembly put into a prompt."""
    return '<longtail-memory id="0123456789abcdef">\n<recalled>\nold news\n</recalled>\n</longtail-memory>\n'
