"""Claims about the lexical index: its weights are BM25's, and its counts are true whatever comes and goes."""

import math
from collections import Counter
from typing import Any

import pytest
from sqlalchemy import text

from models.store.engine import tenant_transaction

TURNS = [
    "The red tent is in the cellar.",
    "Ann paints a red boat, and a red house beside the boat.",
    "Tent, tent and again tent: we camped for nine days in the mountains with three friends and one dog.",
    "Nothing to see here.",
    "src/app/config.yaml holds the retry limit of UserService.",
]
COUNTS = """
SELECT (SELECT count(*) FROM longtail.postings WHERE tenant_id = :tenant),
       (SELECT coalesce(sum(item_count), 0) FROM longtail.lexicon WHERE tenant_id = :tenant),
       (SELECT coalesce(sum(item_count), 0) FROM longtail.namespaces WHERE tenant_id = :tenant),
       (SELECT coalesce(sum(word_count), 0) FROM longtail.namespaces WHERE tenant_id = :tenant)
"""


def find(tenant: Any, terms: list[str], *, most_postings: int = 1000) -> dict[str, float]:
    """What the API's role finds, by the words of the turn."""
    with tenant_transaction(tenant.as_role("longtail_api"), tenant.id) as connection:
        rows = connection.execute(
            text(
                "SELECT turns.content, found.weight FROM longtail.find_by_words(:terms, '{ann}', 100, :most) AS found "
                "JOIN turns ON turns.id = found.item_id"
            ),
            {"terms": terms, "most": most_postings},
        )
        return {row.content: row.weight for row in rows}


def bm25(query: set[str], documents: list[Counter[str]], index: int, average: float) -> float:
    """BM25 as the books have it, k1 = 0.9 and b = 0.4, with the average length at the time of indexing."""
    document, total = documents[index], 0.0
    for term in query:
        holding = sum(term in other for other in documents)
        if tf := document[term]:
            rarity = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            length = 1 - 0.4 + 0.4 * document.total() / average
            total += rarity * tf * 1.9 / (tf + 0.9 * length)
    return total


def test_weights_are_those_of_bm25(tenant: Any) -> None:
    tenant.say("s", *TURNS, user_id="ann")
    tenant.settle()
    documents = [
        Counter({"red": 1, "tent": 1, "cellar": 1}),
        Counter({"ann": 1, "paint": 1, "red": 2, "boat": 2, "hous": 1, "besid": 1}),
        Counter(
            {
                "tent": 3,
                "camp": 1,
                "nine": 1,
                "day": 1,
                "mountain": 1,
                "three": 1,
                "friend": 1,
                "one": 1,
                "dog": 1,
            }
        ),
        Counter({"noth": 1, "see": 1}),
    ]
    sizes = tenant.rows(
        "SELECT turns.content, items.word_count FROM longtail.items JOIN longtail.turns USING (id) "
        "WHERE items.tenant_id = :tenant"
    )
    words = {row.content: row.word_count for row in sizes}
    assert [words[turn] for turn in TURNS[:4]] == [document.total() for document in documents]
    documents.append(
        Counter({"retri": 1, "limit": words[TURNS[4]] - 1})
    )  # its other terms are asked for below
    average = (sum(words.values()) + 24 * 64) / (len(TURNS) + 64)
    found = find(tenant, ["red", "tents"])
    expected = {
        turn: bm25({"red", "tent"}, documents, index, average)
        for index, turn in enumerate(TURNS)
        if {"red", "tent"} & set(documents[index])
    }
    assert found == {turn: pytest.approx(weight, rel=1e-5) for turn, weight in expected.items()}


@pytest.mark.parametrize("asked", ["src/app/config.yaml", "config.yaml", "userservice", "user", "retries"])
def test_identifiers_are_found_whole_and_by_their_parts(tenant: Any, asked: str) -> None:
    tenant.say("s", *TURNS, user_id="ann")
    tenant.settle()
    assert list(find(tenant, [asked])) == [TURNS[4]]


def test_of_a_common_term_the_best_postings_are_read(tenant: Any) -> None:
    tenant.say("s", *TURNS, user_id="ann")
    tenant.settle()
    assert list(find(tenant, ["tent"], most_postings=1)) == [TURNS[2]]


def test_a_turn_that_is_ingested_again_is_counted_once(tenant: Any) -> None:
    tenant.say("s", *TURNS, user_id="ann")
    tenant.settle()
    before = tenant.rows(COUNTS)
    with tenant.owner.begin() as connection:
        connection.execute(
            text("UPDATE longtail.work SET stage = 'accepted', attempts = 0 WHERE tenant_id = :tenant"),
            {"tenant": tenant.id},
        )
    tenant.settle()
    assert tenant.rows(COUNTS) == before


def test_what_leaves_the_index_leaves_no_word_behind(tenant: Any) -> None:
    tenant.client.put_document("notes.md", "Otters hold hands.\n\nOtters sleep afloat.")
    tenant.settle()
    assert all(count > 0 for count in tenant.rows(COUNTS)[0])
    tenant.client.put_document("notes.md", "- Never shout.")
    tenant.settle()
    assert tuple(tenant.rows(COUNTS)[0]) == (0, 0, 0, 0)
