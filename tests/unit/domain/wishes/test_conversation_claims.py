"""How a sentence of chat is taken apart: what leads in, where a rule may begin, what makes it last, what undoes it."""

import pytest

from models.domain.rules.detector import Modality
from models.domain.wishes.conversation import list_candidates, list_cues, read_wish

LEADS = """
and; also; but; so; ok; okay; hey; hi; hello; oh; yes; yeah; no,; well; right; please; pls; plz; kindly; just; then
actually; btw; by the way; one more thing; one thing; quick note; reminder; fyi; important; remember:; note:; rule:
in general; generally; instead; from now on; from here on; from here on out; going forward; moving forward; henceforth
hereafter; in future; in the future; next time; by default; as a rule; as a general rule; at all times; for the record
thanks; thank you; ok so please; hey,; please:; thanks!
"""
SURFACE = """
must; should; shall; ought; always; never; don't; dont; do not; please; prefer; preference; avoid; stop; only; rule; rules
from now on; in future; in the future; have to; need to; needs to; make sure; remember; want you; like you to; rather
every time; whenever; not allowed; forbidden; may not; mustn't; shouldn't; can't stand; instead of; no more; hate
keep in mind; by default
"""


def split_phrases(text: str) -> list[str]:
    return [phrase for line in text.strip().splitlines() for phrase in line.split("; ")]


def has_frame(turn: str) -> bool:
    return "has:frame" in list_cues(turn)[-1]


@pytest.mark.parametrize("lead", split_phrases(LEADS))
def test_a_lead_may_stand_before_a_rule(lead: str) -> None:
    assert has_frame(f"{lead} always use tabs")


def test_other_words_before_a_verb_make_no_frame() -> None:
    assert not has_frame("trains always use tabs")
    assert not has_frame("happily always use tabs")


@pytest.mark.parametrize("joint", ["so", "but", "because"])
@pytest.mark.parametrize(
    "rule", ["please always use tabs", "never use tabs", "always use tabs", "don't ever use tabs"]
)
def test_a_rule_may_follow_a_joint_without_a_comma(joint: str, rule: str) -> None:
    assert has_frame(f"The lamp hangs low {joint} {rule}")
    assert not has_frame(f"The lamp hangs low or {rule}")


@pytest.mark.parametrize(
    "rule", ["do not ever use tabs", "stop using tabs", "only use tabs", "from now on use tabs"]
)
def test_each_word_that_may_follow_a_joint_is_one(rule: str) -> None:
    assert has_frame(f"The lamp hangs low so {rule}")


@pytest.mark.parametrize(
    ("turn", "is_framed"),
    [
        ("From now on abort runs.", True),  # strong: any command
        ("Whenever it rains, abort runs.", True),  # opens with a case
        ("Every time, abort runs.", True),
        ("Each time it rains, abort runs.", True),
        ("Wherever it rains, abort runs.", True),
        ("If in doubt, abort runs.", True),
        ("Abort runs in our project.", False),  # weak: only verbs of conduct
        ("Explain runs in our project.", True),
        ("Explain runs in every reply.", True),  # a case
        ("Don't abort runs again.", True),  # a ban lasts with "again"
        ("Don't abort runs.", False),
        ("Abort runs again.", False),
        ("Can you explain runs next time?", True),  # asks politely, and lasts
        ("Can you explain runs in every reply?", False),
        ("Every morning remind me of it.", True),  # the marker stands without a comma
        ("The lamp remind me of it.", False),
        ("Give me ten ideas in every reply.", False),  # a request for one thing, whatever case it names
    ],
)
def test_how_long_a_sentence_lasts_decides_which_frames_may_rule(turn: str, is_framed: bool) -> None:
    assert has_frame(turn) is is_framed


@pytest.mark.parametrize(
    ("turn", "is_framed"),
    [
        ("If I ask for code, explain the idea.", True),
        ("If I ask for code, it explains the idea.", False),
        ("If I ask for code, the tests pass, explain the idea.", False),
        ("From now on, explain the idea.", True),
        ("It rains in every reply, explain the idea.", False),
        ("It rains in every reply, so explain the idea.", True),
        ("It rains in every reply, please explain the idea.", True),
        ("It rains in every reply, just explain the idea.", True),
    ],
)
def test_a_command_may_follow_a_condition_that_stands_in_front(turn: str, is_framed: bool) -> None:
    assert has_frame(turn) is is_framed


@pytest.mark.parametrize(
    ("turn", "is_framed"),
    [
        ("Always use tabs?", False),
        ("Always use tabs, ok?", True),
        ("Always use tabs, okay?", True),
        ("Always use tabs, alright?", True),
        ("Always use tabs please?", True),
        ("Always use tabs, got it?", True),
        ("Always use tabs, understood?", True),
        ("Always use tabs, understood or not in the least?", False),
        ("Could you always use tabs?", True),
    ],
)
def test_a_question_that_asks_for_consent_is_none(turn: str, is_framed: bool) -> None:
    assert has_frame(turn) is is_framed


@pytest.mark.parametrize(
    ("turn", "is_framed"),
    [
        ("Use metric units.", True),
        ("Write a poem. Use metric units.", False),
        ("Use metric units tonight.", False),
        ("Write a poem. Always use metric units.", True),
        ("Imagine you always use tabs.", False),
        ("If I were you, always use tabs.", False),
        ("Always use tabs, don't worry.", False),
        ("She always said, always use tabs.", False),
        ("Always use tabs, she said.", True),
        ("Never work is done.", False),
        ("Always work.", True),
    ],
)
def test_a_task_a_supposition_comfort_or_a_report_undoes_a_frame(turn: str, is_framed: bool) -> None:
    assert has_frame(turn) is is_framed


@pytest.mark.parametrize(
    ("turn", "spans"),
    [
        (
            "Use tabs, not spaces.",
            [("obligation", "use tab", "use tabs"), ("prohibition", "use space", "not")],
        ),
        ("Make sure to never use tabs.", [("prohibition", "use tab", "make sure to never use")]),
        ("Replies should not be long.", [("prohibition", "long", "replies should not be")]),
        ("New rule: no phones at dinner.", [("prohibition", "use phone dinner", "new rule:")]),
        (
            "Never push. Always use tabs.",
            [("prohibition", "push", "never push"), ("obligation", "use tab", "always use")],
        ),
        ("No nuts, please.", [("prohibition", "use nut", "no nuts")]),
        ("I don't eat pork.", [("prohibition", "don't eat pork", "i don't eat")]),
        ("Don't ever call me on Sundays, I'm vegan.", [("prohibition", "call sunday", "don't ever call")]),
        ("You cannot use emojis ever.", [("prohibition", "use emojis", "you can't use")]),
        ("You may not ever use emojis.", [("prohibition", "use emojis", "you may not")]),
        ("Shellfish is off limits for me.", [("prohibition", "shellfish off limit", "shellfish is off")]),
        ("Metric units only.", [("obligation", "metric unit only", "metric units only")]),
    ],
)
def test_a_rule_has_its_force_its_action_and_its_cue(turn: str, spans: list[tuple[str, str, str]]) -> None:
    found = read_wish(turn).spans
    assert [(str(span.modality), span.action, span.cue) for span in found] == spans


def test_a_span_is_the_sentence_and_nothing_else() -> None:
    turn = "It rains. Never push to main! Thanks."
    (span,) = read_wish(turn).spans
    assert turn[span.start : span.end] == "Never push to main"
    assert span.modality is Modality.PROHIBITION


@pytest.mark.parametrize(
    "said", ["Use tabs, not spaces", "No nuts, please", "I can't stand jargon", "Metric units only"]
)
def test_every_span_of_a_sentence_covers_it(said: str) -> None:
    turn = f"It rains. {said}. Thanks."
    spans = read_wish(turn).spans
    assert spans
    assert {turn[span.start : span.end] for span in spans} == {said}


def test_what_only_a_later_sentence_says_changes_nothing() -> None:
    assert has_frame("It rains tonight. Use metric units")
    assert "has:frame" in list_cues("Use metric units. It rains tonight.")[0]
    assert "has:frame" in list_cues("Always use tabs. Don't worry.")[0]
    assert "has:frame" not in list_cues("Don't abort runs. It rains again.")[0]
    assert "has:frame" not in list_cues("Abort runs. From now on it rains.")[0]


def test_the_four_hundred_and_first_sentence_was_pasted() -> None:
    assert len(list_cues("It rains. " * 399 + "Always use tabs. ")) == 400
    assert len(list_cues("It rains. " * 450)) == 400
    assert "Always use tabs" in list_candidates("It rains. " * 399 + "Always use tabs.")[-1].text
    assert "It rains" in list_candidates("It rains. " * 400 + "Always use tabs.", floor=-99)[-1].text


def test_the_longest_sentence_has_six_hundred_letters() -> None:
    said = "Always use tabs "
    assert list_candidates(said + "x" * (600 - len(said)))
    assert not list_candidates(said + "x" * (601 - len(said)))


@pytest.mark.parametrize(
    ("turn", "is_stressed"),
    [
        ("Aisle seats for me. Every time, period, full stop.", False),
        ("Aisle seats for me. I mean it!", True),
        ("Always. Aisle seats for me.", True),
        ("Aisle seats for me. Tea. Always.", False),
    ],
)
def test_only_a_short_neighbour_stresses(turn: str, is_stressed: bool) -> None:
    assert any("next:emphatic" in cues for cues in list_cues(turn)) is is_stressed


def test_a_fact_speaks_for_the_sentence_behind_it() -> None:
    assert "prev:fact" in list_cues("I'm vegan. Soy milk in my tea.")[1]
    assert "prev:fact" not in list_cues("Soy milk in my tea. I'm vegan.")[0]


def test_a_new_line_is_a_new_sentence() -> None:
    assert len(list_cues("It rains in Bergen\nNever push to main")) == 2
    assert "has:frame" in list_cues("It rains in Bergen\nNever push to main")[1]
