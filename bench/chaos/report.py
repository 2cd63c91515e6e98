"""The table of docs/reliability.md, made from outcomes."""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- table: made by `make chaos` -->", "<!-- end of table -->"


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5), percentile([1.0, 2.0, 3.0, 4.0], 0.95)
    (2.0, 4.0)
    """
    ordered = sorted(values)
    return ordered[max(0, -(-round(share * 1000) * len(ordered) // 1000) - 1)]


def make_table(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """One line a fault, and one for all of them."""
    by_fault: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for outcome in outcomes:
        for name in outcome["faults"]:
            by_fault[name].append(outcome)
    lines = [
        "| fault | times | lost | duplicated | not recovered | healthy p50 / p95 | drained p50 / p95 |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_make_line(name, some) for name, some in sorted(by_fault.items())]
    lines.append(_make_line("**all**", outcomes))
    accepted = max((outcome["accepted"] for outcome in outcomes), default=0)
    return (
        "\n".join(lines)
        + f"\n\n{len(outcomes)} rounds on {os.cpu_count()} cores with a load average of {os.getloadavg()[2]:.0f}; up to "
        f"{accepted} turns accepted in one run. Seconds, from the end of the fault; lost and duplicated "
        "are turns, vectors and summaries.\n"
    )


def _make_line(name: str, outcomes: Sequence[Mapping[str, Any]]) -> str:
    lost = max(outcome["found"]["lost"] for outcome in outcomes)
    twice = max(outcome["found"]["duplicated"] for outcome in outcomes)
    ill = sum(
        outcome["healthy_seconds"] is None
        or outcome["drained_seconds"] is None
        or any(outcome["found"][what] for what in ("stuck", "dead_letters", "violations"))
        for outcome in outcomes
    )
    spans = [
        _show_span([o[what] for o in outcomes if o[what] is not None])
        for what in ("healthy_seconds", "drained_seconds")
    ]
    return f"| {name} | {len(outcomes)} | {lost} | {twice} | {ill} | {spans[0]} | {spans[1]} |"


def _show_span(seconds: Sequence[float]) -> str:
    return f"{percentile(seconds, 0.5):.1f} / {percentile(seconds, 0.95):.1f}" if seconds else "–"


def write_page(page: Path, outcomes: Sequence[Mapping[str, Any]]) -> None:
    """Replace the table between its marks; the words around it stay."""
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{make_table(outcomes)}\n{END}{after}")
