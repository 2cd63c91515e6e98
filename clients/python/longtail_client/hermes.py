"""Longtail as the memory provider of Hermes: recall before a turn, the raw messages after it, three tools in between.

Hermes calls `sync_turn` on a thread of its own, and `prefetch` with a limit; both are short here, and neither raises.
A message's `content` is what was said; its `api_content` carries what was recalled and is never kept.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import uuid4

from agent.memory_provider import MemoryProvider

from longtail_client import calls
from longtail_client.answers import Prompt
from longtail_client.errors import LongtailError
from longtail_client.guard import Guard
from longtail_client.items import in_groups, read_text
from longtail_client.request import Request, clean_text

BUDGET_TOKENS = 2000
DEADLINE_MS = 1500
MOST_QUERY_CHARS = 8000
MOST_CONTENT_CHARS = 220_000  # at four bytes each still less than a turn may have
ROLES = ("user", "assistant", "system", "tool")
TOOLS: list[dict[str, Any]] = [
    {
        "name": "longtail_search",
        "description": "Search everything remembered, across sessions, by meaning and by words.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "k": {"type": "integer", "minimum": 1, "maximum": 50},
            },
            "required": ["query"],
        },
    },
    {
        "name": "longtail_grep",
        "description": "Find an exact text in every raw turn, newest first.",
        "parameters": {
            "type": "object",
            "properties": {"pattern": {"type": "string"}},
            "required": ["pattern"],
        },
    },
    {
        "name": "longtail_expand",
        "description": "The raw turns behind a summary, by the summary's id.",
        "parameters": {
            "type": "object",
            "properties": {"summary_id": {"type": "string"}},
            "required": ["summary_id"],
        },
    },
]


class LongtailMemoryProvider(MemoryProvider):  # type: ignore[misc]  # Hermes has no types
    """What Hermes calls; `memory.provider: longtail` in its config.yaml chooses it."""

    def __init__(self) -> None:
        self._guard: Guard | None = None
        self._session_id = ""
        self._identity: calls.Identity = {}
        self._is_primary = True

    @property
    def name(self) -> str:
        """How the configuration names it."""
        return "longtail"

    def is_available(self) -> bool:
        """Always: while the service is away turns wait in the outbox."""
        return True

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Begin a session. Memory is the user's where the platform names one, else this profile's."""
        self._guard = self._guard or Guard()
        self._session_id = session_id
        # cron jobs and sub-agents talk to themselves: they may recall, but nothing they say is remembered
        context, platform = kwargs.get("agent_context", "primary"), kwargs.get("platform")
        self._is_primary = context == "primary" and platform != "cron"
        user_id = kwargs.get("user_id") or os.environ.get("LONGTAIL_USER_ID")
        profile = kwargs.get("agent_identity") or "default"
        self._identity = {"user_id": user_id} if user_id else {"agent_id": f"hermes:{profile}"}

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """What is remembered about a message, within a budget; nothing where nobody answers."""
        if self._guard is None or not query.strip():
            return ""
        request = calls.assemble(
            session_id or self._session_id,
            query[:MOST_QUERY_CHARS],
            budget_tokens=BUDGET_TOKENS,
            deadline_ms=DEADLINE_MS,
            **self._identity,
        )
        prompt: Prompt | None = self._guard.read(cast("Request[Prompt | None]", request), None)
        return prompt.text if prompt else ""

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Keep a turn: what was asked, what tools answered, what was said."""
        if self._guard is None or not self._is_primary:
            return
        said = [
            ("user", user_content, None),
            *_read_tools(messages or ()),
            ("assistant", assistant_content, None),
        ]
        turns = _to_turns(said)
        if turns:
            session = session_id or self._session_id
            self._guard.write(
                *(calls.post_turns(session, group, **self._identity) for group in in_groups(turns))
            )

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Search, grep and expand."""
        return TOOLS

    def handle_tool_call(self, tool_name: str, args: Mapping[str, Any], **_: Any) -> str:
        """A tool's answer as JSON; an error is an answer, too."""
        if self._guard is None:
            return json.dumps({"error": "no session has begun"})
        try:
            return json.dumps(self._call_tool(self._guard, tool_name, args))
        except LongtailError as error:
            return json.dumps({"error": error.detail, "code": error.code, "remedy": error.remedy})
        except KeyError as error:
            return json.dumps({"error": f"the argument {error} is missing"})

    def on_session_switch(self, new_session_id: str, **_: Any) -> None:
        """Later turns belong to another session."""
        self._session_id = new_session_id

    def on_session_end(self, messages: Sequence[Mapping[str, Any]]) -> None:  # noqa: ARG002  # every turn is kept already
        """Say that the session ended, so that it is compacted soon."""
        self._hint("session_end")

    def on_pre_compress(self, messages: Sequence[Mapping[str, Any]]) -> str:  # noqa: ARG002
        """Say that Hermes is about to shorten its context; recall brings back what it drops."""
        self._hint("before_compaction")
        return ""

    def shutdown(self) -> None:
        """Close the connections; what waits stays in the outbox."""
        if self._guard is not None:
            self._guard.close()

    def get_config_schema(self) -> list[dict[str, Any]]:
        """Nothing has to be set on the machine where `longtail up` runs."""
        return [
            {"key": "api_url", "description": "Address of the service", "env_var": "LONGTAIL_API_URL"},
            {"key": "token", "description": "Its token", "secret": True, "env_var": "LONGTAIL_TOKEN"},
        ]

    def _hint(self, event: Any) -> None:
        if self._guard is not None and self._is_primary and self._session_id:
            self._guard.write(calls.post_lifecycle(event, self._session_id, reason="hermes"))

    def _call_tool(self, guard: Guard, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        if name == "longtail_search":
            hits = guard.client.search(str(args["query"]), k=int(args.get("k") or 10), **self._identity)
            return {"results": [{"text": hit.text, "kind": hit.kind, "id": hit.id} for hit in hits.results]}
        if name == "longtail_grep":
            user_id = self._identity.get("user_id")
            session_id = None if user_id else self._session_id  # never the turns of others
            found = guard.client.grep(str(args["pattern"]), limit=20, user_id=user_id, session_id=session_id)
            return {"matches": [{"text": one.excerpt, "role": one.role} for one in found.matches]}
        if name == "longtail_expand":
            turns = guard.client.expand(str(args["summary_id"])).turns
            return {"turns": [{"role": turn.role, "content": turn.content} for turn in turns]}
        return {"error": f"there is no tool '{name}'"}


def _read_tools(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str | None]]:
    """What tools answered since the newest message of the user."""
    asked = max(
        (place for place, one in enumerate(messages) if one.get("role") == "user"), default=len(messages)
    )
    return [
        ("tool", read_text(one.get("content")), one.get("name") or one.get("tool_name"))
        for one in messages[asked:]
        if one.get("role") == "tool"
    ]


def _to_turns(said: Sequence[tuple[str, Any, str | None]]) -> list[dict[str, Any]]:
    """Turns with ids of their own; long ones in pieces, half characters and NUL replaced, blank ones left out."""
    turn_id = uuid4().hex
    pieces = [
        (role, text[start : start + MOST_CONTENT_CHARS], name)
        for role, content, name in said
        for text in [clean_text(read_text(content))]
        for start in range(0, len(text), MOST_CONTENT_CHARS)
    ]
    return [
        {"id": f"{turn_id}.{number}", "role": role, "content": text, "metadata": {"host_turn": turn_id}}
        | ({"name": name[:512]} if name else {})
        for number, (role, text, name) in enumerate(pieces)
        if text.strip()
    ]
