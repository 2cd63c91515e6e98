"""Sessions: insert_session_turn, compact_session, expand_summary, query_raw_session, session_lifecycle_hint,
list_lifecycle_journal."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from api.compaction.schemas import CompactIn
from api.compaction.service import compact
from api.journal.schemas import LifecycleIn
from api.journal.service import read_journal, take_hint
from api.routing.schemas import Name, Text
from api.rpc import inserts as writing
from api.rpc.dispatcher import Call, Method, Params, read_model
from api.rpc.methods.records import Count, Ids, Metadata, Query, search_collections
from api.summaries import service as summaries
from api.summaries.service import read_summary
from api.turns.schemas import Content, TurnOut
from models.domain.records import STABILITY_WEIGHT, Identity, provenance_class
from models.errors import NotFound
from models.store.compaction.summaries import load_summaries

DEFAULT_DEPTH = 3
MOST_DEPTH = 64
EXPANDED_PER_PAGE = 1000
NO_SESSION = "none"  # a hint need not name one


class TurnParams(Params):
    session_id: Name = Field(alias="sessionId")
    id: Name
    text: Content
    metadata: Metadata = Field(default_factory=dict)
    is_heartbeat: bool = Field(default=False, alias="isHeartbeat")


class CompactParams(Params):
    session_id: Name = Field(alias="sessionId")
    force: bool = False


class ExpandParams(Params):
    session_id: Name = Field(alias="sessionId")
    summary_id: Name = Field(alias="summaryId")
    max_depth: Count = Field(default=0, alias="maxDepth")


class RawParams(Params):
    session_id: Name = Field(alias="sessionId")
    text: Query
    k: Count = 0
    exclude_ids: Ids = Field(default_factory=list, alias="excludeIds")


class HintParams(Params):
    hook: Text
    reason: Annotated[Text, Field(max_length=2000)] | None = None
    session_id: Text = Field(default="", alias="sessionId")
    session_file: Text | None = Field(default=None, alias="sessionFile")
    session_key: Text | None = Field(default=None, alias="sessionKey")
    agent_id: Text | None = Field(default=None, alias="agentId")
    workspace_dir: Text | None = Field(default=None, alias="workspaceDir")
    message_count: int | None = Field(default=None, alias="messageCount")
    duration_ms: float | None = Field(default=None, alias="durationMs")
    transcript_archived: bool | None = Field(default=None, alias="transcriptArchived")
    next_session_id: Text | None = Field(default=None, alias="nextSessionId")
    next_session_key: Text | None = Field(default=None, alias="nextSessionKey")


class JournalParams(Params):
    session_id: Text = Field(default="", alias="sessionId")
    limit: Count = 0


def insert_session_turn(call: Call, params: TurnParams) -> Mapping[str, Any]:
    """Append a turn to a session's raw record; what a host says to itself is skipped."""
    if params.is_heartbeat:
        return {"ok": True, "skipped": True}
    turn_id = writing.insert_turn(
        call, session_id=params.session_id, record_id=params.id, text=params.text, metadata=params.metadata
    )
    return {"ok": True} if turn_id is not None else {"ok": True, "skipped": True}


def compact_session(call: Call, params: CompactParams) -> Mapping[str, Any]:
    """Cover a session's older turns with summaries, and wait for it; a session without turns has nothing to cover."""
    nothing = {
        "didCompact": False,
        "clustersFormed": 0,
        "turnsRemoved": 0,
        "summaryMethod": "",
        "meanConfidence": 0.0,
    }
    try:
        outcome = compact(
            call.runtime, call.caller, params.session_id, CompactIn(wait=True, force=params.force)
        )
    except NotFound:
        return nothing
    methods: set[str] = set()
    if outcome.summary_ids:
        with call.runtime.transaction(call.caller) as connection:
            ids = [UUID(summary_id) for summary_id in outcome.summary_ids]
            made = load_summaries(connection, tenant_id=call.caller.tenant_id, ids=ids)
            methods = {summary.method for summary in made}
    return nothing | {
        "didCompact": outcome.did_compact,
        "clustersFormed": outcome.clusters_formed,
        "clustersDeclined": outcome.clusters_declined,
        "turnsRemoved": outcome.turns_covered,
        "summaryMethod": "+".join(sorted(methods)),
        "meanConfidence": outcome.mean_confidence or 0.0,
        "isDone": outcome.is_done,
    }


def expand_summary(call: Call, params: ExpandParams) -> Mapping[str, Any]:
    """The raw turns below a summary of a session, oldest first; nothing where there is no such summary."""
    try:
        summary_id = UUID(params.summary_id)
        summary = read_summary(call.runtime, call.caller, summary_id)
    except (ValueError, NotFound):
        return {"results": []}
    if summary.session_id != params.session_id:
        return {"results": []}
    depth = min(params.max_depth, MOST_DEPTH) if params.max_depth > 0 else DEFAULT_DEPTH
    depth_of = {summary.id: 0}
    results: list[dict[str, Any]] = []
    cursor: int | None = None
    most = call.runtime.settings.rpc_max_records
    while True:
        page = summaries.expand_summary(
            call.runtime, call.caller, summary_id, depth=depth, cursor=cursor, limit=EXPANDED_PER_PAGE
        )
        for below in sorted(page.summaries, key=lambda one: -one.level):  # each after the one above it
            depth_of[below.id] = depth_of.get(below.parent_id or "", 0) + 1
        results += [_show_turn(turn, parent_id=summary.id, depth_of=depth_of) for turn in page.turns]
        if page.next_cursor is None or len(results) >= most:
            break
        cursor = int(page.next_cursor)
    is_cut = page.next_cursor is not None or len(results) > most
    return {"results": results[:most]} | ({"truncated": True} if is_cut else {})


def _show_turn(turn: TurnOut, *, parent_id: str, depth_of: Mapping[str, int]) -> dict[str, Any]:
    """A turn below a summary; its depth counts the edges between them."""
    nearest = turn.summary_id or parent_id
    return {
        "id": turn.host_message_id or turn.id,
        "score": 0.0,
        "text": turn.content,
        "metadata": {
            **turn.metadata,
            "type": "turn",
            "role": turn.role,
            "ts": int(turn.ts.timestamp() * 1000),
            "sessionId": turn.session_id,
            "provenance_class": provenance_class(turn.role),
            "stability_weight": STABILITY_WEIGHT[turn.role],
            "expanded_from_summary": True,
            "parent_summary_id": nearest,
            "expansion_depth": depth_of.get(nearest, 0) + 1,
            "collection": f"session_raw:{turn.session_id}",
            "trust": "untrusted",
        },
    }


def query_raw_session(call: Call, params: RawParams) -> Mapping[str, Any]:
    """The turns of a session nearest to a text, covered by a summary or not."""
    collection = f"session_raw:{params.session_id}"
    return search_collections(call, [collection], params.text, params.k, {collection: params.exclude_ids})


def session_lifecycle_hint(call: Call, params: HintParams) -> Mapping[str, Any]:
    """Write down what the host says about a session's life; it decides nothing."""
    known = params.model_dump(by_alias=True, exclude_none=True)
    details = {key: value for key, value in known.items() if key not in ("hook", "reason", "sessionId")}
    hint = read_model(
        LifecycleIn,
        {
            "event": params.hook,
            "session_id": params.session_id or NO_SESSION,
            "reason": params.reason,
            "metadata": details,
        },
    )
    take_hint(call.runtime, call.caller, hint)
    return {"ok": True, "hook": params.hook, "sessionId": params.session_id, "reason": params.reason or ""}


def list_lifecycle_journal(call: Call, params: JournalParams) -> Mapping[str, Any]:
    """The newest hints, newest first."""
    kept = call.runtime.settings.journal_entries
    journal = read_journal(
        call.runtime,
        call.caller,
        asked=Identity(),
        session_id=params.session_id or None,
        event=None,
        cursor=None,
        limit=min(params.limit, kept) if params.limit > 0 else kept,
    )
    results = [
        {
            "id": entry.id,
            "score": 0.0,
            "text": "",
            "metadata": {
                **entry.metadata,
                "type": "session_lifecycle_hint",
                "internal": True,
                "hook": entry.event,
                "reason": entry.reason or "",
                "sessionId": "" if entry.session_id == NO_SESSION else entry.session_id,
                "ts": int(entry.recorded_at.timestamp() * 1000),
            },
        }
        for entry in journal.entries
    ]
    return {"results": results}


METHODS = (
    Method(name="insert_session_turn", params=TurnParams, scope="write", run=insert_session_turn),
    Method(name="compact_session", params=CompactParams, scope="write", run=compact_session),
    Method(name="expand_summary", params=ExpandParams, scope="read", run=expand_summary),
    Method(name="query_raw_session", params=RawParams, scope="read", run=query_raw_session),
    Method(name="session_lifecycle_hint", params=HintParams, scope="write", run=session_lifecycle_hint),
    Method(name="list_lifecycle_journal", params=JournalParams, scope="read", run=list_lifecycle_journal),
)
