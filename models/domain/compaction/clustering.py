"""Which turns are summarised together, and under which id (memory-model.md section 8: 1, 2, 8, 9)."""

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

CLUSTER_TURNS: Final = 20  # k, section 8 step 2
MIN_SOURCES: Final = 2  # section 8: fewer eligible turns, or a singleton, is declined
MAX_ACTIVE_SUMMARIES: Final = 8  # section 8 step 9
# A level that overflows keeps half: merging only the surplus would summarise two summaries at a time.
_KEPT_SUMMARIES: Final = MAX_ACTIVE_SUMMARIES // 2

# Fixed for ever: another namespace would give every existing summary a second id.
_SUMMARY_NAMESPACE: Final = uuid.UUID("6f0e5b0a-6a53-5c7e-9d0b-2f5f5c1f8a11")

DeclineReason = Literal["too_few_eligible", "singleton"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Turns next to each other in time that one summary will cover."""

    index: int
    source_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclinedCluster:
    """Turns that stay as they are, and why."""

    source_ids: tuple[str, ...]
    reason: DeclineReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """A partition of the eligible turns into clusters to compact and turns to leave."""

    clusters: tuple[Cluster, ...]
    declined: tuple[DeclinedCluster, ...]


def cluster_chronologically(source_ids: Sequence[str], *, cluster_turns: int = CLUSTER_TURNS) -> Clustering:
    """Split turns, oldest first, into c = ⌈n/k⌉ runs of nearly equal length: turn i goes to ⌊i·c/n⌋.

    Fewer than 2 turns are declined, and so is a run of one.

    >>> turns = [f"t{i}" for i in range(45)]
    >>> [len(cluster.source_ids) for cluster in cluster_chronologically(turns).clusters]
    [15, 15, 15]
    """
    if cluster_turns < 1:
        raise ValueError(f"cluster size is {cluster_turns} turns; it is a whole number from 1 up")
    n = len(source_ids)
    if n < MIN_SOURCES:
        rest = (DeclinedCluster(source_ids=tuple(source_ids), reason="too_few_eligible"),) if n else ()
        return Clustering(clusters=(), declined=rest)
    count = -(-n // cluster_turns)
    runs: list[list[str]] = [[] for _ in range(count)]
    for i, source_id in enumerate(source_ids):
        runs[i * count // n].append(source_id)
    return Clustering(
        clusters=tuple(
            Cluster(index=index, source_ids=tuple(run))
            for index, run in enumerate(runs)
            if len(run) >= MIN_SOURCES
        ),
        declined=tuple(
            DeclinedCluster(source_ids=tuple(run), reason="singleton")
            for run in runs
            if len(run) < MIN_SOURCES
        ),
    )


def summary_id(session_id: str, level: int, source_ids: Iterable[str]) -> str:
    """The id of the summary of these sources: same session, level and set of sources, same id.

    The order in which a query returned the sources does not matter: a retried compaction finds its own row.

    >>> summary_id("s", 1, ["a", "b"]) == summary_id("s", 1, ["b", "a"]) != summary_id("s", 2, ["a", "b"])
    True
    """
    sources = sorted(set(source_ids))
    if not sources:
        raise ValueError(f"summary of session '{session_id}' has no sources; it must cover at least one")
    # JSON keeps the borders: ["ab"] and ["a", "b"] must not meet.
    return str(uuid.uuid5(_SUMMARY_NAMESPACE, json.dumps([session_id, level, sources])))


def choose_rollup(active_summary_ids: Sequence[str]) -> tuple[str, ...]:
    """The summaries of one level, oldest first, that go into the next level: none up to 8, else all but 4.

    >>> choose_rollup(list("abcdefgh")), choose_rollup(list("abcdefghi"))
    ((), ('a', 'b', 'c', 'd', 'e'))
    """
    if len(active_summary_ids) <= MAX_ACTIVE_SUMMARIES:
        return ()
    return tuple(active_summary_ids[: len(active_summary_ids) - _KEPT_SUMMARIES])
