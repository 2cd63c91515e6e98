"""What a sentence is worth beside its terms, how it is cleaned, and how a summary's lines are read again."""

import pytest

from models.domain.extraction import (
    ADDRESS_WORTH,
    DATED_WORTH,
    NAMED_WORTH,
    QUESTION_WORTH,
    ROLE_WEIGHT,
    Passage,
    _clean_label,
    _clean_sentence,
    _measure_worth,
    extract_summary,
    parse_summary,
)
from models.domain.tokens import CharsCounter

count = CharsCounter().count

ADDRESSED = """
your story is good; you are good; you're good; you've done it; you'll do it; you'd do it; let's catch up; lets catch up
that's good; thats good; it sounds good; that sounds good; sounds good; looks good; it looks good; thanks a lot; thank ann
thank you all; congrats on that; congratulations to all; keep at it; take care now; good luck there; hope it goes well
glad of it; proud of it; so happy now; i'm happy for them; im glad for them; i am proud of them; i'm so excited for them
i'm really sorry to hear it; have a good one; have fun there; how good it is; what fun it is; and you are good
but you are good; so you are good; oh you are good; wow, you are good; yeah you are good; well you are good; hey you two
"""
PLAIN = "yours is good; youth is good; a story; we sang; hopes rise; haves and nots; keeper of it; anyhow it is; showing it"


def split_phrases(text: str) -> list[str]:
    return [phrase for line in text.strip().splitlines() for phrase in line.split("; ")]


@pytest.mark.parametrize("sentence", split_phrases(ADDRESSED))
def test_what_is_said_to_the_other_one_is_worth_less(sentence: str) -> None:
    assert _measure_worth(sentence) == ADDRESS_WORTH
    assert _measure_worth(sentence.upper(), {word.lower() for word in sentence.split()}) <= 1.0


@pytest.mark.parametrize("sentence", split_phrases(PLAIN))
def test_what_only_begins_alike_is_worth_itself(sentence: str) -> None:
    assert _measure_worth(sentence) == 1.0


@pytest.mark.parametrize(
    "question", ["is it so?", "is it so？", 'is it "so?"', "is it (so?)", "is it ‘so?’", "is it “so?”"]
)
def test_a_question_is_worth_half(question: str) -> None:
    assert _measure_worth(question) == QUESTION_WORTH


def test_a_day_and_a_name_are_worth_more_unless_the_name_is_a_speakers() -> None:
    assert _measure_worth("we moved yesterday.") == DATED_WORTH
    assert _measure_worth("we met Marta there.") == NAMED_WORTH
    assert _measure_worth("we met Marta there.", {"marta"}) == 1.0
    assert _measure_worth("we met Marta yesterday.") == pytest.approx(DATED_WORTH * NAMED_WORTH)
    assert _measure_worth("you met Marta there.") == pytest.approx(ADDRESS_WORTH * NAMED_WORTH)


@pytest.mark.parametrize(
    ("sentence", "plain"),
    [
        ("**Tip**: go.", "Tip: go."),
        ("a __tip__ here", "a tip here"),
        ("__init__ runs", "__init__ runs"),
        ("a*b**c__d", "a*bcd"),
        ('he said "go.', "he said go."),
        ('he said "go".', 'he said "go".'),
        ('" go', "go"),
    ],
)
def test_marks_that_only_made_sense_around_a_sentence_are_gone(sentence: str, plain: str) -> None:
    assert _clean_sentence(sentence) == plain


@pytest.mark.parametrize(
    ("label", "clean"),
    [("a: b", "a b"), ("  x \n y ", "x y"), ("", "unknown"), (":", "unknown"), ("z" * 70, "z" * 64)],
)
def test_a_label_is_one_line_without_a_colon(label: str, clean: str) -> None:
    assert _clean_label(label) == clean


def test_the_lines_of_a_summary_are_read_again() -> None:
    body = (
        "[2026-03-05] user: Hi.\nassistant: Ho.\n[2026-03-06] Ann: Hm.\nno voice\n"
        + "x" * 65
        + ": y\nAlso: a.py, b.py"
    )
    passages, mentions = parse_summary(body, footer_label="Also: ")
    assert mentions == ("a.py", "b.py")
    assert [(one.label, one.text, one.role, one.day) for one in passages] == [
        ("user", "Hi.", "user", "2026-03-05"),
        ("assistant", "Ho.", "assistant", "2026-03-05"),
        ("Ann", "Hm.", "user", "2026-03-06"),
        ("summary", "no voice", "user", "2026-03-06"),
        ("summary", "x" * 65 + ": y", "user", "2026-03-06"),
    ]
    assert parse_summary("x" * 64 + ": y", footer_label="Also: ")[0][0].label == "x" * 64
    assert parse_summary("", footer_label="Also: ") == ((), ())


def test_roles_weigh_as_the_model_says() -> None:
    assert ROLE_WEIGHT == {"user": 1.0, "assistant": 0.8, "system": 0.7, "tool": 0.4}


def test_a_day_is_named_once_and_a_voice_shares_its_line() -> None:
    talk = [
        Passage(label="ann", text="The port is 5433.", day="2026-03-05"),
        Passage(label="ann", text="The host is h7x9.", day="2026-03-05"),
        Passage(label="bo", text="The key is k9z8.", day="2026-03-05"),
        Passage(label="bo", text="The lock is q4x2.", day="2026-03-06"),
        Passage(label="bo", text="The door is w2v1."),
    ]
    assert extract_summary(talk, capacity_tokens=200, count_tokens=count) == (
        "[2026-03-05] ann: The port is 5433. The host is h7x9.\nbo: The key is k9z8.\n"
        "[2026-03-06] bo: The lock is q4x2.\nbo: The door is w2v1."
    )


def test_a_line_that_announces_others_is_left_out() -> None:
    talk = [Passage(label="a", text="Here are the ports of h7x9: \nThe port is 5433.")]
    assert extract_summary(talk, capacity_tokens=200, count_tokens=count) == "a: The port is 5433."


def test_a_central_passage_comes_before_one_at_the_edge() -> None:
    middle = Passage(label="a", text="The parser rejects nested quotes.", centrality=0.9)
    edge = Passage(label="b", text="The lexer accepts nested braces.", centrality=0.1)
    for talk in ((middle, edge), (edge, middle)):
        assert extract_summary(talk, capacity_tokens=13, count_tokens=count).startswith("a: ")
