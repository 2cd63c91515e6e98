"""Claims about waiting for the pipeline: as long as something moves, and no longer."""

from types import SimpleNamespace
from typing import Any

import pytest

from api.cli.memory.memory_commands import wait_until_remembered
from models.errors import TransientError


class Server:
    """Tells how many turns wait: the next of `counts` at each question, a minute apart, the last one for ever."""

    def __init__(self, *counts: int) -> None:
        self.counts = list(counts)
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def status(self) -> dict[str, int]:
        self.now += 60.0
        return {"pending": self.counts.pop(0) if len(self.counts) > 1 else self.counts[0]}


BAR: Any = SimpleNamespace(add_task=lambda *_args, **_words: 0, update=lambda *_args, **_words: None)


def test_it_waits_longer_than_the_bound_while_turns_are_remembered() -> None:
    server: Any = Server(*range(8, -1, -1))
    wait_until_remembered(server, BAR, stall_seconds=120.0, clock=server.clock)
    assert server.now > 120.0


def test_it_gives_up_when_nothing_moves() -> None:
    stuck: Any = Server(7)
    with pytest.raises(TransientError, match="7 turns wait, and none was remembered"):
        wait_until_remembered(stuck, BAR, stall_seconds=120.0, clock=stuck.clock)
