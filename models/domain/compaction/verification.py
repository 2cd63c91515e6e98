"""The proof that a compacted session lost nothing, from its rows (memory-model.md section 8).

Beyond the graph of `lineage`: token arithmetic holds, no tail turn is covered, levels rise by one, a summary is
active exactly when nothing covers it, and it can be found exactly when it is active.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.domain.compaction.lineage import CoverageGraph, Violation, verify_graph
from models.domain.compaction.summaries import makes_progress
from models.domain.prompt.tail import TailTurn, find_base_start


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTurn:
    """A raw turn as the proof reads it; `tokens` are counted from its words now."""

    turn: TailTurn
    position: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedEdge:
    """An edge to a raw turn, with the cost that was written down."""

    turn_id: str
    tokens: int
    is_protected: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSummary:
    """A summary's row, its edges, and what the index knows of it."""

    id: str
    level: int
    is_active: bool
    summary_tokens: int
    body_tokens: int  # counted from its words now
    source_tokens: int
    turn_count: int
    turn_tokens: int
    turns: Sequence[CheckedEdge] = ()
    children: Sequence[str] = ()
    is_indexed: bool = True
    has_vectors: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLineage:
    """Everything the proof needs of one session."""

    session_id: str
    turns: Sequence[CheckedTurn]  # in order
    summaries: Sequence[CheckedSummary]
    covered_through: int


def verify_session(lineage: SessionLineage, *, min_turns: int) -> tuple[Violation, ...]:
    """Every broken rule of one session, sorted by kind and node; empty means lossless."""
    by_id = {summary.id: summary for summary in lineage.summaries}
    graph = CoverageGraph.from_edges(
        turns=(one.turn.id for one in lineage.turns),
        summaries=by_id,
        edges=(
            (summary.id, below)
            for summary in lineage.summaries
            for below in (*summary.children, *(edge.turn_id for edge in summary.turns))
        ),
    )
    covered = {edge.turn_id for summary in lineage.summaries for edge in summary.turns}
    active = {summary.id for summary in lineage.summaries if summary.is_active}
    found = list(verify_graph(graph, active=active | (graph.turns - covered)))
    found += _check_tail(lineage, covered, min_turns=min_turns)
    tokens = {one.turn.id: one.tokens for one in lineage.turns}
    parents = {child: summary.id for summary in lineage.summaries for child in summary.children}
    for summary in lineage.summaries:
        found += _check_tokens(summary, by_id, tokens)
        found += _check_place(summary, by_id, has_parent=summary.id in parents)
    first_bare = next((one.position for one in lineage.turns if one.turn.id not in covered), None)
    if first_bare is not None and lineage.covered_through >= first_bare:
        detail = f"covered through {lineage.covered_through}, but turn {first_bare} is not covered"
        found.append(Violation(kind="wrong_state", node=lineage.session_id, related=(detail,)))
    return tuple(sorted(found, key=lambda violation: (violation.kind, violation.node, violation.related)))


def _check_tail(lineage: SessionLineage, covered: set[str], *, min_turns: int) -> Iterator[Violation]:
    turns = [one.turn for one in lineage.turns]
    for turn in turns[find_base_start(turns, min_turns=min_turns) :]:
        if turn.id in covered:
            yield Violation(kind="tail_covered", node=turn.id)


def _check_tokens(
    summary: CheckedSummary, by_id: dict[str, CheckedSummary], tokens: dict[str, int]
) -> Iterator[Violation]:
    children = [by_id[child] for child in summary.children if child in by_id]
    sources = sum(edge.tokens for edge in summary.turns if not edge.is_protected)
    sources += sum(child.summary_tokens for child in children)
    below = sum(edge.tokens for edge in summary.turns) + sum(child.turn_tokens for child in children)
    count = len(summary.turns) + sum(child.turn_count for child in children)
    wrong_edges = [edge.turn_id for edge in summary.turns if tokens.get(edge.turn_id) != edge.tokens]
    claims = (
        (
            summary.summary_tokens == summary.body_tokens,
            f"says it costs {summary.summary_tokens}, its text {summary.body_tokens}",
        ),
        (
            summary.source_tokens == sources,
            f"says its sources cost {summary.source_tokens}, they cost {sources}",
        ),
        (summary.turn_tokens == below, f"says the turns below cost {summary.turn_tokens}, they cost {below}"),
        (summary.turn_count == count, f"says {summary.turn_count} turns lie below, {count} do"),
        (makes_progress(summary.summary_tokens, summary.source_tokens), "costs no less than its sources"),
        (not wrong_edges, f"wrote down another cost for turn {next(iter(wrong_edges), '')}"),
    )
    for holds, detail in claims:
        if not holds:
            yield Violation(kind="token_arithmetic", node=summary.id, related=(detail,))


def _check_place(
    summary: CheckedSummary, by_id: dict[str, CheckedSummary], *, has_parent: bool
) -> Iterator[Violation]:
    wrong = [
        child for child in summary.children if child in by_id and by_id[child].level != summary.level - 1
    ]
    if wrong or (summary.turns and summary.level != 1):
        related = tuple(wrong) or tuple(edge.turn_id for edge in summary.turns)
        yield Violation(kind="wrong_level", node=summary.id, related=related)
    if summary.is_active == has_parent:
        detail = (
            "is active although another covers it" if has_parent else "is retired although nothing covers it"
        )
        yield Violation(kind="wrong_activity", node=summary.id, related=(detail,))
    if summary.is_indexed != summary.is_active:
        detail = "is active and cannot be found" if summary.is_active else "is retired and still found"
        yield Violation(kind="not_indexed", node=summary.id, related=(detail,))
    elif summary.is_active and not summary.has_vectors:
        yield Violation(kind="not_indexed", node=summary.id, related=("is active and has no vectors",))
