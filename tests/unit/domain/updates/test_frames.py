"""Claims about frames: one clause with another filling, whatever stands around it in a long message."""

import pytest

from models.domain.updates.claims import read_claims, read_statement
from models.domain.updates.contrasts import find_contrast
from models.domain.updates.decision import decide
from models.domain.updates.frames import read_kept, read_rates, read_tastes
from models.domain.updates.sentences import list_sentences

ALIKE = 0.65  # as an encoder finds most pairs of one matter


def judge(older: str, newer: str, cosine: float = ALIKE) -> str | None:
    verdict = decide(read_statement(older), read_statement(newer), cosine)
    return verdict.reason if verdict else None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # how often
        ("I swim twice a week before work.", "I've been tired, I swim every day before work."),
        ("We meet our accountant monthly.", "We meet our accountant every other week since the audit."),
        ("I do pilates on Mondays, Wednesdays and Fridays.", "I do pilates once a week, my back is fine."),
        ("I feed the starter every 3 days.", "I feed the starter daily, it grows better."),
        # liked, or not
        ("I can't stand beetroot.", "We had it roasted, and I've grown fond of beetroot."),
        ("I'm a big fan of escape rooms.", "My claustrophobia got worse, I don't enjoy escape rooms."),
        ("I prefer calls to messages, they're quicker.", "I prefer messages to calls when I travel."),
        ("I'd rather camp than sleep in a hotel.", "I'd rather sleep in a hotel than camp with my back."),
        ("I don't drink wine.", "I've started to enjoy wine since our trip to Tuscany."),
        # where a thing is kept
        ("I keep my passport in the desk.", "The desk is full, so I keep my passport in a safe."),
        ("We store our skis in the cellar.", "We put our skis in the garage after the flood."),
        # the same clause with another end
        (
            "Our dog sleeps in the kitchen, on an old blanket.",
            "Our dog sleeps under the stairs, it's quieter.",
        ),
        ("I edit my videos in Premiere but it's slow.", "I edit my videos in Resolve, which is free."),
        ("Put all reports under /reports, please.", "Put all reports under /archive, the disk is full."),
        ("Send the invoices to Maria, she pays them.", "Maria is on leave, send the invoices to Jonas."),
        # counted, measured
        ("I've got 31 stamps from Peru in my album.", "My album has grown, I've got 44 stamps from Peru."),
        ("My novel is at 12,000 words.", "The novel is at 19,000 words, I'm getting there."),
        (
            "My record for the lake lap is 31 minutes and 10 seconds.",
            "My record for the lake lap is 29 minutes and 55 seconds.",
        ),
        # a grade, and what was meant to be done
        (
            "I'm a Bronze member at the climbing hall.",
            "I just reached Silver, so I'm a Silver member at the hall.",
        ),
        ("I've been meaning to read Stoner Park.", "I just finished Stoner Park and loved it."),
    ],
)
def test_another_filling_of_one_frame_replaces_the_older(older: str, newer: str) -> None:
    assert judge(older, newer) is not None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I swim twice a week.", "I also row three times a week."),
        ("I do yoga twice a week.", "I call my aunt every day."),
        ("I love olives.", "I hate anchovies."),
        ("I can't stand horror films.", "I love films with my kids in the winter holidays."),
        ("I prefer tea to coffee.", "I prefer tea to juice."),
        ("I keep my skis in the cellar.", "I keep my bike in the garage."),
        ("I keep my tools in the shed.", "I also keep my tools in the car."),
        ("I have a cat at home.", "I have a piano at work."),
        ("My sister lives in Rome with her kids.", "My brother lives in Oslo with his dog."),
        ("We looked at a 3-bedroom house in May.", "We looked at a 2-bedroom flat in June."),
        ("I'm looking for something around $50.", "I'm looking at one that costs around $120."),
        ("Always check the licence of a package.", "Always check the size of a package."),
        ("Answer formally when I write to the bank.", "Answer casually when I write to friends."),
        ("I'm on page 120 of the atlas.", "The atlas has 340 pages."),
        ("I'd like to visit Paris one day.", "I've eaten a Paris bun."),
        ("I had a great time at the lake with Ann.", "I had a great time at the lake with Ben."),
        ("Our office in Rome has 40 desks.", "Our office in Oslo has 12 desks."),
        ("We bought filter coffee.", "We bought ground coffee instead of whole coffee."),
    ],
)
def test_additions_other_things_and_other_people_replace_nothing(older: str, newer: str) -> None:
    assert judge(older, newer) is None


def test_what_is_hardly_alike_has_no_frame_in_common() -> None:
    older, newer = (read_statement(text) for text in ("I love olives.", "I hate olives."))
    assert find_contrast(older, newer, 0.8) is not None
    assert find_contrast(older, newer, 0.1) is None


def test_a_statement_inside_a_question_is_read() -> None:
    [claim] = read_claims("Can you set a reminder for my judo class, which I usually go to at 7:00 pm?")
    assert claim.text == "my judo class, which I usually go to at 7:00 pm"
    assert read_claims("Can you tell me where my class is?") == ()


def test_a_sentence_that_only_points_stands_with_the_one_before_it() -> None:
    said = "Thanks for asking about the key. It's with my neighbour Ada. What else is new?"
    assert [*list_sentences(said)][-1] == "Thanks for asking about the key. It's with my neighbour Ada."


def test_a_rate_in_doubt_is_none() -> None:
    assert [*read_rates("maybe i should swim twice a week")] == []
    assert [*read_rates("it is a daily struggle")] == []


def test_a_pronoun_stands_for_the_subject_of_the_clause_before() -> None:
    [taste] = read_tastes("coriander tastes of soap, so i can't stand it")
    assert (taste.is_liked, taste.what) == (False, {"coriand"} if "coriand" in taste.what else {"coriander"})


def test_what_is_kept_is_the_last_thing_that_was_named() -> None:
    [kept] = read_kept("my old boots smell, i keep them under the stairs")
    assert kept.what == {"old", "boot"} or "boot" in kept.what
