"""Runs mutants: one pytest session collects the tests once, and every mutant is a fork of it.

A fault in a function is put into the living function, and only the tests that call it run, quickest
first. A fault in a table needs the modules anew, so that fork imports the domain and the tests again.
"""

import contextlib
import gc
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, Literal, NoReturn

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from bench.mutants.making import DOMAIN, Mutant, find_function, make_mutants

Outcome = Literal["killed", "timeout", "survived", "unreached", "error"]

# Timing tests of a megabyte notice no fault that a small text does not, and would make every mutant slow.
SELECTION = (
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
MEMORY_BYTES = 4 * 1024**3
PROFILE = "mutants"
settings.register_profile(
    PROFILE,
    max_examples=20,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),  # that an example fails is enough; nobody reads the smallest one
)


@dataclass
class Reach:
    """Which tests call which function of the domain, and how long each takes."""

    seconds: dict[str, float] = field(default_factory=dict)  # by test id
    tests: dict[str, list[str]] = field(default_factory=dict)  # by "module:function"
    at_import: list[str] = field(default_factory=list)  # "module:function" that runs while modules load

    def keep_files(self, files: set[str]) -> "Reach":
        """What is known from these test files alone."""
        seconds = {test: spent for test, spent in self.seconds.items() if test.partition("::")[0] in files}
        tests = {name: [test for test in known if test in seconds] for name, known in self.tests.items()}
        return Reach(seconds, {name: known for name, known in tests.items() if known}, self.at_import)

    def join(self, other: "Reach") -> "Reach":
        """Both together; what loads at import is the same for all, so the newer one says it."""
        tests = {name: [*known] for name, known in self.tests.items()}
        for name, known in other.tests.items():
            tests.setdefault(name, []).extend(known)
        return Reach({**self.seconds, **other.seconds}, tests, other.at_import)

    def tests_of_module(self, module: str) -> set[str]:
        """The tests that call the module or one that is built on it, and all of a file that names one of them.

        A test of a constant calls nothing, so calls alone would miss it.
        """
        built_on = modules_built_on(module)
        called = {
            test for name, tests in self.tests.items() if name.partition(":")[0] in built_on for test in tests
        }
        names = "|".join(name.rpartition(".")[2] for name in built_on)
        is_naming = re.compile(rf"models\.domain(?:\.| import .*\b)(?:{names})\b")
        files = {test.partition("::")[0] for test in self.seconds}
        naming = {path for path in files if is_naming.search(Path(path).read_text())}
        return called | {test for test in self.seconds if test.partition("::")[0] in naming}


def modules_built_on(module: str) -> set[str]:
    """The module and those of the domain that import it, directly or not."""
    imports = {
        f"models.domain.{path.stem}": set(
            re.findall(r"^(?:from|import) (models\.domain\.\w+)", path.read_text(), re.MULTILINE)
        )
        for path in DOMAIN.glob("*.py")
    }
    found = {module}
    while more := {name for name, needed in imports.items() if needed & found} - found:
        found |= more
    return found


class MutantLoader(MetaPathFinder, Loader):
    """Imports one module from a text instead of its file."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        return spec_from_loader(fullname, self) if fullname == self.module else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, f"<mutant of {self.module}>", "exec"), vars(module))  # noqa: S102


class MutantSession:
    """A pytest plugin: learns the reach in one clean run, then forks once for every mutant."""

    def __init__(
        self,
        *,
        mutants: list[Mutant],
        record: Callable[[Mutant, Outcome], None],
        reach: Reach,
        processes: int,
        until: float,
    ) -> None:
        self.mutants, self.record, self.reach = mutants, record, reach
        self.processes, self.until = processes, until
        self.running: dict[int, Mutant] = {}
        self.controlled: set[tuple[str, bool]] = set()
        self.items: dict[str, pytest.Item] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Runs instead of the tests."""
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        self.items = {item.nodeid: item for item in session.items}
        if unknown := [item for item in session.items if item.nodeid not in self.reach.seconds]:
            self.reach = self.reach.join(learn_in_fork(unknown))
        gc.collect()
        gc.freeze()  # forks share what is there instead of copying it at their first collection
        gc.disable()
        for mutant in self.mutants:
            if time.monotonic() > self.until:
                break
            if not self._is_reached(mutant):
                self.record(mutant, "unreached")
                continue
            self._control(mutant)
            self._start(mutant)
        while self.running:
            self._reap()
        return True

    def _is_reached(self, mutant: Mutant) -> bool:
        return self._needs_reload(mutant) or f"{mutant.module}:{mutant.function}" in self.reach.tests

    def _control(self, mutant: Mutant) -> None:
        """Before the first mutant of a module, in either way of running: the code without a fault must pass."""
        kind = (mutant.module, self._needs_reload(mutant))
        if kind in self.controlled:
            return
        while self.running:
            self._reap()
        self.controlled.add(kind)
        self._start(mutant.without_fault())
        pid, status = os.wait()
        del self.running[pid]
        if read_status(status) != "survived":
            raise RuntimeError(f"{mutant.module} fails its tests without a fault: {read_status(status)}")

    def _needs_reload(self, mutant: Mutant) -> bool:
        return mutant.function is None or f"{mutant.module}:{mutant.function}" in self.reach.at_import

    def _start(self, mutant: Mutant) -> None:
        while len(self.running) >= self.processes:
            self._reap()
        if pid := os.fork():
            self.running[pid] = mutant
            return
        end_with(lambda: self._run_anew(mutant) if self._needs_reload(mutant) else self._run_in_place(mutant))

    def _reap(self) -> None:
        pid, status = os.wait()
        mutant = self.running.pop(pid, None)
        if mutant is not None:
            self.record(mutant, read_status(status))

    def _run_in_place(self, mutant: Mutant) -> int:
        mutant.put_into_function()
        tests = self.reach.tests[f"{mutant.module}:{mutant.function}"]
        tests = sorted(tests, key=self.reach.seconds.__getitem__)
        limit_processor(sum(self.reach.seconds[test] for test in tests))
        items = [self.items[test] for test in tests if test in self.items]
        for item, following in pairwise([*items, None]):
            assert item is not None
            if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
                return 1
        return 0

    def _run_anew(self, mutant: Mutant) -> int:
        tests = self.reach.tests_of_module(mutant.module)
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


def learn_in_fork(items: list[pytest.Item]) -> Reach:
    """Learn the reach in a fork, so that no cache of the domain remembers what the code without a fault said."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "reach.json")
        if not (pid := os.fork()):
            try:
                told.write_text(json.dumps(asdict(learn_reach(items))))
            except Exception as error:  # noqa: BLE001 - said by the fork, raised by its parent
                print(error, file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        if status:
            raise pytest.UsageError("the tests must pass before a fault is put in")
        return Reach(**json.loads(told.read_text()))


def learn_reach(items: list[pytest.Item]) -> Reach:
    """Run every test once without a fault, and note which functions of the domain it calls."""
    names = dict(_name_code())
    reach = Reach(at_import=sorted(_called_while_importing(names)))
    called: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001
        if (name := names.get(frame.f_code)) is not None:
            called.add(name)

    for item, following in pairwise([*items, None]):
        assert item is not None
        called.clear()
        started = time.process_time()
        sys.settrace(note)
        try:
            reports = runtestprotocol(item, nextitem=following, log=False)
        finally:
            sys.settrace(None)
        if failed := [report.longreprtext for report in reports if report.failed]:
            raise pytest.UsageError(f"{item.nodeid} fails without any fault: {failed[0]}")
        reach.seconds[item.nodeid] = time.process_time() - started
        for name in called:
            reach.tests.setdefault(name, []).append(item.nodeid)
    return reach


def _mutated_functions() -> set[tuple[str, str]]:
    from bench.mutants.making import list_modules

    return {
        (mutant.module, mutant.function)
        for module in list_modules()
        for mutant in make_mutants(module)
        if mutant.function is not None
    }


def _name_code() -> Iterator[tuple[CodeType, str]]:
    for module, function in _mutated_functions():
        yield find_function(module, function).__code__, f"{module}:{function}"


def _called_while_importing(names: dict[CodeType, str]) -> Iterable[str]:
    """Import the domain a second time, in a fork of its own, and listen."""
    by_place = {(code.co_filename, code.co_firstlineno): name for code, name in names.items()}
    reader, writer = os.pipe()
    if not (pid := os.fork()):
        called: set[str] = set()
        for name in [name for name in sys.modules if name.startswith("models.domain")]:
            del sys.modules[name]

        def note(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001
            place = (frame.f_code.co_filename, frame.f_code.co_firstlineno)
            if place in by_place:
                called.add(by_place[place])

        sys.settrace(note)
        for path in DOMAIN.glob("*.py"):
            __import__(f"models.domain.{path.stem}")
        sys.settrace(None)
        os.write(writer, json.dumps(sorted(called)).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with os.fdopen(reader) as answer:
        return [str(name) for name in json.load(answer)]


def run_mutants(
    mutants: list[Mutant],
    *,
    record: Callable[[Mutant, Outcome], None],
    reach: Reach,
    processes: int,
    until: float,
) -> Reach:
    """Run mutants until the time is up; returns the reach, to be kept for the next time."""
    settings.load_profile(PROFILE)
    sys.dont_write_bytecode = False  # a fork that imports anew must not compile anew
    session = MutantSession(mutants=mutants, record=record, reach=reach, processes=processes, until=until)
    code = pytest.main([*ARGUMENTS, str(Path("tests/unit"))], [session])
    if code != 0:
        raise RuntimeError(f"pytest ended with {code}; the tests must pass before a fault is put in")
    return session.reach
