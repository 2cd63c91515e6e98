"""Numbers and moments as people read them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

STEPS: Final = (
    (60.0, 1.0, "s"),
    (3600.0, 60.0, "min"),
    (86_400.0, 3600.0, "h"),
    (float("inf"), 86_400.0, "d"),
)


def count(value: float | None) -> str:
    """Thousands set apart by a thin space.

    >>> count(1234567), count(None)
    ('1\u202f234\u202f567', '–')
    """
    return "–" if value is None else f"{value:,.0f}".replace(",", "\u202f")


def span(seconds: float | None) -> str:
    """A length of time in its largest fitting unit.

    >>> [span(value) for value in (0.042, 7.2, 300, 90_000, None)]
    ['42 ms', '7.2 s', '5 min', '25 h', '–']
    """
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    for limit, unit, name in STEPS:
        if seconds < limit * (2 if name == "h" else 1):
            return f"{seconds / unit:.0f} {name}"
    return "–"


def ago(moment: datetime | None) -> str:
    """How long ago a moment was."""
    return "never" if moment is None else f"{span(max((datetime.now(UTC) - moment).total_seconds(), 0))} ago"


def percent(share: float | None) -> str:
    """A share of one.

    >>> percent(0.5), percent(0.0012), percent(0.9996), percent(None)
    ('50%', '0.1%', '99.9%', '–')
    """
    if share is None:
        return "–"
    if 0.99 < share < 1:
        return f"{min(share, 0.999):.1%}"  # not all
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def moment(value: datetime | None) -> str:
    """A moment in UTC, to the minute."""
    return "–" if value is None else f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"


def decimal(value: float | None) -> str:
    """A score with three digits; what is exactly 0 is short, so that the rest stands out.

    >>> decimal(0.61), decimal(0.0), decimal(None)
    ('0.610', '0', '')
    """
    if value is None:
        return ""
    return f"{value:.3f}" if value else "0"


def short(identifier: object) -> str:
    """The beginning of an id: enough to tell it from its neighbours.

    >>> short("0198c0de-aaaa-bbbb-cccc-1234567890ab")
    '567890ab'
    """
    return str(identifier)[-8:]


def excerpt(words: str | None, length: int = 160) -> str:
    """The beginning of a text on one line."""
    line = " ".join((words or "").split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def pros_and_cons(reasons: Sequence[str]) -> list[tuple[str, str]]:
    """What the gate found in a turn, in words: what spoke for keeping it, and what against.

    >>> pros_and_cons(["d.self_fact", "against.small_talk", "for.date"])
    [('for', 'self fact, date'), ('against', 'small talk')]
    """
    sides: dict[str, list[str]] = {"for": [], "against": []}
    for reason in reasons:
        signal, _, name = reason.partition(".")
        side = sides["against" if signal == "against" else "for"]
        if (words := name.replace("_", " ")) not in side:
            side.append(words)
    return [(side, ", ".join(found)) for side, found in sides.items() if found]


# Stages of an assembly in their order; whatever else is timed comes after them.
STAGES: Final = ("total", "rules_tail", "encode_wait", "recall", "fit")


def in_order(timings: Mapping[str, float]) -> list[tuple[str, float]]:
    """What took how long, the whole first, then by stage.

    >>> in_order({"fit": 1.0, "total": 9.0, "rules_tail": 2.0})
    [('total', 9.0), ('rules tail', 2.0), ('fit', 1.0)]
    """
    known = [name for name in STAGES if name in timings]
    names = [*known, *sorted(timings.keys() - set(known))]
    return [(name.replace("_", " "), timings[name]) for name in names]


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "count": count,
    "span": span,
    "ago": ago,
    "percent": percent,
    "moment": moment,
    "decimal": decimal,
    "short": short,
    "excerpt": excerpt,
    "pros_and_cons": pros_and_cons,
    "in_order": in_order,
}
