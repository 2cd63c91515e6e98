"""Claude Code's transcripts (~/.claude/projects/*/*.jsonl) as turns.

A line is a message or bookkeeping. Kept are what the user said, what the assistant said, and each tool call with its
result as one turn. Sub-agents have a session of their own below their parent's: older versions keep them in the same file
(`isSidechain`), newer ones in `agent-*.jsonl` beside it or in `<session>/subagents/`.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from api.host.turns import name_agent_session, name_assistant_turn, name_user_turn
from api.importers.reading import OUR_BLOCK, read_json_lines, strip_ours
from api.importers.records import Dropped, Finding, ImportedTurn, Source, Stripped, Unit

HOST: Final = "claude-code"
REMINDER: Final = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
COMMAND: Final = re.compile(
    r"\s*<(?:command-name|command-message|command-args|local-command-\w+|bash-input|bash-stdout|bash-stderr|task-notification)>"
)
INTERRUPTED: Final = "[Request interrupted by user"
AGENT_FILE: Final = re.compile(r"agent-(.+)\.jsonl")


def default_folder() -> Path:
    """Where Claude Code keeps its transcripts."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"


def find_units(path: Path) -> list[Unit]:
    """Transcripts in a folder, or the one file: sessions first, each followed by its sub-agents."""
    files = sorted(path.rglob("*.jsonl"), key=str) if path.is_dir() else [path]
    found = []
    for file in files:
        if file.name == "journal.jsonl":
            continue  # of a workflow: who ran when, nothing that was said
        facts = file.stat()
        name = str(file.relative_to(path)) if path.is_dir() else file.name
        found.append(
            Unit(
                name=name, size=facts.st_size, changed=facts.st_mtime_ns, read=partial(read_transcript, file)
            )
        )
    return found


SOURCE: Final = Source(kind=HOST, find_units=find_units, default_path=default_folder, agent_id=HOST)


@dataclass(slots=True)
class _Transcript:
    """What must be remembered from line to line."""

    file: Path
    agent_id: str | None  # of a file that is a sub-agent's
    agent_call: str | None  # of such a file: the call that started it
    prompts: dict[str | None, str] = field(
        default_factory=dict
    )  # newest prompt of the session and of each sidechain
    calls: dict[str, tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=dict)  # call and its line
    tasks: dict[str, str] = field(default_factory=dict)  # words of a task given to a sub-agent -> its call
    chains: dict[str, str] = field(default_factory=dict)  # line of a sidechain -> the line it began with
    chain_calls: dict[str, str] = field(
        default_factory=dict
    )  # the line it began with -> the call that started it
    seen: set[str] = field(default_factory=set)


def read_transcript(file: Path) -> Iterator[Finding]:
    """What a transcript holds, in its order; calls that were never answered come last."""
    agent = AGENT_FILE.fullmatch(file.name)
    state = _Transcript(
        file=file, agent_id=agent[1] if agent else None, agent_call=_read_agent_call(file) if agent else None
    )
    for where, entry in read_json_lines(file):
        if isinstance(entry, Dropped):
            yield entry
        else:
            yield from _read_entry(state, entry, where)
    for call, began in state.calls.values():
        yield _build_tool_turn(state, began, call, None)


def _read_entry(state: _Transcript, entry: dict[str, Any], where: str) -> Iterator[Finding]:
    kind = entry.get("type")
    if kind == "attachment":
        yield Dropped("injected by us" if _is_ours(entry) else "attachment")
        return
    if kind not in ("user", "assistant"):  # it may be a list, which no set holds
        yield Dropped(f"{kind}" if isinstance(kind, str) and len(kind) < 40 else "of no known type")
        return
    message = entry.get("message")
    if not isinstance(message, dict):
        yield Dropped("without a message", where)
        return
    _follow_chain(state, entry)
    identity = entry.get("uuid")
    if isinstance(identity, str):
        if identity in state.seen:
            yield Dropped("line repeated")
            return
        state.seen.add(identity)
    if entry.get("isCompactSummary"):
        yield Dropped("the host's own summary")
    elif entry.get("isApiErrorMessage"):
        yield Dropped("error message of the host")
    elif kind == "user":
        yield from _read_user(state, entry, message)
    else:
        yield from _read_assistant(state, entry, message)


def _read_user(state: _Transcript, entry: dict[str, Any], message: dict[str, Any]) -> Iterator[Finding]:
    is_prompt = False
    for block in _blocks(message.get("content")):
        match block.get("type"):
            case "tool_result":
                yield from _pair(state, entry, block)
            case "text" if entry.get("isMeta"):
                yield Dropped(
                    "injected by us" if OUR_BLOCK.search(str(block.get("text"))) else "injected by the host"
                )
            case "text":
                for found in _read_said(state, entry, str(block.get("text") or ""), is_first=not is_prompt):
                    is_prompt = is_prompt or isinstance(found, ImportedTurn)
                    yield found
            case other:
                yield Dropped(f"{other}" if other in {"image", "document"} else "content of no known type")


def _read_said(state: _Transcript, entry: dict[str, Any], text: str, *, is_first: bool) -> Iterator[Finding]:
    said = strip_ours(text)
    if said != text:
        yield Stripped("injected by us")
    without = REMINDER.sub("", said)
    if without != said:
        yield Stripped("reminder of the host")
    if COMMAND.match(without):
        yield Dropped("command and its output")
    elif without.startswith(INTERRUPTED):
        yield Dropped("interruption")
    elif not without.strip():
        yield Dropped("nothing but what was injected" if text.strip() else "empty")
    else:
        prompt_id = entry.get("promptId")
        if isinstance(prompt_id, str) and prompt_id:
            id = name_user_turn(prompt_id)
            if not is_first or id in state.seen:  # a second text under one prompt
                id = f"{id}:{entry.get('uuid')}"
            state.seen.add(id)
            state.prompts[_agent_of(entry, state)] = prompt_id
        else:
            id = f"{entry.get('uuid')}:user" if is_first else f"{entry.get('uuid')}:user:{len(text)}"
            state.prompts[_agent_of(entry, state)] = str(entry.get("uuid"))
        yield _build_turn(state, entry, role="user", content=without.strip("\n"), id=id)


def _read_assistant(state: _Transcript, entry: dict[str, Any], message: dict[str, Any]) -> Iterator[Finding]:
    if message.get("model") == "<synthetic>":
        yield Dropped("written by the host")
        return
    for block in _blocks(message.get("content")):
        match block.get("type"):
            case "text" if str(block.get("text") or "").strip():
                text = str(block["text"])
                prompt_id = state.prompts.get(_agent_of(entry, state)) or str(entry.get("uuid"))
                yield _build_turn(
                    state, entry, role="assistant", content=text, id=name_assistant_turn(prompt_id, text)
                )
            case "text":
                yield Dropped("empty")
            case "tool_use" if isinstance(block.get("id"), str):
                state.calls[block["id"]] = (block, entry)
                task = (
                    (block.get("input") or {}).get("prompt") if isinstance(block.get("input"), dict) else None
                )
                if isinstance(task, str):
                    state.tasks[task.strip()] = block["id"]
            case "thinking" | "redacted_thinking":
                yield Dropped("thinking")
            case _:
                yield Dropped("content of no known type")


def _pair(state: _Transcript, entry: dict[str, Any], block: dict[str, Any]) -> Iterator[Finding]:
    call, began = state.calls.pop(str(block.get("tool_use_id")), (None, entry))
    if call is None:
        yield Stripped("call of a result not found")
        call = {"id": block.get("tool_use_id"), "name": None, "input": None}
    for other in _blocks(block.get("content")):
        if other.get("type") != "text":
            yield Dropped("image" if other.get("type") == "image" else "content of no known type")
    yield _build_tool_turn(state, began if call["name"] else entry, call, block, ended=entry)


def _build_tool_turn(
    state: _Transcript,
    entry: dict[str, Any],
    call: dict[str, Any],
    result: dict[str, Any] | None,
    *,
    ended: dict[str, Any] | None = None,
) -> ImportedTurn:
    """A call and its result as one turn; a call without a result has an id of its own, for the result may come yet."""
    given = json.dumps(call.get("input"), ensure_ascii=False) if call.get("input") is not None else ""
    name = str(call.get("name") or "tool")
    lines = [f"{name} {given}".rstrip()]
    facts: dict[str, Any] = {"tool_use_id": str(call.get("id"))[:200]}
    if result is None:
        facts["unanswered"] = True
    else:
        texts = [
            str(block.get("text") or "")
            for block in _blocks(result.get("content"))
            if block.get("type") == "text"
        ]
        lines.append("\n".join(texts))
        if result.get("is_error"):
            facts["is_error"] = True
        agent = (ended or {}).get("toolUseResult")
        if isinstance(agent, dict) and isinstance(agent.get("agentId"), str):
            facts["agent_session"] = name_agent_session(_session_of(entry, state), agent["agentId"])
    id = f"tool:{facts['tool_use_id']}" + (":unanswered" if result is None else "")
    return _build_turn(
        state, entry, role="tool", content="\n".join(lines), id=id, name=name, facts=facts, at=ended
    )


def _build_turn(
    state: _Transcript,
    entry: dict[str, Any],
    *,
    role: str,
    content: str,
    id: str,
    name: str | None = None,
    facts: dict[str, Any] | None = None,
    at: dict[str, Any] | None = None,
) -> ImportedTurn:
    session_id = _session_of(entry, state)
    metadata: dict[str, Any] = {"host": HOST, **(facts or {})}
    if isinstance(entry.get("cwd"), str):
        metadata["cwd"] = entry["cwd"][:1000]
    agent_id = _agent_of(entry, state)
    if agent_id in state.prompts:
        metadata["host_turn"] = state.prompts[agent_id]
    if agent_id:
        metadata["parent_session"] = session_id
        call = state.agent_call or state.chain_calls.get(agent_id)
        if call:
            metadata["parent_tool_use"] = call
        session_id = name_agent_session(session_id, agent_id)
    ts = (at or entry).get("timestamp")
    return ImportedTurn(
        session_id=session_id[:512],
        role=role,
        content=content,
        id=id[:512],
        ts=ts if isinstance(ts, str) else None,
        name=name,
        metadata=metadata,
    )


def _session_of(entry: dict[str, Any], state: _Transcript) -> str:
    """The session a line belongs to; a sub-agent's lines name their parent's."""
    found = entry.get("sessionId")
    return found if isinstance(found, str) and found else state.file.stem


def _agent_of(entry: dict[str, Any], state: _Transcript) -> str | None:
    found = entry.get("agentId")
    if isinstance(found, str) and found:
        return found
    if state.agent_id:
        return state.agent_id
    return state.chains.get(str(entry.get("uuid"))) if entry.get("isSidechain") else None


def _follow_chain(state: _Transcript, entry: dict[str, Any]) -> None:
    """Older versions name no agent: a sidechain is known by the line it began with, its call by the words of its task."""
    if not entry.get("isSidechain"):
        return
    own, parent = str(entry.get("uuid")), str(entry.get("parentUuid"))
    state.chains[own] = began = state.chains.get(parent, own)
    if began == own:
        blocks = _blocks((entry.get("message") or {}).get("content"))
        words = "\n".join(str(block.get("text") or "") for block in blocks).strip()
        if words in state.tasks:
            state.chain_calls[entry.get("agentId") or own] = state.tasks[words]


def _read_agent_call(file: Path) -> str | None:
    """The call that started a sub-agent, from the small file beside its own."""
    try:
        found = json.loads(file.with_suffix(".meta.json").read_text())
    except (OSError, ValueError):
        return None
    call = found.get("toolUseId") if isinstance(found, dict) else None
    return call if isinstance(call, str) and call else None


def _blocks(content: object) -> list[dict[str, Any]]:
    """The parts of a message; a plain string is one text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block if isinstance(block, dict) else {"type": "text", "text": str(block)} for block in content]


def _is_ours(entry: dict[str, Any]) -> bool:
    return bool(OUR_BLOCK.search(json.dumps(entry.get("attachment"), ensure_ascii=False)))
