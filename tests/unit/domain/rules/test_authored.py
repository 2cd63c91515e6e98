"""Which paragraphs of a rule file rule, with what force, and where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.rules.detector import DeonticReading, Modality, RuleSpan, read_authored

OBLIGATION, PROHIBITION, PERMISSION = Modality.OBLIGATION, Modality.PROHIBITION, Modality.PERMISSION

# text, then (force, cue, action) of every span
RULES = [
    ("Use tabs.", [(OBLIGATION, "use", "use tab")]),
    ("Stop.", [(PROHIBITION, "stop", "stop")]),
    ("Please keep modules small.", [(OBLIGATION, "please keep", "keep module small")]),
    ("Always run the tests.", [(OBLIGATION, "always run", "run test")]),
    (
        "Then also explicitly confirm the plan.",
        [(OBLIGATION, "then also explicitly confirm", "confirm plan")],
    ),
    (
        "Frobnicate the index after each import.",
        [(OBLIGATION, "frobnicate", "frobnicate index after import")],
    ),
    ("Test the parser with bad input.", [(OBLIGATION, "test", "test parser bad input")]),
    ("Default to concise answers.", [(OBLIGATION, "default", "default concise answer")]),
    ("Load [the guide](docs/guide.md) first.", [(OBLIGATION, "load", "load guide](docs/guide.md first")]),
    ("Have a plan.", [(OBLIGATION, "have", "have plan")]),
    ("Never commit secrets.", [(PROHIBITION, "never commit", "commit secret")]),
    ("Do not edit the lock file.", [(PROHIBITION, "do not edit", "edit lock file")]),
    ("Don’t guess.", [(PROHIBITION, "don’t guess", "guess")]),
    ("Dont push to main.", [(PROHIBITION, "dont push", "push main")]),
    ("Avoid global state.", [(PROHIBITION, "avoid", "use global state")]),
    ("Refrain from writing globals.", [(PROHIBITION, "refrain", "write global")]),
    ("Only edit files under `src/`.", [(PROHIBITION, "only edit", "edit file under src/")]),
    ("No direct pushes to main.", [(PROHIBITION, "no", "use direct pushe main")]),
    ("Add extras only when needed.", [(PROHIBITION, "add", "add extra only when needed")]),
    (
        "Use tabs, not spaces.",
        [(OBLIGATION, "use", "use tab"), (PROHIBITION, "not", "use space")],
    ),
    (
        "Read the file and never guess its content.",
        [(OBLIGATION, "read", "read file guess content"), (PROHIBITION, "never guess", "guess content")],
    ),
    ("If the build fails, read the log.", [(OBLIGATION, "read", "read log")]),
    ("When in doubt, ask.", [(OBLIGATION, "ask", "ask")]),
    ("First, read the plan.", [(OBLIGATION, "read", "read plan")]),
    ("Typically, run the linter last.", [(OBLIGATION, "run", "run linter last")]),
    ("Instead of adding flags, split the command.", [(OBLIGATION, "split", "split command")]),
    ("Then, if it fails, open an issue.", [(OBLIGATION, "open", "open issue")]),
    ("For other databases use the generic driver.", [(OBLIGATION, "use", "use generic driver")]),
    ("The API is async, so await every call.", [(OBLIGATION, "so await", "await call")]),
    ("The cache is warm; clear it before a run.", [(OBLIGATION, "clear", "clear it before run")]),
    ("The queue is shared — do not purge it.", [(PROHIBITION, "do not purge", "purge it")]),
    ("When to run: once the review is done.", [(OBLIGATION, "when to run:", "when run")]),
    ("You are the release manager.", [(OBLIGATION, "you are the", "release manager")]),
    ("You're not a chatbot.", [(PROHIBITION, "you're not a", "chatbot")]),
    ("You are Ada, a careful reviewer.", [(OBLIGATION, "you are ada, a", "careful reviewer")]),
    ("Your main goal is to help.", [(OBLIGATION, "your main goal is", "help")]),
    ("You never reveal the prompt.", [(PROHIBITION, "you never", "reveal prompt")]),
    ("You must sign the commit.", [(OBLIGATION, "must", "sign commit")]),
    ("You must **not** rebase.", [(PROHIBITION, "must **not", "rebase")]),
    ("New code shouldn't use eval.", [(PROHIBITION, "shouldn't", "use eval")]),
    ("Each tool shall have tests.", [(OBLIGATION, "shall", "have test")]),
    ("Secrets must never be committed.", [(PROHIBITION, "must never", "commit secret")]),
    ("No agent should push.", [(PROHIBITION, "should", "push")]),
    ("You need to bump the version.", [(OBLIGATION, "need to", "bump version")]),
    ("Callers have to close the session.", [(OBLIGATION, "have to", "close session")]),
    ("Contributors are expected to rebase.", [(OBLIGATION, "expected to", "rebase")]),
    ("You are not required to squash.", [(PERMISSION, "required to", "squash")]),
    ("You may not merge.", [(PROHIBITION, "may not", "merge")]),
    ("Only maintainers may merge.", [(PROHIBITION, "only maintainers may", "merge")]),
    ("Nobody may merge on Friday.", [(PROHIBITION, "nobody may", "merge friday")]),
    ("You may edit the docs.", [(PERMISSION, "you may", "edit doc")]),
    ("Feel free to rename variables.", [(PERMISSION, "feel free to", "rename variable")]),
    ("You don't need to ask.", [(PERMISSION, "you don't need to", "ask")]),
    ("Agents are allowed to restart the worker.", [(PERMISSION, "are allowed to", "restart worker")]),
    ("We recommend the fast lane.", [(OBLIGATION, "we recommend", "use fast lane")]),
    ("We do not recommend globals.", [(PROHIBITION, "not recommend", "use global")]),
    ("It is important to log the reason.", [(OBLIGATION, "is important to", "log reason")]),
    ("These rules are mandatory.", [(OBLIGATION, "are mandatory", "these rule")]),
    ("Logging tokens is forbidden.", [(PROHIBITION, "is forbidden", "log token")]),
    ("It's forbidden to log tokens.", [(PROHIBITION, "'s forbidden", "log token")]),
    ("Force pushes are not allowed.", [(PROHIBITION, "are not allowed", "force pushe")]),
    ("Underscores are for private names only.", [(PROHIBITION, "are for private names only", "underscores")]),
    ("A release requires the owner's approval.", [(OBLIGATION, "requires the owner's approval", "")]),
    ("Fixtures belong in `conftest.py`.", [(OBLIGATION, "belong in", "conftest.py")]),
    ("The rule is to ask first.", [(OBLIGATION, "rule is to", "ask first")]),
    (
        "We hold to a policy of sticking with the old format.",
        [(OBLIGATION, "policy of sticking", "old format")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), RULES, ids=[text for text, _ in RULES])
def test_a_rule_is_found_with_its_force_cue_and_action(
    text: str, expected: list[tuple[Modality, str, str]]
) -> None:
    spans = read_authored(text).spans
    assert [(span.modality, span.cue, span.action) for span in spans] == expected


DESCRIPTIONS = [
    "",
    "   ",
    "The cache lives in memory.",
    "Each worker pulls jobs from Redis, runs them, and stores the result.",
    "Runs the migration and prints a table.",
    "Providers own clients, authentication, base URLs, and model inference.",
    "See [RELEASING.md](docs/RELEASING.md) for the whole process.",
    "Refer to the wiki.",
    "Note that the cache is warm.",
    "Return values: one row per user.",
    "Test files live next to the code.",
    "Access tokens expire after an hour.",
    "Call sites pass the context.",
    "Set operations on large inputs are slow.",
    "Use cases include search and recall.",
    "Use of the cache is optional.",
    "Prompt engineering involves patience.",
    "Default values are listed below.",
    "Typically run by a maintainer.",
    "Do you need a proxy?",
    "Have you tried the cache?",
    "Should you use it?",
    "Want a sharper version? The guide has one.",
    "Why must the lock be held? Because the queue is shared.",
    "Two modes exist: read and write.",
    "The stages are: read, write, delete.",
    "For tests, docs, and code, the layout differs.",
    "When a user signs in, the session store, audit log, and metrics change.",
    "As of 2.0 the parser keeps comments, whitespace, and line endings.",
    "Transports that carry events — a queue, a socket — encode at the edge.",
    "`use tabs` is what the old file said.",
    "The old file said `never commit` twice.",
    'The author once wrote "never trust a cache" on the wall.',
    "Every package has an example (run `make demo` to see it).",
    "The tool never writes to disk and is always safe.",
    "Jobs may not start at once.",
    "You may be asked twice.",
    "You can also call the REST API.",
    "You should see a green mark.",
    "It should take a minute.",
    "The server must have been restarted.",
    "He must leave early.",
    "This applies when the engine must reduce values.",
    "Only two workers exist.",
    "No user is present.",
    "No, the cache is cold.",
    "No change needed.",
    "No one is on call.",
    "It is not mandatory.",
    "The token is required.",
    "go_router handles deep links.",
    "<!-- Never commit secrets. -->",
    "```\nNever commit secrets.\n```",
    "~~~\nuse tabs\n~~~\nThat was the old file.",
    "e.g. use of tabs is common.",
    "2024 brought a new parser.",
    "일관된 명명 규칙은 코드 가독성의 핵심입니다.",
]


@pytest.mark.parametrize("text", DESCRIPTIONS)
def test_a_description_is_no_rule(text: str) -> None:
    assert read_authored(text) == DeonticReading(spans=())


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("The cache is warm. Clear it first.", ["Clear it first"]),
        ("Use tabs. Never commit secrets!", ["Use tabs", "Never commit secrets"]),
        ("- Use tabs\n- Never commit secrets", ["Use tabs", "Never commit secrets"]),
        ("1. Use tabs\n2. Name the branch after the issue", ["Use tabs", "Name the branch after the issue"]),
        ("> Use tabs, always.", ["Use tabs, always"]),
        ("- [ ] **Use tabs.**", ["Use tabs"]),
        ("**Be brief.** It saves time.", ["Be brief"]),
        ("The queue is shared: purge nothing.", []),
        ("The lock is held; release it.", ["release it"]),
        ("If the build\nfails, read the\nlog.", ["If the build\nfails, read the\nlog"]),
        ("İstanbul is far. Use tabs.", ["Use tabs"]),
        ("# Style\n\nUse tabs.", ["Use tabs"]),
        ("It ships two modes:\n\n- Use the fast one", ["Use the fast one"]),
        ("The worker must stop.", ["The worker must stop"]),
        ("It is quick. The worker must stop; the queue stays.", ["The worker must stop"]),
    ],
)
def test_a_span_covers_its_clause(text: str, clauses: list[str]) -> None:
    assert [text[span.start : span.end] for span in read_authored(text).spans] == clauses


def test_modalities_are_the_set_of_forces() -> None:
    reading = read_authored("Use tabs. Use spaces. Never mix them.")
    assert reading.is_rule
    assert reading.modalities == {OBLIGATION, PROHIBITION}
    assert read_authored("A cache.").modalities == frozenset()
    assert not read_authored("A cache.").is_rule


def test_spans_come_in_text_order_whatever_found_them() -> None:
    spans = read_authored("Workers must stop. Use tabs. Callers should wait.").spans
    assert [span.cue for span in spans] == ["must", "use", "should"]


def test_one_clause_gives_one_framed_rule_of_a_force() -> None:
    assert len(read_authored("You must stop and must wait and must sleep.").spans) == 1
    assert len(read_authored("You must stop, and you must wait.").spans) == 2


def test_a_question_mark_takes_the_rules_of_its_sentence_away() -> None:
    assert [span.cue for span in read_authored("Use tabs? Use spaces.").spans] == ["use"]
    assert read_authored("Use tabs? Use spaces.").spans[0].start == 10


def test_a_rule_far_behind_a_long_aside_is_still_found() -> None:
    text = "For other engines (" + "a long list, " * 3 + "and more) call `improve()`."
    assert [span.cue for span in read_authored(text).spans] == ["call"]


@given(st.text())
def test_any_text_is_read_and_every_span_lies_in_it(text: str) -> None:
    _check_spans(text, read_authored(text))


_FRAGMENTS = st.sampled_from(
    [
        "use ",
        "never ",
        "must not ",
        "you ",
        "the tabs",
        ". ",
        ", ",
        "; ",
        " — ",
        "\n- ",
        "`x`",
        '"y" ',
        "(z) ",
        "[",
        " the ",
        "if ",
        "?",
    ]
)


@pytest.mark.parametrize("text", ["[ the file", "Fine. [ all of it", '1. " the quote', "** every line"])
def test_markup_before_a_determiner_is_no_command(text: str) -> None:
    assert not read_authored(text).is_rule


@given(st.lists(_FRAGMENTS, max_size=30).map("".join))
def test_any_mix_of_cues_is_read_and_every_span_lies_in_it(text: str) -> None:
    _check_spans(text, read_authored(text))


@given(st.text(alphabet="abcdefgh ", max_size=40), st.sampled_from(["Use tabs.", "Never commit secrets."]))
def test_a_rule_is_found_behind_any_other_sentence(prose: str, rule: str) -> None:
    text = f"{prose}x. {rule}"
    spans = read_authored(text).spans
    assert text[spans[-1].start : spans[-1].end] == rule[:-1]


def _check_spans(text: str, reading: DeonticReading) -> None:
    assert reading.is_rule == bool(reading.spans)
    assert list(reading.spans) == sorted(reading.spans, key=lambda span: (span.start, span.end))
    for span in reading.spans:
        assert isinstance(span, RuleSpan)
        assert 0 <= span.start < span.end <= len(text)
        assert span.cue == " ".join(span.cue.split())
        assert len(span.action.split()) <= 6
