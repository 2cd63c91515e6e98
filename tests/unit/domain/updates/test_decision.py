"""Claims about updates: what replaces what, and what never does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.updates.claims import MAX_CLAIMS, read_claims, read_statement
from models.domain.updates.decision import decide
from models.domain.updates.sentences import MAX_CHARS
from models.domain.updates.statements import Statement, find_superseded, put_newer_first

ALIKE = 0.6  # as an encoder finds most pairs of one matter


def judge(older: str, newer: str, cosine: float = ALIKE) -> str | None:
    verdict = decide(read_statement(older), read_statement(newer), cosine)
    return verdict.reason if verdict else None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Lisbon.", "We moved to Porto last month."),
        ("I'm allergic to peanuts.", "It's only hazelnuts, peanuts are fine."),
        ("My rent is 900 euros.", "The landlord raised my rent to 950 euros."),
        ("Our standup is at 9:30 every day.", "Standup moved to 10:00."),
        ("I work at Siemens.", "I started at Bosch three weeks ago."),
        ("I have tried three different ones.", "I have tried four different ones so far."),
        ("My editor is Vim.", "I've switched to Zed for all my coding."),
        ("My manager is Priya.", "My manager is Tomasz."),
        ("I hate board games.", "I've become really fond of board games."),
        ("Always answer in German.", "Please answer in English from now on."),
        ("Use pnpm for installing packages.", "We switched to bun, so no pnpm anymore."),
        ("Always use tabs for indentation.", "Use spaces for indentation, not tabs."),
        ("I enjoy running in the evening.", "I like to run in the morning now."),
        ("Never use emojis.", "You can use emojis again."),
        ("Call me Alexander.", "Please call me Sasha from now on."),
        (
            "Always run the linter before you commit.",
            "You don't have to run the linter before commits anymore.",
        ),
    ],
)
def test_another_value_of_the_same_thing_replaces_the_older(older: str, newer: str) -> None:
    assert judge(older, newer) is not None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("CPU is at 71 % on node-3.", "CPU is at 34 % on node-3."),
        ("The build took 4 minutes.", "The build took 6 minutes."),
        ("I love how it helps me express myself.", "It's not just a hobby, it helps me express my emotions."),
        (
            "I keep lists in the Notes app on my phone.",
            "I use the Notes app on my phone, but it's not ideal.",
        ),
        ("I'm usually home from work at 6:30 pm on Tuesdays.", "I think Tuesday at 2:00 pm could work well."),
        ("We had a 7-day family road trip in February.", "I took a short 3-day road trip with my family."),
        ("I'm running for office again.", "I'll run for office again, even though I wasn't elected before."),
        ("I slept 6 hours last night.", "I slept 8 hours last night."),
        ("My brother lives in Hamburg.", "My cousin lives in Vienna."),
        ("Anna is responsible for billing.", "Ben is responsible for search."),
        ("I bought a lamp for 40 euros.", "I bought a chair for 120 euros."),
        ("The first milestone is due in May.", "The second milestone is due in July."),
        ("I have a cat called Miso.", "I have a dog called Bruno."),
        ("I can play the piano.", "I can't play the violin."),
        ("Use PostgreSQL for the billing service.", "Use Redis for the cache."),
        ("Always answer in German.", "Keep answers short."),
        ("Always answer in German.", "We switched to bun."),
        ("I won't quit, no matter what.", "I won't quit."),
        ("I spend $240 on my train to work so far.", "My daily train to work is $6."),
        ("We see 400 errors in the log.", "We see 20 errors in the log now."),
        ("Our queue has 900 jobs pending.", "Our queue has 12 jobs pending now."),
    ],
)
def test_readings_events_other_people_and_other_wishes_replace_nothing(older: str, newer: str) -> None:
    assert judge(older, newer, 0.85) is None


@pytest.mark.parametrize(
    "text",
    [
        "kafka lag: consumer lag on partition 6 is 718 messages.",
        "Note 12: call the plumber about the kitchen sink.",
        "- 2 kg potatoes",
        "2026-05-01 10:00:01 INFO worker started pid=411",
        "GET /healthz 200 3ms",
        "Do I live in Rome?",
        "Follow your dreams and enjoy your day!",
        "Now write the tests.",
        "Good. Now let me look at the template again.",
        "Okay, next fix the login page.",
        "Let me check whether the old helper is used any more.",
    ],
)
def test_lists_logs_labelled_lines_questions_and_next_steps_state_nothing(text: str) -> None:
    assert read_claims(text) == ()


@pytest.mark.parametrize("text", ["Now we use bun.", "Now my manager is Ana."])
def test_what_is_so_now_is_no_step(text: str) -> None:
    assert [claim.text for claim in read_claims(text)] == [text]


def test_a_question_at_the_end_leaves_what_was_stated_before_it() -> None:
    [claim] = read_claims("I've been using my watch for 6 months now, do you have any tips?")
    assert claim.text == "I've been using my watch for 6 months now"


def test_a_statement_ends_a_rule_only_if_it_says_that_something_changed() -> None:
    assert judge("Use pnpm for installing packages.", "I like bun for installing packages.", 0.9) is None


def test_nothing_is_compared_that_is_not_alike_at_all() -> None:
    assert judge("My rent is 900 euros.", "My rent is 950 euros.", 0.1) is None


def test_the_newest_of_several_replaces_each_older_one_and_others_words_do_not() -> None:
    said = [Statement("ann", day, f"My rent for the flat is {900 + day} euros.") for day in range(3)]
    assert find_superseded(said) == {0: 2, 1: 2}
    assert find_superseded([said[0], said[1]._replace(speaker="bob")]) == {}
    assert find_superseded([said[0], said[1]._replace(said_at=0.0)]) == {}


def test_a_chain_of_changes_is_shown_from_its_end() -> None:
    assert put_newer_first(("a", "x"), {"a": "b", "b": "c"}) == ("c", "b", "a", "x")


@given(
    st.permutations(["a", "b", "c", "d"]), st.dictionaries(st.sampled_from("abcd"), st.sampled_from("abcd"))
)
def test_every_ranked_id_is_shown_once_whatever_replaces_what(
    order: list[str], newer: dict[str, str]
) -> None:
    assert sorted(put_newer_first(order, newer)) == ["a", "b", "c", "d"]


@given(st.text(max_size=600), st.text(max_size=600), st.floats(0, 1))
def test_any_text_is_read_and_no_claim_replaces_itself(one: str, other: str, cosine: float) -> None:
    claims = [*read_claims(one), *read_claims(other)]
    assert all(len(claim.text) <= MAX_CHARS for claim in claims)
    assert len(read_claims(one)) <= MAX_CLAIMS
    for claim in claims:
        assert decide(claim, claim, cosine) is None
