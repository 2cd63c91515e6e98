"""Claims about reading Claude Code's transcripts: what was said is kept, once, and everything else is counted."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from api.host.turns import name_assistant_turn
from api.importers.records import Dropped, ImportedTurn, Stripped
from api.importers.sources.claude_code import find_units, read_transcript

BLOCK = '<longtail-memory id="0123456789abcdef">\n<recalled>\nold news\n</recalled>\n</longtail-memory>\n'


def line(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    entry = {"type": kind, "sessionId": "s1", "cwd": "/x", "timestamp": "2026-08-01T10:00:00.000Z"}
    return {**entry, "message": {"role": kind, "content": content}, **fields}


def user(content: Any, uuid: str, **fields: Any) -> dict[str, Any]:
    return line("user", content, uuid=uuid, **fields)


def assistant(*blocks: dict[str, Any], uuid: str, **fields: Any) -> dict[str, Any]:
    return line("assistant", list(blocks), uuid=uuid, **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **fields}


@pytest.fixture
def transcript(tmp_path: Path) -> Any:
    def write(*entries: dict[str, Any] | str, name: str = "s1.jsonl") -> list[Any]:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in entries))
        return list(read_transcript(file))

    return write


def turns(found: list[Any]) -> list[ImportedTurn]:
    return [one for one in found if isinstance(one, ImportedTurn)]


def reasons(found: list[Any]) -> Counter[str]:
    return Counter(one.reason for one in found if isinstance(one, Dropped | Stripped))


def test_a_prompt_and_its_answers_have_the_ids_that_the_hooks_give_them(transcript: Any) -> None:
    found = turns(
        transcript(
            user("Where is it?", "u1", promptId="p1"),
            assistant(text("Let me look."), uuid="a1"),
            assistant(text("In the attic."), uuid="a2"),
        )
    )
    assert [(turn.role, turn.content, turn.id) for turn in found] == [
        ("user", "Where is it?", "p1:user"),
        ("assistant", "Let me look.", name_assistant_turn("p1", "Let me look.")),
        ("assistant", "In the attic.", name_assistant_turn("p1", "In the attic.")),
    ]
    assert found[0].metadata == {"host": "claude-code", "cwd": "/x", "host_turn": "p1"}
    assert found[0].ts == "2026-08-01T10:00:00.000Z"


def test_a_call_and_its_result_are_one_turn_whatever_comes_between(transcript: Any) -> None:
    found = turns(
        transcript(
            user("List it.", "u1"),
            assistant(call("t1", command="ls"), call("t2", command="pwd"), uuid="a1"),
            user([result("t2", [text("/x"), text("/y")])], "u2", timestamp="2026-08-01T10:00:05Z"),
            user([result("t1", "a.txt", is_error=True)], "u3"),
        )
    )
    assert [(turn.role, turn.name, turn.content, turn.id) for turn in found[1:]] == [
        ("tool", "Bash", 'Bash {"command": "pwd"}\n/x\n/y', "tool:t2"),
        ("tool", "Bash", 'Bash {"command": "ls"}\na.txt', "tool:t1"),
    ]
    assert found[1].ts == "2026-08-01T10:00:05Z"
    assert found[2].metadata["is_error"] is True


def test_a_call_without_a_result_and_a_result_without_a_call_are_kept_and_told(transcript: Any) -> None:
    found = transcript(assistant(call("t1", command="ls"), uuid="a1"), user([result("t9", "lost")], "u1"))
    assert [(turn.id, turn.content) for turn in turns(found)] == [
        ("tool:t9", "tool\nlost"),
        ("tool:t1:unanswered", 'Bash {"command": "ls"}'),
    ]
    assert reasons(found) == {"call of a result not found": 1}


def test_what_we_injected_is_cut_out_wherever_the_host_kept_it(transcript: Any) -> None:
    found = transcript(
        user(BLOCK + "What now?", "u1", promptId="p1"),
        user(BLOCK, "u2", promptId="p2"),
        user(f"<system-reminder>\nhook additional context: {BLOCK}</system-reminder>\nGo on.", "u3"),
        user(f"<system-reminder>{BLOCK}</system-reminder>", "u4", isMeta=True),
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [BLOCK]}},
        {"type": "attachment", "attachment": {"type": "file", "content": "other"}},
    )
    assert [turn.content for turn in turns(found)] == ["What now?", "Go on."]
    assert reasons(found) == {
        "injected by us": 5,
        "nothing but what was injected": 1,
        "reminder of the host": 1,
        "attachment": 1,
    }


def test_what_nobody_said_is_dropped_with_its_reason(transcript: Any) -> None:
    found = transcript(
        {"type": "summary", "summary": "x"},
        {"type": "file-history-snapshot"},
        {"type": 7},
        user("<command-name>/clear</command-name>", "u1"),
        user("<local-command-stdout>done</local-command-stdout>", "u2"),
        user("[Request interrupted by user]", "u3"),
        user("This session is being continued…", "u4", isCompactSummary=True),
        user("Caveat: …", "u5", isMeta=True),
        user([{"type": "image", "source": {}}, text("  ")], "u6"),
        assistant({"type": "thinking", "thinking": "hm"}, uuid="a1"),
        assistant(text("API Error"), uuid="a2", isApiErrorMessage=True),
        line("assistant", [text("No response")], uuid="a3")
        | {"message": {"model": "<synthetic>", "content": "x"}},
        user("once", "u7"),
        user("once", "u7"),
        {"type": "user"},
        "{not json",
        "[]",
    )
    assert [turn.content for turn in turns(found)] == ["once"]
    assert reasons(found) == {
        "summary": 1,
        "file-history-snapshot": 1,
        "of no known type": 1,
        "command and its output": 2,
        "interruption": 1,
        "the host's own summary": 1,
        "injected by the host": 1,
        "image": 1,
        "empty": 1,
        "thinking": 1,
        "error message of the host": 1,
        "written by the host": 1,
        "line repeated": 1,
        "without a message": 1,
        "no JSON": 1,
        "no JSON object": 1,
    }


def test_a_sub_agent_in_the_same_file_has_a_session_below_its_parents(transcript: Any) -> None:
    found = turns(
        transcript(
            user("Find it.", "u1", promptId="p1"),
            assistant(call("t1", "Task", prompt="Look in the attic."), uuid="a1"),
            user("Look in the attic.", "c1", isSidechain=True, parentUuid=None),
            assistant(text("Dust."), uuid="c2", isSidechain=True, parentUuid="c1"),
            user([result("t1", "Dust.")], "u2"),
            assistant(text("It is dusty."), uuid="a2"),
        )
    )
    assert [(turn.session_id, turn.role) for turn in found] == [
        ("s1", "user"),
        ("s1/agent-c1", "user"),
        ("s1/agent-c1", "assistant"),
        ("s1", "tool"),
        ("s1", "assistant"),
    ]
    for turn in found[1:3]:
        assert turn.metadata["parent_session"] == "s1"
        assert turn.metadata["parent_tool_use"] == "t1"
    assert found[4].id == name_assistant_turn("p1", "It is dusty."), (
        "the parent's prompt, not the sub-agent's"
    )


def test_a_sub_agent_in_a_file_of_its_own_is_linked_both_ways(transcript: Any, tmp_path: Path) -> None:
    parent = turns(
        transcript(
            assistant(call("t1", "Task", prompt="Look."), uuid="a1"),
            user([result("t1", "Found.")], "u1", toolUseResult={"agentId": "ab12"}),
        )
    )
    (tmp_path / "s1" / "subagents").mkdir(parents=True)
    (tmp_path / "s1" / "subagents" / "agent-ab12.meta.json").write_text('{"toolUseId": "t1"}')
    child = turns(
        transcript(
            user("Look.", "c1", isSidechain=True, agentId="ab12"), name="s1/subagents/agent-ab12.jsonl"
        )
    )
    assert parent[0].metadata["agent_session"] == child[0].session_id == "s1/agent-ab12"
    assert child[0].metadata["parent_session"] == "s1"
    assert child[0].metadata["parent_tool_use"] == "t1"
    assert [unit.name for unit in find_units(tmp_path)] == ["s1.jsonl", "s1/subagents/agent-ab12.jsonl"]


def test_reading_twice_gives_the_same_ids_and_no_id_twice(transcript: Any) -> None:
    entries = (
        user("yes", "u1"),
        user("yes", "u2"),
        user([text("one"), text("two")], "u3", promptId="p1"),
        user("again", "u4", promptId="p1"),
        assistant(text("ok"), uuid="a1"),
    )
    first, second = turns(transcript(*entries)), turns(transcript(*entries))
    assert first == second
    assert len({turn.id for turn in first}) == len(first) == 6
