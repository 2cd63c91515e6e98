"""Namespaces: a page of them, erasing one, and what was erased."""

import time
from dataclasses import asdict

from sqlalchemy.exc import IntegrityError

from api.access import check_namespace, check_whole_tenant
from api.cursors import read_cursor, write_cursor
from api.namespaces.schemas import ErasedOut, ErasureOut, ErasuresOut, NamespaceOut, NamespacePageOut
from api.runtime import Runtime
from models.errors import InvalidInput, NotFound, TransientError
from models.store.engine import tenant_transaction
from models.store.erasure import erase_namespace, list_erasures
from models.store.namespaces import list_namespaces
from models.store.tokens import Caller

ERASE_TIMEOUT_MS = 600_000
ERASE_ATTEMPTS = 5


def page_namespaces(runtime: Runtime, caller: Caller, *, cursor: str | None, limit: int) -> NamespacePageOut:
    """A page of namespaces by name, with counts; a bound token sees its own."""
    after = read_cursor(cursor, parts=1)[0] if cursor else ""
    with tenant_transaction(
        runtime.engine, caller, timeout_ms=runtime.settings.statement_timeout_ms
    ) as connection:
        found = list_namespaces(
            connection, tenant_id=caller.tenant_id, only=caller.namespace, after=after, count=limit + 1
        )
    return NamespacePageOut(
        namespaces=[NamespaceOut(**asdict(one)) for one in found[:limit]],
        next_cursor=write_cursor(found[limit - 1].namespace) if len(found) > limit else None,
    )


def erase(
    runtime: Runtime, caller: Caller, namespace: str, *, confirm: str | None, reason: str | None
) -> ErasedOut:
    """Erase a namespace, raw turns included, when its name is given twice; else say what would go."""
    check_namespace(caller, namespace)
    with tenant_transaction(
        runtime.engine, caller, timeout_ms=runtime.settings.statement_timeout_ms
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
            with tenant_transaction(runtime.engine, caller, timeout_ms=ERASE_TIMEOUT_MS) as connection:
                counts = erase_namespace(
                    connection, namespace=namespace, token_id=caller.token_id, reason=reason
                )
            return ErasedOut(namespace=namespace, counts=counts)
        except IntegrityError:  # somebody was writing to the namespace in this moment; nothing was erased
            time.sleep(0.1 * 2**attempt)
    raise TransientError(
        f"namespace '{namespace}' is being written to", remedy="stop its writers, or repeat the call"
    )


def read_erasures(runtime: Runtime, caller: Caller, *, limit: int) -> ErasuresOut:
    """The audit: what was erased, when, by which token."""
    check_whole_tenant(caller)
    with tenant_transaction(runtime.engine, caller) as connection:
        found = list_erasures(connection, tenant_id=caller.tenant_id, count=limit)
    return ErasuresOut(
        erasures=[
            ErasureOut(
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
