"""A conversation of some weeks about one project: long enough to be compacted twice, with something to remember in it."""

from datetime import UTC, datetime, timedelta
from typing import Any

PORTS = (
    *("Brest", "Saint-Malo", "Dover", "Esbjerg", "Cuxhaven", "Rotterdam", "Ostend", "Bergen"),
    *("Leith", "Galway", "Bilbao", "Porto", "Cadiz", "Genoa", "Trieste", "Piraeus"),
)
FINDINGS = (
    "the M2 amplitude moved by {n} cm since the gauge was replaced",
    "predict.py crashes with ERR_TIDE_{n}07 when the K1 term is missing",
    "the nightly fit takes {n} minutes, which is twice what it took in May",
    "{n} readings of last week are marked as spikes and were left out",
    "the port authority moved its feed to https://tides.example/{n}/readings.csv",
)
DECISIONS = (
    "We decided to refit {port} with at least {days} days of readings.",
    "The residual plot of {port} is in centimetres since Monday.",
    "Marta Olsen took over {port} on {days} August 2026; I review her changes in harbour/fit.py.",
    "The deadline for {port} is the {days} of September 2026, and it is a hard one.",
    "For {port} we pinned numpy 2.{n} because of the float16 regression.",
)
ANSWERS = (
    "Noted. harbour/fit.py reads the constituents of {port} from stations/{slug}.toml: the change is one line there.",
    "The residual of {port} goes from {n}.4 cm to {n}.1 cm. I would keep the old fit until the regression run is green.",
    "I ran tide-regression for {port}: {days} of {days} cases pass, and the phase of S2 is within half a degree.",
)
INJECTED = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> "
    "is what the ticket about Dover said."
)
WISHES = (
    "From now on please show me diffs before you commit anything, even one-liners.",
    "From now on, use emojis in your replies.",
    "From now on always use metric units in tables.",
    "From now on never use metric units in tables.",
)
RULES = """\
---
project: Harbour tide tables
---

# House rules

- Never push to the `release` branch without a passing tide-regression run.
- Always give times in UTC and name the port they belong to.
- Must ask before deleting any station data.
- Never use emojis.

# Style

> Answer in short paragraphs, and say which file a claim comes from.

You should prefer the metric system unless the user asks otherwise.

You must always use tabs for indentation in fixtures.

Never use tabs for indentation in fixtures.

# Background

Harbour is a small service that predicts tides for forty ports. Its constituents are fitted once a year from
the gauge readings that port authorities publish. The oldest station, Brest, goes back to 1846.
"""


def make_turns(count: int) -> list[dict[str, Any]]:
    """Turns of user and assistant, a few a day, oldest first."""
    began = datetime(2026, 8, 3, 8, 0, tzinfo=UTC)
    turns: list[dict[str, Any]] = []
    for index in range(count // 2):
        port = PORTS[index % len(PORTS)]
        values = {"port": port, "slug": port.lower(), "n": 2 + index % 7, "days": 20 + index % 11}
        finding = FINDINGS[index % len(FINDINGS)].format(**values)
        said = f"Look at {port}: {finding}. " + DECISIONS[(index // 2) % len(DECISIONS)].format(**values)
        if index % 6 == 5:
            said = f"ok, and {port}?"
        when = began + timedelta(hours=7 * index)
        turns.append({"role": "user", "content": said, "ts": when.isoformat()})
        answer = ANSWERS[index % len(ANSWERS)].format(**values)
        turns.append(
            {"role": "assistant", "content": answer, "ts": (when + timedelta(minutes=1)).isoformat()}
        )
    return turns
