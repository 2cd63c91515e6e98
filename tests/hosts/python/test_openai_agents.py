"""A session of the OpenAI Agents SDK, beside the SDK's own, and in whole runs against a stub model."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, SQLiteSession, function_tool
from agents.memory import Session
from longtail_client import Client
from longtail_client.openai_agents import LongtailSession
from openai import AsyncOpenAI

Items = list[Any]
ITEMS: Items = [
    {"role": "user", "content": "I moved to Lisbon."},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "what is this?"},
            {"type": "input_image", "image_url": "x"},
        ],
    },
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": 1}'},
    {"type": "function_call_output", "call_id": "c1", "output": "a map"},
    {"type": "reasoning", "id": "r1", "summary": []},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "A map."}],
        "id": "m1",
    },
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "yes"},
    {"role": "user", "content": "yes"},
]
BAD: Items = [
    {"role": "user", "content": "half a \ud83d and nul \x00"},
    {"role": "wizard", "content": "abracadabra"},
    {"type": "function_call_output", "call_id": "c2", "output": "ä" * 2_500_000},
    {"type": "function_call_output", "call_id": "c3", "output": " " * 500_000},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "see"},
            {"type": "input_image", "image_url": "z" * 700_000},
        ],
    },
    {"type": "from_a_later_version", "anything": {"goes": [1, 2.5, None]}},
]


@pytest.fixture
def session(memory: Client) -> LongtailSession:
    return LongtailSession("agents/chat 1", user_id="ann", client=memory)


def drive(script: Callable[[Session], Awaitable[Any]], *sessions: Session) -> list[Any]:
    """What a script returns for each session, in one event loop each, as `Runner.run_sync` would."""
    return [asyncio.run(script(one)) for one in sessions]


def test_it_answers_as_the_session_of_the_sdk_does(session: LongtailSession) -> None:
    assert isinstance(session, Session)

    async def script(one: Session) -> list[Any]:
        seen: list[Any] = [await one.get_items(), await one.pop_item()]
        await one.add_items(ITEMS)
        await one.add_items([])
        seen += [
            await one.get_items(),
            await one.get_items(3),
            await one.get_items(0),
            await one.get_items(100),
        ]
        seen += [await one.pop_item(), await one.pop_item(), await one.get_items(2)]
        await one.add_items([ITEMS[-1]])
        seen += [await one.get_items()]
        await one.clear_session()
        seen += [await one.get_items(), await one.pop_item()]
        await one.add_items(ITEMS[:1])
        return [*seen, await one.get_items()]

    ours, theirs = drive(script, session, SQLiteSession("s"))
    assert ours == theirs


def test_whatever_is_added_comes_back_exactly(session: LongtailSession, home: Path) -> None:
    async def script(one: Session) -> Items:
        await one.add_items(BAD)
        return await one.get_items()

    assert drive(script, session) == [BAD]
    assert not list((home / "outbox").glob("*"))  # nothing waits, nothing was refused


def test_what_is_popped_or_cleared_stays_in_the_raw_record(session: LongtailSession, memory: Client) -> None:
    async def script(one: Session) -> None:
        await one.add_items(ITEMS[:1])
        await one.add_items([{"role": "user", "content": "oops, wrong window"}])
        await one.pop_item()
        await one.clear_session()

    drive(script, session)
    kept = [turn.content for turn in memory.list_turns("agents/chat 1").turns]
    assert kept == ["I moved to Lisbon.", "oops, wrong window"]


def test_what_is_popped_leaves_recall_and_what_is_cleared_does_not(
    session: LongtailSession, memory: Client, tenant: Any
) -> None:
    async def script(one: Session) -> None:
        await one.add_items([{"role": "user", "content": "My cat is called Miso."}])
        await one.add_items([{"role": "user", "content": "My dog is called Rex."}])
        await one.pop_item()
        await one.clear_session()

    drive(script, session)
    tenant.settle()
    found = [hit.text for hit in memory.search("what are my pets called?", user_id="ann").results]
    assert any("Miso" in text for text in found) and not any("Rex" in text for text in found)


def test_the_newest_items_of_a_long_session_are_found(session: LongtailSession) -> None:
    async def script(one: Session) -> Items:
        await one.add_items([{"role": "user", "content": f"message {n}"} for n in range(1100)])
        for _ in range(60):  # more than the first look back holds
            await one.pop_item()
        return [await one.get_items(2), len(await one.get_items())]

    newest, count = drive(script, session)[0]
    assert [item["content"] for item in newest] == ["message 1038", "message 1039"] and count == 1040


def make_agent(url: str, tools: list[Any] | None = None) -> Agent[Any]:
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    return Agent(
        name="helper",
        instructions="Be brief.",
        model=OpenAIChatCompletionsModel(model="stub", openai_client=client),
        tools=tools or [],
    )


def test_a_fact_of_one_conversation_reaches_the_model_in_another(
    memory: Client, model: Any, tenant: Any
) -> None:
    async def run(session_id: str, text: str) -> str:
        session = LongtailSession(session_id, user_id="ann", client=memory)
        config = RunConfig(call_model_input_filter=session.recall(), tracing_disabled=True)
        return str(
            (await Runner.run(make_agent(model.url), text, session=session, run_config=config)).final_output
        )

    assert asyncio.run(run("monday", "My cat is called Miso.")) == "Noted."
    tenant.settle()
    asyncio.run(run("friday", "What is my cat called?"))
    assert "Miso" in model.prompts[-1] and "Be brief." in model.prompts[-1]
    kept = [turn.content for turn in memory.list_turns("friday").turns]
    assert kept == [
        "What is my cat called?",
        "Noted.",
    ]  # what was recalled is not kept as if it had been said


def test_a_run_with_a_tool_is_kept_and_shown_to_the_next_run(session: LongtailSession, model: Any) -> None:
    @function_tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"rain in {city}"

    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Brest"}'}}

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        is_told = any(message["role"] == "tool" for message in request["messages"])
        return {"content": "It rains."} if is_told else {"tool_calls": [call]}

    model.answer = answer
    agent = make_agent(model.url, [weather])

    async def run(text: str) -> str:
        result = await Runner.run(agent, text, session=session, run_config=RunConfig(tracing_disabled=True))
        return str(result.final_output)

    assert asyncio.run(run("Weather in Brest?")) == "It rains."
    asyncio.run(run("And now?"))
    assert "rain in Brest" in model.prompts[-1] and "And now?" in model.prompts[-1]


def test_an_outage_costs_no_turn_no_memory_and_no_error(
    home: Path, nobody: str, model: Any, memory: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longtail_client.guard.REST_SECONDS", 0.0)
    with Client(timeout_seconds=20) as away:
        real = away._http.base_url
        session = LongtailSession("outage", user_id="ann", client=away)

        async def run(text: str) -> str:
            config = RunConfig(call_model_input_filter=session.recall(), tracing_disabled=True)
            return str(
                (
                    await Runner.run(make_agent(model.url), text, session=session, run_config=config)
                ).final_output
            )

        away._http.base_url = nobody
        assert asyncio.run(run("The gate code is 4711.")) == "Noted."
        away._http.base_url = real
        assert asyncio.run(run("Thanks.")) == "Noted."
    kept = [turn.content for turn in memory.list_turns("outage").turns]
    assert kept == ["The gate code is 4711.", "Noted.", "Thanks.", "Noted."]
