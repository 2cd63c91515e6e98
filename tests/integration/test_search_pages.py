"""Claims about search: filters let through what they say, and pages of one ranking never repeat or skip."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from models.errors import Forbidden, InvalidInput

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def harbour(tenant: Any) -> Any:
    turns = [
        {
            "role": "user" if n % 2 == 0 else "assistant",
            "content": f"Note {n}: the harbour project needs {n} cranes at pier {n}.",
            "ts": (START + timedelta(days=n)).isoformat(),
        }
        for n in range(30)
    ]
    tenant.client.post_turns("s1", turns, user_id="ann")
    tenant.client.put_document("harbour.md", "The harbour has a lighthouse with a red crane.\n")
    tenant.settle()
    return tenant


def search(tenant: Any, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tenant.client.search(
        query="cranes of the harbour project", user_id="ann", **{"k": 200, **more}
    )["results"]
    return found


def test_filters_let_through_exactly_what_they_name(harbour: Any) -> None:
    everything = search(harbour)
    assert len(everything) == 31
    assert {hit["role"] for hit in search(harbour, roles=["assistant"])} == {"assistant"}
    assert len(search(harbour, roles=["assistant"])) == 15
    assert {hit["kind"] for hit in search(harbour, kinds=["lore"])} == {"lore"}
    assert {hit["kind"] for hit in search(harbour, scopes=["lore"])} == {"lore"}
    days = search(harbour, since="2026-03-11T00:00:00Z", until="2026-03-21T00:00:00+00:00", roles=["user"])
    assert sorted(hit["ts"][8:10] for hit in days) == ["11", "13", "15", "17", "19"]
    inside = search(harbour, session_id="s1", scopes=["session"])
    assert len(inside) == 30
    assert search(harbour, session_id="elsewhere", scopes=["session"]) == []


def test_pages_of_one_search_hold_every_result_once_in_one_order_while_turns_arrive(harbour: Any) -> None:
    ask = {"query": "cranes of the harbour project", "user_id": "ann"}
    whole = [hit["id"] for hit in harbour.client.search(**ask, k=200)["results"]]
    walked: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = harbour.client.search(**ask, k=7, cursor=cursor)
        walked += page["results"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        harbour.say("s2", f"another crane at the harbour, {len(walked)}", user_id="ann")
        harbour.settle()
    assert [hit["id"] for hit in walked] == whole
    scores = {hit["id"]: hit["score"] for hit in search(harbour)}
    assert all(hit["text"] for hit in walked)
    assert walked[-1]["score"] == pytest.approx(scores.get(walked[-1]["id"], walked[-1]["score"]), rel=0.2)


def test_a_cursor_opens_nothing_that_its_holder_may_not_see(harbour: Any) -> None:
    cursor = harbour.client.search(query="cranes", user_id="ann", k=1)["next_cursor"]
    other = harbour.client.search(query="cranes", user_id="bob", k=200, cursor=cursor)
    assert {hit["kind"] for hit in other["results"]} <= {"lore"}
    with harbour.enter(namespaces=["bob"]) as bob:
        with pytest.raises(Forbidden):
            bob.search(query="cranes", user_id="ann", cursor=cursor)
        hits = bob.search(query="cranes", user_id="bob", k=200, cursor=cursor)["results"]
        assert not [hit for hit in hits if hit["kind"] in {"turn", "memory"}]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"cursor": "garbage"}, "cursor"),
        ({"cursor": "AAAA"}, "cursor"),
        ({"roles": ["robot"]}, "roles.0"),
        ({"roles": []}, "roles"),
        ({"kinds": ["thing"]}, "kinds.0"),
        ({"scopes": ["everywhere"]}, "scopes.0"),
        ({"since": "2026-01-01T00:00:00"}, "since"),
        ({"k": 0}, "k"),
    ],
)
def test_wrong_filters_are_refused_by_name(tenant: Any, wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        tenant.client.search(query="x", user_id="ann", **wrong)
    assert refused.value.field == field
    assert refused.value.remedy
