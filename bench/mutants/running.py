"""Runs mutants: one pytest session collects the tests once, and every mutant is a fork of it.

A fault in a function is put into the living function, and only the tests that call it run. A fault in a table is
put in by making anew what is made from that table (`tables`), and only the tests of what reads it run. Where that cannot
be done (a field default, a default argument), the fork imports the domain and the tests again.

Tests that noticed a fault of the same module lately go first, then those named after it, quickest first. They stop at
the first failure.
"""

import contextlib
import gc
import hashlib
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Iterable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NoReturn

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from bench.mutants.making import DOMAIN, Mutant, list_modules
from bench.mutants.reach import Reach, learn_in_fork
from bench.mutants.tables import PlanKey, fit_file, plan_fault

Outcome = Literal["killed", "timeout", "survived", "unreached", "error"]

# Timing tests of a megabyte notice no fault that a small text does not, and would make every mutant slow; nor do tests
# of what is built around the domain.
SELECTION = (
    "--ignore-glob=tests/unit/test_bench_*.py",
    "--ignore-glob=tests/unit/test_summarizer_*.py",
    "--ignore=tests/unit/test_rpc_protocol.py",
    "--ignore=tests/unit/test_watching.py",
    "--ignore-glob=tests/unit/test_encoder_*.py",
    "--ignore=tests/unit/test_watchdog.py",
    "--ignore=tests/unit/test_docs_check.py",
    "--ignore=tests/unit/test_error_codes.py",
    "--ignore=tests/unit/test_mutation_page.py",
    "-k",
    "not megabyte and not linear_time and not is_linear and not eight_times and not hostile",
)
# pytest warns that hypothesis is there already when it starts, and the project makes errors of warnings.
ALREADY_IMPORTED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
ARGUMENTS = (
    "-q",
    "-x",
    "-s",
    "--noconftest",
    "-p",
    "no:cacheprovider",
    "-o",
    "timeout=0",
    "--assert=plain",
    *ALREADY_IMPORTED,
    *SELECTION,
)
LATEST = 40  # tests that noticed a fault of the same module lately, and go first
MEMORY_BYTES = 4 * 1024**3
re._MAXCACHE = 100_000  # type: ignore[attr-defined]  # an expression that did not change is not compiled again
PROFILE = "mutants"
settings.register_profile(
    PROFILE,
    max_examples=20,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),  # that an example fails is enough; nobody reads the smallest one
)


class MutantLoader(MetaPathFinder, Loader):
    """Imports one module from a text instead of its file."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        return spec_from_loader(fullname, self) if fullname == self.module else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, f"<mutant of {self.module}>", "exec"), vars(module))  # noqa: S102


_tests_by_plan: dict[PlanKey, set[str]] = {}


class MutantSession:
    """A pytest plugin: learns the reach in one clean run, then forks once for every mutant."""

    def __init__(
        self,
        *,
        mutants: list[Mutant],
        record: Callable[[Mutant, Outcome], None],
        reach: Reach,
        keep: Callable[[Reach], None],
        controls: Path,
        processes: int,
        until: float,
        is_thorough: bool,
    ) -> None:
        self.mutants, self.record, self.reach, self.keep = mutants, record, reach, keep
        self.processes, self.until, self.is_thorough = processes, until, is_thorough
        self.controls = controls  # a line for each module that passed without a fault
        self.uncontrolled: set[str] = set()
        self.running: dict[int, Mutant] = {}
        self.controlled: set[str] = set()
        self.items: dict[str, pytest.Item] = {}
        self.noticing: dict[
            str, dict[str, None]
        ] = {}  # by module: tests that noticed a fault, the latest last
        self.told, self.telling = os.pipe()
        os.set_blocking(self.told, False)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Runs instead of the tests."""
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        self.items = {item.nodeid: item for item in session.items}
        if unknown := [item for item in session.items if item.nodeid not in self.reach.seconds]:
            self.reach = self.reach.join(learn_in_fork(unknown))
            self.keep(self.reach)
        gc.collect()
        gc.freeze()  # forks share what is there instead of copying it at their first collection
        gc.disable()
        self._control_all()
        for mutant in sorted(self.mutants, key=self._is_slow):
            if time.monotonic() > self.until:
                break
            if not self._is_reached(mutant):
                self.record(mutant, "unreached")
                continue
            run = self._choose_way(mutant)
            if run == self._run_anew:
                self._control_anew(mutant)
            self._start(mutant, run)
        while self.running:
            self._reap()
        return True

    def _is_reached(self, mutant: Mutant) -> bool:
        return self._key(mutant) is not None or f"{mutant.module}:{mutant.function}" in self.reach.tests

    def _key(self, mutant: Mutant) -> PlanKey | None:
        """The place of a fault that matters while modules load; None for a function that runs later."""
        if mutant.function is None:
            return (mutant.module, mutant.place, None)
        is_early = f"{mutant.module}:{mutant.function}" in self.reach.at_import
        return (mutant.module, None, mutant.function) if is_early else None

    def _is_slow(self, mutant: Mutant) -> bool:
        """Whether everything must be imported anew; such mutants come last."""
        key = self._key(mutant)
        return key is not None and plan_fault(*key) is None

    def _choose_way(self, mutant: Mutant) -> Callable[[Mutant], int]:
        key = self._key(mutant)
        if key is None:
            return self._run_in_place
        if plan_fault(*key) is not None and self._tests_of_plan(key):
            return self._run_table
        return self._run_anew

    def _control_all(self) -> None:
        """Before the first mutant: every function and table made anew as it is, all at once, must change nothing."""
        sources = [Path(*name.split(".")).with_suffix(".py") for name in list_modules()]
        tests = {Path(test.partition("::")[0]) for test in self.items}
        parts = [path.read_bytes() for path in (*sources, *sorted(tests))]
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()
        passed = self.controls.read_text().splitlines() if self.controls.exists() else []
        self.uncontrolled = {m.module for m in self.mutants} - {
            line.partition(" ")[2] for line in passed if line.startswith(digest)
        }
        if self.uncontrolled:
            self._expect_life(next(iter(self.mutants)).without_fault(), self._run_all)
            with self.controls.open("a") as lines:
                lines.writelines(f"{digest} {module}\n" for module in sorted(self.uncontrolled))

    def _control_anew(self, mutant: Mutant) -> None:
        """Before the first mutant of a module that is imported anew: the same with no fault must pass."""
        if mutant.module not in self.controlled:
            while self.running:
                self._reap()
            self.controlled.add(mutant.module)
            self._expect_life(mutant.without_fault(), self._run_anew)

    def _expect_life(self, mutant: Mutant, run: Callable[[Mutant], int]) -> None:
        self._start(mutant, run)
        pid, status = os.wait()
        del self.running[pid]
        if read_status(status) != "survived":
            told = os.read(self.told, 1 << 16).decode() if read_status(status) == "killed" else ""
            raise RuntimeError(
                f"{mutant.module} fails its tests without a fault: {read_status(status)} {told}"
            )

    def _start(self, mutant: Mutant, run: Callable[[Mutant], int]) -> None:
        while len(self.running) >= self.processes:
            self._reap()
        if pid := os.fork():
            self.running[pid] = mutant
            return
        end_with(lambda: run(mutant))

    def _reap(self) -> None:
        pid, status = os.wait()
        mutant = self.running.pop(pid, None)
        with contextlib.suppress(BlockingIOError):
            for line in os.read(self.told, 1 << 16).decode().splitlines():
                module, _, test = line.partition(" ")
                known = self.noticing.setdefault(module, {})
                known.pop(test, None)
                known[test] = None
        if mutant is not None:
            self.record(mutant, read_status(status))

    def _run_in_place(self, mutant: Mutant) -> int:
        mutant.put_into_function()
        return self._run_tests(mutant, self.reach.tests[f"{mutant.module}:{mutant.function}"])

    def _run_table(self, mutant: Mutant) -> int:
        key = self._key(mutant)
        assert key is not None
        try:
            self._put_in(key, mutant)
        except Exception:  # noqa: BLE001 - the module would not load, and every test of it fails
            return 1
        tests = self._tests_of_plan(key)
        if code := self._run_tests(mutant, tests):
            return code
        return self._run_anew(mutant, leave_out=tests) if self.is_thorough else 0

    def _run_all(self, mutant: Mutant) -> int:
        """Make everything anew that is made anew for some mutant, and run every test it may concern."""
        tests: set[str] = set()
        done: set[PlanKey | str] = set()
        for one in (mutant for mutant in self.mutants if mutant.module in self.uncontrolled):
            key = self._key(one)
            place = key or f"{one.module}:{one.function}"
            if place in done:
                continue
            done.add(place)
            if key is None:
                if place in self.reach.tests:
                    one.without_fault().put_into_function()
                    tests.update(self.reach.tests[str(place)])
            elif plan_fault(*key) is not None:
                self._put_in(key, one.without_fault())
                tests |= self._tests_of_plan(key)
        return self._run_tests(mutant, tests)

    def _put_in(self, key: PlanKey, mutant: Mutant) -> None:
        plan = plan_fault(*key)
        assert plan is not None
        if mutant.function is not None:
            mutant.put_into_function()
        plan.put_in(mutant)
        for path, module in {test.partition("::")[0]: item for test, item in self.items.items()}.items():
            if (fitted := fit_file(key, path)) is not None and fitted.changed[path]:
                assert isinstance(module, pytest.Function)
                fitted.put_into_file(path, vars(module.module))

    def _tests_of_plan(self, key: PlanKey) -> set[str]:
        if key not in _tests_by_plan:
            _tests_by_plan[key] = self.reach.tests_of_plan(key)
        return _tests_by_plan[key]

    def _run_tests(self, mutant: Mutant, tests: Iterable[str]) -> int:
        """Run living tests until one notices; tell which."""
        tests = [test for test in tests if test in self.items]
        latest = list(self.noticing.get(mutant.module, ()))[: -LATEST - 1 : -1]
        own = find_own_tests(mutant.module, tests)
        order = {test: place for place, test in enumerate(latest)}
        tests.sort(key=lambda test: (order.get(test, LATEST), test not in own, self.reach.seconds[test]))
        limit_processor(sum(self.reach.seconds[test] for test in tests))
        for test, following in pairwise([*tests, None]):
            assert test is not None
            after = self.items[following] if following else None
            if any(report.failed for report in runtestprotocol(self.items[test], nextitem=after, log=False)):
                os.write(self.telling, f"{mutant.module} {test}\n".encode())
                return 1
        return 0

    def _run_anew(self, mutant: Mutant, leave_out: Iterable[str] = ()) -> int:
        tests = self.reach.tests_of_module(mutant.module) - {*leave_out}
        seconds = {test: self.reach.seconds[test] for test in tests}
        return run_anew(mutant.module, mutant.mutated_source(), seconds=seconds)


def run_anew(module: str, source: str, *, seconds: dict[str, float]) -> int:
    """Import the domain again with another source for one module, and run these tests; for a fork of its own.

    The test files named after the module go first, since they notice most; the others are loaded only then.
    """
    limit_processor(2 + sum(seconds.values()))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("models", "tests")]:
        del sys.modules[name]
    sys.meta_path.insert(0, MutantLoader(module, source))
    own = find_own_tests(module, seconds.keys())
    for stage in (own, seconds.keys() - own):
        if stage:
            files = sorted({test.partition("::")[0] for test in stage})
            order = _QuickestFirst({test: seconds[test] for test in stage})
            if code := pytest.main([*ARGUMENTS, *files], [order]):
                return int(code)
    return 0


def find_own_tests(module: str, tests: Iterable[str]) -> set[str]:
    """The tests in files named after a module, or after its family, or after a module that imports it."""
    name = module.rpartition(".")[2]
    importing = [path.stem for path in DOMAIN.glob("*.py") if f"from {module} import" in path.read_text()]
    for names in ([name], [name.partition("_")[0]], importing):
        starts = tuple(f"tests/unit/test_{one}" for one in names)
        if starts and (own := {test for test in tests if test.startswith(starts)}):
            return own
    return set()


class _QuickestFirst:
    """Keeps the tests asked for, quickest first, and ends the process at the first failure."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.seconds]
        items.sort(key=lambda item: self.seconds[item.nodeid])

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus:
            os._exit(exitstatus)  # the verdict is known; tidying up takes longer than many a mutant


def end_with(run: Callable[[], int]) -> NoReturn:
    """End this fork with what the run returns; silent, and bounded in memory."""
    code = 99
    with contextlib.suppress(BaseException):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        code = run()
    os._exit(code)


def limit_processor(clean_seconds: float) -> None:
    """End this process when it uses far more processor time than the unmutated code: a loop that never ends."""
    used = sum(os.times()[:2])
    limit = int(used + 5 * clean_seconds) + 6
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))


def read_status(status: int) -> Outcome:
    """What the end of a fork says about its mutant."""
    if os.WIFSIGNALED(status):
        return "timeout"
    code = os.WEXITSTATUS(status)
    if code == 0:
        return "survived"
    return "killed" if code in (1, 2) else "error"


def run_mutants(
    mutants: list[Mutant],
    *,
    record: Callable[[Mutant, Outcome], None],
    reach: Reach,
    keep: Callable[[Reach], None],
    controls: Path,
    processes: int,
    until: float,
    is_thorough: bool,
) -> None:
    """Run mutants until the time is up, and keep the reach as soon as it is learned, for the next time.

    Thorough: what the living tests of a table do not notice is shown to those that must be imported anew too.
    """
    settings.load_profile(PROFILE)
    sys.dont_write_bytecode = False  # a fork that imports anew must not compile anew
    session = MutantSession(
        mutants=mutants,
        record=record,
        reach=reach,
        keep=keep,
        controls=controls,
        processes=processes,
        until=until,
        is_thorough=is_thorough,
    )
    code = pytest.main([*ARGUMENTS, str(Path("tests/unit"))], [session])
    if code != 0:
        raise RuntimeError(f"pytest ended with {code}; the tests must pass before a fault is put in")
