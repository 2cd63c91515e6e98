"""What a sentence is worth beside its terms, how it is cleaned, and how a summary's lines are read again."""

import pytest

from models.domain.compaction.extraction import (
    ADDRESS_WORTH,
    DATED_WORTH,
    NAMED_WORTH,
    QUESTION_WORTH,
    ROLE_WEIGHT,
    Passage,
    _choose,
    _clean_label,
    _clean_sentence,
    _list_sentences,
    _measure_worth,
    _says_something,
    _Sentence,
    extract_summary,
    parse_summary,
)
from models.domain.prompt.tokens import CharsCounter

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


def sentence(place: tuple[int, int], words: str, *, tokens: int = 4, worthy: bool = False) -> _Sentence:
    terms = frozenset(words.split())
    return _Sentence(place=place, text=words, terms=terms, weight=1.0, is_worthy=worthy, cost=tokens**0.5)


def choose(*sentences: _Sentence, capacity: int = 100) -> list[tuple[int, int]]:
    return [one.place for one in _choose(sentences, {}, capacity=capacity)]


def test_sentences_are_chosen_while_there_is_room() -> None:
    three = [sentence((0, i), f"red{i} blue{i} green{i}") for i in range(3)]
    assert [len(choose(*three, capacity=room)) for room in (12, 11, 8, 7, 4, 3)] == [3, 2, 2, 1, 1, 0]


def test_one_that_does_not_fit_leaves_room_for_a_shorter_one() -> None:
    long = sentence((0, 0), " ".join(f"word{chr(97 + i)}" for i in range(20)), tokens=16)
    assert choose(long, sentence((0, 1), "red blue green"), capacity=8) == [(0, 1)]


def test_a_voice_that_was_heard_yields_each_time_it_is_heard() -> None:
    first = [sentence((0, i), f"red{i} blue{i} green{i} grey{i} pink{i}") for i in range(4)]
    second = [sentence((1, i), f"oak{i} elm{i} ash{i} fir{i} yew{i}") for i in range(4)]
    voices = [voice for voice, _ in choose(*first, *second)]
    assert [sorted(voices[at : at + 2]) for at in range(0, 8, 2)] == [[0, 1]] * 4


def test_what_was_said_two_sentences_ago_is_still_said() -> None:
    said = [
        sentence((0, 0), "red blue green grey"),
        sentence((0, 1), "oak elm ash"),
        sentence((0, 2), "red blue green"),
    ]
    assert choose(*said) == [(0, 0), (0, 1)]


@pytest.mark.parametrize(
    ("words", "worthy", "says"),
    [
        ("red blue green", False, True),
        ("red blue", False, False),
        ("red blue", True, True),
        ("red", True, False),
        ("red thanks wow", False, False),
        ("5433", False, True),
        ("543", False, False),
    ],
)
def test_a_sentence_says_something_with_three_words_or_a_fact(words: str, worthy: bool, says: bool) -> None:
    assert _says_something(sentence((0, 0), words, worthy=worthy)) is says


def test_a_sentence_is_weighed_by_role_centrality_and_worth() -> None:
    def weigh(text: str, **more: object) -> tuple[float, bool, float]:
        passage = Passage(label="Marta", text=text, **more)
        (found,) = _list_sentences([passage], longest_chars=100, count_tokens=lambda text: len(text) // 100)
        return (found.weight, found.is_worthy, found.cost)

    assert weigh("we met Marta there.") == (1.0, False, 1.0)
    assert weigh("we met Bela there.") == (NAMED_WORTH, True, 1.0)
    assert weigh("we met there.", role="tool") == (0.4, False, 1.0)
    assert weigh("we met there.", centrality=0.0) == (0.5, False, 1.0)


def test_of_a_long_passage_its_beginning_and_its_end_are_read() -> None:
    text = "First it rained here.\n" + "x" * 30_000 + "\nLast it snowed there."
    found = _list_sentences([Passage(label="a", text=text)], longest_chars=50, count_tokens=len)
    assert (found[0].text, found[-1].text) == ("First it rained here.", "Last it snowed there.")
    middle = "x" * 9_000 + "\nThen it hailed here.\n" + "x" * 21_000
    found = _list_sentences([Passage(label="a", text=middle)], longest_chars=50, count_tokens=len)
    assert "Then it hailed here." in [one.text for one in found]
