"""Claims about another system's summaries: what is adopted passes the proof, and each of the others has its reason."""

from hypothesis import given
from hypothesis import strategies as st

from models.domain.compaction.adoption import (
    EMPTY,
    LONG,
    MIXED,
    NOTHING,
    SILENCED,
    TAIL,
    TAKEN,
    UNEVEN,
    UNFOUNDED,
    Adoption,
    CoverableTurn,
    ForeignSummary,
    adopt_summaries,
    count_tokens,
)
from models.domain.compaction.verification import (
    CheckedEdge,
    CheckedSummary,
    CheckedTurn,
    SessionLineage,
    verify_session,
)
from models.domain.prompt.tail import TailTurn

TURNS = [
    CoverableTurn(turn=TailTurn(id=f"t{i}", role="user" if i % 2 == 0 else "assistant"), tokens=50)
    for i in range(12)
]


def leaf(name: str, *turns: int, text: str = "They spoke.") -> ForeignSummary:
    return ForeignSummary(id=name, text=text, turns=[f"t{i}" for i in turns])


def above(name: str, *children: str, text: str = "Talk.") -> ForeignSummary:
    return ForeignSummary(id=name, text=text, children=children)


def adopt(*summaries: ForeignSummary, **options: frozenset[str]) -> Adoption:
    return adopt_summaries(TURNS, summaries, min_turns=4, **options)


def prove(adoption: Adoption) -> list[str]:
    """What the proof of losslessness finds wrong with a session covered like this."""
    active = adoption.list_active()
    covered = {turn for one in adoption.adopted.values() for turn in one.turns}
    bare = next((i for i, one in enumerate(TURNS) if one.turn.id not in covered), len(TURNS))
    lineage = SessionLineage(
        session_id="s",
        turns=[CheckedTurn(turn=one.turn, position=i, tokens=one.tokens) for i, one in enumerate(TURNS)],
        summaries=[
            CheckedSummary(
                id=one.id,
                level=one.level,
                is_active=one.id in active,
                summary_tokens=one.summary_tokens,
                body_tokens=count_tokens(one.text),
                source_tokens=one.source_tokens,
                turn_count=one.turn_count,
                turn_tokens=one.turn_tokens,
                turns=[CheckedEdge(turn_id=turn, tokens=50, is_protected=False) for turn in one.turns],
                children=one.children,
                is_indexed=one.id in active,
            )
            for one in adoption.adopted.values()
        ],
        covered_through=bare - 1,
    )
    return [violation.detail for violation in verify_session(lineage, min_turns=4)]


def test_a_graph_of_two_levels_is_adopted_with_its_edges_and_proved() -> None:
    found = adopt(above("all", "a", "b"), leaf("a", 0, 1), leaf("b", 2, 3))
    assert list(found.adopted) == ["a", "b", "all"]
    assert found.declined == {}
    assert found.list_active() == {"all"}
    top = found.adopted["all"]
    assert (top.level, top.turn_count, top.turn_tokens, list(top.below)) == (
        *(2, 4, 200),
        ["t0", "t1", "t2", "t3"],
    )
    assert prove(found) == []


def test_messages_that_were_noise_cost_an_edge_and_no_summary() -> None:
    assert list(adopt(leaf("a", 0, 99)).adopted["a"].turns) == ["t0"]


def test_what_breaks_a_rule_is_declined_by_name_and_all_that_rests_on_it() -> None:
    found = adopt(
        leaf("empty", 0, text=" "),
        leaf("gone", 99),
        leaf("newest", 7, 8),
        leaf("long", 0, text="word " * 100),
        leaf("first", 0, 1),
        leaf("second", 1, 2),
        leaf("third", 2, 3),
        ForeignSummary(id="mixed", text="Both.", turns=["t4"], children=["first"]),
        above("over", "first", "newest"),
        above("pair", "first", "third"),
        above("other", "third"),
        leaf("low", 4),
        above("uneven", "pair", "low"),
        above("lost", "nowhere"),
        above("x", "y"),
        above("y", "x"),
        above("self", "self"),
    )
    assert found.declined == {
        "empty": EMPTY,
        "gone": NOTHING,
        "newest": TAIL,
        "long": LONG,
        "second": TAKEN,
        "mixed": MIXED,
        "over": UNFOUNDED,
        "other": TAKEN,
        "uneven": UNEVEN,
        "lost": UNFOUNDED,
        "x": UNFOUNDED,
        "y": UNFOUNDED,
        "self": UNFOUNDED,
    }
    assert prove(found) == []


def test_what_is_covered_here_or_was_forgotten_here_is_left_as_it_is() -> None:
    found = adopt(leaf("a", 0), leaf("b", 1), covered=frozenset({"t0"}), silenced=frozenset({"t1"}))
    assert found.declined == {"a": TAKEN, "b": SILENCED}


names = st.integers(0, 9).map(lambda n: f"s{n}")
graphs = st.lists(
    st.builds(
        ForeignSummary,
        id=names,
        text=st.sampled_from(["", "Short.", "word " * 60]),
        turns=st.lists(st.integers(-1, 12).map(lambda n: f"t{n}"), max_size=5),
        children=st.lists(names, max_size=4),
    ),
    max_size=12,
)


@given(graphs)
def test_whatever_graph_is_given_what_is_adopted_is_proved(summaries: list[ForeignSummary]) -> None:
    found = adopt_summaries(TURNS, summaries, min_turns=4)
    assert prove(found) == []
    assert set(found.adopted) | set(found.declined) == {one.id for one in summaries}
    assert not set(found.adopted) & set(found.declined)
