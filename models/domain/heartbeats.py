"""What a host says to itself: heartbeats, scheduled runs and sub-agents. None of it is kept (memory-model.md section 4)."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from models.domain.records import NewTurn

FLAGS: Final = ("isHeartbeat", "is_heartbeat", "heartbeat")  # in a turn's metadata, as hosts spell it
ANSWER: Final = re.compile(r"[\s*_`\"'.!]*HEARTBEAT_OK[\s*_`\"'.!]*")
# The prompt names the file it reads or the word it wants; a person who asks about the word does not give the order.
PROMPT: Final = re.compile(
    r"\s*(?:Read HEARTBEAT\.md\b|\[?heartbeat\b).*\bHEARTBEAT_OK\b", re.DOTALL | re.IGNORECASE
)


def find_skipped(
    turns: Sequence[NewTurn], *, names: Sequence[str | None], ignored: Sequence[str]
) -> frozenset[int]:
    """Places of the turns that are not kept: all of an ignored session, else heartbeats one by one.

    `names` are those the session goes by, `ignored` patterns with `*` and `?`.

    >>> said = [NewTurn(role="user", content="hi"), NewTurn(role="assistant", content="HEARTBEAT_OK")]
    >>> sorted(find_skipped(said, names=["s1"], ignored=["*:cron:*"]))
    [1]
    >>> sorted(find_skipped(said, names=["agent:main:cron:nightly"], ignored=["*:cron:*"]))
    [0, 1]
    """
    if is_ignored(names, ignored):
        return frozenset(range(len(turns)))
    return frozenset(place for place, turn in enumerate(turns) if is_heartbeat(turn))


def is_ignored(names: Sequence[str | None], ignored: Sequence[str]) -> bool:
    """Whether a session goes by a name that a pattern names, in whatever case."""
    return any(name and fnmatchcase(name.lower(), pattern.lower()) for name in names for pattern in ignored)


def is_heartbeat(turn: NewTurn) -> bool:
    """Whether the host says so, or the words do: its prompt, or the answer that nothing is to be done."""
    if turn.is_heartbeat or is_flagged(turn.metadata):
        return True
    if turn.role == "assistant":
        return ANSWER.fullmatch(turn.content) is not None
    return turn.role in ("user", "system") and PROMPT.match(turn.content) is not None


def is_flagged(metadata: Mapping[str, Any]) -> bool:
    """Whether a turn's metadata calls it a heartbeat."""
    return any(metadata.get(flag) is True for flag in FLAGS)
