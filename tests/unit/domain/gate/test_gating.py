"""The gate: every term, weight and invariant of memory-model.md section 5."""

import math
from dataclasses import asdict, astuple, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.gate import cues as gating_cues
from models.domain.gate import gating
from models.domain.gate.gating import (
    DEFAULT_THRESHOLD,
    SPAN_DENSITY,
    SPAN_SPECIFICITY,
    GateDecision,
    GateSignals,
    TextSignals,
    decide_gate,
    estimate_length,
    measure_frequency,
    measure_novelty,
    measure_saturation,
    read_text_signals,
)
from models.domain.gate.weights import DEFAULT_WEIGHTS, GateWeights
from models.domain.text.prose import is_code_line, strip_code

MEGABYTE = 1_000_000

shares = st.floats(min_value=0.0, max_value=1.0)
cosines = st.floats(min_value=-1.0, max_value=1.0)
text_signals = st.builds(
    TextSignals, t=shares, d=shares, p=shares, a=shares, dtech=shares, worth=shares, reasons=st.just(())
)
neighbours = st.lists(cosines, max_size=12)


def make_signals(
    *, t: float = 0.0, d: float = 0.0, p: float = 0.0, a: float = 0.0, dtech: float = 0.0, worth: float = 0.0
) -> TextSignals:
    return TextSignals(t=t, d=d, p=p, a=a, dtech=dtech, worth=worth, reasons=())


def decide(signals: TextSignals, turns: list[float], memories: list[float]) -> GateDecision:
    return decide_gate(signals, turn_similarities=turns, memory_similarities=memories)


# --- the formula ----------------------------------------------------------------------------------


def test_the_conversational_branch_adds_up_as_written() -> None:
    decision = decide(make_signals(d=0.8), [0.9, 0.9, 0.1], [0.5, 0.3])
    assert decision.signals.h == pytest.approx(0.6)
    assert decision.signals.input_freq == pytest.approx(0.4)
    assert decision.signals.r == pytest.approx(0.4)
    assert decision.signals.gconv == pytest.approx(0.35 * 0.6 + 0.40 * 0.4 + 0.25 * 0.8)
    assert decision.signals.g == decision.signals.gconv


def test_the_technical_branch_adds_up_as_written() -> None:
    decision = decide(make_signals(t=1.0, p=0.5, a=0.4, dtech=0.3), [], [])
    assert decision.signals.gtech == pytest.approx(0.40 * 0.5 + 0.35 * 0.4 + 0.25 * 0.3)
    assert decision.signals.g == decision.signals.gtech


def test_a_mixed_turn_lies_between_its_branches_in_proportion() -> None:
    decision = decide(make_signals(t=0.25, d=0.4, p=1.0, a=1.0, dtech=1.0), [], [])
    assert decision.signals.g == pytest.approx(0.75 * (0.35 + 0.25 * 0.4) + 0.25 * 1.0)


def test_all_signals_are_carried_through_by_name() -> None:
    decision = decide(make_signals(t=0.1, d=0.2, p=0.3, a=0.4, dtech=0.5), [0.9], [0.9])
    signals = decision.signals
    assert (signals.t, signals.d, signals.p, signals.a, signals.dtech) == (0.1, 0.2, 0.3, 0.4, 0.5)
    assert signals.mem_saturation == pytest.approx(1 / 3)
    assert signals.r == pytest.approx(0.2 * 2 / 3)
    names = "g t h r d input_freq mem_saturation p a dtech gconv gtech worth score"
    assert [field.name for field in fields(GateSignals)] == names.split()


def test_a_turn_exactly_at_the_threshold_is_kept() -> None:
    seed = replace(DEFAULT_WEIGHTS, worth=0.0)

    def decide_at(threshold: float) -> GateDecision:
        return decide_gate(
            make_signals(), turn_similarities=[], memory_similarities=[], threshold=threshold, weights=seed
        )

    assert decide_at(0.35).score == decide_at(0.35).signals.g == 0.35
    assert decide_at(0.35).keep
    assert decide_at(0.35).threshold == 0.35
    assert not decide_at(math.nextafter(0.35, 1)).keep


def test_novelty_alone_keeps_nothing() -> None:
    greeting = decide(read_text_signals("Hey, good to see you!"), [], [])
    assert greeting.signals.h == 1.0
    assert greeting.signals.g == DEFAULT_WEIGHTS.novelty
    assert greeting.score < DEFAULT_THRESHOLD == greeting.threshold
    assert not greeting.keep


def test_the_score_weighs_what_the_words_tell_beside_what_is_new() -> None:
    decision = decide(make_signals(d=0.4, worth=0.9), [], [0.5, 0.3])
    omega = DEFAULT_WEIGHTS.worth
    assert decision.signals.worth == 0.9
    assert decision.score == decision.signals.score
    assert decision.score == pytest.approx((1 - omega) * decision.signals.g + omega * 0.9)


@given(text_signals, neighbours, neighbours)
def test_the_score_lies_between_g_and_worth(
    signals: TextSignals, turns: list[float], memories: list[float]
) -> None:
    s = decide(signals, turns, memories).signals
    assert min(s.g, s.worth) - 1e-12 <= s.score <= max(s.g, s.worth) + 1e-12


def test_reasons_of_the_text_are_the_reasons_of_the_decision() -> None:
    signals = read_text_signals("I prefer tea")
    assert decide(signals, [], []).reasons == signals.reasons
    assert signals.reasons[0] == "d.preference"
    assert "for.load" in signals.reasons


# --- invariants -------------------------------------------------------------------------------------


def test_no_neighbours_means_full_novelty() -> None:
    assert measure_novelty([]) == 1.0


@given(text_signals, neighbours)
def test_no_durable_neighbours_means_h_is_one(signals: TextSignals, turns: list[float]) -> None:
    assert decide(signals, turns, []).signals.h == 1.0


@given(text_signals, neighbours, st.lists(st.floats(min_value=0.85, max_value=1.0), min_size=3, max_size=5))
def test_saturation_vetoes_repetition(
    signals: TextSignals, turns: list[float], memories: list[float]
) -> None:
    decision = decide(signals, turns, memories)
    assert decision.signals.mem_saturation == 1.0
    assert decision.signals.r == 0.0


@given(text_signals, neighbours, neighbours)
def test_every_signal_is_a_share(signals: TextSignals, turns: list[float], memories: list[float]) -> None:
    assert all(0.0 <= value <= 1.0 for value in astuple(decide(signals, turns, memories).signals))


@given(text_signals, neighbours, neighbours)
def test_the_score_lies_between_its_branches(
    signals: TextSignals, turns: list[float], memories: list[float]
) -> None:
    s = decide(signals, turns, memories).signals
    assert min(s.gconv, s.gtech) <= s.g <= max(s.gconv, s.gtech)


@given(text_signals, neighbours, neighbours, st.sampled_from([0.0, 1.0]))
def test_a_pure_turn_takes_its_own_branch(
    signals: TextSignals, turns: list[float], memories: list[float], t: float
) -> None:
    pure = make_signals(t=t, d=signals.d, p=signals.p, a=signals.a, dtech=signals.dtech)
    s = decide(pure, turns, memories).signals
    assert s.g == (s.gtech if t else s.gconv)


@given(text_signals, neighbours, neighbours, shares)
def test_a_lower_threshold_never_drops_a_turn(
    signals: TextSignals, turns: list[float], memories: list[float], threshold: float
) -> None:
    at = decide_gate(signals, turn_similarities=turns, memory_similarities=memories, threshold=threshold)
    assert at.keep == (at.score >= threshold)
    assert decide_gate(signals, turn_similarities=turns, memory_similarities=memories, threshold=0.0).keep


@given(st.lists(cosines, min_size=1, max_size=5), st.integers(0, 4), shares)
def test_a_nearer_memory_never_raises_novelty(memories: list[float], place: int, step: float) -> None:
    nearer = list(memories)
    nearer[place % len(nearer)] = min(1.0, nearer[place % len(nearer)] + step)
    assert measure_novelty(nearer) <= measure_novelty(memories) + 1e-12


@given(text_signals, neighbours, neighbours)
def test_the_order_of_neighbours_does_not_matter(
    signals: TextSignals, turns: list[float], memories: list[float]
) -> None:
    assert decide(signals, turns, memories) == decide(signals, turns[::-1], memories[::-1])


# --- neighbours ---------------------------------------------------------------------------------------


def test_novelty_averages_the_five_nearest_and_opposites_count_as_unrelated() -> None:
    assert measure_novelty([0.5, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0]) == pytest.approx(0.5)
    assert measure_novelty([0.4, -1.0]) == pytest.approx(0.8)
    assert measure_novelty([1.0]) == 0.0
    assert measure_novelty([-1.0]) == 1.0


def test_frequency_counts_hits_from_080_on_and_saturates_at_five() -> None:
    assert measure_frequency([0.80]) == pytest.approx(0.2)
    assert measure_frequency([0.7999]) == 0.0
    assert measure_frequency([0.9] * 4) == pytest.approx(0.8)
    assert measure_frequency([0.9] * 5) == 1.0
    assert measure_frequency([0.9] * 11) == 1.0
    assert measure_frequency([]) == 0.0


def test_saturation_counts_hits_from_085_on_and_saturates_at_three() -> None:
    assert measure_saturation([0.85]) == pytest.approx(1 / 3)
    assert measure_saturation([0.8499]) == 0.0
    assert measure_saturation([0.9, 0.9]) == pytest.approx(2 / 3)
    assert measure_saturation([0.9] * 5) == 1.0
    assert measure_saturation([]) == 0.0


def test_only_ten_turns_and_five_memories_are_neighbours() -> None:
    assert (gating.TURN_NEIGHBOURS, gating.MEMORY_NEIGHBOURS) == (10, 5)
    assert measure_novelty([0.0, 0.0, 0.2, 0.2, 0.2, 0.2, 0.2]) == pytest.approx(0.8)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_similarity_that_is_not_finite_counts_as_unrelated(bad: float) -> None:
    assert measure_novelty([bad]) == 1.0
    assert measure_novelty([0.5, bad]) == pytest.approx(0.75)
    assert measure_frequency([bad, 0.9]) == pytest.approx(0.2)
    assert measure_saturation([bad, 0.9]) == pytest.approx(1 / 3)
    assert decide(make_signals(d=1.0), [bad] * 10, [bad] * 5).signals.g == pytest.approx(0.6)


def test_a_cosine_that_rounded_past_one_stays_a_cosine() -> None:
    assert measure_novelty([1.0000002]) == 0.0
    assert measure_novelty([-1.5]) == 1.0


# --- weights ---------------------------------------------------------------------------------------


def test_the_weights_are_those_of_the_contract() -> None:
    expected = {
        "novelty": 0.35,
        "repetition": 0.40,
        "load": 0.25,
        "specificity": 0.40,
        "actionability": 0.35,
        "structure": 0.25,
    }
    assert {name: value for name, value in asdict(DEFAULT_WEIGHTS).items() if name != "worth"} == expected


def test_a_conversational_branch_that_does_not_sum_to_one_is_refused_with_a_remedy() -> None:
    with pytest.raises(ValueError) as refusal:
        GateWeights(novelty=0.5)
    assert str(refusal.value) == (
        "conversational gate weights (novelty + repetition + load) sum to 1.15, expected 1; "
        "change one of them by -0.15"
    )


def test_a_technical_branch_that_does_not_sum_to_one_is_refused_with_a_remedy() -> None:
    with pytest.raises(ValueError, match=r"technical gate weights .* sum to 0\.9, expected 1; .* by \+0\.1"):
        GateWeights(specificity=0.3)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, math.inf])
def test_a_weight_outside_its_range_is_refused_by_name(bad: float) -> None:
    with pytest.raises(
        ValueError, match=r"gate weight 'load' is .*, expected 0 to 1; set it within that range"
    ):
        GateWeights(novelty=0.6, repetition=0.5, load=bad)


def test_a_branch_may_miss_one_by_rounding_only() -> None:
    assert GateWeights(novelty=0.35 + 5e-10).novelty == 0.35 + 5e-10
    with pytest.raises(ValueError, match="sum to"):
        GateWeights(novelty=0.35 + 5e-9)


def test_weights_that_exceed_one_by_rounding_do_not_lift_a_branch_over_one() -> None:
    weights = GateWeights(novelty=0.35 + 5e-10, specificity=0.40 + 5e-10)
    everything = make_signals(t=0.5, d=1.0, p=1.0, a=1.0, dtech=1.0)
    s = decide_gate(everything, turn_similarities=[0.9] * 5, memory_similarities=[], weights=weights).signals
    assert (s.gconv, s.gtech, s.g) == (1.0, 1.0, 1.0)


def test_extreme_weights_are_allowed() -> None:
    weights = GateWeights(
        novelty=0.0, repetition=0.0, load=1.0, specificity=1.0, actionability=0.0, structure=0.0
    )
    decision = decide_gate(make_signals(d=0.5), turn_similarities=[], memory_similarities=[], weights=weights)
    assert decision.signals.g == 0.5


@pytest.mark.parametrize("bad", [-0.01, 1.01, math.nan])
def test_a_threshold_outside_its_range_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=r"gate threshold is .*, expected 0 to 1; set it within that range"):
        decide_gate(make_signals(), turn_similarities=[], memory_similarities=[], threshold=bad)


# --- what the text says ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code_points", "tokens"), [(0, 1), (3, 1), (4, 1), (7, 1), (8, 2), (400, 100), (403, 100)]
)
def test_length_is_a_quarter_of_the_code_points_and_at_least_one(code_points: int, tokens: int) -> None:
    assert estimate_length("ä" * code_points) == tokens


def test_a_cue_cannot_be_changed() -> None:
    cue = gating_cues.DENSITY_CUES[0]
    assert not hasattr(cue, "__dict__")
    with pytest.raises(AttributeError):
        cue.weight = 1.0  # type: ignore[misc]


def test_pattern_weights_are_those_of_the_contract() -> None:
    density = {cue.name: cue.weight for cue in gating_cues.DENSITY_CUES} | dict(SPAN_DENSITY)
    assert density == {
        "code_fence": 0.5,
        "stack_trace": 0.5,
        "file_path": 0.4,
        "function_definition": 0.4,
        "shell_command": 0.4,
        "url": 0.3,
        "hash": 0.3,
    }
    assert dict(SPAN_SPECIFICITY) == {
        "error_code": 0.5,
        "file_path": 0.4,
        "git_reference": 0.4,
        "function_reference": 0.3,
        "url": 0.3,
    }
    assert {cue.name: cue.weight for cue in gating_cues.ACTION_CUES} == {
        "decision": 0.5,
        "fix": 0.4,
        "configuration": 0.4,
        "milestone": 0.3,
    }
    assert {cue.name: cue.weight for cue in gating_cues.STRUCTURE_CUES} == {
        "function_definition": 0.4,
        "data_structure": 0.3,
        "dependency": 0.3,
        "test": 0.2,
        "doc_comment": 0.2,
    }
    assert {cue.name: cue.weight for cue in gating_cues.LOAD_CUES} == {"preference": 0.4, "self_fact": 0.3}
    assert gating_cues.LOAD_DATE_WEIGHT == 0.3
    assert gating_cues.LOAD_PERSON_WEIGHT == 0.3
    assert gating_cues.LOAD_QUANTITY_WEIGHT == 0.2


FIRES = [
    # T and Dtech
    ("t.code_fence", "```\nx\n```"),
    ("t.code_fence", "~~~\nx\n~~~"),
    ("t.stack_trace", "Traceback (most recent call last):"),
    ("t.stack_trace", "    at com.example.Foo.bar(Foo.java:42)"),
    ("t.stack_trace", 'File "app.py", line 3'),
    ("t.stack_trace", "goroutine 1 [running]:"),
    ("t.stack_trace", "thread 'main' panicked at src/main.rs"),
    ("t.stack_trace", "Caused by: java.io.IOException"),
    ("t.stack_trace", "Segmentation fault (core dumped)"),
    ("t.stack_trace", "#0  0x00007f in main ()"),
    ("t.file_path", "in src/db/pool.py"),
    ("t.file_path", "the main.py file"),
    ("t.file_path", "a Dockerfile"),
    ("t.file_path", "at C:\\temp\\x"),
    ("t.function_definition", "def add(a, b):"),
    ("t.function_definition", "function add(a) {"),
    ("t.function_definition", "func (s *Server) Run() error {"),
    ("t.function_definition", "fn main() {"),
    ("t.function_definition", "const add = (a, b) => a"),
    ("t.function_definition", "public static void main(String[] args)"),
    ("t.function_definition", "int main(void) {"),
    ("t.function_definition", "lambda x, y: x"),
    ("t.shell_command", "$ ls"),
    ("t.shell_command", "run git push now"),
    ("t.shell_command", "then npm install it"),
    ("t.shell_command", "pip install numpy"),
    ("t.shell_command", "python -m pytest"),
    ("t.shell_command", "python tools/run.py"),
    ("t.shell_command", "docker compose up"),
    ("t.shell_command", "kubectl get pods"),
    ("t.shell_command", "sudo reboot"),
    ("t.shell_command", "curl -s x"),
    ("t.shell_command", "go test ./..."),
    ("t.url", "see https://example.org/x"),
    ("t.url", "GET /v1/turns"),
    ("t.hash", "commit a1b2c3d"),
    ("t.hash", "550e8400-e29b-41d4-a716-446655440000"),
    ("t.hash", "0x80070005"),
    ("t.hash", "sha256:e3b0c44298fc"),
    ("dtech.function_definition", "def add(a, b):"),
    ("dtech.data_structure", "class Foo(Bar):"),
    ("dtech.data_structure", "struct Point {"),
    ("dtech.data_structure", "type Name = string"),
    ("dtech.data_structure", "CREATE TABLE turns ("),
    ("dtech.data_structure", "the primary key"),
    ("dtech.dependency", "import os"),
    ("dtech.dependency", "from os import path"),
    ("dtech.dependency", "require('fs')"),
    ("dtech.dependency", "#include <stdio.h>"),
    ("dtech.dependency", "use std::fs"),
    ("dtech.dependency", "in pyproject.toml"),
    ("dtech.dependency", "a new dependency"),
    ("dtech.test", "def test_add():"),
    ("dtech.test", "assert x == 1"),
    ("dtech.test", "it('works')"),
    ("dtech.test", "run pytest"),
    ("dtech.test", "Unit tests pass"),
    ("dtech.test", "#[test]"),
    ("dtech.doc_comment", "/** docs */"),
    ("dtech.doc_comment", "/// docs"),
    ("dtech.doc_comment", "@param x"),
    ("dtech.doc_comment", '"""docs"""'),
    # P
    ("p.error_code", "TypeError: x"),
    ("p.file_path", "in src/db.py"),
    ("p.git_reference", "see PR #12"),
    ("p.git_reference", "commit a1b2c3d"),
    ("p.function_reference", "call save_turn() first"),
    ("p.url", "on localhost:8080"),
    # A
    ("a.decision", "We decided on Postgres"),
    ("a.decision", "we'll use Redis"),
    ("a.decision", "Let’s go with plan B"),
    ("a.decision", "Decision: keep it"),
    ("a.fix", "Fixed it"),
    ("a.fix", "the root cause was a race"),
    ("a.fix", "it turned out to be DNS"),
    ("a.fix", "found a workaround"),
    ("a.configuration", "set the timeout to 30"),
    ("a.configuration", "enabled tracing in staging"),
    ("a.configuration", "the config changed"),
    ("a.configuration", "export DATABASE_URL=x"),
    ("a.milestone", "merged it"),
    ("a.milestone", "deployed today"),
    ("a.milestone", "rolled back"),
    ("a.milestone", "tagged v2"),
    # Dnl
    ("d.preference", "I prefer aisle seats"),
    ("d.preference", "I love the new camera"),
    ("d.preference", "I really love hiking"),
    ("d.preference", "we usually enjoy it there"),
    ("d.preference", "I don’t like cilantro"),
    ("d.preference", "I can't stand mornings"),
    ("d.preference", "I'm a big fan of jazz"),
    ("d.preference", "I am allergic to nuts"),
    ("d.preference", "I've been enjoying tea"),
    ("d.preference", "my favourite colour is green"),
    ("d.preference", "I'd rather walk"),
    ("d.preference", "from now on, answer in French"),
    ("d.preference", "please never use emoji"),
    ("d.preference", "Ich mag Tee"),
    ("d.preference", "j'adore le thé"),
    ("d.preference", "me gusta el té"),
    ("d.preference", "я люблю чай"),
    ("d.preference", "我喜欢茶"),
    ("d.self_fact", "I bought a bike"),
    ("d.self_fact", "I just moved here"),
    ("d.self_fact", "We went there"),
    ("d.self_fact", "I've been working there"),
    ("d.self_fact", "I’ve visited it"),
    ("d.self_fact", "Nice. Just got a bike"),
    ("d.self_fact", "I work at a bank"),
    ("d.self_fact", "I have a bike"),
    ("d.self_fact", "I don't drive"),
    ("d.self_fact", "I'm a nurse"),
    ("d.self_fact", "I am from Peru"),
    ("d.self_fact", "my name is Ann"),
    ("d.self_fact", "my car is red"),
    ("d.self_fact", "on my new bike"),
    ("d.self_fact", "Ich wohne hier"),
    ("d.self_fact", "меня зовут Аня"),
    ("d.self_fact", "我住在北京"),
    ("d.date", "it is on March 3rd"),
    ("d.date", "it was yesterday"),
    ("d.date", "в пути 3 января 2024"),
    ("d.person", "with my sister"),
    ("d.person", "with my little cousin"),
    ("d.person", "with our old college friends"),
    ("d.person", "ask Dr. Lee"),
    ("d.person", "I met Émilie there"),
    ("d.person", "I met Ann there"),
    ("d.person", "a dog named Жучка"),
    ("d.person", "meine Frau kommt"),
    ("d.person", "我的朋友来了"),
    ("d.quantity", "it weighs 5 kg"),
    ("d.quantity", "it cost $20"),
    ("d.quantity", "with 17 cameras"),
    ("d.quantity", "with three cats"),
]


@pytest.mark.parametrize(("reason", "text"), FIRES)
def test_a_pattern_fires_and_is_named(reason: str, text: str) -> None:
    assert reason in read_text_signals(text).reasons


QUIET = [
    ("t.", "My aunt makes sure we go to the park and get some cat food."),
    ("t.", "He/she was open 24/7; the report.pdf cost $ 50 and I sat at a table."),
    ("p.", "The iPhone and YouTube are fine, item(s) and all."),
    ("a.", "What should we do about it?"),
    ("dtech.", "The class was fun and the test was hard; from Paris to Rome."),
    ("d.", "Can you recommend some good books about whales?"),
    ("d.", "I like these topic ideas. I love that! I love it. I like the sound of that."),
    ("d.", "I'd like to know more. I would love to see it."),
    ("d.", "I wanted to ask, I noticed it, I was wondering, I hoped so, I decided."),
    ("d.", "I had no idea. We got this! I've got it."),
    ("d.", "I've been thinking about it and I have a question. I have to go."),
    ("d.", "Have you been playing long? Been playing long?"),
    ("d.", "I'm a bit lost and a little tired."),
    ("d.", "Give me 10 ideas, 3 tips and five more examples. You two are fun."),
    ("d.", "Friends are nice and families are, too."),
    ("d.", "it took three of us"),
    ("d.", "soy sauce"),
    ("d.", "I've been trying it, I've been looking, I've been considering it"),
    ("d.self_fact", "I'm a big fan of jazz"),
]


@pytest.mark.parametrize(("prefix", "text"), QUIET)
def test_ordinary_talk_stays_quiet(prefix: str, text: str) -> None:
    assert [reason for reason in read_text_signals(text).reasons if reason.startswith(prefix)] == []


def test_technical_density_is_the_sum_over_one_and_a_half() -> None:
    assert read_text_signals("in src/db.py").t == pytest.approx(0.4 / 1.5)
    assert read_text_signals("see https://example.org/x").t == pytest.approx(0.2)
    assert read_text_signals("in src/db.py at a1b2c3d, see https://example.org/x").t == pytest.approx(
        1.0 / 1.5
    )


def test_technical_density_saturates_at_one() -> None:
    text = "```\ndef f(x):\n```\nTraceback (most recent call last):\nin src/db.py run git push"
    assert read_text_signals(text).t == 1.0


def test_density_counts_a_pattern_once_and_specificity_each_time() -> None:
    once, twice = read_text_signals("see src/a.py"), read_text_signals("see src/a.py, src/b.py")
    assert once.t == twice.t
    assert (once.p, twice.p) == (pytest.approx(0.4), pytest.approx(0.8))


def test_specificity_adds_what_each_kind_weighs_and_saturates() -> None:
    assert read_text_signals("TypeError").p == 0.5
    assert read_text_signals("PR #12").p == 0.4
    assert read_text_signals("go to save_turn() first").p == 0.3
    assert read_text_signals("see https://example.org").p == 0.3
    assert read_text_signals("TypeError TypeError TypeError").p == 1.0


def test_specificity_is_a_density_per_hundred_tokens() -> None:
    filler = "word " * 158
    text = "TypeError " + filler
    assert estimate_length(text) == 200
    assert read_text_signals(text).p == pytest.approx(0.25)
    short = "TypeError " + "word " * 78
    assert estimate_length(short) == 100
    assert read_text_signals(short).p == 0.5


def test_actionability_structure_and_load_add_up_and_are_capped() -> None:
    assert read_text_signals("We decided; fixed it").a == pytest.approx(0.9)
    assert read_text_signals("We decided, fixed it, merged it").a == 1.0
    assert read_text_signals("class A(B):\n/// docs").dtech == pytest.approx(0.5)
    assert read_text_signals("I prefer tea on Monday").d == pytest.approx(0.7)
    assert read_text_signals("I prefer tea with my sister on Monday, 5 km away, I moved there").d == 1.0


def test_a_mentioned_document_is_no_file_path() -> None:
    assert read_text_signals("I sent the report.pdf to her").t == 0.0
    assert read_text_signals("I sent docs/report.pdf to her").t > 0.0


def test_reasons_come_signal_by_signal() -> None:
    text = "I prefer tea. Fixed TypeError in src/db.py, def f(x): pass"
    reasons = read_text_signals(text).reasons
    assert tuple(one for one in reasons if not one.startswith(("for.", "against."))) == (
        "t.function_definition",
        "t.file_path",
        "d.preference",
        "p.error_code",
        "p.file_path",
        "a.fix",
        "dtech.function_definition",
    )


@given(st.text(max_size=300))
def test_any_text_gives_shares(text: str) -> None:
    signals = read_text_signals(text)
    assert all(0.0 <= value <= 1.0 for value in astuple(signals)[:5])


# --- code does not raise the load ------------------------------------------------------------------

CODE = [
    "import os\nimport sys\n\nbirthday = '1990-01-01'\n# I love my wife\nprint('I prefer tea')\n",
    "SELECT * FROM users WHERE birthday > '1990-01-01' AND name = 'my sister';",
    "SELECT name\nFROM my_friends\nWHERE born = '1990-01-01'\nORDER BY 1",
    '{"name": "my sister", "date": "2024-01-15", "likes": "I love pizza"}',
    '{\n  "name": "my sister",\n  "date": "2024-01-15"\n}',
    "const x = { me: 'I love cats', on: '2024-03-01' };\nfunction f() {\n  // I prefer tabs\n  return x;\n}",
    'fn main() {\n    println!("I love my wife since 3 May 2023");\n}\n',
    "public class A {\n  /** my mom likes this, 3 May 2023 */\n  private int x = 5;\n}",
    "2024-01-15 10:22:33 ERROR my friend failed 5 times\n2024-01-15 10:22:34 INFO I like retries",
    "def f(x):\n    '''I prefer my wife on Monday.\n\n    I live in Berlin.\n    '''\n    return x\n",
    'def f(x):\n    """I bought 5 bikes on Monday."""\n    return x\n',
    "if (user.likes('my mom')) {\n    date = '3 May 2023';\n} else {\n    pay(5, 'USD');\n}",
    '#include <stdio.h>\nint main(void) {\n  printf("I love my wife, 5 km\\n");\n  return 0;\n}',
    "<div>\n  <p>I love my wife since 3 May 2023</p>\n</div>",
    "x = [\n  'I love my wife',\n  '3 May 2023',\n]",
    "for day in days:\n    visit(my_sister, on='Monday')",
    "$ git log --since=yesterday\n$ echo 'I love you'",
    'Traceback (most recent call last):\n  File "my_wife.py", line 3\nValueError: I bought 5 bikes yesterday',
    'func main() {\n\tt := "2024-01-15"\n\tfmt.Println("my sister", t)\n}',
    "try:\n    x = f(3)\nexcept ValueError:\n    raise RuntimeError('I moved on Monday')",
    "@pytest.fixture\ndef sister():\n    return Person('Ann', born='1990-01-01')",
    "-- I love my wife\nINSERT INTO t VALUES ('2024-01-15');",
    "/*\n I prefer tea on Monday\n my wife\n*/\nint x = 5;",
    'match x {\n    1 => "my wife",\n    _ => "Monday",\n}',
]
PROSE = [
    "For my birthday, on Friday:",
    "return the book to my sister on Monday",
    "Let me know if that works, I love it there; see you",
    "class starts on Monday",
    "public transport is great in Berlin",
    "If you come on Friday, bring my sister.",
    "* Gift(s): a yellow dress",
    "I said (quietly) that I like tea.",
    "import duties cost $20",
    "select a gift for my mom",
    "return the books (both) to my sister",
    "with my wife, and for my kids",
    "My sister: Ann, born 1990",
    "- tea\n- coffee",
]


@pytest.mark.parametrize("code", CODE)
def test_pure_code_has_no_conversational_load(code: str) -> None:
    assert read_text_signals(code).d == 0.0
    assert read_text_signals(code.replace("\n", "\r\n")).d == 0.0


@pytest.mark.parametrize("line", PROSE)
def test_prose_is_not_taken_for_code(line: str) -> None:
    assert strip_code(line).split() == line.split()


@given(st.sampled_from(CODE), st.sampled_from(PROSE), st.sampled_from(["```", "````", "~~~", "```python"]))
def test_fenced_code_beside_prose_changes_no_load(code: str, words: str, fence: str) -> None:
    marks = fence.removesuffix("python")
    text = f"{words}\n{fence}\n{code}\n{marks}\n"
    assert read_text_signals(text).d == read_text_signals(words).d


@given(st.text(alphabet=st.characters(exclude_characters="`~"), max_size=100))
def test_whatever_stands_in_a_fence_adds_no_load(inside: str) -> None:
    assert read_text_signals(f"```\n{inside}\n```").d == 0.0
    assert read_text_signals(f"~~~\n{inside}\n~~~").d == 0.0


def test_inline_code_and_quoted_blocks_are_not_prose() -> None:
    assert strip_code("set `I love my wife` now").split() == ["set", "now"]
    assert strip_code("set ``I love `my` wife`` now").split() != ["set", "now"]
    assert strip_code("set ``I love my wife`` now").split() == ["set", "now"]
    assert strip_code('Sum up: """I love my wife""" please').split() == ["Sum", "up:", "please"]
    assert strip_code("a /* I love\nmy wife */ b").split() == ["a", "b"]


def test_an_open_fence_runs_to_the_end_and_a_shorter_one_does_not_close_it() -> None:
    assert strip_code("hello\n```\nI love my wife").split() == ["hello"]
    assert strip_code("hello\n````\nI love\n```\nmy wife\n````\nbye").split() == ["hello", "bye"]
    assert strip_code("hello\n~~~\nI love\n```\nmy wife\n~~~\nbye").split() == ["hello", "bye"]
    assert strip_code("hello ~~~ I love my wife").split() == ["hello", "~~~", "I", "love", "my", "wife"]


def test_an_odd_quotation_mark_opens_nothing() -> None:
    assert strip_code('one """two""" three """four').split() == ["one", "three", '"""four']
    assert strip_code("it's '''mine").split() == ["it's", "'''mine"]
    assert strip_code("one `two three").split() == ["one", "`two", "three"]


def test_comments_follow_their_neighbours() -> None:
    assert strip_code("# My favourite things\nI love tea").split()[0] == "#"
    assert strip_code("# I love tea\n\n# really\nx = 5\n# my wife\nSee you").split() == ["See", "you"]
    assert strip_code("x = 5\n# one\n\n# two\nbye\n# three").split() == ["bye", "#", "three"]


CODE_LINES = """
def f(x): pass
async def f(x): pass
class Foo: pass
export async function f() return
function () return
pub fn run
struct Point
func Run
template <T>
const x = 1
export let {a, b} = c
private final int x = 3
from os import path
import os
import os.path as p
import {a} from 'b'
import "fmt"
package main
package a.b;
use std::fs;
using System.IO;
#include <x.h>
#!/bin/sh
return
pass
break;
else:
} else {
@decorator
x = 3
x.y[0] += 3
x: int = 3
print('hello')
await run('hello')
SELECT name
select * from t
insert into t
Update t set x
delete from t
create table t
ALTER TABLE t
FROM t
LEFT JOIN t
GROUP BY x
"key": 3
'key': 3
]);
) -> None
} => x
<p>hello</p>
</div>
<!-- hello
$ ls
>>> x
2024-01-15 10:22 hello
[2024-01-15T10:22:33] hello
[ERROR] hello
INFO: hello
at a.b.C (x)
File "x"
Traceback (most
ValueError: hello
Caused by: hello
diff --git a b
@@ -1 +1
+++ b/x
// hello
/* hello
*/ hello
;; hello
a, b =>
x ->
f, g, ([
'a', 'b'],
'a', 'b'},
"""


@pytest.mark.parametrize("line", CODE_LINES.strip().splitlines())
def test_a_line_of_code_is_known_by_itself(line: str) -> None:
    assert is_code_line(line)
    assert is_code_line(f"    {line}  ")


def test_a_line_is_judged_by_its_shape() -> None:
    assert not is_code_line("")
    assert not is_code_line("   ")
    assert is_code_line("}")
    assert is_code_line("foo(bar);")
    assert is_code_line("while (x < 3) {")
    assert is_code_line("if x == 3:")
    assert not is_code_line("if it rains on Monday:")
    assert is_code_line("for a, b in pairs:")
    assert not is_code_line("apples, pears;")
    assert is_code_line("x: int = 3")
    assert is_code_line("raise ValueError('I moved on Monday')")
    assert not is_code_line("return it (please)")
    assert is_code_line("1 => 'Monday',")
    assert not is_code_line("On Monday,")
    assert not is_code_line("x == y?")
    assert is_code_line("a" * 500 + " => {")
    assert not is_code_line("word " * 200)


def test_a_sentence_that_ends_like_code_is_none_without_a_sign_of_code() -> None:
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+*/.,'":
        assert not is_code_line(f"I moved to {letter} on Monday;")
    for sign in "()[]{}=<>_":
        assert is_code_line(f"I moved to {sign} on Monday;")


# --- time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["# \n", "/*", '"""'])
def test_stripping_a_hostile_megabyte_is_linear(seed: str) -> None:
    strip_code(seed * (MEGABYTE // len(seed)))


@pytest.mark.parametrize("seed", ["a@b.", "my a ", "x("])
def test_reading_a_hostile_text_grows_with_its_length(seed: str) -> None:
    read_text_signals(seed * (400_000 // len(seed)))
