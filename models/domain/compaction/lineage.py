"""The coverage graph: which summary covers what, down to raw turns (memory-model.md section 8).

Edges run from a summary to the turns and summaries it covers. Walks keep their own stack, so a graph of any
depth is safe, and each visits a node and an edge once.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

ViolationKind = Literal[
    "cycle",
    "dangling_edge",
    "turn_covers",
    "empty_expansion",
    "unreachable_turn",
    "foreign_source",
    # found by models.domain.compaction.verification, which knows more of a summary than its edges
    "tail_covered",
    "token_arithmetic",
    "wrong_level",
    "wrong_activity",
    "not_indexed",
    "wrong_state",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageGraph:
    """Raw turns, and for each summary what it covers directly, in order."""

    turns: frozenset[str]
    children: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_edges(
        cls, *, turns: Iterable[str], summaries: Iterable[str], edges: Iterable[tuple[str, str]]
    ) -> "CoverageGraph":
        """The graph of (parent, child) rows; a summary without rows is still a node."""
        children: dict[str, dict[str, None]] = {summary: {} for summary in summaries}
        for parent, child in edges:
            children.setdefault(parent, {})[child] = None
        return cls(
            turns=frozenset(turns), children={parent: tuple(below) for parent, below in children.items()}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One broken rule of the graph: what is wrong, at which node, and which other nodes take part."""

    kind: ViolationKind
    node: str
    related: tuple[str, ...] = ()

    @property
    def detail(self) -> str:
        """The violation as a sentence for a report."""
        others = ", ".join(self.related[:5]) + (" …" if len(self.related) > 5 else "")
        match self.kind:
            case "cycle":
                return f"summary '{self.node}' covers itself through {others}"
            case "dangling_edge":
                return f"summary '{self.node}' covers {others}, which is neither a turn nor a summary"
            case "turn_covers":
                return f"raw turn '{self.node}' covers {others}; only a summary covers anything"
            case "empty_expansion":
                return f"summary '{self.node}' leads to no raw turn"
            case "unreachable_turn":
                return f"turn '{self.node}' is not active and no active summary leads to it"
            case "foreign_source":
                return f"summary '{self.node}' covers {others} of another session"
            case "tail_covered":
                return f"turn '{self.node}' is in the base tail and already covered"
            case "token_arithmetic":
                return f"summary '{self.node}': {others}"
            case "wrong_level":
                return f"summary '{self.node}' does not lie one level above {others}"
            case "wrong_activity" | "not_indexed":
                return f"summary '{self.node}' {others}"
            case "wrong_state":
                return f"session '{self.node}': {others}"


def verify_graph(
    graph: CoverageGraph,
    *,
    active: AbstractSet[str],
    tail: AbstractSet[str] = frozenset(),
    session_of: Mapping[str, str] | None = None,
) -> tuple[Violation, ...]:
    """Every broken rule of section 8, sorted by kind and node; empty means lossless.

    No cycles; every edge ends at a turn or a summary; turns cover nothing; every summary expands to at least
    one turn; every turn outside the tail is active or below an active summary; and, where `session_of` knows
    both ends, coverage stays within a session.

    >>> verify_graph(CoverageGraph(turns=frozenset("ab"), children={"s": ("a",)}), active={"s"})
    (Violation(kind='unreachable_turn', node='b', related=()),)
    """
    violations = [
        Violation(kind="cycle", node=members[0], related=members) for members in _find_cycles(graph)
    ]
    sessions = session_of or {}
    for parent, below in graph.children.items():
        if parent in graph.turns and below:
            violations.append(Violation(kind="turn_covers", node=parent, related=below))
        dangling = tuple(c for c in below if c not in graph.turns and c not in graph.children)
        if dangling:
            violations.append(Violation(kind="dangling_edge", node=parent, related=dangling))
        home = sessions.get(parent)
        foreign = tuple(c for c in below if home is not None and sessions.get(c, home) != home)
        if foreign:
            violations.append(Violation(kind="foreign_source", node=parent, related=foreign))

    grounded = _walk(_invert(graph), graph.turns)
    violations.extend(
        Violation(kind="empty_expansion", node=summary)
        for summary in graph.children
        if summary not in grounded
    )
    safe = _walk(graph.children, active) | tail
    violations.extend(
        Violation(kind="unreachable_turn", node=turn) for turn in graph.turns if turn not in safe
    )
    return tuple(sorted(violations, key=lambda v: (v.kind, v.node, v.related)))


def _walk(edges: Mapping[str, Iterable[str]], starts: Iterable[str]) -> set[str]:
    """The starts and all that can be reached from them."""
    seen: set[str] = set()
    stack = list(starts)
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            stack.extend(edges.get(current, ()))
    return seen


def _invert(graph: CoverageGraph) -> dict[str, list[str]]:
    parents: dict[str, list[str]] = {}
    for parent, below in graph.children.items():
        for child in below:
            parents.setdefault(child, []).append(parent)
    return parents


def _find_cycles(graph: CoverageGraph) -> Iterator[tuple[str, ...]]:
    """The sorted members of each knot of nodes that reach each other (Tarjan's components, own stack)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []  # visited, and not yet known to be in a finished component
    on_path: set[str] = set()
    work: list[tuple[str, Iterator[str]]] = []

    def enter(node: str) -> None:
        order[node] = lowest[node] = len(order)
        path.append(node)
        on_path.add(node)
        work.append((node, iter(graph.children.get(node, ()))))

    for root in sorted(graph.children):
        if root not in order:
            enter(root)
        while work:
            node, below = work[-1]
            for child in below:
                if child not in order:
                    enter(child)
                    break
                if child in on_path:
                    lowest[node] = min(lowest[node], order[child])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == order[node]:
                    members = _take_component(node, path, on_path)
                    if len(members) > 1 or node in graph.children.get(node, ()):
                        yield members


def _take_component(node: str, path: list[str], on_path: set[str]) -> tuple[str, ...]:
    """Take the component that begins at a node off the end of the path."""
    members: list[str] = []
    while not members or members[-1] != node:
        members.append(path.pop())
    on_path.difference_update(members)
    return tuple(sorted(members))
