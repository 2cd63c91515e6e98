"""The invariants of memory-model.md, each with its property test and one way to break it.

A property that still passes on the broken rule proves nothing: `python -m bench.mutants.rules` breaks each
rule in turn and expects its test to fail.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from hypothesis import Phase, settings

from bench.mutants.running import end_with, read_status, run_anew

# As many examples as `make test` tries, but the same ones each time.
settings.register_profile(
    "rules", derandomize=True, deadline=None, database=None, phases=(Phase.explicit, Phase.generate)
)


@dataclass(frozen=True, slots=True)
class Rule:
    """An invariant: `was` is how the code keeps it, `becomes` breaks it, and `test` must notice."""

    invariant: str
    test: str  # file::name, under tests/unit
    module: str
    was: str
    becomes: str


RULES = (
    Rule(
        "partition sums: the tiers add up to the budget",
        "test_budget.py::test_what_each_tier_may_take_adds_up_to_the_budget_at_most",
        "budget",
        "max(0, total - hard - soft - tail - guidance)",
        "max(0, total - hard - soft - tail)",
    ),
    Rule(
        "partition sums: what is rendered never exceeds the budget",
        "test_assembly.py::test_the_rendered_text_never_exceeds_the_budget_unless_it_says_so[chars]",
        "assembly",
        "    fill = _Fill(measure=start_count(counter), total=total,",
        "    total += 40\n    fill = _Fill(measure=start_count(counter), total=total,",
    ),
    Rule(
        "partition sums: every authored node has exactly one tier",
        "test_authored.py::TestTiers::test_every_node_is_in_exactly_one_tier_and_no_token_is_lost",
        "authored",
        "return tuple(node for node in nodes if node.tier is tier)",
        "return tuple(node for node in nodes if node.tier >= tier)",
    ),
    Rule(
        "prefix order: soft rules are a prefix in source order",
        "test_invariants.py::test_a_soft_rule_that_does_not_fit_ends_the_prefix",
        "assembly",
        "for late in blocks[index:])\n            return",
        "for late in blocks[index:])\n            continue",
    ),
    Rule(
        "tail ⊇ base: the base has enough turns",
        "test_tail.py::test_the_base_is_the_shortest_whole_suffix_with_enough_turns",
        "tail",
        "wanted = len(turns) - min_turns",
        "wanted = len(turns) - min_turns + 1",
    ),
    Rule(
        "tail ⊇ base: the tail holds the base",
        "test_tail.py::test_the_tail_holds_the_base_and_splits_no_bundle",
        "tail",
        "    return end\n",
        "    return min(end + 1, len(turns))\n",
    ),
    Rule(
        "tail ⊇ base: hard rules and base are whole in every prompt",
        "test_assembly.py::test_hard_rules_and_the_base_tail_are_always_whole",
        "assembly",
        "for block in supply.tail[base_start:] if not block.is_visible]",
        "for block in supply.tail[base_start + 1:] if not block.is_visible]",
    ),
    Rule(
        "no bundle split",
        "test_tail.py::test_the_tail_holds_the_base_and_splits_no_bundle",
        "tail",
        "[index for index in bundle_starts(turns) if index < base_start]",
        "[index for index in range(len(turns)) if index < base_start]",
    ),
    Rule(
        "no bundle split, in a whole prompt",
        "test_invariants.py::test_a_bundle_is_in_the_prompt_whole_or_not_at_all",
        "tail",
        "[index for index in bundle_starts(turns) if index < base_start]",
        "[index for index in range(len(turns)) if index < base_start]",
    ),
    Rule(
        "scores in [0, 1]",
        "test_scoring.py::test_every_score_and_every_term_lies_in_the_unit_range",
        "scoring",
        "return min(1.0, max(0.0, value)) if",
        "return max(0.0, value) if",
    ),
    Rule(
        "scores never NaN",
        "test_invariants.py::test_no_broken_number_makes_a_score_that_is_none",
        "scoring",
        "if not math.isfinite(age_seconds):",
        "if math.isinf(age_seconds):",
    ),
    Rule(
        "gate bounds: every signal in [0, 1]",
        "test_gating.py::test_every_signal_is_a_share",
        "gating",
        "usable = (min(max(value, -1.0), 1.0) if math.isfinite(value) else 0.0 for value in similarities)",
        "usable = (2 * value for value in similarities)",
    ),
    Rule(
        "gate bounds: G between its branches",
        "test_gating.py::test_the_score_lies_between_its_branches",
        "gating",
        "score = min(max(mixed, min(gconv, gtech)), max(gconv, gtech))",
        "score = gconv + text_signals.t * gtech",
    ),
    Rule(
        "gate collapses: T = 0 is Gconv, T = 1 is Gtech",
        "test_gating.py::test_a_pure_turn_takes_its_own_branch",
        "gating",
        "(1.0 - text_signals.t) * gconv + text_signals.t * gtech",
        "0.5 * gconv + 0.5 * gtech",
    ),
    Rule(
        "gate collapses: no durable neighbours, H = 1",
        "test_gating.py::test_no_durable_neighbours_means_h_is_one",
        "gating",
        "    if not nearest:\n        return 1.0",
        "    if not nearest:\n        return 0.0",
    ),
    Rule(
        "saturation veto: S = 1, R = 0",
        "test_gating.py::test_saturation_vetoes_repetition",
        "gating",
        "repetition = frequency * (1.0 - saturation)",
        "repetition = frequency * (1.0 - 0.9 * saturation)",
    ),
    Rule(
        "code does not raise Dnl",
        "test_invariants.py::test_what_would_be_load_in_prose_is_none_in_a_fence",
        "gating",
        "prose = strip_code(text)",
        "prose = text",
    ),
    Rule(
        "DAG acyclic: a knot is noticed",
        "test_invariants.py::test_an_edge_back_to_a_summary_above_is_noticed",
        "lineage",
        "if len(members) > 1 or node in graph.children.get(node, ()):",
        "if len(members) > 1:",
    ),
    Rule(
        "DAG acyclic: acyclic means that no node reaches itself",
        "test_lineage.py::test_acyclic_means_that_no_node_reaches_itself",
        "lineage",
        "lowest[above] = min(lowest[above], lowest[node])",
        "lowest[above] = lowest[above]",
    ),
    Rule(
        "every expansion non-empty, raw turns only",
        "test_invariants.py::test_a_graph_grown_by_compaction_stays_acyclic_and_every_summary_leads_to_turns",
        "lineage",
        "stack.extend(reversed(graph.children.get(current, ())))",
        "found.extend(graph.children.get(current, ()))",
    ),
    Rule(
        "strict progress: what is accepted costs less than its sources",
        "test_invariants.py::test_whatever_is_accepted_costs_strictly_less_than_its_sources",
        "summaries",
        "return 0 < summary_tokens < source_tokens",
        "return 0 <= summary_tokens <= source_tokens",
    ),
    Rule(
        "strict progress: an attempt at its limit",
        "test_invariants.py::test_an_attempt_that_fills_its_limit_still_makes_progress",
        "summaries",
        "bound = max(source_tokens - 1, 0)",
        "bound = source_tokens",
    ),
    Rule(
        "strict progress: the footer",
        "test_invariants.py::test_a_footer_never_takes_the_progress_away",
        "summaries",
        "if count_tokens(footer) <= footer_tokens and is_small:",
        "if count_tokens(footer) <= footer_tokens:",
    ),
    Rule(
        "monotone confidence → score",
        "test_invariants.py::test_a_summary_trusted_more_never_scores_less",
        "scoring",
        "return 1 - delta * (1 - clamp01(facts.confidence))",
        "return 1 - delta * clamp01(facts.confidence)",
    ),
    Rule(
        "monotone confidence → score: it counts at all",
        "test_invariants.py::test_a_summary_trusted_more_never_scores_less",
        "scoring",
        "return 1 - delta * (1 - clamp01(facts.confidence))",
        "return 1 - delta",
    ),
    Rule(
        "idempotent clustering ids",
        "test_clustering.py::test_the_same_sources_have_the_same_id_in_any_order",
        "clustering",
        "sources = sorted(set(source_ids))",
        "sources = list(source_ids)",
    ),
    Rule(
        "idempotent clustering ids: other sources, another id",
        "test_clustering.py::test_other_input_has_another_id",
        "clustering",
        "json.dumps([session_id, level, sources])",
        "json.dumps([session_id, sources])",
    ),
    Rule(
        "clusters are a chronological partition",
        "test_clustering.py::test_clusters_and_declined_turns_are_a_chronological_partition",
        "clustering",
        "runs[i * count // n].append(source_id)",
        "runs[i % count].append(source_id)",
    ),
    Rule(
        "permutation invariance: neighbours of the gate",
        "test_gating.py::test_the_order_of_neighbours_does_not_matter",
        "gating",
        "return sorted(usable, reverse=True)[:count]",
        "return list(usable)[:count]",
    ),
    Rule(
        "permutation invariance: ranking",
        "test_scoring.py::test_the_ranking_is_sorted_and_does_not_depend_on_the_order_given",
        "scoring",
        "for candidate in sorted(scored, key=_rank_key):",
        "for candidate in scored:",
    ),
    Rule(
        "permutation invariance: packing",
        "test_selection.py::test_the_order_given_does_not_matter",
        "selection",
        "return (-score, item.id, item.tokens, item.text_key)",
        "return (-score, '', 0, '')",
    ),
    Rule(
        "permutation invariance: hops",
        "test_invariants.py::test_hops_do_not_depend_on_the_order_of_items_or_links",
        "hops",
        "sorted(scores, key=lambda id_: (-_finite(scores[id_]), id_))",
        "sorted(scores, key=lambda id_: -_finite(scores[id_]))",
    ),
    Rule(
        "permutation invariance: sources of a summary",
        "test_invariants.py::test_quality_does_not_depend_on_the_order_of_the_sources",
        "summaries",
        "_direction(sources.mean(axis=0))",
        "sources[0]",
    ),
    Rule(
        "permutation invariance: which rule supersedes which",
        "test_guidance.py::test_supersession_does_not_depend_on_the_order_given",
        "guidance",
        "ordered = sorted(rules, key=_spoken_order)",
        "ordered = list(rules)",
    ),
    Rule(
        "permutation invariance: who enters the guidance reserve",
        "test_invariants.py::test_the_guidance_reserve_does_not_depend_on_the_order_given",
        "guidance",
        "relevant.sort(key=lambda c: (-clamp01(c.score), c.id))",
        "relevant.sort(key=lambda c: -clamp01(c.score))",
    ),
    Rule(
        "scores in [0, 1]: the ranking of passages",
        "test_relevance.py::test_every_score_lies_in_0_to_1_and_is_a_number_and_best_comes_first",
        "relevance",
        "score = weighed / (1 + weighed)",
        "score = weighed",
    ),
    Rule(
        "scores never NaN: the ranking of passages",
        "test_relevance.py::test_every_score_lies_in_0_to_1_and_is_a_number_and_best_comes_first",
        "relevance",
        "return np.where(np.isfinite(column), column, 0.0)",
        "return column",
    ),
    Rule(
        "monotone confidence → score: the ranking of passages",
        "test_relevance.py::test_a_more_trusted_summary_never_scores_less",
        "relevance",
        "doubt = weights.delta * (1 - _unit_column(listed.confidence))",
        "doubt = weights.delta * _unit_column(listed.confidence)",
    ),
    Rule(
        "permutation invariance: the ranking of passages",
        "test_relevance.py::test_passages_that_match_alike_come_by_their_ids_in_whatever_order_they_were_found",
        "relevance",
        "range(len(score)), strict=True))",
        "range(len(score)), strict=True), key=lambda one: one[0])",
    ),
    Rule(
        "ξ = 0 changes nothing",
        "test_temporal.py::test_an_inactive_intent_changes_nothing",
        "temporal",
        "return xi >= ACTIVE_INTENT",
        "return xi >= 0",
    ),
    Rule(
        "a model only adds protection",
        "test_guidance.py::test_a_model_only_adds_protection",
        "guidance",
        "        if is_deontic:\n            reason",
        "        if is_deontic and strength < MIN_BOOSTER:\n            reason",
    ),
)


def break_rule(rule: Rule) -> str:
    """Run the test of a rule on the broken code: "killed" is what is hoped for."""
    path = Path("models/domain", f"{rule.module}.py")
    source = path.read_text()
    if source.count(rule.was) != 1:
        raise ValueError(
            f"{path} holds {rule.was!r} {source.count(rule.was)} times, expected once; renew the rule"
        )
    broken = source.replace(rule.was, rule.becomes)
    test = {f"tests/unit/{rule.test}": 5.0}
    pid = os.fork()
    if not pid:
        end_with(lambda: run_anew(f"models.domain.{rule.module}", broken, seconds=test))
    _, status = os.waitpid(pid, 0)
    return read_status(status)


def main() -> int:
    """0 when every property fails on its broken rule, and passes on the code as it is."""
    settings.load_profile("rules")
    failed = 0
    for rule in RULES:
        kept = break_rule(Rule(rule.invariant, rule.test, rule.module, rule.was, rule.was))
        broken = break_rule(rule)
        is_proved = kept == "survived" and broken in ("killed", "timeout")
        failed += not is_proved
        print(f"{'proved' if is_proved else 'NOT PROVED':10} {rule.invariant} ({kept}, broken: {broken})")
    print(f"{len(RULES) - failed} of {len(RULES)} invariants have a test that fails when they are broken")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
