"""A session of the OpenAI Agents SDK kept by Longtail, and a filter that gives each model call what is remembered.

Raw turns are append-only, so nothing the SDK removes is removed from the record: `pop_item` and `clear_session` write
down, beside the session, what is no longer shown. A popped item leaves recall, too: it was taken back. A cleared
conversation does not: what was said in it stays remembered. While the service is away the session looks empty, and
what is added waits in the outbox.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast
from uuid import uuid4

from agents import SessionSettings, TResponseInputItem
from agents.memory.session import SessionABC
from agents.run import CallModelData, ModelInputData

from longtail_client import calls
from longtail_client.answers import Prompt, Session, Turn, Turns
from longtail_client.client import Client
from longtail_client.guard import Guard
from longtail_client.items import KeptItem, from_turns, in_groups, read_text, to_turns
from longtail_client.request import Request, T

PAGE = 1000
MOST_QUERY_CHARS = 8000
DEADLINE_MS = 1500


class LongtailSession(SessionABC):
    """`Runner.run(agent, "…", session=LongtailSession("chat-1", user_id="ann"))`."""

    def __init__(
        self,
        session_id: str,
        *,
        user_id: str | None = None,
        session_key: str | None = None,
        agent_id: str | None = None,
        client: Client | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._identity: calls.Identity = {
            "user_id": user_id,
            "session_key": session_key,
            "agent_id": agent_id,
        }
        self._guard = Guard(client)
        self._last_stamp = 0

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The conversation, or its newest `limit` items, oldest first."""
        wanted = limit if limit is not None else self.session_settings_limit
        kept = await asyncio.to_thread(self._read_items, wanted)
        return [cast(TResponseInputItem, one.item) for one in kept]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items to the record."""
        turns = [
            turn
            for item in items
            for turn in to_turns(cast(Mapping[str, Any], item), item_id=uuid4().hex, stamp=self._stamp())
        ]
        requests = [calls.post_turns(self.session_id, group, **self._identity) for group in in_groups(turns)]
        await asyncio.to_thread(self._guard.write, *requests)

    async def pop_item(self) -> TResponseInputItem | None:
        """The newest item, which is then neither shown nor recalled; the raw record keeps it."""
        kept = await asyncio.to_thread(self._read_items, 1)
        if not kept:
            return None
        popped = kept[-1]
        hide = _hide(self.session_id, popped.id, {"popped": popped.id})
        forget = ("delete_batch", {"collection": f"session:{self.session_id}", "ids": list(popped.turn_ids)})
        await asyncio.to_thread(self._guard.write, calls.call_rpc([hide, forget], is_idempotent=True))
        return cast(TResponseInputItem, popped.item)

    async def clear_session(self) -> None:
        """Begin anew: what was added so far is no longer shown. It stays in the record and in memory."""
        hide = _hide(self.session_id, "cleared", {"cleared": self._stamp()})
        await asyncio.to_thread(self._guard.write, calls.call_rpc([hide], is_idempotent=True))

    def recall(
        self, *, budget_tokens: int = 2000
    ) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
        """A `RunConfig(call_model_input_filter=…)`: rules go to the instructions, recall beside the newest message."""

        async def add_memory(data: CallModelData[Any]) -> ModelInputData:
            return await asyncio.to_thread(self._add_memory, data.model_data, budget_tokens)

        return add_memory

    def close(self) -> None:
        """Close the connections."""
        self._guard.close()

    @property
    def session_settings_limit(self) -> int | None:
        """How many items a call without a limit gets."""
        return self.session_settings.limit if self.session_settings else None

    def _stamp(self) -> int:
        """A moment that only grows, for the order of adding and clearing."""
        self._last_stamp = max(self._last_stamp + 1, time.time_ns())
        return self._last_stamp

    def _read_items(self, limit: int | None) -> list[KeptItem]:
        if limit is not None and limit <= 0:
            return []
        popped, cleared = self._read_hidden()
        last = self._count_turns() if limit is not None else 0
        window = last if limit is None else min(last, max(4 * limit, 50))
        while True:
            turns = self._read_turns(after=last - window - 1 if limit is not None else -1)
            kept = [one for one in from_turns(turns) if one.id not in popped and one.stamp > cleared]
            if limit is None or len(kept) >= limit or window >= last:
                return kept if limit is None else kept[-limit:]
            window = min(last, window * 4)

    def _read_hidden(self) -> tuple[set[str], int]:
        """Ids of popped items, and the stamp up to which the conversation was cleared."""
        asked = ("list_collection", {"collection": f"session_state:{self.session_id}"})
        found = self._guard.read(calls.call_rpc([asked], is_idempotent=True), [{"results": []}])[0]["results"]
        notes = [record["metadata"] for record in found]
        popped = {str(note["popped"]) for note in notes if "popped" in note}
        return popped, max((int(note["cleared"]) for note in notes if "cleared" in note), default=0)

    def _count_turns(self) -> int:
        found: Session | None = self._guard.read(_optional(calls.get_session(self.session_id)), None)
        return found.turns if found else 0

    def _read_turns(self, *, after: int) -> list[Turn]:
        turns: list[Turn] = []
        cursor: str | None = str(max(after, -1))
        while cursor is not None:
            request = calls.list_turns(self.session_id, cursor=cursor, limit=PAGE)
            page: Turns | None = self._guard.read(_optional(request), None)
            if page is None:  # half a conversation would be worse than none
                return []
            turns += page.turns
            cursor = page.next_cursor
        return turns

    def _add_memory(self, data: ModelInputData, budget_tokens: int) -> ModelInputData:
        items = [cast(dict[str, Any], item) for item in data.input]
        shown = [
            {"role": str(item["role"]), "content": text}
            for item in items
            if item.get("role") and (text := read_text(item.get("content")))
        ]
        newest = next((n for n in reversed(range(len(items))) if items[n].get("role") == "user"), None)
        if newest is None:
            return data
        request = calls.assemble(
            self.session_id,
            read_text(items[newest].get("content"))[:MOST_QUERY_CHARS],
            budget_tokens=budget_tokens,
            messages=shown,
            deadline_ms=DEADLINE_MS,
            **self._identity,
        )
        prompt: Prompt | None = self._guard.read(_optional(request), None)
        if prompt is None:
            return data
        instructions = "\n\n".join(part for part in (data.instructions, prompt.stable.text) if part)
        if prompt.volatile.text:
            items.insert(newest, {"role": "user", "content": prompt.volatile.text})
        return ModelInputData(input=cast(list[TResponseInputItem], items), instructions=instructions or None)


def _hide(session_id: str, name: str, note: Mapping[str, object]) -> tuple[str, dict[str, Any]]:
    params = {
        "collection": f"session_state:{session_id}",
        "id": name,
        "text": "not shown",
        "metadata": dict(note),
    }
    return "insert_text", params


def _optional(request: Request[T]) -> Request[T | None]:
    """The same request, for a caller that can go on without an answer."""
    return cast("Request[T | None]", request)
