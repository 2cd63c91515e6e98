"""Hermes from its own package, whole turns through its command: a stub model on loopback, our provider as its memory."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from longtail_client import Client
from longtail_client.outbox import Outbox

Ask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hermes() -> Path:
    """The command of an environment that `make test-hosts` made."""
    path = Path(os.environ.get("LONGTAIL_TEST_HERMES", ".venv-hosts/hermes/bin/hermes")).absolute()
    assert path.exists(), f"there is no {path}; run 'make test-hosts'"
    return path


@pytest.fixture
def ask(hermes: Path, home: Path, model: Any, tmp_path: Path, tenant: Any) -> Ask:
    """One turn of a new Hermes process: install as the page says, ask, get the answer."""
    hermes_home = tmp_path / "hermes"
    hermes_home.mkdir()
    config = {
        "model": {"default": "stub", "provider": "custom", "base_url": model.url, "api_key": "none"},
        "memory": {"provider": "longtail", "memory_enabled": False, "user_profile_enabled": False},
    }
    (hermes_home / "config.yaml").write_text(json.dumps(config))
    env = {
        **{key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")},
        "HERMES_HOME": str(hermes_home),
        "HOME": str(tmp_path),
        "NO_COLOR": "1",
    }

    def run(*arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(one) for one in arguments],
            env={**env, **more},
            text=True,
            capture_output=True,
            timeout=600,
            cwd=tmp_path,
            check=False,
        )

    installed = run(hermes.parent / "longtail-client", "hermes", "install")
    assert installed.returncode == 0, installed.stderr

    def ask_once(text: str, **more: str) -> subprocess.CompletedProcess[str]:
        result = run(hermes, "chat", "-Q", "--cli", "-q", text, **more)
        assert result.returncode == 0, result.stdout + result.stderr
        return result

    return ask_once


def list_contents(memory: Client, tenant: Any) -> list[str]:
    rows = tenant.rows("SELECT content FROM longtail.turns WHERE tenant_id = :tenant ORDER BY seq")
    return [row.content for row in rows]


def test_a_fact_of_one_process_reaches_the_model_in_the_next(
    ask: Ask, memory: Client, model: Any, tenant: Any
) -> None:
    answered = ask("My cat is called Miso.")
    assert "Noted." in answered.stdout
    tenant.settle()
    ask("What is my cat called?")
    last = [prompt for prompt in model.prompts if "What is my cat called?" in prompt][-1]
    assert "Miso" in last and "longtail-memory" in last
    tenant.settle()
    # exactly what was said: nothing twice, and nothing of what was recalled into the message
    assert list_contents(memory, tenant) == [
        "My cat is called Miso.",
        "Noted.",
        "What is my cat called?",
        "Noted.",
    ]


def test_the_tools_are_offered_and_answer(ask: Ask, memory: Client, model: Any, tenant: Any) -> None:
    memory.post_turns(
        "old", [{"role": "user", "content": "The gate code is 4711.", "id": "m1"}], user_id="ann"
    )
    tenant.settle()
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "longtail_search", "arguments": '{"query": "gate code"}'},
    }

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        offered = {one["function"]["name"] for one in request.get("tools") or ()}
        is_told = any(message["role"] == "tool" for message in request["messages"])
        if "longtail_search" in offered and not is_told:
            return {"tool_calls": [dict(call)]}
        return {"content": "It is 4711."}

    model.answer = answer
    assert "4711" in ask("Search your memory.", LONGTAIL_USER_ID="ann").stdout
    told = [m for request in model.requests for m in request["messages"] if m["role"] == "tool"]
    assert told and "4711" in json.dumps(told)


def test_an_outage_costs_no_turn_no_memory_and_no_error(
    ask: Ask, memory: Client, model: Any, tenant: Any, home: Path, nobody: str
) -> None:
    answered = ask("The gate code is 4711.", LONGTAIL_API_URL=nobody)
    assert "Noted." in answered.stdout and "longtail" not in (answered.stdout + answered.stderr).lower()
    waiting = Outbox(next((home / "outbox").glob("*.jsonl")))
    assert waiting.count() >= 1 and (waiting.path.stat().st_mode & 0o777) == 0o600
    assert waiting.flush(memory.send).waiting == 0
    assert list_contents(memory, tenant)[:2] == ["The gate code is 4711.", "Noted."]


def test_it_is_removed_without_a_trace(ask: Ask, hermes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "hermes" / "plugins" / "longtail"
    assert folder.is_dir()
    env = {**os.environ, "HERMES_HOME": str(tmp_path / "hermes")}
    subprocess.run([str(hermes.parent / "longtail-client"), "hermes", "uninstall"], env=env, check=True)
    assert not folder.exists()
    assert "Noted." in ask("Hello?").stdout  # and Hermes goes on without it


PROVIDER = """
import sys
from longtail_client.hermes import LongtailMemoryProvider
provider = LongtailMemoryProvider()
provider.initialize("cron-1", platform="cron", agent_context="primary", user_id="ann")
provider.sync_turn("check the mail", "HEARTBEAT_OK")
provider.initialize("sub-1", platform="cli", agent_context="subagent", user_id="ann")
provider.sync_turn("read the file", "done")
provider.initialize("chat/1", platform="cli", agent_context="primary", user_id="ann")
tool = {"role": "tool", "name": "read", "content": "x" * 5_000_000, "api_content": "RECALLED"}
asked = {"role": "user", "content": "half a \\ud83d and nul \\x00", "api_content": "RECALLED half"}
provider.sync_turn(asked["content"], "   ", messages=[asked, tool])
print(provider.handle_tool_call("longtail_expand", {}), provider.handle_tool_call("nothing", {}))
"""


def test_odd_turns_are_kept_whole_and_chatter_of_machines_is_not(
    hermes: Path, home: Path, memory: Client, tenant: Any
) -> None:
    told = subprocess.run(
        [str(hermes.parent / "python"), "-c", PROVIDER],
        text=True,
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert "summary_id" in told.stdout and "no tool" in told.stdout
    kept = list_contents(memory, tenant)
    assert kept[0] == "half a \ufffd and nul \ufffd"
    assert "".join(kept[1:]) == "x" * 5_000_000
