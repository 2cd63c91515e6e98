"""Whose words a question asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.recall.questions import asks_for_answers


@pytest.mark.parametrize(
    "question",
    [
        "Which hotel did you recommend?",
        "You mentioned a book about bees. Who wrote it?",
        "What was the recipe you’ve given? You had already suggested one.",
        "I am checking our previous conversation about Rome.",
        "Can you remind me what the fourth step was?",
        "We talked about tax forms; which one applies?",
        "In our last chat there was a list of seven names.",
        "You had kindly listed some museums.",
    ],
)
def test_a_question_about_earlier_answers_is_known_by_its_words(question: str) -> None:
    assert asks_for_answers(question)


ASKED = "say tell mention suggest recommend give provide explain list share describe write advise show propose answer"
SAID = (
    "said told mentioned suggested recommended gave provided explained listed shared described wrote advised showed "
    "proposed answered"
)


@pytest.mark.parametrize("verb", ASKED.split())
def test_what_you_did_say_is_an_earlier_answer(verb: str) -> None:
    assert asks_for_answers(f"What exactly did you {verb} about Rome?")
    assert not asks_for_answers(f"What exactly did Ann {verb} about Rome?")


@pytest.mark.parametrize("verb", SAID.split())
def test_what_you_once_said_is_an_earlier_answer(verb: str) -> None:
    assert asks_for_answers(f"Which town was it that you {verb}?")
    assert not asks_for_answers(f"Which town was it that Ann {verb}?")


def test_a_curly_apostrophe_reads_like_a_straight_one() -> None:
    assert asks_for_answers("The town you’ve described")
    assert asks_for_answers("The town you’d suggested")


@pytest.mark.parametrize(
    "question",
    [
        "Can you recommend a hotel?",
        "What do you suggest for dinner?",
        "How many days ago did I plant the tomatoes?",
        "Which gift did Ann give me?",
        "Did you know that it rains?",
        "Remind me tomorrow.",
        "What was my last name before?",
        "I told you that I moved.",
        "",
    ],
)
def test_other_questions_ask_for_what_was_told(question: str) -> None:
    assert not asks_for_answers(question)


def test_a_long_text_is_a_task_and_only_its_beginning_is_read() -> None:
    assert not asks_for_answers("x " * 1_000 + "as you suggested")
    assert asks_for_answers("x" * 1_986 + " you suggested")
    assert not asks_for_answers("x" * 1_987 + " you suggested")


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert asks_for_answers(text) in {True, False}
