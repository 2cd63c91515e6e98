"""Sessions, namespaces and documents: look at them, take one away."""

import time
from dataclasses import asdict
from datetime import datetime

from sqlalchemy.exc import IntegrityError

from api import place_schemas as schemas
from api.cursors import read_cursor, write_cursor
from api.documents import choose_binding
from api.gathering import check_namespace
from api.remembering import choose_namespace
from api.runtime import Runtime
from models.errors import Forbidden, InvalidInput, NotFound, TransientError
from models.store import document_lists
from models.store.access import Caller
from models.store.document_lists import AuthoredDocument
from models.store.engine import repeat_if_overtaken, tenant_transaction
from models.store.erasure import erase_namespace, list_erasures
from models.store.places import describe_session, list_namespaces, list_sessions

ERASE_TIMEOUT_MS = 600_000
ERASE_ATTEMPTS = 5


def page_sessions(
    runtime: Runtime,
    caller: Caller,
    *,
    namespace: str | None,
    since: datetime | None,
    until: datetime | None,
    cursor: str | None,
    limit: int,
) -> schemas.SessionPageOut:
    """A page of sessions by name, with counts."""
    wanted = choose_namespace(caller, namespace)
    after = read_cursor(cursor, parts=1)[0] if cursor else ""
    with tenant_transaction(
        runtime.engine, caller.tenant_id, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        found = list_sessions(
            connection,
            tenant_id=caller.tenant_id,
            namespace=wanted,
            since=since,
            until=until,
            after=after,
            count=limit + 1,
        )
    return schemas.SessionPageOut(
        sessions=[schemas.SessionOut(**asdict(one)) for one in found[:limit]],
        next_cursor=write_cursor(found[limit - 1].session_id) if len(found) > limit else None,
    )


def read_session(runtime: Runtime, caller: Caller, session_id: str) -> schemas.SessionOut:
    """One session: its counts, its tokens, and how far its compaction came."""
    with tenant_transaction(
        runtime.engine, caller.tenant_id, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        found = describe_session(connection, tenant_id=caller.tenant_id, session_id=session_id)
    if found is None:
        raise NotFound(f"session '{session_id}' has no turns", remedy="GET /v1/sessions lists them")
    check_namespace(caller, found.namespace)
    return schemas.SessionOut(**asdict(found))


def page_namespaces(
    runtime: Runtime, caller: Caller, *, cursor: str | None, limit: int
) -> schemas.NamespacePageOut:
    """A page of namespaces by name, with counts; a bound token sees its own."""
    after = read_cursor(cursor, parts=1)[0] if cursor else ""
    with tenant_transaction(
        runtime.engine, caller.tenant_id, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        found = list_namespaces(
            connection, tenant_id=caller.tenant_id, only=caller.namespace, after=after, count=limit + 1
        )
    return schemas.NamespacePageOut(
        namespaces=[schemas.NamespaceOut(**asdict(one)) for one in found[:limit]],
        next_cursor=write_cursor(found[limit - 1].namespace) if len(found) > limit else None,
    )


def erase(
    runtime: Runtime, caller: Caller, namespace: str, *, confirm: str | None, reason: str | None
) -> schemas.ErasedOut:
    """Erase a namespace, raw turns included, when its name is given twice; else say what would go."""
    check_namespace(caller, namespace)
    with tenant_transaction(
        runtime.engine, caller.tenant_id, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        found = list_namespaces(connection, tenant_id=caller.tenant_id, only=namespace, count=1)
    if not found:
        raise NotFound(f"no namespace '{namespace}' in this tenant", remedy="GET /v1/namespaces lists them")
    if confirm != namespace:
        held = found[0]
        raise InvalidInput(
            f"erasing '{namespace}' would remove {held.turns} raw turns of {held.sessions} sessions, "
            f"{held.memories} memories and everything made from them, for good",
            code="confirmation_needed",
            field="confirm",
            remedy="repeat the call with ?confirm=<the namespace> if that is what you want; export it first",
        )
    for attempt in range(ERASE_ATTEMPTS):
        try:
            with tenant_transaction(
                runtime.engine, caller.tenant_id, timeout_ms=ERASE_TIMEOUT_MS
            ) as connection:
                counts = erase_namespace(
                    connection, namespace=namespace, token_id=caller.token_id, reason=reason
                )
            return schemas.ErasedOut(namespace=namespace, counts=counts)
        except IntegrityError:  # somebody was writing to the namespace in this moment; nothing was erased
            time.sleep(0.1 * 2**attempt)
    raise TransientError(
        f"namespace '{namespace}' is being written to", remedy="stop its writers, or repeat the call"
    )


def read_erasures(runtime: Runtime, caller: Caller, *, limit: int) -> schemas.ErasuresOut:
    """The audit: what was erased, when, by which token."""
    if caller.namespace is not None:
        raise Forbidden(f"the token opens namespace '{caller.namespace}' only")
    with tenant_transaction(runtime.engine, caller.tenant_id) as connection:
        found = list_erasures(connection, tenant_id=caller.tenant_id, count=limit)
    return schemas.ErasuresOut(
        erasures=[
            schemas.ErasureOut(
                id=str(one.id),
                namespace=one.namespace,
                token_id=str(one.token_id) if one.token_id else None,
                reason=one.reason,
                counts=dict(one.counts),
                erased_at=one.erased_at,
            )
            for one in found
        ]
    )


def page_documents(
    runtime: Runtime,
    caller: Caller,
    *,
    user_id: str | None,
    agent_id: str | None,
    cursor: str | None,
    limit: int,
) -> schemas.DocumentPageOut:
    """A page of documents by binding and name; those of one user or agent, if one is named."""
    is_narrow = caller.namespace is not None or user_id is not None or agent_id is not None
    binding = (
        choose_binding(caller, user_id=user_id or caller.namespace, agent_id=agent_id) if is_narrow else None
    )
    after = read_cursor(cursor, parts=2) if cursor else ("", "")
    with tenant_transaction(
        runtime.engine, caller.tenant_id, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        found = document_lists.list_documents(
            connection,
            tenant_id=caller.tenant_id,
            binding=binding,
            after=(after[0], after[1]),
            count=limit + 1,
        )
    last = found[limit - 1] if len(found) > limit else None
    return schemas.DocumentPageOut(
        documents=[_show(one) for one in found[:limit]],
        next_cursor=write_cursor(last.binding, last.name) if last else None,
    )


def read_document(
    runtime: Runtime, caller: Caller, name: str, *, user_id: str | None, agent_id: str | None
) -> schemas.LoadedDocumentOut:
    """One document, word for word as it was loaded."""
    binding = choose_binding(caller, user_id=user_id, agent_id=agent_id)
    with tenant_transaction(runtime.engine, caller.tenant_id) as connection:
        found = document_lists.find_document(
            connection, tenant_id=caller.tenant_id, binding=binding, name=name
        )
    if found is None:
        raise _no_document(name, binding)
    return _show(found)


def delete_document(
    runtime: Runtime, caller: Caller, name: str, *, user_id: str | None, agent_id: str | None
) -> None:
    """Take a document away: its rules leave every prompt, its lore leaves recall."""
    binding = choose_binding(caller, user_id=user_id, agent_id=agent_id)

    def delete() -> bool:
        with tenant_transaction(runtime.engine, caller.tenant_id) as connection:
            return document_lists.delete_document(
                connection, tenant_id=caller.tenant_id, binding=binding, name=name
            )

    if not repeat_if_overtaken(delete):
        raise _no_document(name, binding)


def _no_document(name: str, binding: str) -> NotFound:
    return NotFound(
        f"no document '{name}' is bound to {binding}",
        remedy="GET /v1/documents lists them; send user_id or agent_id as it was loaded",
    )


def _show(found: AuthoredDocument) -> schemas.LoadedDocumentOut:
    return schemas.LoadedDocumentOut(
        id=str(found.id),
        name=found.name,
        binding=found.binding,
        bytes=found.body_bytes,
        hard_tokens=found.hard_tokens,
        nodes=found.nodes,
        hard=found.hard,
        soft=found.soft,
        lore=found.lore,
        loaded_at=found.loaded_at,
        text=found.body,
    )
