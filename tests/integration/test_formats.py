"""Claims about formats over HTTP, and about what the host shows anyway."""

import hashlib
from typing import Any

import pytest

from models.domain.prompt.markers import strip_injected
from models.domain.prompt.tokens import CharsCounter
from models.encoders.token_files import load_token_counter

FORMATS = ("text", "messages", "anthropic", "parts")
ASK: dict[str, Any] = {"session_id": "s", "budget_tokens": 3000, "user_id": "ann"}


@pytest.fixture
def filled(tenant: Any) -> Any:
    tenant.client.put_document("AGENTS.md", "- Never delete the archive.\n\n> Prefer short answers.\n")
    tenant.say("old", "My brother Tomas repairs clocks in Ghent.", user_id="ann")
    tenant.say("old", "From now on, always give me prices in euros.", user_id="ann")
    turns = [
        {
            "role": "user" if number % 2 == 0 else "assistant",
            "content": f"Today we talk about item {number} of the agenda.",
            "id": f"host-{number}",
        }
        for number in range(40)
    ]
    tenant.client.post_turns("s", turns, user_id="ann")
    tenant.settle()
    return tenant


def collect_injected(answer: dict[str, Any], form: str) -> str:
    """Everything of ours in the answer's own shape, in the order in which a model reads it."""
    match form:
        case "messages":
            return "".join(message["content"] for message in answer["messages"])
        case "anthropic":
            content = [block for message in answer["messages"] for block in message["content"]]
            return "".join(block["text"] for block in (*answer["system"], *content))
        case "parts":
            return "".join(part["text"] for part in answer["parts"])
        case _:
            return answer["stable"]["text"] + answer["volatile"]["text"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("tokenizer", ["chars", "minilm"])
def test_in_every_format_what_is_injected_is_the_text_that_was_counted(
    filled: Any, form: str, tokenizer: str
) -> None:
    counter = CharsCounter() if tokenizer == "chars" else load_token_counter("minilm", folder=None)
    for budget in (300, 700, 3000):
        ask = {**ASK, "budget_tokens": budget, "tokenizer": tokenizer, "format": form}
        answer = filled.client.assemble(query="what does my brother Tomas do?", **ask)
        assert collect_injected(answer, form) == answer["text"]
        assert counter.count(answer["text"]) == answer["budget"]["used"] <= budget


@pytest.mark.parametrize("form", FORMATS)
def test_in_every_format_all_that_is_injected_is_stripped_when_it_comes_back(filled: Any, form: str) -> None:
    marker = filled.one("SELECT marker FROM longtail.tenants WHERE id = :tenant")
    answer = filled.client.assemble(query="what does my brother Tomas do?", format=form, **ASK)
    injected = collect_injected(answer, form)
    assert "Tomas" in injected
    assert strip_injected(injected + "hello", marker) == "hello"
    for part in answer["parts"] or ():
        assert strip_injected(part["text"] + "hello", marker) == "hello"


def test_every_format_is_explained_by_the_api_itself(filled: Any) -> None:
    document = filled.client.call("GET", "/openapi.json")
    described = document["components"]["schemas"]["AssembleIn"]["properties"]["format"]
    assert described["enum"] == list(FORMATS)
    assert "cache_control" in described["description"]


def test_the_stable_prefix_is_where_the_next_prompt_begins_too(filled: Any) -> None:
    ask = {**ASK, "budget_tokens": 8000}  # the whole session fits: nothing is cut
    one = filled.client.assemble(query="clocks", **ask)
    filled.say("s", "one more turn", user_id="ann")
    two = filled.client.assemble(query="something else", **ask)
    prefix = one["stable"]["text"][: one["stable_prefix_chars"]]
    assert one["stable_prefix_sha256"] == hashlib.sha256(prefix.encode()).hexdigest()
    assert two["stable"]["text"].startswith(prefix)
    assert two["stable_prefix_chars"] > one["stable_prefix_chars"]


def test_the_hosts_messages_come_back_with_ours_in_them(filled: Any) -> None:
    shown = [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "Today we talk about item 38 of the agenda."},
        {"role": "assistant", "content": "Today we talk about item 39 of the agenda."},
        {"role": "user", "content": "And my brother?"},
    ]
    answer = filled.client.assemble(
        query="what does my brother do?", messages=shown, format="messages", **ASK
    )
    system, *others = answer["messages"]
    assert system == {"role": "system", "content": "You are kind.\n" + answer["stable"]["text"]}
    assert others[:2] == shown[1:3]
    assert others[2] == {"role": "user", "content": answer["volatile"]["text"] + "And my brother?"}


def test_turns_the_host_shows_are_neither_repeated_nor_recalled_and_are_listed(filled: Any) -> None:
    shown = [
        {
            "role": "user" if n % 2 == 0 else "assistant",
            "content": f"Today we talk about item {n} of the agenda.",
        }
        for n in range(40)
    ]
    answer = filled.client.assemble(query="item 3 of the agenda", messages=shown, **ASK)
    assert "of the agenda" not in answer["text"]
    assert answer["budget"]["tail"] == 0
    ids = {
        str(row[0])
        for row in filled.rows("SELECT id FROM longtail.turns WHERE session_id = 's' AND tenant_id = :tenant")
    }
    assert set(answer["visible"]) <= ids
    assert len(answer["visible"]) >= 20


def test_turns_are_known_by_the_hosts_id_whatever_it_made_of_their_words(filled: Any) -> None:
    shown = [{"role": "user", "content": f"(shortened {n})", "id": f"host-{n}"} for n in range(40)]
    ask = {**ASK, "budget_tokens": 300}  # so that the tail holds few of them and the others could be recalled
    without = filled.client.assemble(query="item 3 of the agenda", **ask)
    assert any(item["tier"] == "recall" and "agenda" in item["text"] for item in without["items"])
    answer = filled.client.assemble(query="item 3 of the agenda", messages=shown, **ask)
    assert "of the agenda" not in answer["text"]


def test_the_base_tail_counts_as_present_where_the_host_shows_it(filled: Any) -> None:
    long = ["word " * 400 + str(number) for number in range(4)]
    filled.say("long", *long, user_id="ann")
    ask = {**ASK, "session_id": "long", "budget_tokens": 400}
    hidden = filled.client.assemble(query="hello", **ask)
    assert [miss["code"] for miss in hidden["degraded"]] == ["budget_infeasible"]
    shown = [{"role": "user", "content": content} for content in long]
    answer = filled.client.assemble(query="hello", messages=shown, **ask)
    assert "budget_infeasible" not in [miss["code"] for miss in answer["degraded"]]
    assert len(answer["visible"]) == 4
    assert answer["budget"]["used"] <= 400


def test_shown_turns_cost_nothing_and_leave_their_room_to_older_ones(filled: Any) -> None:
    shown = [{"role": "assistant", "content": "x", "id": f"host-{n}"} for n in range(36, 40)]
    answer = filled.client.assemble(query="hello", messages=shown, **ASK)
    tail = [item for item in answer["items"] if item["tier"] == "tail"]
    assert tail
    assert all("item 39" not in item["text"] for item in tail)
    assert sum(item["tokens"] for item in tail) <= answer["budget"]["tail"] + len(tail)
