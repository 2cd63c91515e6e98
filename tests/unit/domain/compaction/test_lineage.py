"""The coverage graph (memory-model.md section 8)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.compaction.lineage import CoverageGraph, Violation, verify_graph

TURNS = ("t1", "t2", "t3", "t4")
SUMMARIES = ("s1", "s2", "s3", "s4", "s5")


def graph_of(turns: str, **children: str) -> CoverageGraph:
    """Turns and, for each summary, what it covers, as words."""
    return CoverageGraph(
        turns=frozenset(turns.split()),
        children={name: tuple(below.split()) for name, below in children.items()},
    )


graphs = st.builds(
    CoverageGraph,
    turns=st.frozensets(st.sampled_from(TURNS)),
    children=st.dictionaries(
        st.sampled_from(SUMMARIES),
        st.lists(st.sampled_from(TURNS + SUMMARIES), max_size=4, unique=True).map(tuple),
    ),
)
dags = st.builds(
    lambda picks: CoverageGraph(
        turns=frozenset(TURNS),
        children={
            name: tuple(sorted({below for below in pick if below in TURNS or below < name} or {"t1"}))
            for name, pick in picks.items()
        },
    ),
    st.fixed_dictionaries(
        {name: st.frozensets(st.sampled_from(TURNS + SUMMARIES), max_size=4) for name in SUMMARIES}
    ),
)


def expand_by_definition(graph: CoverageGraph, node: str, path: frozenset[str] = frozenset()) -> set[str]:
    """Expand* as section 8 writes it, cut where a path returns to itself."""
    if node in graph.turns:
        return {node}
    if node in path:
        return set()
    below = graph.children.get(node, ())
    return set().union(*(expand_by_definition(graph, child, path | {node}) for child in below))


def reaches_itself(graph: CoverageGraph, node: str) -> bool:
    seen: set[str] = set()
    todo = list(graph.children.get(node, ()))
    while todo:
        current = todo.pop()
        if current == node:
            return True
        if current not in seen:
            seen.add(current)
            todo.extend(graph.children.get(current, ()))
    return False


@given(graphs)
def test_acyclic_means_that_no_node_reaches_itself(graph: CoverageGraph) -> None:
    knotted = {node for node in graph.children if reaches_itself(graph, node)}
    cycles = [v for v in verify_graph(graph, active=frozenset()) if v.kind == "cycle"]
    members = [node for violation in cycles for node in violation.related]
    assert sorted(members) == sorted(knotted)


def test_each_knot_is_reported_with_its_members() -> None:
    graph = graph_of("t", a="b t", b="a t", c="c t", d="a t", e="t")
    cycles = [v for v in verify_graph(graph, active={"d", "e"}) if v.kind == "cycle"]
    assert cycles == [
        Violation(kind="cycle", node="a", related=("a", "b")),
        Violation(kind="cycle", node="c", related=("c",)),
    ]


def test_a_diamond_is_no_cycle() -> None:
    graph = graph_of("t", top="left right", left="t", right="t")
    assert verify_graph(graph, active={"top"}) == ()


# --- verification --------------------------------------------------------------------------------------------


@given(dags)
def test_a_sound_graph_under_active_summaries_has_no_violations(graph: CoverageGraph) -> None:
    covered = {turn for summary in graph.children for turn in expand_by_definition(graph, summary)}
    active = set(graph.children) | (graph.turns - covered)
    assert verify_graph(graph, active=active) == ()


@given(graphs, st.frozensets(st.sampled_from(TURNS + SUMMARIES)), st.frozensets(st.sampled_from(TURNS)))
def test_every_violation_is_real_and_none_is_missed(
    graph: CoverageGraph, active: frozenset[str], tail: frozenset[str]
) -> None:
    found = verify_graph(graph, active=active, tail=tail)
    empty = {node for node in graph.children if not expand_by_definition(graph, node)}
    assert {v.node for v in found if v.kind == "empty_expansion"} == empty
    safe = set(tail).union(*(expand_by_definition(graph, node) for node in active))
    assert {v.node for v in found if v.kind == "unreachable_turn"} == graph.turns - safe
    known = graph.turns | set(graph.children)
    dangling = {(p, c) for p, below in graph.children.items() for c in below if c not in known}
    assert {(v.node, c) for v in found if v.kind == "dangling_edge" for c in v.related} == dangling
    assert list(found) == sorted(found, key=lambda v: (v.kind, v.node, v.related))


def test_a_turn_in_the_tail_or_active_itself_needs_no_summary() -> None:
    graph = graph_of("a b c")
    assert verify_graph(graph, active={"a"}, tail={"b"}) == (Violation(kind="unreachable_turn", node="c"),)


def test_an_inactive_summary_saves_nobody_but_a_summary_above_it_does() -> None:
    graph = graph_of("a", low="a", high="low")
    assert [v.node for v in verify_graph(graph, active=frozenset())] == ["a"]
    assert verify_graph(graph, active={"high"}) == ()


def test_a_turn_that_covers_is_a_violation() -> None:
    graph = graph_of("a b", a="b")
    assert verify_graph(graph, active={"a"}) == (Violation(kind="turn_covers", node="a", related=("b",)),)
    assert verify_graph(graph_of("a", a=""), active={"a"}) == ()


def test_coverage_stays_within_a_session() -> None:
    graph = graph_of("a b c", s="a b c")
    sessions = {"s": "one", "a": "one", "b": "two"}
    assert verify_graph(graph, active={"s"}, session_of=sessions) == (
        Violation(kind="foreign_source", node="s", related=("b",)),
    )
    assert verify_graph(graph, active={"s"}, session_of={"b": "two"}) == ()
    assert verify_graph(graph, active={"s"}) == ()


def test_a_summary_without_edges_is_a_violation() -> None:
    graph = CoverageGraph.from_edges(turns=["a"], summaries=["s", "lost"], edges=[("s", "a"), ("s", "a")])
    assert graph.children == {"s": ("a",), "lost": ()}
    assert verify_graph(graph, active={"s"}) == (Violation(kind="empty_expansion", node="lost"),)


def test_edges_of_an_unknown_parent_make_it_a_node() -> None:
    graph = CoverageGraph.from_edges(turns=["a"], summaries=[], edges=[("s", "a")])
    assert graph.turns == {"a"}
    assert graph.children == {"s": ("a",)}


# --- size ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_chain_of_a_hundred_thousand_summaries_is_walked_in_linear_time(is_closed: bool) -> None:
    n = 100_000
    children = {f"s{i}": (f"s{i + 1}",) for i in range(n)}
    children[f"s{n}"] = ("s0", "t") if is_closed else ("t",)
    graph = CoverageGraph(turns=frozenset({"t"}), children=children)
    assert len(verify_graph(graph, active={"s0"})) == is_closed


def test_a_summary_of_a_hundred_thousand_turns_is_walked_in_linear_time() -> None:
    turns = tuple(f"t{i}" for i in range(100_000))
    graph = CoverageGraph(turns=frozenset(turns), children={"s": turns})
    assert verify_graph(graph, active={"s"}) == ()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("cycle", "summary 'n' covers itself through a, b"),
        ("dangling_edge", "summary 'n' covers a, b, which is neither a turn nor a summary"),
        ("turn_covers", "raw turn 'n' covers a, b; only a summary covers anything"),
        ("empty_expansion", "summary 'n' leads to no raw turn"),
        ("unreachable_turn", "turn 'n' is not active and no active summary leads to it"),
        ("foreign_source", "summary 'n' covers a, b of another session"),
        ("tail_covered", "turn 'n' is in the base tail and already covered"),
        ("token_arithmetic", "summary 'n': a, b"),
        ("wrong_level", "summary 'n' does not lie one level above a, b"),
        ("wrong_activity", "summary 'n' a, b"),
        ("not_indexed", "summary 'n' a, b"),
        ("wrong_state", "session 'n': a, b"),
    ],
)
def test_every_kind_of_violation_is_told_as_a_sentence(kind: Any, words: str) -> None:
    assert Violation(kind=kind, node="n", related=("a", "b")).detail == words


def test_a_sentence_names_five_others_at_most_and_says_that_there_are_more() -> None:
    five = Violation(kind="token_arithmetic", node="n", related=tuple("abcde")).detail
    six = Violation(kind="token_arithmetic", node="n", related=tuple("abcdef")).detail
    assert (five, six) == ("summary 'n': a, b, c, d, e", "summary 'n': a, b, c, d, e …")
