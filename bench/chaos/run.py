"""`python -m bench.chaos.run`: faults at seeded random moments under steady load, and the table of docs/reliability.md."""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.chaos.checks import Found, await_drained, await_health, look
from bench.chaos.faults import FAULTS
from bench.chaos.load import SteadyLoad
from bench.chaos.place import Place
from bench.chaos.report import write_page

PATIENCE_SECONDS = 180.0
LONGEST_DRAIN_SECONDS = 900.0  # however much is done meanwhile
CALM_SECONDS = (0.5, 2.5)  # of load before a fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One round: what was done, how long it took until all was well, and what was found."""

    faults: tuple[str, ...]
    healthy_seconds: float | None
    drained_seconds: float | None
    found: Found
    accepted: int

    @property
    def is_well(self) -> bool:
        return self.healthy_seconds is not None and self.drained_seconds is not None and self.found.is_whole


def plan(seed: int, count: int, names: Sequence[str]) -> Iterator[str]:
    """Faults in random order, each as often as the others."""
    rng = random.Random(seed)
    left: list[str] = []
    for _ in range(count):
        if not left:
            left = rng.sample(list(names), len(names))
        yield left.pop()


def run(
    *,
    count: int,
    seed: int,
    faults_a_round: int = 1,
    seconds: float = float("inf"),
    only: str = "",
    report: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """Hurt a stack of its own `count` times; stops at the first round after which something is wrong for good.

    `only`: faults whose names begin so.
    """
    outcomes: list[Outcome] = []
    deadline = time.monotonic() + seconds
    with Place() as place:
        names = [
            name
            for name in FAULTS
            if name.startswith(only)
            and (place.clock.is_there or name != "clock set back")
            and (place.slow_disk.is_there or name != "slow disk")
            and (place.disk.is_mounted or name != "disk full")
        ]
        rng = random.Random(seed)
        planned = list(plan(seed, count, names))
        load = SteadyLoad(place.stack.settings.service_url(), place.token, seed=seed)
        try:
            for start in range(0, count, faults_a_round):
                if time.monotonic() > deadline:
                    break
                outcome = _one_round(place, load, planned[start : start + faults_a_round], rng)
                outcomes.append(outcome)
                report(outcome)
                if not outcome.is_well:
                    break
        finally:
            load.close()
    return outcomes


def _one_round(place: Place, load: SteadyLoad, names: Sequence[str], rng: random.Random) -> Outcome:
    for name in names:
        load.resume()
        time.sleep(rng.uniform(*CALM_SECONDS))
        FAULTS[name](place, rng)
    end = time.monotonic()
    healthy = await_health(place, seconds=PATIENCE_SECONDS)
    load.pause()
    load.finish_sending(PATIENCE_SECONDS)
    drained = await_drained(place, seconds=PATIENCE_SECONDS, most_seconds=LONGEST_DRAIN_SECONDS)
    return Outcome(
        faults=tuple(names),
        healthy_seconds=healthy,
        drained_seconds=None if drained is None else time.monotonic() - end,
        found=look(place, load.accepted),
        accepted=len(load.accepted),
    )


def main() -> None:
    """Run, say what happened after each fault, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="Stop after so long.")
    parser.add_argument("--only", default="", help="Faults whose names begin so: 'kill -9'.")
    parser.add_argument("--page", type=Path, help="The page whose table is to be replaced.")
    parser.add_argument(
        "--results", type=Path, help="Keeps the outcomes as JSON lines, and adds to earlier ones."
    )
    chosen = parser.parse_args()

    def report(outcome: Outcome) -> None:
        line = json.dumps(asdict(outcome))
        print(line, flush=True)
        if chosen.results:
            with chosen.results.open("a") as file:
                file.write(line + "\n")

    if not any(name.startswith(chosen.only) for name in FAULTS):
        parser.error(f"no fault begins with {chosen.only!r}; there are: {', '.join(FAULTS)}")
    outcomes = run(
        count=chosen.faults, seed=chosen.seed, seconds=chosen.minutes * 60, only=chosen.only, report=report
    )
    if chosen.page:
        kept = (
            chosen.results.read_text().splitlines()
            if chosen.results
            else [json.dumps(asdict(o)) for o in outcomes]
        )
        write_page(chosen.page, [json.loads(line) for line in kept])
    sys.exit(0 if outcomes and all(outcome.is_well for outcome in outcomes) else 1)


if __name__ == "__main__":
    main()
