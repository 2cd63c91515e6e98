"""Which sentences an extractive summary chooses, how it shows them, and what is left when nothing fits."""

import pytest

from models.domain.compaction.extraction import Passage, clip_summary, extract_summary, parse_summary
from models.domain.prompt.tokens import CharsCounter

count = CharsCounter().count


def said(*texts: str) -> list[Passage]:
    return [Passage(label="user", text=text) for text in texts]


def summarize(*talk: Passage, room: int = 60, prior: str = "") -> str:
    return extract_summary(talk, capacity_tokens=room, count_tokens=count, prior_text=prior)


def test_a_passage_is_the_users_and_central_unless_it_says_otherwise() -> None:
    plain = Passage(label="x", text="y")
    assert (plain.role, plain.centrality) == ("user", 1.0)


@pytest.mark.parametrize(
    ("role", "other"),
    [("user", "assistant"), ("assistant", "system"), ("system", "tool"), ("bot", "tool"), ("user", "bot")],
)
def test_what_matters_less_by_its_role_yields(role: str, other: str) -> None:
    heard = Passage(label="a", role=role, text="The parser rejects nested quotes.")
    yielding = Passage(label="b", role=other, text="The lexer accepts nested braces.")
    for talk in ((heard, yielding), (yielding, heard)):
        assert summarize(*talk, room=13) == "a: The parser rejects nested quotes."


def test_a_voice_not_heard_yet_comes_before_a_second_sentence_of_another() -> None:
    long = Passage(label="a", text="The parser rejects nested quotes. The lexer accepts nested braces.")
    short = Passage(label="b", text="The printer needs purple toner cartridges.")
    heard = [line.partition(": ")[0] for line in summarize(long, short, room=22).splitlines()]
    assert heard == ["a", "b"]


@pytest.mark.parametrize("fact", ["5433", "a.py", "src/x", "snake_case", "#12", "ann@home", "10:30"])
def test_a_fact_weighs_more_than_a_word(fact: str) -> None:
    talk = said("The garden gate squeaks loudly tonight.", f"The garden {fact} squeaks loudly tonight.")
    assert fact in summarize(*talk, room=12)


def test_a_word_that_several_passages_share_weighs_more() -> None:
    talk = said(
        "Otters whistle loudly.", "Ledger grows slowly.", "Ledger shrinks fast.", "Ledger waits here."
    )
    assert "Ledger" in summarize(*talk, room=8)
    assert "Otters" not in summarize(*talk, room=8)


def test_nothing_but_chatter_is_no_summary_and_one_fact_is() -> None:
    assert summarize(*said("Hey! Wow, great. Thanks, sounds good. Lisbon.")) == ""
    assert summarize(*said("Hey! 5433.")) == "user: 5433."
    assert summarize(*said("Lisbon harbour opens.")) == "user: Lisbon harbour opens."


def test_a_sentence_with_a_third_of_its_words_new_repeats_and_one_with_more_does_not() -> None:
    first = "Marta ledger quarter invoice Porto."
    assert summarize(*said(first, "Ledger invoice otter.")).count("nvoice") == 1
    assert "otter whistle" in summarize(*said(first, "Ledger invoice otter whistle."))


def test_no_room_means_no_summary() -> None:
    assert summarize(*said("The port is 5433."), room=0) == ""
    assert summarize(room=60) == ""
    assert clip_summary([], capacity_tokens=60, count_tokens=count) == ""


def test_what_does_not_fit_makes_room_for_something_shorter() -> None:
    talk = said(
        "The garden gate of the old harbour master squeaks loudly at 10:30 on 3 May 2024.", "Port 5433."
    )
    assert summarize(*talk, room=6) == "user: Port 5433."


def test_a_sentence_longer_than_most_of_the_room_is_clipped_between_words() -> None:
    text = summarize(*said("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda"), room=12)
    assert text.startswith("user: alpha beta gamma")
    assert text.endswith("…")
    assert len(text.removeprefix("user: ")) <= 0.8 * 12 * 4


def test_neighbours_of_one_voice_share_a_line_and_others_do_not() -> None:
    ann, bob = "The port is 5433.", "The host is db7.example.org."
    talk = [
        Passage(label=who, text=text)
        for who, text in (("Ann", ann), ("Ann", bob), ("Bob", "Row 1717 is red."))
    ]
    assert summarize(*talk) == f"Ann: {ann} {bob}\nBob: Row 1717 is red."


@pytest.mark.parametrize(
    ("label", "shown"),
    [("", "unknown"), (" : ", "unknown"), ("Ann: the\nfirst", "Ann the first"), ("x" * 80, "x" * 64)],
)
def test_a_label_is_one_short_line_without_a_colon(label: str, shown: str) -> None:
    assert summarize(Passage(label=label, text="The port is 5433.")) == f"{shown}: The port is 5433."
    clipped = clip_summary([Passage(label=label, text="The port.")], capacity_tokens=60, count_tokens=count)
    assert clipped == f"{shown}: The port."


def test_the_fallback_is_the_beginning_of_the_first_passage_that_says_something() -> None:
    talk = [Passage(label="a", text=" \n "), Passage(label="b", text="One two three. Four."), *said("Five.")]
    assert clip_summary(talk, capacity_tokens=60, count_tokens=count) == "b: One two three. Four."
    assert clip_summary(talk, capacity_tokens=3, count_tokens=count) == "b: One two…"
    assert (
        clip_summary(said("世界" * 20), capacity_tokens=20, count_tokens=count)
        == "user: " + "世界" * 6 + "世…"
    )
    assert clip_summary(said("one two"), capacity_tokens=9, count_tokens=len) == "user: on…"
    assert clip_summary(said("one two"), capacity_tokens=7, count_tokens=len) == ""
    assert clip_summary(said("one two"), capacity_tokens=13, count_tokens=len) == "user: one two"


def test_lines_that_name_nobody_are_the_summarys_own() -> None:
    body = "no voice here\nuser: hi\n" + "x" * 65 + ": long\n" + "y" * 64 + ": fits\nAlso: a.py, , b.py\n"
    read, mentions = parse_summary(body, footer_label="Also: ")
    assert [(one.label, one.text, one.role) for one in read] == [
        ("summary", "no voice here", "user"),
        ("user", "hi", "user"),
        ("summary", "x" * 65 + ": long", "user"),
        ("y" * 64, "fits", "user"),
    ]
    assert mentions == ("a.py", "b.py")


def test_roles_are_read_back_from_their_labels() -> None:
    read, mentions = parse_summary("tool: a\nsystem: b: c\nAnn: d", footer_label="Also: ")
    assert [(one.role, one.text) for one in read] == [("tool", "a"), ("system", "b: c"), ("user", "d")]
    assert mentions == ()


def test_only_the_ends_of_a_long_passage_are_read() -> None:
    middle = said(
        "The port is 5433.\n" + "a\n" * 10_000 + "The vault is 8812.\n" + "b\n" * 10_000 + "Row 1717 is red."
    )
    text = summarize(*middle)
    assert "5433" in text
    assert "Row 1717" in text
    assert "8812" not in text
