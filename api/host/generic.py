"""`longtail hook generic EVENT`: for any host that can start a process and pipe our own JSON to it.

turns       the body of POST /v1/sessions/{session_id}/turns, and `session_id` beside it: kept, sent, nothing printed
assemble    the body of POST /v1/assemble: its answer is printed; with the API away, one with an empty `text`
lifecycle   the body of POST /v1/lifecycle: kept, sent, nothing printed
"""

from __future__ import annotations

from api.host.hook import Call, Refused, complain
from api.host.outbox import Outbox
from api.host.turns import build_turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from api.host.hook import Handler


def take_turns(call: Call) -> None:
    """Keep turns and send them."""
    body = dict(call.given)
    session_id, turns = body.pop("session_id", None), body.get("turns")
    if not isinstance(session_id, str) or not session_id:
        raise Refused("'session_id' is missing: name the session")
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise Refused("'turns' is missing: send a list of objects with 'role' and 'content'")
    outbox = Outbox(call)
    body["turns"] = [ready for turn in turns for ready in _make_ready(turn)]
    if body["turns"]:
        outbox.leave_turns(session_id, _with_identity(body, call))
    outbox.send()


def take_hint(call: Call) -> None:
    """Keep a hint and send it."""
    outbox = Outbox(call)
    outbox.leave_hint(call.given)
    outbox.send()


def answer_prompt(call: Call) -> dict[str, Any]:
    """The prompt; an outage is named in `degraded`, as the API itself does."""
    outbox = Outbox(call)
    backlog = outbox.send_backlog()
    try:
        if backlog.stopped and not outbox.spool.is_empty():
            raise OSError(backlog.stopped)
        return outbox.assemble(_with_identity(call.given, call))
    except OSError as error:
        complain(str(error))
        return {"text": "", "degraded": [{"code": "unreachable", "detail": str(error)}]}


def _make_ready(turn: dict[str, Any]) -> list[dict[str, Any]]:
    """The turn, cleaned; in several where it is too long for one. One without an id cannot be cut and found again."""
    content, name = turn.get("content"), turn.get("id")
    if not isinstance(content, str):
        return [turn]  # refused by the API with its reason, and put aside
    pieces = build_turns(role="", text=content, id=name if isinstance(name, str) and name else "part")
    ready = []
    for piece in pieces:
        fields: dict[str, Any] = {**turn, "content": piece["content"]}
        if isinstance(name, str) and name:
            fields["id"] = piece["id"]
        if "metadata" in piece:
            fields["metadata"] = {**(turn.get("metadata") or {}), **piece["metadata"]}
        ready.append(fields)
    return ready


def _with_identity(body: dict[str, Any], call: Call) -> dict[str, Any]:
    """The body with this machine's user where it names nobody: memory without a name ends with its session."""
    if any(body.get(name) for name in ("user_id", "session_key", "agent_id")):
        return body
    return {**body, "user_id": call.configuration.user_id}


HANDLERS: dict[str, tuple[Handler, bool]] = {
    "turns": (take_turns, False),
    "assemble": (answer_prompt, True),
    "lifecycle": (take_hint, False),
}
