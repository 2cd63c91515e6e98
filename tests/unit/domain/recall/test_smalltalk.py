"""Claims about small talk: courtesy alone carries nothing; one word of substance, or being asked for, and it does."""

import pytest

from models.domain.recall.smalltalk import HOLLOW_EVIDENCE, TALK_EVIDENCE, carries_nothing, is_hollow


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


@pytest.mark.parametrize("name", ["Melanie", "Jo", "Zoe"])
def test_a_name_that_is_addressed_is_taken_away_and_one_that_is_spoken_of_is_not(name: str) -> None:
    assert carries_nothing(f"Thanks, {name}! You rock!")
    assert not carries_nothing(f"You and {name} rock!")
    assert not carries_nothing(f"Thanks, {name.lower()}! You rock!")


def test_an_answer_to_a_question_carries_its_yes() -> None:
    assert carries_nothing("Yes, absolutely!")
    assert not carries_nothing("Yes, absolutely!", answers_question=True)


def test_what_is_asked_for_is_no_small_talk() -> None:
    assert carries_nothing("Thanks for the support. You rock!")
    assert not carries_nothing("Thanks for the support. You rock!", asked={"support"})


@pytest.mark.parametrize(
    "said",
    [
        "Way to go, Jon! You're almost there!",
        "Wow, nice spot! Where is it?",
        "Sure, see ya. Bye!",
        "You bet! You'll be the first to know.",
        "Thanks for being there for me! It means a lot.",
        "Haha, never give up on your dreams!",
    ],
)
def test_cheers_and_questions_are_hollow_where_they_hardly_match(said: str) -> None:
    assert is_hollow(said, evidence=0.2, load=0.0)
    assert not is_hollow(said, evidence=TALK_EVIDENCE, load=0.0)


@pytest.mark.parametrize(
    "said",
    [
        "Thanks, Nate! It's a mix of drama and romance!",
        "Woah, that sounds cool! I'm doing kickboxing.",
        "The build is red.",
        "pnpm it is.",
        "Soy vegetariano.",
        "Prima! Bis morgen!",
    ],
)
def test_two_words_of_substance_a_plain_statement_and_other_tongues_are_not_hollow(said: str) -> None:
    assert not is_hollow(said, evidence=0.1, load=0.0)


def test_where_nothing_matches_well_a_little_more_is_hollow() -> None:
    said = "The red one hums, flickers."
    assert is_hollow(said, evidence=0.2, load=0.0, is_weak=True)
    assert not is_hollow(said, evidence=0.2, load=0.0)
    assert not is_hollow(said, evidence=HOLLOW_EVIDENCE, load=0.0, is_weak=True)


def test_a_question_before_what_matches_says_what_that_is_about() -> None:
    said = "Wow, nice spot! Where is it?"
    assert not is_hollow(said, evidence=0.2, load=0.0, leads_to_match=True)
    assert is_hollow("Wow, nice spot!", evidence=0.2, load=0.0, leads_to_match=True)


@pytest.mark.parametrize(
    "said", ["It's Shia Labeouf!", "We got 3 of them.", "She plays in the band Summer Sounds."]
)
def test_what_names_or_counts_something_is_not_hollow(said: str) -> None:
    assert not is_hollow(said, evidence=0.1, load=0.0)


def test_facts_answers_and_what_is_asked_for_are_not_hollow() -> None:
    assert not is_hollow("We moved house.", evidence=0.1, load=0.3)
    assert not is_hollow("The purple one.", evidence=0.1, load=0.0, answers_question=True)
    assert not is_hollow("The purple one.", evidence=0.1, load=0.0, asked={"purple"})
