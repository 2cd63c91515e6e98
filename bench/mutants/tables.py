"""Puts a fault of a table into the living modules: what is made from that table is made anew, and nothing else.

A function looks its globals up whenever it runs. So it is enough to run the faulty assignment, and then, in the order
of the source, the assignments that read what it made, in its module and in those that import it. Where that is not
plainly the same as importing everything anew (a default argument, a class body, a loop at module level), there is no
plan, and the caller does import everything anew.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any, Final, Literal

from bench.mutants.making import DOMAIN, Mutant

_DOMAIN: Final = "models.domain"
# What is reached through another package is not followed.
OTHER_PACKAGES: Final = re.compile(
    r"^\s*(?:from|import) (?:api|workers|bench|tests|models\.(?!domain[. ])|models\b(?!\.)|models\.domain$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement at module level: what it binds, what it reads at import, and what its functions read later."""

    kind: Literal["assign", "definition", "import", "other"]
    binds: frozenset[str]
    reads: frozenset[str]
    holds: frozenset[str]  # default arguments that are a name: a function given so looks its globals up later
    later: frozenset[str]
    imports: tuple[tuple[str, str, str], ...]  # (module of the domain, name there, name here)
    code: CodeType


# The module, and the place of its statement at module level, or its function that runs at import.
PlanKey = tuple[str, int | None, str | None]


@dataclass
class Plan:
    """What a fault at one place changes: names that are bound anew, and all names whose meaning depends on it."""

    bound: dict[str, set[str]] = field(default_factory=dict)  # by module
    changed: dict[str, set[str]] = field(default_factory=dict)  # by module; holds what is bound anew too
    runs: dict[str, list[int]] = field(default_factory=dict)  # by module: the statements to run again
    stale: set[str] = field(
        default_factory=set
    )  # tests of a file that were made from changed names at import

    def put_in(self, mutant: Mutant | None) -> None:
        """Run the faulty statement and all that depends on it, in the modules as they live; for a fork of its own."""
        for name in self.changed:
            module = import_module(name)
            self.rebind(read_statements(_find_file(name)), vars(module), name)
            for place in self.runs[name]:
                code = read_statements(_find_file(name))[place].code
                if mutant is not None and mutant.module == name and mutant.place == place:
                    code = compile(mutant.mutated_statement(), f"<{mutant.key}>", "exec")
                exec(code, vars(module))  # noqa: S102 - statements of our own source
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()

    def put_into_file(self, path: str, space: dict[str, Any]) -> None:
        """Give a living test file what has been bound anew, and run what it makes from that."""
        statements = read_statements(path)
        self.rebind(statements, space, path)
        for place in self.runs[path]:
            exec(statements[place].code, space)  # noqa: S102 - statements of our own tests

    def rebind(self, statements: Iterable[Statement], space: dict[str, Any], name: str) -> None:
        """Import again what another module has bound anew."""
        for statement in statements:
            for module, there, here in statement.imports:
                if there in self.bound.get(module, ()) and here in self.bound.get(name, ()):
                    space[here] = vars(import_module(module))[there]

    def names_functions(self) -> set[str]:
        """Prefixes of "module:function" whose outcome may change, a class standing for its methods."""
        return {f"{module}:{name}" for module, names in self.changed.items() for name in names}


@cache
def plan_fault(module: str, place: int | None, function: str | None) -> Plan | None:
    """What follows from a fault in the statement at a place of a module, or in a function that runs at import.

    None when it cannot be put into living modules.
    """
    plan = Plan()
    statements = read_statements(_find_file(module))
    if function is not None:
        changed, bound = {function.partition(".")[0]}, set[str]()
    elif place is None or statements[place].kind != "assign":
        return None
    else:
        changed, bound = set(statements[place].binds), set(statements[place].binds)
    if not _spread(plan, module, statements, changed, bound):
        return None
    if place is not None and function is None:
        plan.runs[module] = sorted({*plan.runs[module], place})
    for name in order_modules():
        if name == module:
            continue
        statements = read_statements(_find_file(name))
        changed, bound = _find_imported(plan, statements)
        if changed and not _spread(plan, name, statements, changed, bound):
            return None
    return plan


@cache
def fit_file(key: PlanKey, path: str) -> Plan | None:
    """What a fault changes in a test file; None when the file must be imported anew, because it ran changed code then."""
    plan = plan_fault(*key)
    if plan is None or _needs_others(path):
        return None
    statements = read_statements(path)
    local = Plan({**plan.bound}, {**plan.changed}, {})
    changed, bound = _find_imported(plan, statements)
    return local if _spread(local, path, statements, changed, bound, is_test_file=True) else None


@cache
def _needs_others(path: str) -> bool:
    return OTHER_PACKAGES.search(Path(path).read_text()) is not None


def _find_imported(plan: Plan, statements: Iterable[Statement]) -> tuple[set[str], set[str]]:
    changed, bound = set(), set()
    for statement in statements:
        for module, there, here in statement.imports:
            if there in plan.changed.get(module, ()) or (not there and module in plan.changed):
                changed.add(here)
            if there in plan.bound.get(module, ()):
                bound.add(here)
    return changed, bound


def _spread(
    plan: Plan,
    name: str,
    statements: tuple[Statement, ...],
    changed: set[str],
    bound: set[str],
    *,
    is_test_file: bool = False,
) -> bool:
    """Follow what changed through one module until nothing is added; False when the module must be imported anew.

    A test function that was made from what changed (its parameters) is left out alone: nothing else uses it.
    """
    runs: set[int] = set()
    size = -1
    while size != len(changed):
        size = len(changed)
        for place, statement in enumerate(statements):
            if statement.kind == "definition":
                if (statement.later | statement.holds) & changed:
                    changed |= statement.binds
                if statement.reads & changed or statement.holds & bound:
                    if not is_test_file or not min(statement.binds).startswith("test_"):
                        return False
                    plan.stale |= statement.binds
            elif (statement.reads | statement.later) & changed:
                if statement.kind == "other":
                    return False
                runs.add(place)
                changed |= statement.binds
                bound |= statement.binds
    plan.changed[name], plan.bound[name], plan.runs[name] = changed, bound, sorted(runs)
    return True


@cache
def read_statements(path: str) -> tuple[Statement, ...]:
    """The statements at module level of a file."""
    tree = ast.parse(Path(path).read_text())
    return tuple(_read_statement(node, path) for node in tree.body)


def _read_statement(node: ast.stmt, path: str) -> Statement:
    kind: Literal["assign", "definition", "import", "other"] = "other"
    binds: set[str] = set()
    reads, holds, later = _list_names([node]), frozenset[str](), frozenset[str]()
    imports: list[tuple[str, str, str]] = []
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        kind, binds = "definition", {node.name}
        reads, holds, later = _split_definition(node)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if all(isinstance(target, ast.Name) for target in targets):
            kind, binds = "assign", {target.id for target in targets if isinstance(target, ast.Name)}
        reads = _list_names([node.value] if node.value else [])
    elif isinstance(node, ast.ImportFrom | ast.Import):
        kind = "import"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_DOMAIN):
            for alias in node.names:
                here = alias.asname or alias.name
                whole = node.module == _DOMAIN
                source = f"{_DOMAIN}.{alias.name}" if whole else str(node.module)
                imports.append((source, "" if whole else alias.name, here))
    code = compile(ast.Module([node], []), path, "exec")
    return Statement(
        kind=kind,
        binds=frozenset(binds),
        reads=reads,
        holds=holds,
        later=later,
        imports=tuple(imports),
        code=code,
    )


def _split_definition(node: ast.FunctionDef | ast.ClassDef) -> tuple[frozenset[str], ...]:
    """What a function or class reads when it is made, what it holds, and what it reads when used; no annotations."""
    if isinstance(node, ast.FunctionDef):
        defaults = [*node.args.defaults, *(given for given in node.args.kw_defaults if given is not None)]
        named = [given for given in defaults if isinstance(given, ast.Name)]
        made = [*node.decorator_list, *(given for given in defaults if given not in named)]
        return _list_names(made), _list_names(named), _list_names(node.body)
    reads = set(_list_names([*node.decorator_list, *node.bases, *node.keywords]))
    holds: set[str] = set()
    later: set[str] = set()
    for part in node.body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            for names, more in zip((reads, holds, later), _split_definition(part), strict=True):
                names |= more
        elif isinstance(part, ast.AnnAssign):
            reads |= _list_names([part.value] if part.value else [])
        else:
            reads |= _list_names([part])
    return frozenset(reads), frozenset(holds), frozenset(later)


def _list_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name))


@cache
def order_modules() -> tuple[str, ...]:
    """The modules of the domain, each after those it imports."""
    needed = {
        f"{_DOMAIN}.{path.stem}": {
            source for statement in read_statements(str(path)) for source, _, _ in statement.imports
        }
        for path in sorted(DOMAIN.glob("*.py"))
        if path.stem != "__init__"
    }
    ordered: list[str] = []
    while len(ordered) < len(needed):
        ready = [name for name in needed if name not in ordered and needed[name] <= {*ordered}]
        assert ready, "modules of the domain import each other in a circle"
        ordered += ready
    return tuple(ordered)


def _find_file(module: str) -> str:
    return f"{module.replace('.', '/')}.py"
