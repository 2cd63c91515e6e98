"""Small charts as SVG, drawn here: no library, no script, no inline style. Colours come from the style sheet by class."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from api.inspector import wording

LABELS: Final = 14  # below the axis
TIMELINE_WIDTH: Final = 1000
ROW: Final = 16
MOST_MARKS: Final = 400  # turns drawn one by one; a longer session is drawn in runs


class Size(NamedTuple):
    """How much room a chart has, in units that are about a pixel where it is shown."""

    width: int = 260
    height: int = 66
    head: int = 0  # of it, above the columns

    @property
    def base(self) -> int:
        """Where the axis is; the labels are below it."""
        return self.height - LABELS


CARD: Final = Size()
MEASURED: Final = Size(260, 78, 12)  # with a line that says what a full column is
SMALL: Final = Size(240, 58)
WIDE: Final = Size(1100, 150)
PHONE: Final = Size(320, 120)  # in place of a wide one


class Part(NamedTuple):
    """A named share of a stacked bar, or a column of a chart."""

    name: str
    value: float
    style: str = ""


def stacked(parts: Sequence[Part], total: float, label: str) -> Markup:
    """One bar of parts; what is left of the total stays empty."""
    scale = TIMELINE_WIDTH / max(total, sum(part.value for part in parts), 1)
    drawn, left = [], 0.0
    for part in parts:
        width = part.value * scale
        if width > 0:
            drawn.append(
                Markup(
                    '<rect class="part {}" x="{:.2f}" y="0" width="{:.2f}" height="22"><title>{}: {:,.0f}</title></rect>'
                ).format(part.style, left, max(width - 2, 0.5), part.name, part.value)
            )
        left += width
    return Markup(
        '<svg class="stacked" viewBox="0 0 {} 22" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="empty" x="0" y="0" width="{}" height="22"/>{}</svg>'
    ).format(TIMELINE_WIDTH, label, TIMELINE_WIDTH, Markup("").join(drawn))


def columns(points: Sequence[Part], label: str, *, top: float | None = None, size: Size = MEASURED) -> Markup:
    """A column a point, with the first and the last named below, and on the left what a full column is."""
    highest = top or max((point.value for point in points), default=0) or 1
    full = "100%" if top == 1.0 else wording.count(highest) if any(point.value for point in points) else ""
    step = size.width / max(len(points), 1)
    drawn = [
        _column(
            size, index * step + 1, step - 2, 0.0, point.value / highest, point.style or "bar", point.name
        )
        for index, point in enumerate(points)
    ]
    ends = (points[0].name.split(":")[0], points[-1].name.split(":")[0]) if points else ("", "")
    return _chart(size, label, [*drawn, _full_mark(size, full)], ends)


def _full_mark(size: Size, words: str) -> Markup:
    return Markup(
        '<line class="axis full" x1="0" x2="{}" y1="{}" y2="{}"/><text class="tick" x="0" y="9">{}</text>'
    ).format(size.width, size.head + 0.5, size.head + 0.5, words)


def histogram(
    kept: Sequence[int],
    passed: Sequence[int],
    label: str,
    *,
    threshold: float | None = None,
    size: Size = CARD,
) -> Markup:
    """How a number in [0, 1] is spread: what was kept over what was not, and where the threshold is."""
    highest = max((one + other for one, other in zip(kept, passed, strict=True)), default=0) or 1
    step = size.width / max(len(kept), 1)
    drawn = []
    for index, (one, other) in enumerate(zip(kept, passed, strict=True)):
        low, high = index / len(kept), (index + 1) / len(kept)
        name = f"{low:.2f} to {high:.2f}: {one} kept, {other} not"
        drawn.append(_column(size, index * step + 1, step - 2, 0.0, other / highest, "quiet", name))
        drawn.append(
            _column(size, index * step + 1, step - 2, other / highest, (one + other) / highest, "bar", name)
        )
    if threshold is not None:
        at = threshold * size.width
        drawn.append(
            Markup('<line class="threshold" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{}"/>').format(
                at, at, size.base
            )
        )
    return _chart(size, label, drawn, ("0", "1"))


def _column(size: Size, left: float, width: float, low: float, high: float, style: str, name: str) -> Markup:
    room = size.base - size.head - 2
    height = max((high - low) * room, 1.0 if high > low else 0.0)
    return Markup(
        '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
    ).format(style, left, size.base - low * room - height, max(width, 0.5), height, name)


def _chart(size: Size, label: str, drawn: Sequence[Markup], ends: tuple[str, str]) -> Markup:
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '<line class="axis" x1="0" x2="{}" y1="{}" y2="{}"/>'
        '<text class="tick" x="0" y="{}">{}</text><text class="tick end" x="{}" y="{}">{}</text></svg>'
    ).format(
        *(size.width, size.height, label, Markup("").join(drawn), size.width, size.base, size.base),
        *(size.height - 2, ends[0], size.width, size.height - 2, ends[1]),
    )


class Stretch(NamedTuple):
    """A run of positions of a session on one row of its timeline."""

    first: int
    last: int
    row: int  # 0: the turns; above them, the level of a summary
    style: str
    name: str
    link: str | None = None


def timeline(stretches: Sequence[Stretch], turns: int, label: str) -> Markup:
    """A session from its first turn to its newest: turns below, the summaries that cover them above."""
    rows = max((one.row for one in stretches), default=0) + 1
    scale = TIMELINE_WIDTH / max(turns, 1)
    drawn = []
    for one in stretches:
        width = max((one.last - one.first + 1) * scale - 1.5, 1.5)
        mark = Markup(
            '<rect class="{}" x="{:.2f}" y="{}" width="{:.2f}" height="{}"><title>{}</title></rect>'
        ).format(one.style, one.first * scale, (rows - 1 - one.row) * ROW + 1, width, ROW - 3, one.name)
        if one.link:
            mark = Markup('<a href="{}" tabindex="-1">{}</a>').format(one.link, mark)
        drawn.append(mark)
    return Markup(
        '<svg class="timeline rows-{}" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(min(rows, 6), TIMELINE_WIDTH, rows * ROW, label, Markup("").join(drawn))
