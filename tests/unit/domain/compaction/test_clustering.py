"""Chronological clusters, summary ids and roll-up (memory-model.md section 8)."""

import uuid
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.compaction import clustering
from models.domain.compaction.clustering import choose_rollup, cluster_chronologically, summary_id


def turns(n: int) -> list[str]:
    return [f"t{i}" for i in range(n)]


def sizes(n: int, k: int = 20) -> list[int]:
    return [
        len(cluster.source_ids) for cluster in cluster_chronologically(turns(n), cluster_turns=k).clusters
    ]


def test_the_constants_are_those_of_section_8() -> None:
    assert (clustering.CLUSTER_TURNS, clustering.MIN_SOURCES, clustering.MAX_ACTIVE_SUMMARIES) == (20, 2, 8)


@pytest.mark.parametrize(
    ("n", "expected"), [(2, [2]), (20, [20]), (21, [11, 10]), (40, [20, 20]), (41, [14, 14, 13])]
)
def test_turns_spread_evenly_over_as_few_clusters_as_fit(n: int, expected: list[int]) -> None:
    assert sizes(n) == expected


def test_nothing_eligible_gives_nothing() -> None:
    plan = cluster_chronologically([])
    assert (plan.clusters, plan.declined) == ((), ())


def test_a_single_turn_is_declined() -> None:
    plan = cluster_chronologically(["t0"])
    assert plan.clusters == ()
    assert [(d.source_ids, d.reason) for d in plan.declined] == [(("t0",), "too_few_eligible")]


def test_a_singleton_among_clusters_is_declined_and_keeps_its_place() -> None:
    plan = cluster_chronologically(turns(3), cluster_turns=2)
    assert [(c.index, c.source_ids) for c in plan.clusters] == [(0, ("t0", "t1"))]
    assert [(d.source_ids, d.reason) for d in plan.declined] == [(("t2",), "singleton")]


def test_clusters_of_one_turn_are_all_declined() -> None:
    plan = cluster_chronologically(turns(3), cluster_turns=1)
    assert plan.clusters == ()
    assert [d.reason for d in plan.declined] == ["singleton"] * 3


def test_a_cluster_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^cluster size is 0 turns; it is a whole number from 1 up$"):
        cluster_chronologically(turns(3), cluster_turns=0)


@given(st.integers(0, 400), st.integers(1, 50))
def test_clusters_and_declined_turns_are_a_chronological_partition(n: int, k: int) -> None:
    plan = cluster_chronologically(turns(n), cluster_turns=k)
    parts = [c.source_ids for c in plan.clusters] + [d.source_ids for d in plan.declined]
    parts.sort(key=lambda part: int(part[0][1:]))
    assert [id_ for part in parts for id_ in part] == turns(n)
    assert all(2 <= len(c.source_ids) <= k for c in plan.clusters if k >= 2)
    assert all(len(d.source_ids) == 1 for d in plan.declined)


@given(st.integers(2, 400), st.integers(1, 50))
def test_turn_i_is_in_cluster_i_times_c_over_n(n: int, k: int) -> None:
    count = -(-n // k)
    plan = cluster_chronologically(turns(n), cluster_turns=k)
    for cluster in plan.clusters:
        for id_ in cluster.source_ids:
            assert int(id_[1:]) * count // n == cluster.index
    lengths = [len(c.source_ids) for c in plan.clusters] + [len(d.source_ids) for d in plan.declined]
    assert max(lengths) - min(lengths) <= 1


# --- ids -----------------------------------------------------------------------------------------------------

ids = st.lists(st.text(max_size=6), min_size=1, max_size=6)


def test_a_summary_id_is_the_same_for_ever() -> None:
    assert summary_id("s1", 1, ["a", "b"]) == "fa6fc15e-acb1-5cb9-8712-ae28ba379bc2"


@given(st.text(max_size=5), st.integers(0, 9), ids, st.randoms())
def test_the_same_sources_have_the_same_id_in_any_order(
    session: str, level: int, sources: list[str], random: Random
) -> None:
    first = summary_id(session, level, sources)
    again = [*sources, sources[0]]
    random.shuffle(again)
    assert summary_id(session, level, again) == first
    assert uuid.UUID(first).version == 5


@given(st.text(max_size=3), st.integers(0, 3), ids, st.text(max_size=3), st.integers(0, 3), ids)
def test_other_input_has_another_id(
    session: str, level: int, sources: list[str], session2: str, level2: int, sources2: list[str]
) -> None:
    is_same = (session, level, set(sources)) == (session2, level2, set(sources2))
    assert (summary_id(session, level, sources) == summary_id(session2, level2, sources2)) == is_same


def test_the_borders_between_sources_matter() -> None:
    assert (
        len({summary_id("s", 1, ["ab"]), summary_id("s", 1, ["a", "b"]), summary_id("s", 1, ['a", "b'])}) == 3
    )


def test_a_lone_surrogate_in_an_id_is_no_trouble() -> None:
    assert summary_id("\ud800", 1, ["\udfff"])


def test_a_summary_of_nothing_has_no_id() -> None:
    with pytest.raises(
        ValueError, match=r"^summary of session 's' has no sources; it must cover at least one$"
    ):
        summary_id("s", 1, [])


# --- roll-up -------------------------------------------------------------------------------------------------


def test_eight_summaries_stay_and_the_ninth_sends_the_five_oldest_up() -> None:
    assert choose_rollup(turns(8)) == ()
    assert choose_rollup(turns(9)) == ("t0", "t1", "t2", "t3", "t4")


@given(st.integers(0, 100))
def test_a_rollup_takes_the_oldest_and_leaves_the_level_within_bounds(n: int) -> None:
    moved = choose_rollup(turns(n))
    assert list(moved) == turns(n)[: len(moved)]
    assert n - len(moved) <= 8
    assert len(moved) != 1
    assert (n - len(moved) == 4) == bool(moved) or n == 4
