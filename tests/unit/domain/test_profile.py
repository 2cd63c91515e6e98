"""A profile: statements that stand alone, current ones, each with its turn."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.profile.expiry import is_expired
from models.domain.profile.lines import MOST_FACTS, ProfileSource, make_profile
from models.domain.profile.standing import list_openings, measure_statement, stands_alone

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def said(text: str, *, days: float = 1, key: str = "", role: str = "user", again: int = 0) -> ProfileSource:
    return ProfileSource(
        turn_id=key or text,
        memory_id=key or text,
        session_id="s",
        role=role,
        name=None,
        text=text,
        said_at=NOW - timedelta(days=days),
        confirmations=again,
    )


def test_a_fact_is_the_statement_that_tells_most_and_names_its_turn() -> None:
    turn = "Thanks, that is great! By the way, my sister Marta moved to Porto in June. Any tips for a gift?"
    (line,) = make_profile([said(turn, key="t1")], [], [], now=NOW)
    assert line.kind == "fact"
    assert line.text == "my sister Marta moved to Porto in June."
    assert line.source.turn_id == "t1"


@pytest.mark.parametrize(
    "text",
    [
        "Ooh lucky",
        "Thanks so much!",
        "It was great.",
        "I pitched it to them.",
        "Can you help me?",
        "Just do it!",
    ],
)
def test_small_talk_and_what_points_elsewhere_make_no_line(text: str) -> None:
    assert make_profile([said(text)], [said(text)], [said(text)], now=NOW) == ()


@pytest.mark.parametrize(
    "text",
    [
        "He wrote this, what do I answer?\n> I live in Prague and my wife is called Eva.\n> I work at Siemens.",
        "Is this fixture right?\n```\nI live in Prague and my wife is called Eva.\n```",
        "2026-05-01 10:00:02 INFO user: I live in Prague and my wife is called Eva.",
    ],
)
def test_what_is_quoted_or_pasted_is_no_line_of_the_user(text: str) -> None:
    assert make_profile([said(text)], [said(text)], [said(text)], now=NOW) == ()
    mine = f"{text}\n\nI live in Porto with my brother Tomas."
    assert {line.text for line in make_profile([said(mine)], [], [], now=NOW)} == {
        "I live in Porto with my brother Tomas."
    }


def test_what_was_for_a_day_is_over_after_two_weeks_and_what_lasts_is_not() -> None:
    passing, lasting = "My exam at the university is tomorrow", "My brother Tomas lives in Lyon"
    old = make_profile([said(passing, days=20), said(lasting, days=20)], [], [], now=NOW)
    assert [line.text for line in old] == [lasting]
    fresh = make_profile([said(passing, days=1)], [], [], now=NOW)
    assert [line.text for line in fresh] == [passing]


def test_what_happened_once_is_over_too_unless_something_is_different_since() -> None:
    once, since = (
        "I took my kids to the zoo in Leipzig last weekend",
        "I joined a choir in Leipzig last weekend",
    )
    old = make_profile([said(once, days=40), said(since, days=40)], [], [], now=NOW)
    assert [line.text for line in old] == [since]


@pytest.mark.parametrize(
    "text",
    [
        "Now let me write the complete config of the Berlin cluster.",
        "I checked the Berlin cluster, found 3 nodes:",
    ],
)
def test_steps_and_headings_make_no_line(text: str) -> None:
    assert make_profile([said(text)], [said(text)], [said(text)], now=NOW) == ()


def test_an_open_matter_is_listed_while_it_is_recent() -> None:
    open_matter = "I still need to send the invoice to Northwind by 12 May"
    (line,) = make_profile([], [said(open_matter, days=3)], [], now=NOW)
    assert (line.kind, line.text) == ("open", open_matter)
    assert make_profile([], [said(open_matter, days=60)], [], now=NOW) == ()


def test_the_last_session_ends_with_the_last_thing_that_told_something() -> None:
    ending = [said("We moved the launch to 4 June", key="a"), said("Noted.", role="assistant"), said("Bye!")]
    (line,) = make_profile([], [], ending, now=NOW)
    assert (line.kind, line.source.turn_id) == ("last", "a")


def test_nothing_is_said_twice() -> None:
    once = "My brother Tomas lives in Lyon"
    lines = make_profile([said(once, key="a"), said(f"{once} now", key="b")], [], [], now=NOW)
    assert len(lines) == 1


def test_what_was_confirmed_comes_before_what_was_said_once() -> None:
    one, other = said("My aunt Rosa lives in Turin"), said("My uncle Karl lives in Bremen", again=4)
    assert [line.source for line in make_profile([one, other], [], [], now=NOW)] == [other, one]


def test_a_profile_is_bounded() -> None:
    many = [
        said(f"My cousin {name} works at plant {n} in town{n}")
        for n, name in enumerate(["Ada", "Bo", "Cy"] * 40)
    ]
    assert len(make_profile(many, [], [], now=NOW)) <= MOST_FACTS


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "I think I'll suggest that we take breaks every 20 minutes in Lyon.", id="decided in the talk"
        ),
        pytest.param("I'm looking for some good Italian restaurants in Chicago.", id="asked of the talk"),
        pytest.param("I want to ask about the dataset of my course at Stanford.", id="a question to come"),
        pytest.param("I was thinking about a trip to Rome with my sister.", id="a thought"),
        pytest.param("The headphones cost me $378 in June.", id="which headphones"),
        pytest.param("I put in an offer on February 25th for $340,000.", id="an offer for what"),
        pytest.param("Both are online, and I paid $5,000 for the Acme program.", id="both of what"),
        pytest.param(
            "We spent hours exploring it during the Summer Nights festival.", id="a pronoun without a noun"
        ),
        pytest.param("I painted that lake sunrise near Oslo last year!", id="a picture that was shown"),
        pytest.param("I saw jewelry at the Holiday Market in Leeds that she might like.", id="who is she"),
        pytest.param("I remember a 10% discount of $20 from that new brand in June.", id="which brand"),
        pytest.param("I spent around $120 on the purchase and had a discount.", id="which purchase"),
        pytest.param("We've even started a brunch routine on Sundays in Soho.", id="goes on from something"),
        pytest.param("Based on the sections of June 3rd, write a review for my talk.", id="an order"),
        pytest.param(
            "For my Ferrari 288 GTO model, I'll try a new paint.", id="a beginning in which nothing is said"
        ),
        pytest.param("I also got her some medication for $25.", id="whose"),
        pytest.param("We had a blast playing games and eating under the trees.", id="a mood"),
        pytest.param(
            "I'm working on a new project in town, challenging but fulfilling.", id="something without a name"
        ),
        pytest.param("Win4Lin is commercial software for Linux.", id="nobody's life"),
        pytest.param("hi guys, I just updated my laptop to version 8 and", id="broken off"),
        pytest.param("You should visit Lisbon, your sister loved it in May.", id="said of the listener"),
    ],
)
def test_what_only_the_talk_explains_makes_no_line(text: str) -> None:
    assert make_profile([said(text)], [said(text)], [said(text)], now=NOW) == ()


@pytest.mark.parametrize(
    ("text", "ends_after_days"),
    [
        pytest.param("My exam in Leipzig is tomorrow", 3, id="tomorrow"),
        pytest.param("I have a cocktail-making class in Soho on Friday", 7, id="a weekday"),
        pytest.param("I have a gaming tournament in Berlin next month", 45, id="next month"),
        pytest.param("I'm planning to apply for a green card", 45, id="a plan without a day"),
        pytest.param("I'm considering Duke and Yale for my degree", 45, id="a choice"),
        pytest.param("I ordered two lamps from Ikea", 30, id="what is on its way"),
        pytest.param("I've booked a flight to San Francisco with Delta", 45, id="what is booked"),
        pytest.param("I'm halfway through Emma by Austen", 30, id="how far one is"),
        pytest.param("I've read 12 books by Woolf so far", 30, id="a count"),
        pytest.param("I spent $80 at Trader Joe's with my sister the week before last", 14, id="news"),
        pytest.param("My current balance at Delta is 10,000 miles", 60, id="a state"),
        pytest.param(
            "I've been experimenting with gin brands from Leeds", 180, id="what one does for a time"
        ),
    ],
)
def test_a_statement_holds_as_long_as_its_kind(text: str, ends_after_days: float) -> None:
    def is_over(days: float) -> bool:
        return is_expired(text, said_at=NOW - timedelta(days=days), now=NOW)

    assert not is_over(ends_after_days - 1)
    assert is_over(ends_after_days + 1)


@pytest.mark.parametrize(
    "text",
    [
        "I still need to send the invoice to Northwind by 12 May",
        "I need to renew my passport before May 12th",
        "I have to file my taxes in Oregon by 2026-05-12",
    ],
)
def test_an_open_matter_is_over_when_its_day_has_passed(text: str) -> None:
    spoken = datetime(2026, 5, 1, tzinfo=UTC)
    source = said(text)._replace(said_at=spoken)
    (line,) = make_profile([], [source], [], now=datetime(2026, 5, 12, 20, tzinfo=UTC))
    assert (line.kind, line.text) == ("open", text)
    assert make_profile([source], [source], [source], now=datetime(2026, 5, 13, 1, tzinfo=UTC)) == ()


def test_the_day_of_what_happened_or_goes_on_ends_nothing() -> None:
    kept = [
        "I graduated from UCLA in May 2020",
        "I attended a seminar on mentoring in Boston on March 22nd",
        "I live in Porto since 2 June 2021",
        "I go to the gym on Tuesdays and Fridays",
        "I have a class in Soho every Friday",
    ]
    assert [one for one in kept if is_expired(one, said_at=NOW - timedelta(days=120), now=NOW)] == []


@pytest.mark.parametrize(
    ("text", "days"),
    [
        pytest.param("I won my first video game tournament last week", 14, id="a victory"),
        pytest.param("I recently bought a pair of boots from Clarks", 14, id="a purchase"),
        pytest.param("I just got back from a trip to Oslo with Ann", 14, id="a trip"),
        pytest.param("I was really moved by the sermon at St. Mary's last Sunday", 14, id="moved by, not to"),
        pytest.param("I met Tom, a marketing expert from Leeds", 45, id="no day named"),
        pytest.param("My cousin and I flew to Oslo with our bikes", 45, id="of one's family"),
        pytest.param("I attended a seminar on mentoring in Boston on March 22nd", 180, id="a day named"),
    ],
)
def test_what_happened_once_is_over_the_sooner_the_less_it_says_when_it_was(text: str, days: int) -> None:
    spoken = NOW - timedelta(days=400)
    ages = [
        age
        for age in (days - 1, days + 1)
        if is_expired(text, said_at=spoken, now=spoken + timedelta(days=age))
    ]
    assert ages == [days + 1]


@pytest.mark.parametrize(
    "text",
    [
        "I lost my job as a banker yesterday",
        "My grandma Rosa passed away last week",
        "I moved to Lyon last month",
        "I just started taking piano lessons with Ann",
        "I bought a house in Bremen last week",
        "I found out recently I'm allergic to cockroaches",
        "I finished my degree in Leeds",
    ],
)
def test_what_changes_a_life_is_no_news_and_stays(text: str) -> None:
    assert not is_expired(text, said_at=NOW - timedelta(days=300), now=NOW)


@pytest.mark.parametrize(
    "text",
    [
        "I lived in Rome with my aunt when I was a kid",
        "I studied physics in Jena",
        "I worked as a welder at Siemens for 9 years",
        "I went to Oregon with my family every summer",
        "I was a nurse in the navy",
    ],
)
def test_biography_is_no_event(text: str) -> None:
    assert not is_expired(text, said_at=NOW - timedelta(days=900), now=NOW)


def test_a_beginning_that_only_opens_what_is_said_behind_it_is_no_line() -> None:
    said = "I've noticed that after two weeks of posting on Instagram, I had around 350 followers"
    assert "I've noticed that after two weeks of posting on Instagram" not in list(list_openings(said))


def test_a_season_ends_when_the_next_begins() -> None:
    spoken = datetime(2026, 4, 20, tzinfo=UTC)
    text = "I start the renovation of my house in the spring"
    assert not is_expired(text, said_at=spoken, now=datetime(2026, 5, 25, tzinfo=UTC))
    assert is_expired(text, said_at=spoken, now=datetime(2026, 6, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "I've lived in Utah for five years, and I'm thinking of a trip",
            "I've lived in Utah for five years",
        ),
        (
            "By the way, since I've started yoga on Wednesdays, I'll skip the run",
            "I've started yoga on Wednesdays",
        ),
        (
            "My friend Emily married Sarah in June, and it was amazing",
            "My friend Emily married Sarah in June, and it was amazing",
        ),
    ],
)
def test_of_a_statement_stands_as_much_as_holds(text: str, line: str) -> None:
    (found,) = make_profile([said(text, days=60)], [], [], now=NOW)
    assert found.text == line
    assert found.text in text


@pytest.mark.parametrize(
    "text",
    [
        "I'm vegetarian",
        "I'm allergic to peanuts",
        "I live in Berlin",
        "I don't eat meat",
        "I prefer tabs over spaces",
    ],
)
def test_what_is_true_for_years_is_a_line_however_short(text: str) -> None:
    (line,) = make_profile([said(text, days=400)], [], [], now=NOW)
    assert line.text == text


@pytest.mark.parametrize(
    "text", ["We moved the launch to 4 June", "Our API uses Postgres 16", "The invoice is due on 3 May"]
)
def test_what_colleagues_call_by_its_name_is_understood(text: str) -> None:
    assert measure_statement(text) > 0.85


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "Morning! I'm Piotr, I look after Lido, our booking system. It's Java 21 and Oracle 19, hosted at Ionos.",
            "I'm Piotr, I look after Lido, our booking system. It's Java 21 and Oracle 19, hosted at Ionos.",
        ),
        ("No Kafka please. We have no Kafka and we won't get one.", "We have no Kafka"),
        (
            "One thing, Sven left on Friday. Backups belong to Noor now, ask her instead.",
            "Backups belong to Noor now",
        ),
        (
            "So: the release window moved. It's Tuesdays at 9:00 UTC now, because of the handover.",
            "So: the release window moved. It's Tuesdays at 9:00 UTC now, because of the handover.",
        ),
        (
            "The test database is at test.lido.internal port 5444, behind HAProxy.",
            "The test database is at test.lido.internal port 5444, behind HAProxy.",
        ),
    ],
)
def test_how_things_are_set_up_is_a_line(text: str, line: str) -> None:
    (found,) = make_profile([said(text)], [], [], now=NOW)
    assert found.text == line


@pytest.mark.parametrize(
    "text",
    [
        "Today I want to add rate limiting to the ingest API in Berlin.",
        "I want to refactor the parser of Lido with 3 new tests.",
        "It's Java 21 and Oracle 19.",
        "Prod stays on 16.",
    ],
)
def test_a_task_of_the_day_and_half_a_set_up_are_no_lines(text: str) -> None:
    assert make_profile([said(text)], [said(text)], [said(text)], now=NOW) == ()


def test_who_owns_something_now_is_not_over_after_some_weeks() -> None:
    (line,) = make_profile([said("Backups belong to Noor now", days=90)], [], [], now=NOW)
    assert line.kind == "fact"


@given(st.text(max_size=200))
def test_any_sentence_can_be_measured(sentence: str) -> None:
    assert 0.0 <= measure_statement(sentence) <= 1.0
    assert stands_alone(sentence) in (True, False)
    assert is_expired(sentence, said_at=NOW, now=NOW) in (True, False)
    assert all(part in sentence for part in list_openings(sentence))
