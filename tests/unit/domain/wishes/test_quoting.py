"""What of a turn stands as the wish: the sentences that rule, what explains and limits them, and no talk beside them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.grammar.spans import DeonticReading, Modality, RuleSpan
from models.domain.text.sentences import locate_sentences
from models.domain.wishes.conversation import read_wish
from models.domain.wishes.quoting import is_courtesy, points_back, quote_rule

STORY = (
    "The door of the room opens slowly and behind it there is nothing but dust, a lamp and a very old map. "
    * 3
)


def quote(said: str) -> str:
    return quote_rule(said, read_wish(said))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("That looks delicious! I can't eat nuts, never suggest any.", "I can't eat nuts, never suggest any."),
        ("Thanks! From now on answer in German.", "From now on answer in German."),
        ("Good morning! From now on call me Jo.", "From now on call me Jo."),
        ("Thanks for the list, it was great. In general I'd like fewer options.", "In general I'd like fewer options."),
        ("Cool, Nate! Dairy-free is a must for me.", "Dairy-free is a must for me."),
        ("Perfect. Bitte antworte ab jetzt immer auf Deutsch.", "Bitte antworte ab jetzt immer auf Deutsch."),
        ("Never suggest cheese. What else could I cook tonight?", "Never suggest cheese."),
        ("Is it the red one? Please always answer in one line.", "Please always answer in one line."),
        ("We won the cup yesterday! Please never schedule calls before nine o'clock in the morning.",
         "Please never schedule calls before nine o'clock in the morning."),
    ],
)  # fmt: skip
def test_greetings_thanks_praise_questions_and_what_happened_are_no_part_of_a_wish(
    said: str, kept: str
) -> None:
    assert quote(said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Perfect, from now on answer in German.", "from now on answer in German."),
        ("Oh, and I'd rather you didn't use my middle name.", "I'd rather you didn't use my middle name."),
        (
            "Please never touch the migrations folder, Jonas owns it.",
            "Please never touch the migrations folder.",
        ),
    ],
)
def test_a_lead_and_who_owns_it_now_are_cut_off_within_the_sentence(said: str, kept: str) -> None:
    assert quote(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        "I'm vegan. Never suggest cheese.",
        "For the release branch: never force-push.",
        "For the release branch:\n- never force-push\n- always sign the tag",
        "Never deploy on Fridays. Except when I say so.",
        "Never deploy on Fridays. But hotfixes are fine.",
        "Always answer in French. Just for me though.",
        "Bug in third_party? Never patch it, tell me.",
        "Direct or not at all, please. After Frankfurt last year I never want connections.",
        "When I send a paragraph, could you name the weak spot? Never rewrite it.",
    ],
)
def test_scopes_exceptions_and_reasons_stay(said: str) -> None:
    assert quote(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "Can you put that into a table? Always do that from now on.",
        "May I watch the cats? From a distance I mean, since I'm allergic.",
    ],
)
def test_what_a_rule_points_at_stays_with_it(said: str) -> None:
    assert quote(said) == said


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (f"{STORY}Always answer in the first person.", "Always answer in the first person."),
        (f"{STORY}(Please always answer in one line)", "Please always answer in one line"),
        (f"{STORY}The migrations folder is fragile. Never touch it. What next?",
         "The migrations folder is fragile. Never touch it."),
        (f"{STORY}Please always answer in German. Just for today.", "Please always answer in German. Just for today."),
        (f"{STORY}Never deploy on Fridays. Except in March. The lamp went out.",
         "Never deploy on Fridays. Except in March."),
        (f"{STORY}\nFor the release branch:\n- signed tags\n- always sign the tag\nAnyway.",
         "For the release branch:\n- always sign the tag"),
    ],
)  # fmt: skip
def test_of_a_long_turn_stands_what_rules_with_what_it_needs(said: str, kept: str) -> None:
    assert quote(said) == kept


def test_a_sentence_does_not_end_within_a_quotation() -> None:
    said = 'How do I answer "fine. whatever you want"? Please never use irony with me.'
    assert quote(said) == "Please never use irony with me."


@pytest.mark.parametrize(
    "said", ["Only for tests.", "Not on Fridays.", "I work nights.", "Great Danes live here."]
)
def test_what_limits_or_tells_something_is_no_courtesy(said: str) -> None:
    assert not is_courtesy(said)


def test_a_pronoun_with_its_noun_in_the_sentence_needs_nothing_else() -> None:
    assert points_back("Please never do it again.")
    assert not points_back("When a nightly test fails, rerun it.")
    assert not points_back("Use tabs in this project.")


@given(st.text(max_size=400), st.integers(0, 400), st.integers(0, 400))
def test_every_line_of_a_quote_stands_in_the_turn(said: str, start: int, end: int) -> None:
    span = RuleSpan(Modality.OBLIGATION, min(start, end), max(start, end), "", "")
    kept = quote_rule(said, DeonticReading(spans=(span,)))
    assert all(line in said for line in kept.splitlines())
    assert (
        kept.strip()
        or not said.strip()
        or all(last <= span.start or first >= span.end for first, last in locate_sentences(said))
    )


@given(st.text(alphabet=st.sampled_from('ab.?! \n-1)"“”'), max_size=200))
def test_every_word_is_in_one_sentence_and_they_stand_in_order(said: str) -> None:
    found = locate_sentences(said)
    assert [place for pair in found for place in pair] == sorted(place for pair in found for place in pair)
    assert "".join("".join(said[start:end] for start, end in found).split()) == "".join(said.split())
