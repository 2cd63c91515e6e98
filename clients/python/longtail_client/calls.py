"""Every call of the service as a function that builds its request; names and fields as in docs/api.md.

Both clients have each of these as a method. A write without a natural key gets an idempotency key of its own,
so that sending it again after a failure does it once.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict
from uuid import uuid4

from longtail_client import answers
from longtail_client.errors import UnexpectedAnswer, read_rpc_error
from longtail_client.reading import read_answer
from longtail_client.request import Request, T, encode_json, encode_params, quote_name

JSON = {"Content-Type": "application/json"}
Message = Mapping[str, Any]
COMPACTION_TIMEOUT_SECONDS = 60.0  # the service itself waits up to LONGTAIL_COMPACTION_WAIT_SECONDS (50)


class Identity(TypedDict, total=False):
    """Whose memory: the first that is present names the namespace."""

    user_id: str | None
    session_key: str | None
    agent_id: str | None


def _ask(kind: type[T], method: str, path: str, **params: object) -> Request[T]:
    is_read = method == "GET"
    return Request(
        method=method,
        path=path,
        read=lambda data: read_answer(kind, data),
        is_idempotent=True,
        params=encode_params(**params),
        headers={} if is_read else {"Idempotency-Key": uuid4().hex},
    )


def _send(
    kind: type[T],
    path: str,
    body: Mapping[str, Any],
    *,
    method: str = "POST",
    is_read: bool = False,
    timeout_seconds: float | None = None,
) -> Request[T]:
    return Request(
        method=method,
        path=path,
        read=lambda data: read_answer(kind, data),
        is_idempotent=True,
        content=encode_json(body),
        headers=JSON if is_read else {**JSON, "Idempotency-Key": uuid4().hex},
        timeout_seconds=timeout_seconds,
    )


def post_turns(
    session_id: str,
    turns: Sequence[Mapping[str, Any]],
    *,
    user_id: str | None = None,
    session_key: str | None = None,
    agent_id: str | None = None,
    idempotency_key: str | None = None,
    shared: bool | None = None,
) -> Request[answers.Accepted]:
    """Append turns `{"role", "content", "id"?, "ts"?, "name"?, "metadata"?}`, once each, word for word.

    A turn is one by its `id`, else by its call's key and place, else by its time and words. Give ids: then a turn
    that you send in another call, too, is kept once.
    """
    is_told_apart = all(turn.get("id") or turn.get("ts") for turn in turns)
    body = {
        "turns": list(turns),
        "user_id": user_id,
        "session_key": session_key,
        "agent_id": agent_id,
        "idempotency_key": idempotency_key or (None if is_told_apart else uuid4().hex),
        "shared": shared,
    }
    path = f"/v1/sessions/{quote_name(session_id)}/turns"
    return _send(answers.Accepted, path, body, is_read=True)  # its key is in the body


def assemble(
    session_id: str,
    query: str,
    *,
    budget_tokens: int,
    user_id: str | None = None,
    session_key: str | None = None,
    agent_id: str | None = None,
    messages: Sequence[Message] | None = None,
    tokenizer: str | None = None,
    format: Literal["text", "messages", "anthropic", "parts"] | None = None,
    deadline_ms: int | None = None,
    explain: bool | None = None,
    now: datetime | None = None,
) -> Request[answers.Prompt]:
    """The prompt for the next model call, within its budget."""
    body = {
        "session_id": session_id,
        "query": query,
        "budget_tokens": budget_tokens,
        "user_id": user_id,
        "session_key": session_key,
        "agent_id": agent_id,
        "messages": None if messages is None else list(messages),
        "tokenizer": tokenizer,
        "format": format,
        "deadline_ms": deadline_ms,
        "explain": explain,
        "now": now,
    }
    return _send(answers.Prompt, "/v1/assemble", body, is_read=True)


def search(
    query: str,
    *,
    k: int | None = None,
    user_id: str | None = None,
    session_key: str | None = None,
    agent_id: str | None = None,
    session_id: str | None = None,
    scopes: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    roles: Sequence[str] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    group_by: Literal["session"] | None = None,
    cursor: str | None = None,
) -> Request[answers.Hits]:
    """Ranked memory for a query, a page at a time."""
    return _send(answers.Hits, "/v1/search", dict(locals()), is_read=True)


def grep(
    pattern: str,
    *,
    regex: bool | None = None,
    ignore_case: bool | None = None,
    session_id: str | None = None,
    user_id: str | None = None,
    role: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[answers.Matches]:
    """Every raw turn that holds a text or a regular expression, newest first."""
    return _send(answers.Matches, "/v1/grep", dict(locals()), is_read=True)


def list_turns(
    session_id: str, *, cursor: str | None = None, limit: int | None = None
) -> Request[answers.Turns]:
    """The raw record of a session, oldest first."""
    path = f"/v1/sessions/{quote_name(session_id)}/turns"
    return _ask(answers.Turns, "GET", path, cursor=cursor, limit=limit)


def get_session(session_id: str) -> Request[answers.Session]:
    """One session: whose it is, how many turns and tokens."""
    return _ask(answers.Session, "GET", f"/v1/sessions/{quote_name(session_id)}")


def compact(
    session_id: str, *, wait: bool | None = None, force: bool | None = None
) -> Request[answers.Compacted]:
    """Cover older turns of a session with summaries; no raw turn is changed."""
    return _send(
        answers.Compacted,
        f"/v1/sessions/{quote_name(session_id)}/compact",
        {"wait": wait, "force": force},
        timeout_seconds=COMPACTION_TIMEOUT_SECONDS if wait else None,
    )


def get_summary(summary_id: str) -> Request[answers.Summary]:
    """One summary."""
    return _ask(answers.Summary, "GET", f"/v1/summaries/{quote_name(summary_id)}")


def expand(
    summary_id: str, *, depth: int | None = None, cursor: str | None = None
) -> Request[answers.Expanded]:
    """The raw turns behind a summary."""
    path = f"/v1/summaries/{quote_name(summary_id)}/expand"
    return _ask(answers.Expanded, "GET", path, depth=depth, cursor=cursor)


def get_assembly(assembly_id: str) -> Request[dict[str, Any]]:
    """The receipt of a prompt, as it was answered."""
    return _ask(dict[str, Any], "GET", f"/v1/assemblies/{quote_name(assembly_id)}")


def list_memories(
    *,
    namespace: str | None = None,
    session_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    forgotten: bool | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> Request[answers.Memories]:
    """What is remembered, newest first."""
    return _ask(answers.Memories, "GET", "/v1/memories", **locals())


def get_memory(memory_id: str, *, explain: bool | None = None) -> Request[answers.Memory]:
    """One memory, and with `explain` why it was kept."""
    return _ask(answers.Memory, "GET", f"/v1/memories/{quote_name(memory_id)}", explain=explain)


def correct_memory(memory_id: str, text: str, *, reason: str | None = None) -> Request[answers.Memory]:
    """Other words for a memory; the raw turn is not altered."""
    path = f"/v1/memories/{quote_name(memory_id)}"
    return _send(answers.Memory, path, {"text": text, "reason": reason}, method="PATCH")


def forget_memory(memory_id: str, *, reason: str | None = None) -> Request[answers.Forgotten]:
    """Take a memory out of recall for good; the raw record keeps its turns."""
    return _ask(answers.Forgotten, "DELETE", f"/v1/memories/{quote_name(memory_id)}", reason=reason)


def put_document(
    name: str,
    markdown: str,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    policy: Literal["refuse", "demote"] | None = None,
    kind: str | None = None,
) -> Request[answers.Document]:
    """Load authored Markdown: rules for every prompt, lore for recall."""
    return Request(
        method="PUT",
        path=f"/v1/documents/{quote_name(name)}",
        read=lambda data: read_answer(answers.Document, data),
        is_idempotent=True,
        content=markdown.encode("utf-8", "surrogatepass"),
        params=encode_params(user_id=user_id, agent_id=agent_id, policy=policy, kind=kind),
        headers={"Content-Type": "text/markdown"},
    )


def delete_document(
    name: str, *, user_id: str | None = None, agent_id: str | None = None
) -> Request[dict[str, Any]]:
    """Take a document out of every prompt and out of recall."""
    path = f"/v1/documents/{quote_name(name)}"
    return _ask(dict[str, Any], "DELETE", path, user_id=user_id, agent_id=agent_id)


def post_feedback(
    labels: Sequence[Mapping[str, Any]], *, assembly_id: str | None = None
) -> Request[answers.Feedback]:
    """Say which recalled items were useful: `[{"id", "useful"}]`."""
    return _send(answers.Feedback, "/v1/feedback", {"labels": list(labels), "assembly_id": assembly_id})


def post_lifecycle(
    event: Literal["before_reset", "session_end", "before_compaction"],
    session_id: str,
    *,
    reason: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Request[answers.Hint]:
    """A hint that a session ends or is about to be reset."""
    body = {"event": event, "session_id": session_id, "reason": reason, "metadata": metadata}
    return _send(answers.Hint, "/v1/lifecycle", body)


def erase_namespace(namespace: str, *, confirm: str, reason: str | None = None) -> Request[answers.Erased]:
    """Erase a namespace for good, raw turns included; `confirm` is its name again."""
    path = f"/v1/namespaces/{quote_name(namespace)}"
    return _ask(answers.Erased, "DELETE", path, confirm=confirm, reason=reason)


def get_status(*, counts: bool | None = None) -> Request[answers.Status]:
    """What waits and what failed."""
    return _ask(answers.Status, "GET", "/v1/status", counts=counts)


MOST_RPC_MESSAGES = 100  # of one batch, docs/rpc.md


def call_rpc(
    calls: Sequence[tuple[str, Mapping[str, Any]]], *, is_idempotent: bool
) -> Request[list[dict[str, Any]]]:
    """Several JSON-RPC methods in one request, done in order; the first error is raised."""
    body = [
        {"jsonrpc": "2.0", "id": place, "method": method, "params": dict(params)}
        for place, (method, params) in enumerate(calls)
    ]
    return Request(
        method="POST",
        path="/rpc",
        read=lambda data: _read_rpc(data, len(body)),
        is_idempotent=is_idempotent,
        content=encode_json(body),
        headers=JSON,
    )


def _read_rpc(data: Any, count: int) -> list[dict[str, Any]]:
    found = {one.get("id"): one for one in data if isinstance(one, dict)} if isinstance(data, list) else {}
    if isinstance(data, dict) and "error" in data:
        raise read_rpc_error(data["error"])
    results = []
    for place in range(count):
        if place not in found:
            raise UnexpectedAnswer(f"message {place} of {count} was not answered", code="unexpected_answer")
        if "error" in found[place]:
            raise read_rpc_error(found[place]["error"])
        results.append(found[place]["result"])
    return results
