"""`python -m bench.mutants`: run the mutants of models/domain and print the score of every module."""

import argparse
import hashlib
import os
import random
import sys
import time
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

from bench.mutants.making import Mutant, list_modules, make_mutants
from bench.mutants.report import write_page
from bench.mutants.results import NOTICED, Results, count_module
from bench.mutants.running import run_mutants

WANTED_SHARE = 0.85


def main() -> int:
    """0 when the share of noticed mutants is high enough and none is left to run."""
    options = _read_options()
    results = Results(folder=options.folder)
    results.load()
    modules = [f"models.domain.{name}" for name in options.module] or list_modules()
    mutants = {module: _sample(list(make_mutants(module)), options) for module in modules}
    waiting = [m for m in _take_in_turn(mutants.values()) if _is_waiting(m, results, options.again)]
    if waiting and options.minutes > 0:
        fingerprints = _take_fingerprints()
        run_mutants(
            waiting,
            record=results.record,
            reach=results.load_reach(fingerprints),
            keep=lambda reach: results.save_reach(fingerprints, reach),
            controls=options.folder / "controls",
            processes=options.processes,
            until=time.monotonic() + 60 * options.minutes,
            is_thorough=options.thorough,
        )
    scores = [count_module(module, made, results.outcomes) for module, made in mutants.items()]
    for score in scores:
        print(f"{score.module:40} {score.noticed:5} of {score.ran:5}  {score.share:6.1%}  {score.counts}")
    ran, noticed = sum(score.ran for score in scores), sum(score.noticed for score in scores)
    left = sum(score.made - score.ran for score in scores)
    share = noticed / ran if ran else 0.0
    print(f"{'all':40} {noticed:5} of {ran:5}  {share:6.1%}  {left} not run yet")
    if options.survivors:
        _print_survivors([m for made in mutants.values() for m in made], results)
    if options.report:
        write_page(mutants, results.outcomes)
    return 0 if share >= WANTED_SHARE and not left else 1


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.mutants", description=__doc__)
    parser.add_argument(
        "module", nargs="*", help="modules of models/domain, without the package (default: all)"
    )
    parser.add_argument(
        "--sample", type=int, default=0, help="mutants a module, chosen by a seed (default: all)"
    )
    parser.add_argument(
        "--minutes", type=float, default=600.0, help="stop then; the next run goes on from there"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="run the survivors again (after adding tests)")
    parser.add_argument(
        "--thorough", action="store_true", help="import tests anew too, where living ones do not notice"
    )
    parser.add_argument("--survivors", action="store_true", help="list what the tests did not notice")
    parser.add_argument(
        "--report", action="store_true", help="write scores and survivors into docs/mutation.md"
    )
    parser.add_argument("--folder", type=Path, default=Path(".mutants"), help="where outcomes are kept")
    return parser.parse_args()


def _sample(mutants: list[Mutant], options: argparse.Namespace) -> list[Mutant]:
    """The first of a shuffled deck, so that a larger sample holds the smaller one."""
    if not options.sample or len(mutants) <= options.sample:
        return mutants
    return sorted(_shuffle(mutants)[: options.sample], key=lambda mutant: mutant.line)


def _shuffle(mutants: list[Mutant]) -> list[Mutant]:
    deck = list(mutants)
    random.Random(f"mutants of {mutants[0].module}").shuffle(deck)
    return deck


def _take_in_turn(groups: Iterable[list[Mutant]]) -> list[Mutant]:
    """One of each module in turn: a run that is stopped leaves a fair sample of every module."""
    decks = [_shuffle(mutants) for mutants in groups if mutants]
    return [mutant for turn in zip_longest(*decks) for mutant in turn if mutant is not None]


def _is_waiting(mutant: Mutant, results: Results, again: bool) -> bool:
    outcome = results.outcomes.get(mutant.key)
    return outcome in (None, "error") or (again and outcome not in NOTICED)


def _take_fingerprints() -> dict[str, str]:
    """By test file. What a changed domain calls is not learned again: a test left out so can only miss a fault."""
    files = sorted(Path("tests/unit").glob("*.py"))
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _print_survivors(mutants: list[Mutant], results: Results) -> None:
    for mutant in mutants:
        outcome = results.outcomes.get(mutant.key)
        if outcome is not None and outcome not in NOTICED:
            before, after = mutant.changed_lines()
            print(
                f"\n{mutant.module}:{mutant.line} {mutant.function or ''} [{outcome}]\n  - {before}\n  + {after}"
            )


if __name__ == "__main__":
    sys.exit(main())
