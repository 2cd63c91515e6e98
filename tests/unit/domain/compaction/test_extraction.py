"""Extractive summaries: coverage, redundancy, order, and never over the room."""

from hypothesis import given
from hypothesis import strategies as st

from models.domain.compaction.extraction import Passage, clip_summary, extract_summary, parse_summary
from models.domain.prompt.tokens import CharsCounter

count = CharsCounter().count
words = st.text(alphabet="abcdefgh .!?\n0123/_-世界", max_size=120)
passages = st.lists(
    st.builds(
        Passage,
        label=st.sampled_from(["user", "assistant", "Ana: x", "", "a\nb"]),
        text=words,
        role=st.sampled_from(["user", "assistant", "tool", "other"]),
        centrality=st.floats(min_value=0, max_value=1),
    ),
    max_size=8,
)


def said(*texts: str, role: str = "user") -> list[Passage]:
    return [Passage(label=role, role=role, text=text) for text in texts]


@given(passages, st.integers(min_value=0, max_value=120))
def test_a_summary_never_costs_more_than_its_room_and_is_the_same_twice(
    given_: list[Passage], room: int
) -> None:
    text = extract_summary(given_, capacity_tokens=room, count_tokens=count)
    assert count(text) <= room or text == ""
    assert text == extract_summary(given_, capacity_tokens=room, count_tokens=count)
    clipped = clip_summary(given_, capacity_tokens=room, count_tokens=count)
    assert count(clipped) <= room or clipped == ""


@given(passages, st.integers(min_value=8, max_value=120))
def test_a_summary_only_quotes(given_: list[Passage], room: int) -> None:
    everything = " ".join(" ".join(passage.text.split()) for passage in given_)
    for line in extract_summary(given_, capacity_tokens=room, count_tokens=count).splitlines():
        for word in line.partition(": ")[2].split():
            assert word.removesuffix("…") in everything


def test_facts_are_chosen_before_small_talk() -> None:
    talk = said(
        "Hey! Great to see you. The staging port is 5433.",
        "Wow, nice. The outage of 3 May 2024 came from src/billing/export.py.",
        "Thanks, really, thanks a lot! See you.",
    )
    text = extract_summary(talk, capacity_tokens=35, count_tokens=count)
    assert "5433" in text
    assert "src/billing/export.py" in text
    assert "Thanks" not in text


def test_the_same_thing_is_not_said_twice() -> None:
    talk = said(
        "The release moved to Thursday because of the audit.",
        "So the release moved to Thursday because of the audit.",
        "Marta owns the migration of the ledger.",
    )
    text = extract_summary(talk, capacity_tokens=60, count_tokens=count)
    assert text.count("Thursday") == 1
    assert "Marta" in text


def test_sentences_keep_the_order_of_their_sources() -> None:
    talk = said(*(f"Step {n} changed module_{n}.py on day {n}." for n in range(1, 7)))
    text = extract_summary(talk, capacity_tokens=60, count_tokens=count)
    numbers = [int(word) for word in text.replace(".", " ").split() if word.isdigit()]
    assert len(numbers) > 4
    assert numbers[::2] == sorted(numbers[::2])


def test_what_the_neighbouring_summary_says_is_left_to_it() -> None:
    talk = said("The cluster runs in Lisbon on twelve machines.", "The invoice goes to Porto every quarter.")
    for told, left in (("Lisbon", "Porto"), ("Porto", "Lisbon")):
        before = next(passage.text for passage in talk if told in passage.text)
        text = extract_summary(talk, capacity_tokens=14, count_tokens=count, prior_text=f"user: {before}")
        assert left in text
        assert told not in text


def test_a_central_passage_is_preferred_to_a_stray_one() -> None:
    talk = [
        Passage(label="user", text="My cousin sells purple umbrellas.", centrality=0.0),
        Passage(label="user", text="The parser rejects nested quotes.", centrality=1.0),
    ]
    assert "parser" in extract_summary(talk, capacity_tokens=12, count_tokens=count)


def test_a_summary_reads_back_as_the_passages_it_was_made_of() -> None:
    talk = [*said("The port is 5433."), *said("Noted, I wrote port 5433 down.", role="assistant")]
    text = extract_summary(talk, capacity_tokens=60, count_tokens=count)
    read, mentions = parse_summary(f"{text}\nAlso: a.py, 3 May", footer_label="Also: ")
    assert [(one.label, one.role) for one in read] == [("user", "user"), ("assistant", "assistant")]
    assert [one.text for one in read] == ["The port is 5433.", "Noted, I wrote port 5433 down."]
    assert mentions == ("a.py", "3 May")


def test_a_very_long_passage_is_read_at_both_ends_in_little_time() -> None:
    filler = "nothing of note happened in the valley today. " * 20_000
    text = extract_summary(
        said(f"The vault code is 8812. {filler} The spare key is behind the barometer."),
        capacity_tokens=60,
        count_tokens=count,
    )
    assert "8812" in text
    assert "barometer" in text


def test_what_happened_when_is_chosen_before_compliments_and_questions() -> None:
    talk = said(
        "Your story is so inspiring and gives other people strength. How did the community react to it?",
        "I ran a charity race for mental health last Saturday. You have such a wonderful spirit and courage.",
    )
    text = extract_summary(talk, capacity_tokens=20, count_tokens=count)
    assert text == "user: I ran a charity race for mental health last Saturday."


def test_each_day_is_named_once_and_read_back() -> None:
    talk = [
        Passage(label="Ann", text="The roof was mended by Marta yesterday.", day="2024-05-03"),
        Passage(label="Bob", text="My train to Porto leaves tomorrow.", day="2024-05-03"),
        Passage(label="Bob", text="The invoice for the roof came this morning.", day="2024-05-07"),
    ]
    text = extract_summary(talk, capacity_tokens=80, count_tokens=count)
    assert text.splitlines() == [
        "[2024-05-03] Ann: The roof was mended by Marta yesterday.",
        "Bob: My train to Porto leaves tomorrow.",
        "[2024-05-07] Bob: The invoice for the roof came this morning.",
    ]
    read, _ = parse_summary(text, footer_label="Also: ")
    assert [(one.label, one.day, one.text) for one in read] == [
        (one.label, one.day, one.text) for one in talk
    ]


def test_lead_ins_fragments_and_bold_marks_are_no_part_of_a_summary() -> None:
    talk = said(
        "Here are some popular tools for the garden:\n- **Rake**\n- <3\n- **Spades** are sold in Lisbon."
    )
    assert extract_summary(talk, capacity_tokens=60, count_tokens=count) == "user: Spades are sold in Lisbon."
