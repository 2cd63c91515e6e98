"""Lifecycle hints: advisory, written down, read back."""

from uuid import UUID

from api.access.decisions import choose_namespace
from api.journal.schemas import JournalEntryOut, JournalOut, LifecycleIn, LifecycleOut
from api.runtime import Runtime
from models.domain.records import Identity
from models.messages import COMPACT_DUE
from models.store.compaction.progress import request_compaction
from models.store.conversation.journal import append_entry, list_entries
from models.store.conversation.sessions import find_home
from models.store.tenancy.tokens import Caller


def take_hint(runtime: Runtime, caller: Caller, hint: LifecycleIn) -> LifecycleOut:
    """Write a hint down and, where the session is known, ask for its compaction."""
    with runtime.transaction(caller) as connection:
        home = find_home(connection, session_id=hint.session_id, identity=hint.identity())
        entry_id = append_entry(
            connection,
            tenant_id=caller.tenant_id,
            session_id=hint.session_id,
            namespace=home.namespace,
            event=hint.event,
            reason=hint.reason,
            metadata=hint.metadata,
            kept=runtime.settings.journal_entries,
        )
        if home.is_known:
            request_compaction(connection, tenant_id=caller.tenant_id, session_id=hint.session_id)
    if home.is_known:
        runtime.doorbell.ring(COMPACT_DUE)
    return LifecycleOut(id=str(entry_id), compaction_scheduled=home.is_known)


def read_journal(
    runtime: Runtime,
    caller: Caller,
    *,
    asked: Identity,
    session_id: str | None,
    event: str | None,
    cursor: UUID | None,
    limit: int,
) -> JournalOut:
    """The newest hints of the tenant, or of the namespace asked for or opened by the token."""
    namespace = choose_namespace(caller, asked)
    with runtime.transaction(caller) as connection:
        entries = list_entries(
            connection,
            tenant_id=caller.tenant_id,
            namespace=namespace,
            session_id=session_id,
            event=event,
            before_id=cursor,
            count=limit + 1,
        )
    return JournalOut(
        next_cursor=entries[limit - 1].id if len(entries) > limit else None,
        entries=[
            JournalEntryOut(
                id=str(entry.id),
                event=entry.event,
                session_id=entry.session_id,
                reason=entry.reason,
                metadata=dict(entry.metadata),
                recorded_at=entry.recorded_at,
            )
            for entry in entries[:limit]
        ],
    )
