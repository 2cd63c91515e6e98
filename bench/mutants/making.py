"""Mutants of a module: mutmut's operators, applied to functions, properties and tables alike.

mutmut itself leaves out what stands at module level and under a decorator; in this domain that is
half of the rules (weights, patterns, field defaults). So the operators are mutmut's, and the walk is ours.
"""

import difflib
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation.file_mutation import Mutation, MutationVisitor, deep_replace
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

DOMAIN = Path("models/domain")
_ESCAPE = re.compile(r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault: where it stands, and what it makes of the module."""

    key: str  # module:ordinal:hash of the source, so that a changed module is run anew
    module: str
    function: str | None  # "name" or "Class.name"; None at module level
    line: int
    in_raise: bool
    place: int  # the statement at module level that holds it, counted from 0
    mutation: Mutation
    tree: cst.Module

    def without_fault(self) -> "Mutant":
        """The same place with nothing changed: what runs mutants must let it live."""
        node = self.mutation.original_node
        unchanged = Mutation(node, node, self.mutation.contained_by_top_level_function)
        return replace(self, key=f"{self.key}:control", mutation=unchanged)

    def mutated_source(self) -> str:
        """The whole module with the fault in it."""
        changed = deep_replace(self.tree, self.mutation.original_node, self.mutation.mutated_node)
        assert isinstance(changed, cst.Module)
        return changed.code

    def mutated_statement(self) -> str:
        """The statement at module level that holds the fault, with the fault in it."""
        statement = self.tree.body[self.place]
        changed = deep_replace(statement, self.mutation.original_node, self.mutation.mutated_node)
        assert isinstance(changed, cst.SimpleStatementLine | cst.BaseCompoundStatement)
        return cst.Module([changed]).code

    def changed_lines(self) -> tuple[str, str]:
        """The lines that differ, before and after, each folded to one."""
        taken: dict[str, list[str]] = {"-": [], "+": []}
        old, new = self.tree.code.splitlines(), self.mutated_source().splitlines()
        for line in difflib.unified_diff(old, new, n=0, lineterm=""):
            if line[:1] in taken and not line.startswith(("---", "+++")):
                taken[line[:1]].append(line[1:].strip())
        return " ".join(taken["-"]), " ".join(taken["+"])

    def put_into_function(self) -> None:
        """Give the living function the code of the mutant; whoever imported it calls the mutant now."""
        assert self.function is not None
        node = self.mutation.contained_by_top_level_function
        assert isinstance(node, cst.FunctionDef)
        changed = deep_replace(node, self.mutation.original_node, self.mutation.mutated_node)
        assert isinstance(changed, cst.FunctionDef)
        statement: cst.BaseCompoundStatement = changed.with_changes(decorators=[])
        owner, _, name = self.function.rpartition(".")
        if owner:
            statement = cst.ClassDef(cst.Name(owner), cst.IndentedBlock([statement]))
        future = cst.parse_statement("from __future__ import annotations\n")
        module = import_module(self.module)
        namespace: dict[str, Any] = dict(vars(module))
        source = cst.Module([future, statement]).code
        exec(compile(source, f"<{self.key}>", "exec"), namespace)  # noqa: S102 - a mutant of our own source
        made = vars(namespace[owner])[name] if owner else namespace[name]
        living = find_function(self.module, self.function)
        living.__code__ = made.__code__
        living.__defaults__ = made.__defaults__
        living.__kwdefaults__ = made.__kwdefaults__


class _Walk(MutationVisitor):
    """mutmut's walk that also enters decorated functions: their code is exchanged in place, not wrapped."""

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef):
            return False
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Subscript):
            return True  # a type alias: nothing of it runs
        return super()._skip_node_and_children(node)


def list_modules() -> list[str]:
    """The modules of the domain, dotted."""
    return [f"models.domain.{path.stem}" for path in sorted(DOMAIN.glob("*.py")) if path.stem != "__init__"]


def make_mutants(module: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of the source."""
    source = Path(*module.split(".")).with_suffix(".py").read_text()
    digest = hashlib.sha256(source.encode()).hexdigest()[:10]
    wrapper = MetadataWrapper(cst.parse_module(source))
    visitor = _Walk(mutation_operators, IgnoredCode(set(), set(), set()))
    wrapper.visit(visitor)
    positions = wrapper.resolve(PositionProvider)
    parents = wrapper.resolve(ParentNodeProvider)
    places = {id(statement): place for place, statement in enumerate(wrapper.module.body)}
    for ordinal, mutation in enumerate(visitor.mutations):
        node = mutation.original_node
        if _reads_the_same(node, mutation.mutated_node):
            continue
        yield Mutant(
            key=f"{module}:{ordinal}:{digest}",
            module=module,
            function=_name_of(mutation.contained_by_top_level_function, parents),
            line=positions[node].start.line if node in positions else 0,
            in_raise=any(isinstance(outer, cst.Raise) for outer in _ancestors(node, parents)),
            place=next(places[id(part)] for part in (node, *_ancestors(node, parents)) if id(part) in places),
            mutation=mutation,
            tree=wrapper.module,
        )


def find_function(module: str, function: str) -> FunctionType:
    """The function object behind a name, unwrapped from property, classmethod or staticmethod."""
    owner, _, name = function.rpartition(".")
    holder = import_module(module)
    found = vars(vars(holder)[owner] if owner else holder)[name]
    found = getattr(found, "fget", None) or getattr(found, "__func__", found)
    found = getattr(found, "__wrapped__", found)  # a cache around it
    assert isinstance(found, FunctionType), f"{module}.{function} is {found!r}, expected a plain function"
    return found


def _reads_the_same(one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two strings differ in the spelling of an escape alone: \\u30ff and \\u30FF are one letter."""
    if not (isinstance(one, cst.SimpleString) and isinstance(other, cst.SimpleString)):
        return False
    plain, changed = (_ESCAPE.sub(lambda escape: escape.group().lower(), text.value) for text in (one, other))
    return plain == changed


def _ancestors(node: cst.CSTNode, parents: Any) -> Iterator[cst.CSTNode]:
    while (node := parents.get(node)) is not None:
        yield node


def _name_of(node: cst.CSTNode | None, parents: Any) -> str | None:
    """None for what is no function: a table, a field default."""
    if not isinstance(node, cst.FunctionDef):
        return None
    owners = [outer.name.value for outer in _ancestors(node, parents) if isinstance(outer, cst.ClassDef)]
    return ".".join([*owners, node.name.value])
