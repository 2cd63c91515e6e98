"""MCP over both transports, with the SDK's own client and a real stack."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from api.stack.sockets.ports import find_free

FACT = "My locker code at the climbing gym is 4711."
TOOLS = {"memory_search", "memory_expand", "memory_grep", "memory_add", "memory_forget", "memory_status"}


def environment(tenant: Any, home: Path) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("LONGTAIL_")}
    return env | {
        "LONGTAIL_HOME": str(home),
        "LONGTAIL_API_URL": tenant.client.url,
        "LONGTAIL_TOKEN": tenant.token,
    }


@asynccontextmanager
async def connect(transport: str, tenant: Any, home: Path, user: str = "ann") -> AsyncIterator[Client]:
    command = ["-m", "api", "mcp", "--user", user]
    if transport == "stdio":
        parameters = StdioServerParameters(
            command=sys.executable, args=command, env=environment(tenant, home), cwd=os.getcwd()
        )
        async with Client(stdio_client(parameters)) as client:
            yield client
        return
    port = find_free()
    process = subprocess.Popen(
        [sys.executable, *command, "--transport", "http", "--port", str(port)], env=environment(tenant, home)
    )
    try:
        for _ in range(6000):
            try:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                break
            except OSError:
                await anyio.sleep(0.1)
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            yield client
    finally:
        process.terminate()
        process.wait(timeout=300)


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    found: dict[str, Any] = result.structured_content
    return found


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_fact_is_kept_found_and_forgotten(transport: str, tenant: Any, tmp_path: Path) -> None:
    async def run() -> None:
        async with connect(transport, tenant, tmp_path) as client:
            listed = (await client.list_tools()).tools
            assert {tool.name for tool in listed} == TOOLS
            hints = {tool.name: tool.annotations for tool in listed}
            assert hints["memory_search"].read_only_hint
            assert hints["memory_forget"].destructive_hint
            assert not hints["memory_add"].destructive_hint
            first = await call(client, "memory_add", text=FACT)
            again = await call(client, "memory_add", text=FACT)
            assert (len(first["accepted"]), len(again["duplicates"])) == (1, 1)
            await anyio.to_thread.run_sync(tenant.settle)
            found = (await call(client, "memory_search", query="What is my locker code?"))["results"]
            assert found[0]["text"] == FACT
            assert (await call(client, "memory_grep", pattern="4711"))["matches"]
            if found[0]["kind"] == "memory":
                await call(client, "memory_forget", memory_id=found[0]["id"])
                left = (await call(client, "memory_search", query="What is my locker code?"))["results"]
                assert FACT not in [result["text"] for result in left]
            assert "pending" in await call(client, "memory_status")
            for wrong in ("no id at all", first["accepted"][0]):
                refused = await call(client, "memory_forget", memory_id=wrong)
                assert "memory_search" in refused["what_to_do"], (
                    "what an agent can do, not what a program can"
                )

    anyio.run(run)


def test_sessions_and_documents_are_resources(tenant: Any, tmp_path: Path) -> None:
    tenant.client.put_document("AGENTS.md", "- Prices in euros.\n")
    tenant.say("trip", FACT, user_id="ann")

    async def run() -> None:
        async with connect("stdio", tenant, tmp_path) as client:
            document = await client.read_resource("longtail://documents/AGENTS.md")
            assert document.contents[0].text == "- Prices in euros.\n"
            session = await client.read_resource("longtail://sessions/trip")
            assert FACT in session.contents[0].text
            assert "trip" in (await client.read_resource("longtail://sessions")).contents[0].text

    anyio.run(run)


def test_with_memory_away_a_tool_says_so_and_the_agent_goes_on(tenant: Any, tmp_path: Path) -> None:
    tenant.client.url = "http://127.0.0.1:9"

    async def run() -> None:
        async with connect("stdio", tenant, tmp_path) as client:
            answer = await call(client, "memory_search", query="anything")
            assert answer["code"] == "unreachable"
            assert "longtail up" in answer["what_to_do"]

    anyio.run(run)


def test_a_summary_is_expanded_to_the_turns_it_covers(tenant: Any, tmp_path: Path) -> None:
    said = [
        f"Day {day} at sea: the wind came from the west, and the nets were full of herring."
        for day in range(40)
    ]
    tenant.say("trip", *said, user_id="ann")
    tenant.settle()
    (summary, *_) = tenant.client.compact("trip", force=True)["summary_ids"]

    async def run() -> None:
        async with connect("stdio", tenant, tmp_path) as client:
            turns, cursor = [], None
            while True:
                page = await call(client, "memory_expand", summary_id=summary, cursor=cursor)
                turns += [turn["content"] for turn in page["turns"]]
                cursor = page.get("next_cursor")
                if cursor is None:
                    break
            assert turns and turns == [one for one in said if one in turns]

    anyio.run(run)


def test_what_cannot_be_kept_is_refused_with_a_reason_and_a_session_may_have_any_name(
    tenant: Any, tmp_path: Path
) -> None:
    session = "team/ann/2026 08"

    async def run() -> None:
        async with connect("stdio", tenant, tmp_path) as client:
            for text, code in (
                ("x" * 5_000_000, "turn_too_large"),
                ("a\x00b", "nul_character"),
                (" ", "empty_text"),
            ):
                answer = await call(client, "memory_add", text=text, session_id=session)
                assert answer["code"] == code and answer["what_to_do"]
            await call(client, "memory_add", text=FACT, session_id=session)
            found = await client.read_resource(f"longtail://sessions/{quote(session, safe='')}")
            assert FACT in found.contents[0].text
            missing = await call(client, "memory_expand", summary_id="nonsense")
            assert missing["code"] and missing["error"]

    anyio.run(run)


def test_a_server_for_one_user_shows_and_forgets_nothing_of_another(tenant: Any, tmp_path: Path) -> None:
    """Its token opens the whole tenant; what it says is about the user it was started for."""
    tenant.client.put_document("house.md", "- Prices in euros.\n")
    tenant.client.put_document("ann.md", "- Ann pays by card.\n", user_id="ann")
    said = [f"Day {day} at sea: my locker code is {day}, and the nets were full." for day in range(40)]
    tenant.say("trip", *said, user_id="ann")
    tenant.client.call("POST", "/v1/memories", json={"text": FACT, "user_id": "ann"})
    tenant.settle()
    (summary, *_) = tenant.client.compact("trip", force=True)["summary_ids"]
    (memory, *_) = tenant.client.call("GET", "/v1/memories", params={"user_id": "ann"})["memories"]

    async def run() -> None:
        async with connect("stdio", tenant, tmp_path, user="bob") as client:
            for address in ("longtail://sessions", "longtail://sessions/trip", "longtail://documents"):
                shown = (await client.read_resource(address)).contents[0].text
                assert not any(word in shown for word in ('trip"', "locker", "ann")), (address, shown)
            for tool, arguments in (
                ("memory_expand", {"summary_id": summary}),
                ("memory_forget", {"memory_id": memory["id"]}),
                ("memory_add", {"text": "mine now", "session_id": "trip"}),
            ):
                answer = await call(client, tool, **arguments)
                assert answer["code"] in {"not_found", "session_of_another"}, (tool, answer)
            assert len((await call(client, "memory_add", text="I row, says Bob."))["accepted"]) == 1
        async with connect("stdio", tenant, tmp_path) as client:
            assert len((await call(client, "memory_add", text="I sail, says Ann."))["accepted"]) == 1
            documents = (await client.read_resource("longtail://documents")).contents[0].text
            assert "ann.md" in documents and "house.md" in documents

    anyio.run(run)
    (kept, *_) = tenant.client.call("GET", "/v1/memories", params={"user_id": "ann"})["memories"]
    assert kept["id"] == memory["id"]


@pytest.mark.parametrize(
    "command",
    [["mcp", "--transport", "http"], ["proxy", "--upstream", "http://127.0.0.1:9"]],
    ids=["mcp", "proxy"],
)
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_nothing_that_asks_for_no_token_listens_beyond_loopback(
    tmp_path: Path, command: list[str], host: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "api", *command, "--host", host, "--port", "0"],
        env={**os.environ, "LONGTAIL_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2
    assert "LONGTAIL_TLS_IN_FRONT" in done.stdout + done.stderr
