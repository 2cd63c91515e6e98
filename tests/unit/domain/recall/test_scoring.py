"""Scoring of recalled candidates (memory-model.md section 7, pass 2)."""

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.scoring import (
    DEFAULT_PROFILE,
    SEED_LINEAR_PROFILE,
    SEED_PROFILE,
    SEED_SCOPE_PRIOR,
    CandidateFacts,
    ScoredCandidate,
    ScoringProfile,
    clamp01,
    fuse_ranks,
    is_found,
    measure_coverage,
    measure_frequency,
    measure_recency,
    rank_candidates,
    score_candidate,
)

SCOPES = ("session", "durable", "global", "lore", "summary")
PROFILES = (DEFAULT_PROFILE, SEED_PROFILE, SEED_LINEAR_PROFILE)
TERMS = ("redis", "port", "src/app.py", "python")


def make_facts(**changes: object) -> CandidateFacts:
    plain = CandidateFacts(
        id="m1",
        scope="durable",
        cosine=0.5,
        lexical_rank=None,
        vector_rank=None,
        age_seconds=0.0,
        useful_count=0,
        max_useful_count=0,
        authority=0.0,
        confidence=None,
        terms=frozenset(),
    )
    return replace(plain, **changes)


def score(
    facts: CandidateFacts, *keywords: str, profile: ScoringProfile = DEFAULT_PROFILE
) -> ScoredCandidate:
    return score_candidate(facts, keywords=frozenset(keywords), profile=profile)


any_float = st.floats(allow_nan=True, allow_infinity=True)
unit = st.floats(0, 1)
ranks = st.none() | st.integers(-3, 10**6)
facts_of_any_kind = st.builds(
    CandidateFacts,
    id=st.sampled_from("abcdef"),
    scope=st.sampled_from(SCOPES),
    cosine=st.none() | any_float,
    lexical_rank=ranks,
    vector_rank=ranks,
    age_seconds=any_float,
    useful_count=st.integers(-5, 10**30),
    max_useful_count=st.integers(-5, 10**30),
    authority=any_float,
    confidence=st.none() | any_float,
    terms=st.frozensets(st.sampled_from(TERMS)),
)
keyword_sets = st.frozensets(st.sampled_from(TERMS))
profiles = st.builds(
    ScoringProfile,
    form=st.sampled_from(["product", "seed_linear"]),
    omega0=unit,
    kappa=st.floats(0, 1e6),
    delta=unit,
    theta1=unit,
    lexical_weight=unit,
    rrf_k=st.integers(1, 1000),
    session_decay_per_second=st.floats(0, 1e3),
)


# --- constants -----------------------------------------------------------------------------------------------


def test_the_seed_profile_carries_the_seeds_constants() -> None:
    seed = SEED_PROFILE
    assert (seed.form, seed.omega0, seed.lexical_weight) == ("product", 0.0, 0.0)
    assert (seed.alpha_r, seed.alpha_f, seed.alpha_a) == (0.5, 0.2, 0.3)
    assert (seed.kappa, seed.delta, seed.theta1) == (0.3, 0.5, 0.2)


def test_each_scope_forgets_at_its_own_rate() -> None:
    rates = {scope: DEFAULT_PROFILE.decay_per_second(scope) for scope in SCOPES}
    assert rates == {"session": 1e-4, "durable": 1e-5, "global": 2e-6, "lore": 2e-6, "summary": 1e-4}


def test_the_default_profile_has_a_floor_and_a_lexical_leg() -> None:
    assert (DEFAULT_PROFILE.form, DEFAULT_PROFILE.omega0) == ("product", 0.8)
    assert (DEFAULT_PROFILE.lexical_weight, DEFAULT_PROFILE.rrf_k) == (0.6, 10)
    assert replace(DEFAULT_PROFILE, omega0=0.0, lexical_weight=0.0) == SEED_PROFILE


def test_the_linear_profile_differs_from_the_seed_in_form_alone() -> None:
    assert replace(SEED_LINEAR_PROFILE, form="product") == SEED_PROFILE
    assert SEED_SCOPE_PRIOR == {"session": 1.0, "durable": 0.6, "global": 0.3, "lore": 0.3, "summary": 1.0}


# --- validation ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["omega0", "alpha_r", "alpha_f", "alpha_a", "delta", "theta1", "lexical_weight"]
)
@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf])
def test_a_share_outside_zero_and_one_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"^scoring constant '{name}' is {value}; it lies in \[0, 1\]$"):
        ScoringProfile(**{name: value})


@pytest.mark.parametrize(
    "name",
    [
        "kappa",
        "session_decay_per_second",
        "durable_decay_per_second",
        "global_decay_per_second",
        "lore_decay_per_second",
        "summary_decay_per_second",
    ],
)
@pytest.mark.parametrize("value", [-1e-9, math.nan, math.inf])
def test_a_negative_or_endless_rate_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(
        ValueError, match=f"^scoring constant '{name}' is {value}; it is a finite number from 0 up$"
    ):
        ScoringProfile(**{name: value})


def test_a_rate_of_zero_is_legal() -> None:
    assert ScoringProfile(kappa=0.0, session_decay_per_second=0.0).kappa == 0.0


def test_fusion_needs_a_positive_k() -> None:
    assert ScoringProfile(rrf_k=1).rrf_k == 1
    with pytest.raises(ValueError, match=r"^scoring constant 'rrf_k' is 0; it is a whole number from 1 up$"):
        ScoringProfile(rrf_k=0)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^scoring form is 'cubic'; choose one of product, seed_linear$"):
        ScoringProfile(form="cubic")


def test_the_three_alphas_may_share_one_weight_and_no_more() -> None:
    assert ScoringProfile(alpha_r=0.4, alpha_f=0.3, alpha_a=0.3).alpha_r == 0.4
    assert ScoringProfile(alpha_r=0.0, alpha_f=0.0, alpha_a=0.0).alpha_a == 0.0
    with pytest.raises(ValueError, match=r"add up to 1.001; lower one until they share a weight of 1$"):
        ScoringProfile(alpha_r=0.501)


@pytest.mark.parametrize("bound", [0.0, 1.0])
def test_the_ends_of_the_unit_range_are_legal(bound: float) -> None:
    assert ScoringProfile(omega0=bound, delta=bound, theta1=bound, lexical_weight=bound).delta == bound


# --- terms of the score --------------------------------------------------------------------------------------


@given(any_float | st.none())
def test_clamp_always_lands_in_the_unit_range(value: float | None) -> None:
    assert 0 <= clamp01(value) <= 1


@given(unit)
def test_clamp_leaves_the_unit_range_alone(value: float) -> None:
    assert clamp01(value) == value


def test_coverage_is_the_share_of_keywords_that_a_memory_holds() -> None:
    assert measure_coverage({"a", "b", "c", "d"}, {"a", "x"}) == 0.25
    assert measure_coverage({"a"}, {"a", "b"}) == 1.0
    assert measure_coverage(set(), {"a"}) == 0.0
    assert measure_coverage({"a"}, set()) == 0.0


def test_recency_follows_the_exponential_law() -> None:
    assert measure_recency(0.0, decay_per_second=1e-4) == 1.0
    assert measure_recency(10_000.0, decay_per_second=1e-4) == pytest.approx(math.exp(-1))
    assert measure_recency(1e300, decay_per_second=1e-4) == 0.0


def test_a_memory_from_the_future_is_as_recent_as_now() -> None:
    assert measure_recency(-500.0, decay_per_second=1e-4) == 1.0


@pytest.mark.parametrize("age", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("rate", [0.0, 1e-4])
def test_an_age_that_is_no_number_earns_no_recency(age: float, rate: float) -> None:
    assert measure_recency(age, decay_per_second=rate) == 0.0


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.sampled_from(SCOPES))
def test_older_is_never_more_recent(one: float, other: float, scope: str) -> None:
    rate = DEFAULT_PROFILE.decay_per_second(scope)
    young, old = sorted((one, other))
    assert measure_recency(old, decay_per_second=rate) <= measure_recency(young, decay_per_second=rate)


def test_frequency_is_the_damped_share_of_the_most_read() -> None:
    assert measure_frequency(0, max_useful_count=100) == 0.0
    assert measure_frequency(-1, max_useful_count=100) == 0.0
    assert measure_frequency(1, max_useful_count=1) == pytest.approx(math.log(2) / math.log(3))
    assert measure_frequency(3, max_useful_count=8) == pytest.approx(math.log(4) / math.log(10))


def test_a_count_beyond_the_known_maximum_is_its_own_maximum() -> None:
    assert measure_frequency(8, max_useful_count=3) == measure_frequency(8, max_useful_count=8)


@given(st.integers(-5, 10**40), st.integers(-5, 10**40))
def test_frequency_stays_in_the_unit_range(count: int, most: int) -> None:
    assert 0 <= measure_frequency(count, max_useful_count=most) <= 1


def test_fusion_is_normalised_by_the_best_possible_ranks() -> None:
    assert fuse_ranks(1, 1, rrf_k=60) == 1.0
    assert fuse_ranks(None, 1, rrf_k=60) == 0.5
    assert fuse_ranks(None, None, rrf_k=60) == 0.0
    assert fuse_ranks(1, 62, rrf_k=60) == pytest.approx(0.75)
    assert fuse_ranks(12, 34, rrf_k=10) == pytest.approx((11 / 22 + 11 / 44) / 2)


def test_a_rank_below_one_counts_as_one() -> None:
    assert fuse_ranks(0, None, rrf_k=10) == fuse_ranks(-7, None, rrf_k=10) == 0.5


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(1, 1000))
def test_being_found_twice_beats_being_found_once(one: int, other: int, k: int) -> None:
    assert 0 < fuse_ranks(one, None, rrf_k=k) < fuse_ranks(one, other, rrf_k=k) <= 1
    assert fuse_ranks(one, other, rrf_k=k) == fuse_ranks(other, one, rrf_k=k)


# --- pass 1 --------------------------------------------------------------------------------------------------


def test_meaning_admits_from_theta_up_and_a_name_admits_always() -> None:
    assert is_found(make_facts(cosine=0.2), profile=DEFAULT_PROFILE)
    assert not is_found(make_facts(cosine=0.199), profile=DEFAULT_PROFILE)
    assert is_found(make_facts(cosine=0.1, lexical_rank=40), profile=DEFAULT_PROFILE)
    assert is_found(make_facts(cosine=None, lexical_rank=1), profile=DEFAULT_PROFILE)
    assert not is_found(make_facts(cosine=None), profile=DEFAULT_PROFILE)


@pytest.mark.parametrize("cosine", [math.nan, math.inf, -math.inf])
def test_a_cosine_that_is_no_number_admits_nothing(cosine: float) -> None:
    assert not is_found(make_facts(cosine=cosine), profile=DEFAULT_PROFILE)


# --- the score -----------------------------------------------------------------------------------------------


def test_the_product_form_matches_the_worked_example() -> None:
    facts = make_facts(
        cosine=0.8,
        age_seconds=1e5,
        useful_count=3,
        max_useful_count=8,
        authority=0.6,
        terms=frozenset({"redis"}),
    )
    scored = score(facts, "redis", "port", profile=SEED_PROFILE)
    recency, frequency = math.exp(-1), math.log(4) / math.log(10)
    omega = 0.5 * recency + 0.2 * frequency + 0.3 * 0.6
    assert scored.coverage == 0.5
    assert scored.recency == pytest.approx(recency)
    assert scored.frequency == pytest.approx(frequency)
    assert scored.authority == 0.6
    assert scored.omega == pytest.approx(omega)
    assert scored.quality == 1.0
    assert scored.semantic == pytest.approx(0.8 * 1.15 / 1.3)
    assert scored.score == pytest.approx(omega * 0.8 * 1.15 / 1.3)
    assert scored.evidence == pytest.approx(scored.score)


def test_the_default_form_blends_fusion_into_relevance() -> None:
    facts = make_facts(cosine=0.5, vector_rank=1, lexical_rank=12, age_seconds=math.inf)
    scored = score(facts, "redis")
    assert scored.omega == 0.8
    assert scored.fusion == pytest.approx(0.75)
    assert scored.semantic == pytest.approx(0.5 / 1.3)
    assert scored.relevance == pytest.approx(0.4 * 0.5 / 1.3 + 0.6 * 0.75)
    assert scored.score == pytest.approx(0.8 * (0.4 * 0.5 / 1.3 + 0.6 * 0.75))


def test_the_linear_form_matches_the_worked_example() -> None:
    facts = make_facts(scope="global", cosine=0.5, age_seconds=5e5, authority=1.0)
    scored = score(facts, profile=SEED_LINEAR_PROFILE)
    base = 0.7 * 0.5 + 0.2 * math.exp(-1) + 0.1 * 0.3
    assert scored.score == pytest.approx(base)
    assert scored.semantic == pytest.approx(base)
    assert scored.omega == 1.0


def test_the_linear_form_can_carry_the_lexical_leg() -> None:
    facts = make_facts(scope="session", cosine=None, lexical_rank=1, age_seconds=math.inf)
    scored = score(facts, profile=replace(SEED_LINEAR_PROFILE, lexical_weight=0.5))
    assert scored.score == pytest.approx(0.5 * 0.1 + 0.5 * 0.5)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_summary_is_worth_what_it_is_trusted(profile: ScoringProfile) -> None:
    def at(confidence: float | None) -> ScoredCandidate:
        return score(make_facts(scope="summary", confidence=confidence), profile=profile)

    assert (at(1.0).quality, at(0.4).quality, at(0.0).quality) == (1.0, pytest.approx(0.7), 0.5)
    assert at(0.4).score == pytest.approx(0.7 * at(1.0).score)
    assert at(None) == at(0.0) == at(math.nan)


@pytest.mark.parametrize("scope", [scope for scope in SCOPES if scope != "summary"])
def test_confidence_does_not_touch_what_is_no_summary(scope: str) -> None:
    assert score(make_facts(scope=scope, confidence=0.0)).quality == 1.0


@given(facts_of_any_kind, keyword_sets, profiles)
def test_every_score_and_every_term_lies_in_the_unit_range(
    facts: CandidateFacts, keywords: frozenset[str], profile: ScoringProfile
) -> None:
    scored = score_candidate(facts, keywords=keywords, profile=profile)
    for name in scored.__slots__:
        value = getattr(scored, name)
        if isinstance(value, float):
            assert 0 <= value <= 1, name
    assert scored.id == facts.id
    assert scored.scope == facts.scope


@given(facts_of_any_kind, keyword_sets, profiles.filter(lambda profile: profile.form == "product"))
def test_the_product_score_is_weight_times_relevance_times_quality(
    facts: CandidateFacts, keywords: frozenset[str], profile: ScoringProfile
) -> None:
    scored = score_candidate(facts, keywords=keywords, profile=profile)
    assert scored.score == pytest.approx(scored.omega * scored.relevance * scored.quality)
    assert scored.omega >= profile.omega0 - 1e-12


@given(st.integers(1, 10**6), st.sampled_from(SCOPES))
def test_what_is_found_by_name_alone_still_scores(rank: int, scope: str) -> None:
    facts = make_facts(scope=scope, cosine=None, lexical_rank=rank, age_seconds=math.inf)
    assert score(facts).score > 0
    assert score(facts, profile=SEED_PROFILE).score == 0


@given(st.floats(0.01, 1))
def test_an_old_unread_unauthored_memory_scores_by_default_and_not_in_the_seed(cosine: float) -> None:
    facts = make_facts(cosine=cosine, age_seconds=1e12)
    assert score(facts).score > 0
    assert score(facts, profile=SEED_PROFILE).score == 0


@given(facts_of_any_kind, keyword_sets, st.sampled_from(PROFILES), unit, unit)
def test_a_closer_memory_never_scores_less(
    facts: CandidateFacts, keywords: frozenset[str], profile: ScoringProfile, one: float, other: float
) -> None:
    far, near = sorted((one, other))
    low = score_candidate(replace(facts, cosine=far), keywords=keywords, profile=profile)
    high = score_candidate(replace(facts, cosine=near), keywords=keywords, profile=profile)
    assert low.score <= high.score


@given(facts_of_any_kind, st.sampled_from(PROFILES))
def test_holding_more_keywords_never_scores_less(facts: CandidateFacts, profile: ScoringProfile) -> None:
    keywords = frozenset(TERMS)
    full = score_candidate(replace(facts, terms=keywords), keywords=keywords, profile=profile)
    assert score_candidate(facts, keywords=keywords, profile=profile).score <= full.score


@given(facts_of_any_kind, keyword_sets, st.sampled_from(PROFILES), st.integers(1, 500), st.integers(1, 500))
def test_a_better_rank_never_scores_less(
    facts: CandidateFacts, keywords: frozenset[str], profile: ScoringProfile, one: int, other: int
) -> None:
    high, low = sorted((one, other))
    for leg in ("lexical_rank", "vector_rank"):
        ahead = score_candidate(replace(facts, **{leg: high}), keywords=keywords, profile=profile)
        behind = score_candidate(replace(facts, **{leg: low}), keywords=keywords, profile=profile)
        assert behind.score <= ahead.score


@pytest.mark.parametrize("cosine", [None, math.nan, math.inf, -math.inf, -0.4, 0.0])
def test_an_unknown_broken_or_opposite_cosine_counts_as_none(cosine: float | None) -> None:
    assert score(make_facts(cosine=cosine)).cosine == 0.0


# --- evidence ------------------------------------------------------------------------------------------------


def test_evidence_ignores_ranks_so_the_first_of_a_bad_list_stays_weak() -> None:
    bad = make_facts(cosine=0.1, vector_rank=1, age_seconds=math.inf)
    scored = score(bad, "redis")
    assert scored.score == pytest.approx(0.8 * (0.4 * 0.1 / 1.3 + 0.6 * 0.5))
    assert scored.evidence == pytest.approx(0.8 * 0.1 / 1.3)


def test_a_name_that_matches_is_evidence_where_the_lexical_leg_counts() -> None:
    named = make_facts(cosine=None, lexical_rank=3, age_seconds=math.inf, terms=frozenset({"redis"}))
    assert score(named, "redis", "port").evidence == pytest.approx(0.8 * 0.5)
    assert score(named, "redis", "port", profile=replace(DEFAULT_PROFILE, lexical_weight=0.0)).evidence == 0.0
    assert score(replace(named, lexical_rank=None), "redis", "port").evidence == 0.0


def test_evidence_of_a_doubtful_summary_is_discounted() -> None:
    facts = make_facts(scope="summary", cosine=1.0, confidence=0.0, age_seconds=math.inf)
    assert score(facts).evidence == pytest.approx(0.8 * (1 / 1.3) * 0.5)


# --- ranking -------------------------------------------------------------------------------------------------


@given(st.lists(facts_of_any_kind, max_size=12), keyword_sets, st.sampled_from(PROFILES), st.randoms())
def test_the_ranking_is_sorted_and_does_not_depend_on_the_order_given(
    facts: list[CandidateFacts], keywords: frozenset[str], profile: ScoringProfile, random: Random
) -> None:
    ranked = rank_candidates(facts, keywords=keywords, profile=profile)
    shuffled = list(facts)
    random.shuffle(shuffled)
    assert rank_candidates(shuffled, keywords=keywords, profile=profile) == ranked
    keys = [(-candidate.score, candidate.id) for candidate in ranked]
    assert keys == sorted(keys)
    assert {candidate.id for candidate in ranked} == {candidate.id for candidate in facts}
    assert len({candidate.id for candidate in ranked}) == len(ranked)


def test_an_id_found_in_two_scopes_is_kept_at_its_best() -> None:
    facts = [make_facts(cosine=0.3), make_facts(cosine=0.9, scope="session"), make_facts(cosine=0.5)]
    (only,) = rank_candidates(facts, keywords=frozenset(), profile=DEFAULT_PROFILE)
    assert (only.cosine, only.scope) == (0.9, "session")


def test_nothing_ranks_to_nothing() -> None:
    assert rank_candidates([], keywords=frozenset({"x"}), profile=DEFAULT_PROFILE) == ()
