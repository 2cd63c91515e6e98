"""Claims about small talk: courtesy alone carries nothing; one word of substance, or being asked for, and it does."""

import pytest

from models.domain.recall.smalltalk import carries_nothing


@pytest.mark.parametrize(
    "said",
    [
        "Noted.",
        "You too!",
        "How are you doing today?",
        "Thanks, Melanie! Your kind words mean a lot.",
        "Hey Mel! Good to see you! How have you been?",
        "No worries, John. I'm here for you. Take care!",
        "Sounds great!",
        ";)",
    ],
)
def test_courtesy_alone_carries_nothing(said: str) -> None:
    assert carries_nothing(said)


@pytest.mark.parametrize(
    "said",
    [
        "Thanks! The vet said it is a cold.",
        "Great, see you tomorrow!",
        "I'm here at 10.",
        "Thanks, I told Melanie.",
        "Wow! What did you get?",
        "I love hiking.",
        "Danke, bis bald!",
        "好的",
    ],
)
def test_one_word_of_substance_is_enough_to_carry_something(said: str) -> None:
    assert not carries_nothing(said)


def test_an_answer_to_a_question_carries_its_yes() -> None:
    assert carries_nothing("Yes, absolutely!")
    assert not carries_nothing("Yes, absolutely!", answers_question=True)


def test_what_is_asked_for_is_no_small_talk() -> None:
    assert carries_nothing("Thanks for the support. You rock!")
    assert not carries_nothing("Thanks for the support. You rock!", asked={"support"})
