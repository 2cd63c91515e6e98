"""What the words of a sentence add to its evidence: the act, what it acts on, what stands beside it, what rules it out."""

import pytest

from models.domain.wishes.evidence import find_cues, find_neighbour_cues
from models.domain.wishes.openings import list_clauses

ACTED_ON = """
particular: keep the list; keep this way; use that file; use it daily; show them both; keep these two; use those two
particular: call him daily; call her daily; call his boss
me: tell me more; remind us daily
one: write a poem; write an essay; use one tab; use another tab; use some tabs; use 5 tabs; use two tabs
one: use three tabs; use five tabs; use ten tabs
mine: check my calendar; check our calendar
yours: mind your tone; mind yourself daily
general: quote any source; quote anything good; quote everything twice; quote all sources; quote each source
general: use whatever fits; use no tabs; use nothing else; use less sugar; use fewer words; use more tabs; use only tabs
way: answer in german; answer with care; stick to facts; act as a coach; act like ann does; ask for help; count on me
way: reply after lunch; lead out loud; start at noon; go by train; speak up loud; sign off here; speak from notes
way: talk about cats; keep under budget
plural: use tabs daily; cite sources daily
thing: use glass daily; answer briefly daily; use tab keys
bare: stay
"""
FAMILIES = """
command:style: use tabs daily; keep it warm; sign off here; cc ann daily; loop ann in
command:hand: write tests daily; try a song; send ann flowers
command:conduct: apologise to ann; thank ann daily
command:other: go by train; steer the boat
command:style: mind the gap
ban:feel: don't worry about it; don't rush it; don't cry for me
ban:style: don't use tabs; don't ever use tabs; do not use tabs; never use tabs; let's not use tabs; never ever use tabs
ban:hand: don't write a poem
ban:conduct: don't thank ann
stop:style: avoid tabs here
stop:feel: lose the tie
"""
STOPS = """
stop:habit: stop singing songs; quit being rude; stop please singing; quit with the jokes; avoid the sun; skip the intro
stop:halt: stop the music; quit the game; stop all of the singing; stop it now; quit it now
"""
# What stands beside a command is paired with it; the first and the last of each list, and some between.


def read_table(text: str) -> list[tuple[str, str]]:
    lines = [line.rpartition(": ") for line in text.strip().splitlines()]
    return [(name, sentence) for name, _, sentences in lines for sentence in sentences.split("; ")]


def find(sentence: str, *, question: bool = False, frame: bool = False, task: bool = False) -> frozenset[str]:
    clauses = list_clauses(sentence, 0, len(sentence))
    return find_cues(clauses, is_question=question, is_frame=frame, is_task=task)


@pytest.mark.parametrize(("target", "sentence"), read_table(ACTED_ON))
def test_a_command_says_what_it_acts_on(target: str, sentence: str) -> None:
    found = {cue for cue in find(sentence, frame=True) if cue.startswith("command>")}
    assert found == {f"command>{target}"}


@pytest.mark.parametrize(("family", "sentence"), read_table(FAMILIES))
def test_the_verb_of_an_act_has_its_family(family: str, sentence: str) -> None:
    kind, name = family.split(":")
    cues = find(sentence, frame=True)
    assert family in cues
    assert {cue.partition(">")[0] for cue in cues if cue.startswith("act:")} == {f"act:{name}"}
    assert any(cue.startswith(f"{kind}>") for cue in cues)


@pytest.mark.parametrize(("cue", "sentence"), read_table(STOPS))
def test_a_stop_ends_a_habit_or_one_thing(cue: str, sentence: str) -> None:
    assert {cue for cue in find(sentence, frame=True) if cue in ("stop:habit", "stop:halt")} == {cue}


def test_a_bare_command_has_nothing_beside_it() -> None:
    assert find("steer boats well") == {
        "main:command", "has:command", "command:other", "command>plural", "act:other>plural", "short",
        "word:steer", "word:boats", "word:well", "opens:steer", "opens:steer-boats",
    }  # fmt: skip


def test_what_speaks_against_is_counted_up_to_three() -> None:
    assert "against:1" in find("use tabs, it was late")
    assert "against:2" in find("use tabs, it was late, maybe")
    assert "against:3" in find("use tabs, it was late, maybe, she is here")
    assert "against:3" in find("use tabs, it was late, maybe, she is here, i'll wait")
    assert not any(cue.startswith("against") for cue in find("use tabs here"))


def test_three_things_beside_it_speak_for_a_rule_unless_as_many_speak_against() -> None:
    assert "for:3" in find("please use only code in my team")
    assert "for:3" not in find("use only tabs in towns")
    assert "for:3" not in find("use only tabs, it was late, maybe")


def test_a_sentence_is_short_under_forty_letters() -> None:
    assert "short" in find("use tabs " + "x" * 30)
    assert "short" not in find("use tabs " + "x" * 31)


@pytest.mark.parametrize(
    ("sentence", "main", "opening"),
    [
        ("use tabs daily", "main:command", None),
        ("when i write, use tabs", "main:command", "when+command"),
        ("in my tests, use tabs", "main:command", "prep+command"),
        ("whatever i say, use tabs", "main:whatever", "whatever+whatever"),
        ("don't use tabs", "main:ban", None),
    ],
)
def test_the_main_clause_is_the_first_that_is_no_condition(
    sentence: str, main: str, opening: str | None
) -> None:
    cues = find(sentence)
    assert {cue for cue in cues if cue.startswith("main:")} == {main}
    assert {cue for cue in cues if "+" in cue} == ({opening} if opening else set())


def test_a_fragment_without_a_verb_is_marked_and_one_beside_a_verb_is_not() -> None:
    assert {"has:verbless", "has:fragment"} <= find("metric units everywhere")
    cues = find("metric units, i can't read feet")
    assert "has:opens-fragment" in cues
    assert not cues & {"has:fragment", "has:verbless"}
    late = find("i can't eat nuts, metric units")
    assert not late & {"has:fragment", "has:verbless", "has:opens-fragment"}


def test_please_and_so_mark_the_clause_they_lead() -> None:
    assert "has:please-command" in find("please use tabs here")
    assert "has:so-command" in find("it rained so use tabs")
    assert "has:so-command" not in find("it rained, use tabs")
    assert not any("please-" in cue for cue in find("use tabs here"))


@pytest.mark.parametrize("wish", ["so short answers", "so in bold letters", "so bold is good for me"])
def test_a_wish_behind_so_directs(wish: str) -> None:
    assert "has:so-wish" in find(f"i read slowly, {wish}")


def test_so_before_talk_is_no_wish() -> None:
    assert "has:so-wish" not in find("use soy, so green hills")


@pytest.mark.parametrize(
    ("sentence", "may_rule"),
    [
        ("use tabs tonight", False),
        ("use tabs tonight, from now on", True),
        ("i'm vegan tonight, use soy", True),
        ("i have asthma tonight, use soy", True),
        ("use tabs if you have time", False),
        ("use tabs if you have time and when you write", True),
        ("use tabs if you have time and when i ask", True),
        ("ann says the release should wait", False),
        ("ann thinks it needs a reason", False),
        ("old ann said tests have to run", False),
        ("ann says the release should wait for me", True),
        ("ann says my release should wait", True),
        ("ann says replies should start early", True),
        ("ann says your tone should stay", True),
        ("i said the release should wait", True),
    ],
)
def test_what_speaks_of_one_occasion_or_of_somebodys_view_cannot_rule(sentence: str, may_rule: bool) -> None:
    assert bool(find(sentence)) is may_rule


@pytest.mark.parametrize(
    ("sentence", "directs"),
    [
        ("green hills far off", True),
        ("the lamp hangs low", False),
        ("she lives in kenya", False),
        ("the lamp should go here", True),
        ("the lamp is off limits", True),
        ("my son is vegan", True),
        ("the noise bothers me a lot", True),
        ("the rule is old", True),
        ("the lamp please", True),
    ],
)
def test_a_sentence_that_directs_nobody_by_its_form_is_marked(sentence: str, directs: bool) -> None:
    assert ("directs:nobody" not in find(sentence)) is directs


@pytest.mark.parametrize(
    ("sentence", "is_marked"),
    [("use tabs", True), ("use tabs here", False), ("i'm vegan", False), ("call me", False)],
)
def test_two_words_are_marked_as_few_unless_they_say_enough(sentence: str, is_marked: bool) -> None:
    assert ("few-words" in find(sentence)) is is_marked
    assert "few-words" not in find(sentence, frame=True)


@pytest.mark.parametrize(
    "opening", ["no nuts at home", "only soy milk", "metric units here", "in metric units"]
)
def test_the_form_of_one_piece_of_work_ends_with_it(opening: str) -> None:
    assert find(opening, task=True) == frozenset()
    assert find(f"{opening} daily", task=True)
    assert "no:turn-task" not in find(f"{opening} daily", task=True)
    assert find(opening, task=True, frame=True)


def test_other_kinds_outlive_a_task_and_remember_it() -> None:
    cues = find("i want short answers", task=True)
    assert "no:turn-task" in cues
    assert "against:1" in cues
    assert "no:turn-task" not in find("i want short answers")
    assert find("never use tabs", task=True, frame=True) >= {"has:frame", "about:generic"}
    assert "no:turn-task" not in find("never use tabs", task=True, frame=True)
    assert "no:turn-task" in find("i want no tabs", task=True, frame=True)


def test_only_a_polite_question_may_rule() -> None:
    assert find("should i use tabs", question=True) == frozenset()
    assert {"no:question", "has:polite"} <= find("could you use tabs", question=True)
    assert "no:question" not in find("could you use tabs")


def test_a_supposition_cannot_rule() -> None:
    assert find("imagine you use tabs here") == frozenset()


@pytest.mark.parametrize(
    ("around", "is_emphatic"),
    [
        (["always"], True),
        (["ever!"], True),
        (["no exceptions"], True),
        (["i mean it"], True),
        (["stick to it"], True),
        (["period"], True),
        (["full stop"], True),
        (["please"], True),
        (["seriously"], True),
        (["please don't"], True),
        (["i insist."], True),
        (["every time"], True),
        (["tea", "never"], True),
        (["always there"], False),
        (["tea"], False),
        ([], False),
    ],
)
def test_a_word_on_its_own_may_stress_the_sentence_beside_it(around: list[str], is_emphatic: bool) -> None:
    assert find_neighbour_cues(frozenset(), around) == ({"next:emphatic"} if is_emphatic else frozenset())


@pytest.mark.parametrize(
    "fact", ["main:dislike", "complaint", "about:body", "about:ailment", "main:unable", "matters"]
)
def test_a_rule_may_follow_from_a_fact_before_it(fact: str) -> None:
    assert find_neighbour_cues(frozenset({fact, "short"}), []) == {"prev:fact"}
    assert find_neighbour_cues(frozenset({"short"}), []) == frozenset()
