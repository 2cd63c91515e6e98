"""LangGraph's store, as LangGraph calls it. Its package ships no conformance tests for stores, so the store that it does
ship, the one in memory, is the yardstick: the same operations on both, the same results."""

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from longtail_client import Client
from longtail_client.langgraph import LongtailStore
from typing_extensions import TypedDict

EXAMPLE = Path(__file__).parents[3] / "clients" / "python" / "examples" / "langgraph_chat.py"


@pytest.fixture
def store(memory: Client) -> LongtailStore:
    return LongtailStore(memory)


def put(*namespace: str, key: str, **value: Any) -> PutOp:
    return PutOp(namespace, key, value)


SCRIPT: list[list[Any]] = [
    [GetOp(("users", "ann"), "food"), SearchOp(())],
    [
        put("users", "ann", key="food", text="likes figs", stars=5, by={"name": "Ann", "age": 40}),
        put("users", "ann", key="city", text="lives in Lisbon", stars=3),
        put("users", "bob", key="food", text="likes plums", stars=4, tags=["a", "b"]),
        put("docs", "v1", key="readme", text="how to install", stars=1),
    ],
    [GetOp(("users", "ann"), "food"), GetOp(("users", "ann"), "none")],
    [SearchOp(("users",), limit=10), SearchOp((), limit=10), SearchOp(("users", "ann"), limit=1)],
    [SearchOp(("users",), filter={"stars": {"$gte": 4}}), SearchOp(("users",), filter={"stars": {"$lt": 4}})],
    [SearchOp(("users",), filter={"stars": 5}), SearchOp(("users",), filter={"stars": {"$ne": 5}})],
    [
        SearchOp((), filter={"by": {"name": "Ann"}}),
        SearchOp((), filter={"tags": ["a", "b"]}),
        SearchOp(("us",)),
    ],
    [ListNamespacesOp(), ListNamespacesOp(max_depth=1), ListNamespacesOp(limit=1, offset=1)],
    [
        ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("users",)),)),
        ListNamespacesOp(match_conditions=(MatchCondition("suffix", ("v1",)),)),
        ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("*", "bob")),)),
    ],
    # a read of a namespace without items: not before the lists, theirs would hold it from then on
    [GetOp(("users",), "food"), GetOp(("nobody",), "k")],
    # the last write to a key counts, and a read of the same batch does not see it
    [
        put("users", "ann", key="food", text="likes dates"),
        put("users", "ann", key="food", text="likes pears"),
        GetOp(("users", "ann"), "food"),
    ],
    [GetOp(("users", "ann"), "food")],
    [PutOp(("users", "bob"), "food", None), PutOp(("users", "bob"), "never there", None)],
    [GetOp(("users", "bob"), "food"), SearchOp(("users",), limit=10)],
    [put("odd/name", 'quo"te', "ünï", key="k/e y", text="x"), put("a", key="", text="empty key")],
    [GetOp(("odd/name", 'quo"te', "ünï"), "k/e y"), GetOp(("a",), ""), SearchOp(("odd/name",))],
    [put("a", key="half", text="half a \ud83d, nul \x00"), put("a", key="n" * 2000, text="long key")],
    [GetOp(("a",), "half"), GetOp(("a",), "n" * 2000)],
]


def show(result: Any) -> Any:
    """A result without its times; lists of items in the order of keys, because stores may list as they like."""
    if isinstance(result, list):
        return sorted((show(one) for one in result), key=repr)
    if hasattr(result, "value"):
        return (result.namespace, result.key, result.value)
    return result


@pytest.mark.parametrize("style", ["sync", "async"])
def test_every_operation_gives_what_the_store_of_langgraph_itself_gives(
    store: LongtailStore, style: str
) -> None:
    theirs = InMemoryStore()

    def run(one: BaseStore, ops: list[Any]) -> list[Any]:
        return one.batch(ops) if style == "sync" else asyncio.run(one.abatch(ops))

    for number, ops in enumerate(SCRIPT):
        is_cut = any(isinstance(op, SearchOp) and op.limit == 1 for op in ops)
        ours, expected = run(store, ops), run(theirs, ops)
        if is_cut:
            assert [len(one) for one in ours] == [len(one) for one in expected], f"step {number}"
            ours, expected = ours[:2], expected[:2]
        assert [show(one) for one in ours] == [show(one) for one in expected], f"step {number}"


def test_a_namespace_without_items_is_not_listed(store: LongtailStore) -> None:
    store.put(("gone",), "k", {"text": "x"})
    assert store.list_namespaces() == [("gone",)]
    store.delete(("gone",), "k")
    assert store.list_namespaces() == []


def test_items_are_found_by_meaning_without_an_embedding_function(store: LongtailStore) -> None:
    store.put(("notes", "1"), "a", {"text": "The cat sleeps on the sofa all day."})
    store.put(("notes", "2"), "b", {"text": "Interest rates were raised by the central bank."})
    store.put(("notes", "2"), "hidden", {"text": "monetary policy"}, index=False)
    found = store.search(("notes",), query="monetary policy", limit=3)
    assert [item.key for item in found] == ["b", "a", "hidden"]
    scores = [item.score for item in found]
    assert scores[0] is not None and scores[1] is not None and scores[0] > scores[1] and scores[2] is None
    assert [item.key for item in store.search(("notes",), query="monetary policy", limit=1)] == ["b"]


def test_only_the_fields_that_are_named_are_searched(memory: Client) -> None:
    store = LongtailStore(memory, name="by field", fields=["title"])
    store.put(("d",), "cat", {"title": "a cat on a sofa", "body": "the central bank raised interest rates"})
    store.put(("d",), "bank", {"title": "the central bank raised interest rates", "body": "a cat on a sofa"})
    assert store.search(("d",), query="pets at home")[0].key == "cat"
    store.put(("d",), "own", {"title": "zzz", "body": "pets at home"}, index=["body"])
    assert store.search(("d",), query="pets at home")[0].key == "own"


def test_an_update_keeps_when_an_item_was_made(store: LongtailStore) -> None:
    store.put(("t",), "k", {"n": 1})
    first = store.get(("t",), "k")
    store.put(("t",), "k", {"n": 2})
    second = store.get(("t",), "k")
    assert first and second and second.value == {"n": 2}
    assert second.created_at == first.created_at and second.updated_at > first.updated_at


def test_a_large_value_comes_back_whole(store: LongtailStore) -> None:
    value = {"blob": "ä\n" * 100_000, "n": 1}
    store.put(("big",), "k", value)
    found = store.get(("big",), "k")
    assert found is not None and found.value == value


def test_a_value_beyond_every_limit_is_kept_aside_with_the_reason(
    store: LongtailStore, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store.put(("big",), "k", {"blob": "x" * 5_000_000})
    assert store.get(("big",), "k") is None
    assert "turn_too_large" in caplog.text
    assert "turn_too_large" in next((home / "outbox").glob("*.refused.jsonl")).read_text()


def test_stores_of_other_names_and_tenants_see_nothing(memory: Client, new_tenant: Any) -> None:
    LongtailStore(memory, name="one").put(("n",), "k", {"v": 1})
    assert LongtailStore(memory, name="two").get(("n",), "k") is None
    with Client(token=new_tenant().token, timeout_seconds=20) as other:
        assert LongtailStore(other, name="one").get(("n",), "k") is None


def test_names_that_langgraph_refuses_are_refused(store: LongtailStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(("with.dot",), "k", {"v": 1})


def test_an_outage_costs_no_turn_and_no_item(
    memory: Client, home: Path, nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longtail_client.guard.REST_SECONDS", 0.0)
    with Client(timeout_seconds=20) as away:
        real = away._http.base_url
        store = LongtailStore(away)
        store.put(("n",), "k", {"v": 1})
        away._http.base_url = nobody
        store.put(("n",), "k", {"v": 2})
        store.put(("n",), "late", {"v": 3})
        assert store.get(("n",), "k") is None and store.search(("n",)) == [] and store.list_namespaces() == []
        away._http.base_url = real
        store.put(("n",), "after", {"v": 4})
        assert {item.key: item.value["v"] for item in store.search(("n",))} == {"k": 2, "late": 3, "after": 4}
        assert store._guard.outbox.is_empty


def test_a_node_of_a_graph_uses_the_store(store: LongtailStore) -> None:
    class State(TypedDict):
        name: str

    def remember(state: State, *, store: BaseStore) -> State:
        store.put(("people",), state["name"], {"met": True})
        return state

    graph = StateGraph(State).add_node("remember", remember)
    graph.add_edge(START, "remember").add_edge("remember", END)
    graph.compile(store=store).invoke({"name": "Ann"})
    found = store.get(("people",), "Ann")
    assert found is not None and found.value == {"met": True}


@pytest.fixture
def example() -> Any:
    spec = importlib.util.spec_from_file_location("langgraph_chat", EXAMPLE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_chat_without_a_checkpointer_remembers_across_threads(
    example: Any, memory: Client, tenant: Any
) -> None:
    seen: list[list[dict[str, Any]]] = []

    def model(messages: list[dict[str, Any]]) -> str:
        seen.append(messages)
        return "Noted."

    chat = example.build_chat(model, memory)
    chat.invoke({"session_id": "monday", "user_id": "ann", "message": "My cat is called Miso."})
    tenant.settle()
    answer = chat.invoke({"session_id": "friday", "user_id": "ann", "message": "What is my cat called?"})
    assert answer["answer"] == "Noted."
    assert "Miso" in str(seen[1]) and seen[1][-1]["content"].endswith("What is my cat called?")
    kept = [turn.content for turn in memory.list_turns("friday").turns]
    assert kept == ["What is my cat called?", "Noted."]  # what was recalled is not said again


def test_the_items_of_a_user_go_when_the_user_is_erased(memory: Client, store: LongtailStore) -> None:
    other = LongtailStore(memory, name="other", owner=lambda namespace: namespace[-1])
    for name in ("ann", "bob"):
        store.put(("users", name), "food", {"text": f"{name} likes figs"})
        store.put(("team", "users", name, "notes"), "n", {"text": f"{name} sails"}, index=False)
        other.put(("facts", name), "f", {"text": f"{name} rows"})
    store.put(("docs",), "readme", {"text": "figs are fruit"})

    memory.erase_namespace("ann", confirm="ann")

    assert store.get(("users", "ann"), "food") is None
    assert store.get(("team", "users", "ann", "notes"), "n") is None
    assert other.get(("facts", "ann"), "f") is None
    left = [item.value["text"] for item in store.search((), query="who likes figs?", limit=10)]
    assert sorted(left) == ["bob likes figs", "bob sails", "figs are fruit"]
    assert ("users", "ann") not in store.list_namespaces()
    assert other.get(("facts", "bob"), "f") is not None
