"""When the head of a clause commands in a rule file, word by word: what follows it, what leads in, what it bans."""

import pytest

from models.domain.grammar.lexicon import ROLES
from models.domain.rules.commands import (
    Place,
    can_be_base_verb,
    find_fronted_command,
    find_segment_end,
    is_fronting_prelude,
    read_command,
)
from models.domain.rules.detector import Modality, read_authored

OBLIGATION, PROHIBITION = Modality.OBLIGATION, Modality.PROHIBITION
FINITE_VERBS = """
is are was were has have had can could will would may might does do did live lives use uses contain contains goes go run runs
need needs accept accepts support supports belong belongs exist exists include includes come comes mean means require
requires become becomes remain remains follow follows work works describe describes define defines provide provides cover
covers fail fails return returns take takes sit sits end ends expire expires appear appears reside resides arrive arrives
applies apply pass passes map maps stay stays
"""

OPENING_WORDS = "if when whenever that which who because so unless until before after where"
PREPOSITIONS = "for to in on with without from under during at before after"
AIMS = "job role task goal mission purpose responsibility duty priority objective aim"
NOT_BANNED = """
need longer matter further one problem such way other doubt idea change changes action guarantee exceptions
excuses
"""


def read_forces(text: str) -> list[Modality]:
    return [span.modality for span in read_authored(text).spans]


@pytest.mark.parametrize("verb", FINITE_VERBS.split())
def test_a_noun_with_its_own_verb_behind_it_does_not_command(verb: str) -> None:
    assert read_forces(f"Test suites {verb} green.") == []


@pytest.mark.parametrize("word", OPENING_WORDS.split())
def test_a_verb_in_a_clause_of_its_own_leaves_the_command(word: str) -> None:
    assert read_forces(f"Test suites {word} code is old.") == [OBLIGATION]


def test_a_second_command_that_is_joined_leaves_the_first() -> None:
    assert read_forces("Test suites and run linters.") == [OBLIGATION]
    assert read_forces("Test suites or run linters.") == [OBLIGATION]
    assert read_forces("Test suites and run linters is green.") == []


def test_a_verb_too_far_off_says_nothing() -> None:
    assert read_forces(f"Test suites {'x' * 100} is green.") == []
    assert read_forces(f"Test suites {'x' * 110} is green.") == [OBLIGATION]


@pytest.mark.parametrize("label", ["Return values: one", "Test old values: one"])
def test_a_label_does_not_command(label: str) -> None:
    assert read_forces(f"{label} row per user.") == []


@pytest.mark.parametrize("link", ["so", "but", "instead", "otherwise"])
def test_a_link_lets_a_command_follow_a_comma(link: str) -> None:
    assert read_forces(f"The API is async, {link} await every call.") == [OBLIGATION]
    assert read_forces("The API is async, await every call.") == []


@pytest.mark.parametrize(
    ("urge", "force"),
    [
        ("always", OBLIGATION),
        ("only", PROHIBITION),
        ("please", OBLIGATION),
        ("just", OBLIGATION),
        ("kindly", OBLIGATION),
    ],
)
def test_what_follows_an_urge_is_a_verb(urge: str, force: Modality) -> None:
    assert read_forces(f"{urge.capitalize()} test suites are slow.") == [force]
    assert read_forces("Also test suites are slow.") == []


@pytest.mark.parametrize("verb", ["avoid", "stop", "quit"])
def test_a_verb_that_bans_forbids(verb: str) -> None:
    assert read_forces(f"{verb.capitalize()} tabs.") == [PROHIBITION]


def test_refrain_bans_too() -> None:
    assert read_forces("Refrain from tabs.") == [PROHIBITION]


@pytest.mark.parametrize("preposition", PREPOSITIONS.split())
def test_a_command_may_follow_a_fronted_phrase(preposition: str) -> None:
    text = f"{preposition} other providers use the skill"
    head = find_fronted_command(text, 0, preposition)
    assert head is not None
    assert text[head.verb_start : head.verb_end] == "use"
    assert head.cue_start == head.verb_start
    assert head.modality is OBLIGATION


@pytest.mark.parametrize(
    "verb", ["use", "call", "run", "read", "pass", "set", "prefer", "follow", "add", "invoke"]
)
@pytest.mark.parametrize("opener", ["the", "a", "an", "your", "ª"])
def test_a_fronted_command_has_its_verb_and_its_object(verb: str, opener: str) -> None:
    text = f"for other providers {verb} {opener} skill"
    head = find_fronted_command(text, 0, "for")
    assert head is not None
    assert text[head.verb_start : head.verb_end] == verb


@pytest.mark.parametrize(
    "text",
    [
        "by other providers use the skill",
        "for other providers use skills",
        "for other providers frob the skill",
        "for you use the skill",
        "for use the skill",
        "for all of you** use the skill",
        "for all of you] use the skill",
        "for other providers. use the skill",
    ],
)
def test_no_command_is_fronted_without_a_noun_before_and_an_object_behind(text: str) -> None:
    assert find_fronted_command(text, 0, text.split()[0]) is None


def test_when_to_do_it_is_a_command() -> None:
    for text in ("when to run: daily", "when not to run: sundays"):
        head = find_fronted_command(text, 0, "when")
        assert head is not None
        assert (head.cue_start, head.verb_start, head.verb_end) == (0, 0, text.index(":") + 1)
        assert head.modality is OBLIGATION
    assert find_fronted_command("when run: daily", 0, "when") is None


@pytest.mark.parametrize(
    ("text", "force", "action"),
    [
        ("You are an editor.", OBLIGATION, "editor"),
        ("You're now the editor.", OBLIGATION, "editor"),
        ("You are not the editor.", PROHIBITION, "editor"),
        ("You are here to help.", OBLIGATION, "help"),
        ("You are responsible for tests.", OBLIGATION, "tests"),
        ("You are in charge of tests.", OBLIGATION, "tests"),
        ("You are Ada, an editor.", OBLIGATION, "editor"),
        ("You always sign notes.", OBLIGATION, "sign note"),
        ("You will never sign notes.", PROHIBITION, "sign note"),
        *((f"Your {noun} is to help.", OBLIGATION, "help") for noun in AIMS.split()),
    ],
)
def test_who_the_reader_is_rules(text: str, force: Modality, action: str) -> None:
    (span,) = read_authored(text).spans
    assert (span.modality, span.action) == (force, action)


@pytest.mark.parametrize(
    "text", ["You always see it.", "You never get it.", "You always find it.", "Your cat is old."]
)
def test_what_happens_to_the_reader_does_not_rule(text: str) -> None:
    assert read_forces(text) == []


@pytest.mark.parametrize(
    "word",
    NOT_BANNED.split(),
)
def test_a_phrase_with_no_forbids_nothing(word: str) -> None:
    assert read_forces(f"No {word} here.") == []
    assert read_forces(f"No {word}, here.") == []


@pytest.mark.parametrize(
    ("text", "forces"),
    [
        ("No force pushes.", [PROHIBITION]),
        ("No, force pushes.", []),
        ("No force pushes needed. It rains.", []),
        ("No force pushes required. It rains.", []),
        ("No force pushes necessary. It rains.", []),
        ("No force pushes are red.", []),
        ("No " + "x " * 12 + ".", [PROHIBITION]),
        ("No " + "x " * 13 + ".", []),
    ],
)
def test_a_fragment_with_no_forbids(text: str, forces: list[Modality]) -> None:
    assert read_forces(text.replace(" .", ".")) == forces


@pytest.mark.parametrize(
    ("text", "forces"),
    [
        ("Stop.", [PROHIBITION]),
        ("When in doubt, ask.", [OBLIGATION]),
        ("When in doubt, ask!", [OBLIGATION]),
        ("When in doubt, ask", [OBLIGATION]),
        ("Before release, ensure:", [OBLIGATION]),
        ("Typically run by a maintainer.", []),
        ("Start by reading.", [OBLIGATION]),
        ("Do you need it.", []),
        ("Have you seen it.", []),
        ("Calls sites pass the context.", []),
        ("Default values here.", []),
        ("Default to tabs.", [OBLIGATION]),
        ("Default using tabs.", [OBLIGATION]),
        ("Prompt engineering here.", []),
        ("Prompt using tabs.", [OBLIGATION]),
        ("Frobnicate the index.", [OBLIGATION]),
        ("Frobnicate indexes.", []),
        ("Frobnicating the index.", []),
        ("Do not frobnicate.", [PROHIBITION]),
        ("Do not really.", []),
        ("Never the same.", []),
        ("So please also always use tabs.", [OBLIGATION]),
        ("Then so please also always use tabs.", []),
        ("Test `x` well.", [OBLIGATION]),
        ("Test [x](y) well.", [OBLIGATION]),
    ],
)
def test_what_follows_a_head_says_whether_it_commands(text: str, forces: list[Modality]) -> None:
    assert read_forces(text) == forces


@pytest.mark.parametrize(
    ("word", "can_be"),
    [
        ("use", True), ("see", True), ("own", True), ("frob", True), ("frobs", False), ("frobss", True), ("frobing", False),
        ("frobed", False), ("frobly", False), ("frobn't", False), ("frob's", False), ("frob'll", False), ("frob're", False),
        ("ª", False), ("the", False),
    ],
)  # fmt: skip
def test_a_base_verb_is_listed_or_known_by_its_ending(word: str, can_be: bool) -> None:
    assert can_be_base_verb(word) is can_be


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("a b. c", 3),
        ("a b.c", 5),
        ("a; b", 1),
        ("a: b", 1),
        ("a! b", 1),
        ("a? b", 1),
        ("a—b", 1),
        ("a\nb", 1),
    ],
)
def test_a_segment_ends_at_its_mark(text: str, end: int) -> None:
    assert find_segment_end(text, 0) == end


def test_a_segment_is_followed_a_hundred_and_twenty_letters() -> None:
    assert find_segment_end("x" * 300, 0) == 120
    assert find_segment_end("x" * 300, 10, 40) == 50


@pytest.mark.parametrize(
    ("text", "is_fronting"),
    [(", x", True), (" if x", True), (" of x", True), (" use x", False), (". x", False)],
)
def test_a_prelude_may_front_what_follows_the_comma(text: str, is_fronting: bool) -> None:
    assert is_fronting_prelude(f"first{text}", 5) is is_fronting


@pytest.mark.parametrize(
    ("text", "place", "commands"),
    [
        ("use tabs", Place.AFTER_COMMA, False),
        ("so use tabs", Place.AFTER_COMMA, True),
        ("use tabs", Place.CLAUSE, True),
        ("use and wait", Place.CLAUSE, False),
        ("use or wait", Place.CLAUSE, False),
        ("use and wait", Place.SENTENCE, True),
        ("test suites", Place.CLAUSE, False),
        ("test the suites", Place.CLAUSE, True),
        ("test suites", Place.SENTENCE, True),
        ("and test suites", Place.SENTENCE, False),
        ("or test suites", Place.SENTENCE, False),
        ("you are an editor", Place.SENTENCE, True),
        ("you are an editor", Place.CLAUSE, True),
        ("you are an editor", Place.FRONTED, False),
        ("frobnicate the index", Place.FRONTED, True),
        ("frobnicate the index", Place.CLAUSE, False),
        ("ask", Place.FRONTED, True),
        ("ask", Place.CLAUSE, False),
        ("ask, wait", Place.FRONTED, False),
        ("ask: this", Place.CLAUSE, True),
    ],
)
def test_where_a_clause_stands_says_how_much_its_head_must_prove(
    text: str, place: Place, commands: bool
) -> None:
    word = text.replace(",", " ").replace(":", " ").split()[0]
    assert (read_command(text, 0, word, ROLES.get(word), place) is not None) is commands
