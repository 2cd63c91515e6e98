"""How an action is named, and when two rules about it clash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.grammar.actions import (
    MAX_ACTION_WORDS,
    is_comparable,
    name_action,
    name_contrast,
    name_voiced_action,
    to_base_verb,
)
from models.domain.rules.detector import (
    DeonticReading,
    Modality,
    RuleSpan,
    find_conflicts,
    read_authored,
    read_conversation,
)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("commit the secrets to Git", "commit secret git"),
        ("avoid using tabs", "use tab"),
        ("avoid tabs", "use tab"),
        ("prefer tabs over spaces", "use tab over space"),
        ("no tabs", "use tab"),
        ("stop writing globals", "write global"),
        ("refrain from deleting files", "delete file"),
        ("stop", "stop"),
        ("avoid string building", "use string building"),
        ("check class status basis", "check class status basis"),
        ("use gas", "use gas"),
        ("run `make check`, then wait", "run make check"),
        ("use it. Then stop", "use it"),
        ("**use** _tabs_", "use tab"),
        ("one two three four five six seven", "one two three four five six"),
        ("the a an", ""),
        ("", ""),
    ],
)
def test_an_action_is_its_verb_and_its_objects(text: str, action: str) -> None:
    assert name_action(text, 0, len(text)) == action


def test_an_action_lies_between_its_offsets() -> None:
    text = "Never commit the secrets to Git."
    assert name_action(text, 6, len(text)) == "commit secret git"
    assert name_action(text, 6, 24) == "commit secret"
    assert name_action("x" * 30 + " " + "y" * 30 + " zz aa", 0, 70) == "x" * 30 + " " + "y" * 30 + " zz"


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("committing", "commit"),
        ("using", "use"),
        ("logged", "log"),
        ("written", "write"),
        ("testing", "test"),
        ("string", "string"),
        ("red", "red"),
        ("use", "use"),
    ],
)
def test_a_known_verb_loses_its_ending(word: str, base: str) -> None:
    assert to_base_verb(word) == base


@pytest.mark.parametrize(
    ("participle", "base"),
    [
        ("written", "write"),
        ("kept", "keep"),
        ("made", "make"),
        ("sent", "send"),
        ("built", "build"),
        ("done", "do"),
        ("taken", "take"),
        ("given", "give"),
        ("chosen", "choose"),
        ("left", "leave"),
        ("shown", "show"),
        ("held", "hold"),
        ("found", "find"),
        ("told", "tell"),
        ("said", "say"),
        ("hidden", "hide"),
        ("drawn", "draw"),
        ("driven", "drive"),
    ],
)
def test_an_irregular_participle_is_known_by_heart(participle: str, base: str) -> None:
    assert to_base_verb(participle) == base
    assert name_voiced_action(participle, "the notes") == f"{base} note"


@pytest.mark.parametrize("verb", ["prefer", "avoid", "favor", "favour", "no", "stop", "quit", "refrain"])
def test_to_prefer_or_avoid_a_thing_is_about_using_it(verb: str) -> None:
    assert name_action(f"{verb} tabs", 0, 40) == "use tab"
    assert name_action(verb, 0, 40) == verb
    assert name_action(f"{verb} writing notes", 0, 40) == "write note"
    assert name_action(f"{verb} evening walks", 0, 40) == "use evening walk"


@pytest.mark.parametrize("mark", list(".,;:!?*_`\"'()[]{}<>“”‘’—–-#|"))
def test_a_mark_around_a_word_is_no_part_of_it(mark: str) -> None:
    assert name_action(f"{mark}use{mark} tabs", 0, 40).split()[0] == "use"


@pytest.mark.parametrize("stop", list(".,;:!?—"))
def test_an_action_ends_where_its_clause_ends(stop: str) -> None:
    assert name_action(f"use tabs{stop} then wait", 0, 40) == "use tab"


@pytest.mark.parametrize("mark", list("*_`\"')]}>”’–-#|"))
def test_an_action_does_not_end_at_another_mark(mark: str) -> None:
    assert name_action(f"use tabs{mark} and wait", 0, 40) == "use tab wait"


@pytest.mark.parametrize(
    ("text", "banned"),
    [
        ("use tabs, not spaces", "use space"),
        ("use tabs,not spaces", "use space"),
        ("use tabs — not spaces", "use space"),
        ("use tabs and not spaces", "use space"),
        ("use tabs, but not spaces", "use space"),
        ("use tabs and but not spaces", "use space"),
        ("use tabs or not spaces", None),
        *(
            (f"use tabs, not {word} here", None)
            for word in ["only", "just", "necessarily", "yet", "all", "even", "always"]
        ),
    ],
)
def test_a_contrast_has_its_mark_and_no_softener(text: str, banned: str | None) -> None:
    assert name_contrast(text, text, 0, len(text)) == banned


def test_words_behind_the_reach_of_an_action_are_left_out() -> None:
    far = "x" * 60
    assert name_action(f"use {far} tabs", 0, 200) == f"use {far}"
    assert name_voiced_action("used", f"{'y' * 60} tabs") == f"use {'y' * 59}"


def test_a_contrast_forbids_what_it_rejects() -> None:
    text = "use tabs, not spaces"
    assert name_contrast(text, text, 0, len(text)) == "use space"
    assert name_contrast("use tabs", "use tabs", 0, 8) is None
    assert name_contrast("use tabs, not only here", "use tabs, not only here", 0, 23) is None


def test_a_verb_behind_its_object_leads_the_action() -> None:
    assert name_voiced_action("committed", "The secrets") == "commit secret"


@pytest.mark.parametrize(
    ("action", "comparable"),
    [("use tab", True), ("guess", True), ("use it", False), ("delete them now", False), ("", False)],
)
def test_an_action_on_a_pronoun_cannot_be_compared(action: str, comparable: bool) -> None:
    assert is_comparable(action) is comparable


def _find(*paragraphs: str) -> list[tuple[str, str, str]]:
    conflicts = find_conflicts([read_authored(paragraph) for paragraph in paragraphs])
    return [(found.obligation.cue, found.prohibition.cue, found.action) for found in conflicts]


def test_one_action_demanded_and_forbidden_is_a_conflict() -> None:
    assert _find("Always use tabs.", "Never use tabs.") == [("always use", "never use", "use tab")]


def test_order_and_paragraphs_do_not_matter() -> None:
    assert _find("Never use tabs. Always use tabs.") == [("always use", "never use", "use tab")]


def test_a_general_ban_covers_a_special_duty() -> None:
    assert _find("Use tabs in Makefiles.", "Avoid tabs.") == [("use", "avoid", "use tab")]


def test_a_special_ban_leaves_a_general_duty_alone() -> None:
    assert _find("Run tests.", "Do not run tests against production.") == []


def test_a_ban_on_another_verb_or_object_is_no_conflict() -> None:
    assert _find("Use tabs.", "Never print tabs.", "Never use spaces.") == []


def test_a_bare_verb_forbids_only_itself() -> None:
    assert _find("Guess.", "Never guess.") == [("guess", "never guess", "guess")]
    assert _find("Guess the intent.", "Never guess.") == []


def test_pronouns_never_clash() -> None:
    assert _find("Use it.", "Do not use it.") == []


def test_a_permission_is_no_conflict() -> None:
    assert _find("You may use tabs.", "Never use tabs.") == []


def test_a_contrast_clashes_with_the_opposite_contrast() -> None:
    found = _find("Use tabs, not spaces.", "Use spaces, not tabs.")
    assert [action for _, _, action in found] == ["use tab", "use space"]


def test_the_most_specific_ban_is_reported() -> None:
    found = _find("Use tabs in tests.", "Never use tabs.", "Never use tabs in tests.")
    assert found == [("use", "never use", "use tab test")]


def test_the_spans_of_the_readings_themselves_are_returned() -> None:
    readings = [read_authored("Use tabs."), read_authored("Never use tabs.")]
    (conflict,) = find_conflicts(readings)
    assert conflict.obligation is readings[0].spans[0]
    assert conflict.prohibition is readings[1].spans[0]


def test_a_conversation_clashes_with_a_file() -> None:
    readings = [read_authored("Use bullet points."), read_conversation("Stop using bullet points.")]
    assert [found.action for found in find_conflicts(readings)] == ["use bullet point"]


def test_no_readings_mean_no_conflict() -> None:
    assert find_conflicts([]) == ()


_WORDS = st.lists(
    st.sampled_from(["use", "tab", "test", "file", "log"]), min_size=1, max_size=MAX_ACTION_WORDS
)
_SPANS = st.builds(
    lambda modality, words: RuleSpan(modality=modality, start=0, end=1, action=" ".join(words), cue="x"),
    st.sampled_from([Modality.OBLIGATION, Modality.PROHIBITION]),
    _WORDS,
)


@given(st.lists(_SPANS, max_size=12))
def test_every_conflict_pairs_a_duty_with_a_ban_on_its_words(spans: list[RuleSpan]) -> None:
    for conflict in find_conflicts([DeonticReading(spans=tuple(spans))]):
        duty, ban = conflict.obligation.action.split(), conflict.prohibition.action.split()
        assert conflict.obligation.modality is Modality.OBLIGATION
        assert conflict.prohibition.modality is Modality.PROHIBITION
        assert duty[0] == ban[0]
        assert set(ban[1:]) <= set(duty[1:])
        assert conflict.action == conflict.prohibition.action


@given(_WORDS)
def test_an_action_always_clashes_with_itself(words: list[str]) -> None:
    action = " ".join(words)
    duty = RuleSpan(modality=Modality.OBLIGATION, start=0, end=1, action=action, cue="x")
    ban = RuleSpan(modality=Modality.PROHIBITION, start=0, end=1, action=action, cue="y")
    (conflict,) = find_conflicts([DeonticReading(spans=(ban, duty))])
    assert conflict.obligation is duty
    assert conflict.prohibition is ban
