"""Which tests call which function of the domain: learned once, in a clean run, so that a fault meets only its own tests."""

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType

import pytest
from _pytest.runner import runtestprotocol

from bench.mutants.making import DOMAIN, find_function, list_modules, make_mutants
from bench.mutants.tables import PlanKey, fit_file, plan_fault


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

    def tests_of_plan(self, key: PlanKey) -> set[str]:
        """The tests that may notice a fault in a table without being imported anew.

        They call what depends on the table, or stand in a file that imports it.
        """
        plan = plan_fault(*key)
        assert plan is not None
        changed = plan.names_functions()
        found = {
            test for name, tests in self.tests.items() if _drop_method(name) in changed for test in tests
        }
        by_file: dict[str, set[str]] = {}
        for test in self.seconds:
            by_file.setdefault(test.partition("::")[0], set()).add(test)
        for path, tests in by_file.items():
            fitted = fit_file(key, path)
            if fitted is None:
                found -= tests
                continue
            if fitted.bound[path]:
                found |= tests
            found -= {test for test in tests if test.split("::")[1].partition("[")[0] in fitted.stale}
        return found

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


def _drop_method(name: str) -> str:
    """The class stands for its methods: "m:Class" of "m:Class.method", where m is dotted itself."""
    module, _, function = name.partition(":")
    return f"{module}:{function.partition('.')[0]}"


@cache
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
