"""What API and workers count for Prometheus: every meter as data, and tallies that can be added up.

A worker is several processes, and none of them has a port. Each keeps a tally and adds it to one hash in Redis when
a task ends; the API tells the sum (decision 43). Losing Redis sets the counts to 0, which Prometheus takes for a restart.
Labels are words of ours (a stage, a route, a code), never a tenant's or a user's.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

HASH: Final = "longtail:meters"  # in Redis
_BETWEEN: Final = "|"
_SUM: Final = "sum"
QUICK: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
PATIENT: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """A counter, or a histogram where it has bounds, or the newest value where it says so."""

    meaning: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    is_newest: bool = False


METERS: Final[Mapping[str, Meter]] = {
    # the API's own
    "request_seconds": Meter(
        meaning="Seconds from a request to its answer.", labels=("route", "code"), bounds=QUICK
    ),
    "turns": Meter(meaning="Turns that hosts sent, by what became of them.", labels=("outcome",)),
    "assemble_seconds": Meter(meaning="Seconds an assembly took.", bounds=QUICK),
    "assemble_stage_seconds": Meter(
        meaning="Seconds of each stage of an assembly.", labels=("stage",), bounds=QUICK
    ),
    "degraded": Meter(meaning="Things that assemblies lacked, by code.", labels=("code",)),
    "prompt_tokens": Meter(meaning="Tokens of prompts: given as budget, and used.", labels=("kind",)),
    "prompt_prefixes": Meter(
        meaning="Prompts by whether their stable part is that of the session's last one.", labels=("kept",)
    ),
    "query_encoder_seconds": Meter(meaning="Seconds the encoder took for a query.", bounds=QUICK),
    # the workers'
    "task_seconds": Meter(
        meaning="Seconds of a task, by how it ended.", labels=("task", "state"), bounds=PATIENT
    ),
    "task_ended": Meter(
        meaning="When a task last ended, in Unix time.", labels=("task",), is_newest=True
    ),
    "stage_seconds": Meter(meaning="Seconds of one batch of a stage.", labels=("stage",), bounds=PATIENT),
    "stage_items": Meter(meaning="Items that a stage took up.", labels=("stage",)),
    "searchable_seconds": Meter(
        meaning="Seconds from accepting a turn until it could be found by meaning.", bounds=PATIENT
    ),
    "encoder_seconds": Meter(meaning="Seconds the encoder took for one batch.", bounds=PATIENT),
    "encoder_texts": Meter(meaning="Texts that workers encoded."),
    "gate_decisions": Meter(meaning="User turns that the gate decided.", labels=("outcome",)),
    "compaction_clusters": Meter(meaning="Clusters of turns, summarised or declined.", labels=("outcome",)),
    "compaction_tokens": Meter(
        meaning="Tokens that were summarised, and of the summaries.", labels=("kind",)
    ),
}  # fmt: skip


class Tally:
    """Counts by meter and labels; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._added: defaultdict[str, float] = defaultdict(float)
        self._newest: dict[str, float] = {}

    def add(self, name: str, value: float = 1.0, /, **labels: str) -> None:
        """Count up."""
        with self._lock:
            self._added[_field(name, labels)] += value

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """One more measurement of a histogram."""
        bound = next((str(bound) for bound in METERS[name].bounds if value <= bound), "+Inf")
        start = _field(name, labels)
        with self._lock:
            self._added[start + _BETWEEN + bound] += 1
            self._added[start + _BETWEEN + _SUM] += value

    def mark(self, name: str, value: float, /, **labels: str) -> None:
        """Replace what was there."""
        with self._lock:
            self._newest[_field(name, labels)] = value

    def read(self) -> dict[str, float]:
        """All of it, by field."""
        with self._lock:
            return {**self._added, **self._newest}

    def take(self) -> tuple[dict[str, float], dict[str, float]]:
        """What was added and what is newest since the last time; the tally is empty afterwards."""
        with self._lock:
            taken = dict(self._added), dict(self._newest)
            self._added.clear()
            self._newest.clear()
        return taken

    def give_back(self, added: Mapping[str, float], newest: Mapping[str, float]) -> None:
        """Take up again what could not be handed on."""
        with self._lock:
            for field, value in added.items():
                self._added[field] += value
            self._newest = {**newest, **self._newest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of numbers: of a histogram, cumulative counts by bound and the sum; else the value."""

    labels: tuple[str, ...]
    value: float = 0.0
    buckets: tuple[tuple[str, float], ...] = ()


def read_series(fields: Mapping[str, float]) -> Iterator[tuple[str, list[Series]]]:
    """Every meter that has numbers, with its series in order.

    >>> tally = Tally()
    >>> tally.add("gate_decisions", 2, outcome="kept")
    >>> [(name, series[0].labels, series[0].value) for name, series in read_series(tally.read())]
    [('gate_decisions', ('kept',), 2.0)]
    """
    by_meter: dict[str, dict[tuple[str, ...], dict[str, float]]] = {}
    for field, value in fields.items():
        name, *rest = field.split(_BETWEEN)
        meter = METERS.get(name)
        if meter is None or len(rest) != len(meter.labels) + bool(meter.bounds):
            continue  # written by another version
        labels = tuple(rest[: len(meter.labels)])
        by_meter.setdefault(name, {}).setdefault(labels, {})[rest[-1] if meter.bounds else ""] = value
    for name in METERS:
        if name in by_meter:
            parts = sorted(by_meter[name].items())
            yield name, [_make_series(METERS[name], labels, found) for labels, found in parts]


def _make_series(meter: Meter, labels: tuple[str, ...], found: Mapping[str, float]) -> Series:
    if not meter.bounds:
        return Series(labels=labels, value=found[""])
    total = 0.0
    buckets = []
    for bound in [*map(str, meter.bounds), "+Inf"]:
        total += found.get(bound, 0.0)
        buckets.append((bound, total))
    return Series(labels=labels, value=found.get(_SUM, 0.0), buckets=tuple(buckets))


def add_up(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The sum of several tallies' fields."""
    total: defaultdict[str, float] = defaultdict(float)
    for part in parts:
        for field, value in part.items():
            total[field] += value
    return dict(total)


def _field(name: str, labels: Mapping[str, str]) -> str:
    return _BETWEEN.join([name, *(labels[label] for label in METERS[name].labels)])
