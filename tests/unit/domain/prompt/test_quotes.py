"""Claims about quotes: verbatim, every cut marked, what matches is in, and a prompt of long turns holds more of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.prompt.assembly import assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.quotes import CUT, find_sentences, quote_passages
from models.domain.prompt.supply import Block, Supply
from models.domain.prompt.tokens import CharsCounter

LONG = " ".join(f"Sentence {number} is about nothing." for number in range(60))
SAID = f"{LONG} The dentist is called Ann Roth. {LONG}"


@given(
    text=st.text(alphabet="ab .!?\n1", max_size=400),
    keywords=st.sets(st.sampled_from(["a", "b", "ab", "bb"])),
    max_chars=st.integers(1, 200),
)
def test_a_quote_is_made_of_the_turns_own_words_in_their_order(
    text: str, keywords: set[str], max_chars: int
) -> None:
    quote = quote_passages(text, keywords, max_chars=max_chars)
    if quote is None:
        assert len(text) <= max_chars
        return
    at = 0
    for piece in quote.text.split(CUT):
        words = piece.strip()
        found = text.find(words, at)
        assert found >= 0
        at = found + len(words)
    assert quote.chars <= len(text)


def test_the_passage_that_matches_is_quoted_and_both_cuts_are_marked() -> None:
    quote = quote_passages(SAID, {"dentist"}, max_chars=200)
    assert quote is not None
    assert "The dentist is called Ann Roth." in quote.text
    assert quote.text.endswith(CUT)
    assert f" {CUT} " in quote.text
    assert len(quote.text) <= 200 + 4 * len(f" {CUT} ")


@pytest.mark.parametrize(
    "text", ["1. First\n2. Second", "Ask Dr. Roth. Then go.", "It costs 3.50 now. Fine!"]
)
def test_list_marks_titles_and_numbers_end_no_sentence(text: str) -> None:
    found = [text[start:end] for start, end in find_sentences(text)]
    assert len(found) == 2


def test_a_heading_is_not_quoted_without_what_it_heads() -> None:
    filler = "Some other words stand here and take room. " * 6
    said = f"Here is a plan.\n**Breeds:**\n{filler}\n**Feeding of hens:**\n{filler}\nHens lay 5 eggs a week.\n{filler}"
    quote = quote_passages(said, {"breeds", "hens"}, max_chars=80)
    assert quote is not None
    assert quote.text == f"Here is a plan. {CUT} Hens lay 5 eggs a week. {CUT}"


def make_block(key: str, said: str) -> Block:
    whole = Block(id=key, rendered=f"- {said}\n")
    quote = quote_passages(said, {"dentist"}, max_chars=200)
    assert quote is not None
    short = replace(whole, rendered=f"- {quote.text}\n", quote=quote.text)
    return replace(whole, quoted=lambda: short)


def fit(total: int) -> dict[str, str]:
    blocks = [make_block(f"t{number}", f"{SAID} Turn {number}.") for number in range(8)]
    made = assemble(
        Supply(recall=blocks), total=total, counter=CharsCounter(), reserves=Reserves(), min_turns=1
    )
    assert made.used <= total
    return {key: made.quotes.get(key, "") for key in made.chosen["recall"]}


def test_long_turns_are_quoted_only_where_they_do_not_all_fit_whole() -> None:
    crowded, roomy = fit(1500), fit(20_000)
    assert len(crowded) == len(roomy) == 8
    assert all("Ann Roth" in quote for quote in crowded.values())
    assert set(roomy.values()) == {""}
