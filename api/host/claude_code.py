"""Claude Code's hooks: which event leaves what behind, and what is added to the model's context.

SessionStart      rules and standing wishes; after a compaction also the newest turns, which the host has just cut
UserPromptSubmit  the prompt is kept; what memory has to say to it is added
Stop              the answer is kept, and sent together with its prompt
PreCompact        a hint
SessionEnd        a hint
"""

from __future__ import annotations

import os

from api.host.claude_session import ShownSession
from api.host.hook import Call, Refused, complain
from api.host.outbox import Outbox
from api.host.turns import build_turns, format_now, name_agent_session, name_assistant_turn, name_user_turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from api.host.hook import Handler

AGENT_ID = "claude-code"
MAX_CONTEXT_UNITS = (
    10_000  # UTF-16 units, as JavaScript counts: above, the host shows a preview of a file instead
)
MAX_ID_CHARS = 400
# What goes first when all of it is too long: the host shows its newest turns itself, rules must stay.
DROP_ORDER = ("recent_turns", "recalled", "guidance", "found_rules")
CUT_NOTE = "\n(cut here: Claude Code takes 10,000 characters; shorten the documents that hold these rules)\n"


def start_session(call: Call) -> dict[str, Any] | None:
    """Rules, standing wishes and the profile, before the first prompt."""
    outbox, session = Outbox(call), _open_session(call)
    backlog = outbox.send_backlog()
    if call.text("source") != "resume":
        session.forget_what_is_shown()
    parts = [] if backlog.is_unreachable else _ask(call, outbox, session, query="")
    return _add_context(call, session, parts, without=())


def submit_prompt(call: Call) -> dict[str, Any] | None:
    """What memory has to say to a prompt; the prompt itself is kept and goes out with its answer."""
    prompt = call.text("prompt")
    outbox, session = Outbox(call), _open_session(call)
    backlog = outbox.send_backlog()
    prompt_id = call.text("prompt_id")[:MAX_ID_CHARS] or os.urandom(16).hex()
    turns = build_turns(
        role="user",
        text=prompt,
        id=name_user_turn(prompt_id),
        ts=format_now(),
        metadata=_describe(call, prompt_id),
    )
    _leave(call, outbox, session, turns)
    if not turns or backlog.is_unreachable:
        return None
    parts = _ask(call, outbox, session, query=turns[0]["content"][:20_000])
    return _add_context(call, session, parts, without=("authored",) if session.has_rules(parts) else ())


def take_answer(call: Call) -> None:
    """Keep the newest answer; it goes out with everything that waits."""
    outbox, session = Outbox(call), _open_session(call)
    answer = call.text("last_assistant_message")
    prompt_id = call.text("prompt_id")[:MAX_ID_CHARS] or session.newest_prompt_id() or os.urandom(16).hex()
    turns = build_turns(
        role="assistant",
        text=answer,
        id=name_assistant_turn(prompt_id, answer),
        ts=format_now(),
        metadata=_describe(call, prompt_id),
    )
    _leave(call, outbox, session, turns)
    outbox.send()


def compact_soon(call: Call) -> None:
    """The host is about to cut its history."""
    _leave_hint(call, "before_compaction", call.text("trigger"))


def end_session(call: Call) -> None:
    """The session is over."""
    _leave_hint(call, "session_end", call.text("reason"))


def _leave_hint(call: Call, event: str, reason: str) -> None:
    outbox, session_id = Outbox(call), _session_id(call)
    hint = {"event": event, "session_id": session_id, "metadata": _describe(call, None)}
    outbox.leave_hint({**hint, "reason": reason[:2000]} if reason else hint)
    outbox.send()


def _leave(call: Call, outbox: Outbox, session: ShownSession, turns: list[dict[str, Any]]) -> None:
    if turns:
        identity = {"user_id": call.configuration.user_id, "agent_id": AGENT_ID}
        outbox.leave_turns(session.session_id, {**identity, "turns": turns})
        session.show([turn["id"] for turn in turns])


def _ask(call: Call, outbox: Outbox, session: ShownSession, *, query: str) -> list[dict[str, Any]]:
    """The sections of an assembly; none when the API has no answer in time."""
    request = {
        "session_id": session.session_id,
        "query": query,
        "budget_tokens": call.configuration.budget_tokens,
        "user_id": call.configuration.user_id,
        "agent_id": AGENT_ID,
        "format": "parts",
        # By their ids: the host shows these turns anyway, so they are neither repeated nor recalled.
        "messages": [{"role": "user", "content": "", "id": id} for id in session.shown_ids()],
    }
    try:
        answer = outbox.assemble(request)
    except OSError as error:
        complain(str(error))
        return []
    parts = answer.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _add_context(
    call: Call, session: ShownSession, parts: list[dict[str, Any]], *, without: tuple[str, ...]
) -> dict[str, Any] | None:
    chosen = [(str(part.get("section")), str(part.get("text") or "")) for part in parts]
    text = fit_context([(section, text) for section, text in chosen if section not in without])
    if not text:
        return None
    session.remember_rules(parts)
    return {"hookSpecificOutput": {"hookEventName": call.event, "additionalContext": text}}


def fit_context(sections: list[tuple[str, str]]) -> str:
    """The sections in order, as many as the host shows whole; rules are cut at a line end rather than left out.

    >>> fit_context([("authored", "rules"), ("recalled", "x" * 10_000)])
    'rules'
    """
    whole = ""
    for dropped in (None, *DROP_ORDER):
        sections = [(section, text) for section, text in sections if section != dropped]
        whole = "".join(text for _, text in sections)
        if count_units(whole) <= MAX_CONTEXT_UNITS:
            return whole
    closing = "</authored>\n</longtail-memory>\n"
    room = MAX_CONTEXT_UNITS - len(CUT_NOTE) - len(closing)
    kept = whole.encode("utf-16-le")[: 2 * room].decode("utf-16-le", "ignore")
    return kept[: kept.rfind("\n") if "\n" in kept else None] + CUT_NOTE + closing


def count_units(text: str) -> int:
    """The length of a text as JavaScript counts it.

    >>> count_units("a😀")
    3
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _open_session(call: Call) -> ShownSession:
    return ShownSession(call.configuration.home, _session_id(call))


def _session_id(call: Call) -> str:
    session_id = call.text("session_id")[:MAX_ID_CHARS]
    if not session_id:
        raise Refused("the input has no 'session_id'")
    agent_id = call.text("agent_id")[:100]
    return name_agent_session(session_id, agent_id) if agent_id else session_id


def _describe(call: Call, prompt_id: str | None) -> dict[str, Any]:
    facts = {"host": AGENT_ID, "cwd": call.text("cwd")[:1000], "host_turn": prompt_id}
    if call.text("agent_id"):
        facts["parent_session"] = call.text("session_id")[:MAX_ID_CHARS]
    return {name: value for name, value in facts.items() if value}


HANDLERS: dict[str, tuple[Handler, bool]] = {
    "SessionStart": (start_session, True),
    "UserPromptSubmit": (submit_prompt, True),
    "Stop": (take_answer, False),
    "PreCompact": (compact_soon, False),
    "SessionEnd": (end_session, False),
}
