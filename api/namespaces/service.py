"""Namespaces: a page of them, erasing one, and what was erased."""

import time
from dataclasses import asdict
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from api.access.decisions import check_namespace, check_whole_tenant, choose_binding
from api.background.erasures import Counts, Job, unknown_erasure
from api.namespaces.schemas import (
    ErasedOut,
    ErasureIn,
    ErasureOut,
    ErasuresOut,
    NamespaceOut,
    NamespacePageOut,
    RemovedOut,
)
from api.routing.cursors import read_cursor, write_cursor
from api.runtime import Runtime
from models.errors import InvalidInput, NotFound, Overtaken, TransientError
from models.store.engine import tenant_transaction
from models.store.tenancy.erasure import Kind, OnStep, list_erasures
from models.store.tenancy.erasure import erase as store_erase
from models.store.tenancy.namespaces import NamespaceCounts, list_namespaces
from models.store.tenancy.tokens import Caller

ERASE_TIMEOUT_MS = 3_600_000
ERASE_ATTEMPTS = 5
LISTED = {  # where somebody finds the names of each kind
    "namespace": "GET /v1/namespaces lists them",
    "session": "GET /v1/sessions lists them",
    "memory": "GET /v1/memories lists them",
    "document": "GET /v1/documents lists them",
}


def page_namespaces(runtime: Runtime, caller: Caller, *, cursor: str | None, limit: int) -> NamespacePageOut:
    """A page of namespaces by name, with counts; a bound token sees its own."""
    after = read_cursor(cursor, parts=1)[0] if cursor else ""
    with runtime.transaction(caller) as connection:
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
    held = _find(runtime, caller, namespace)
    if confirm != namespace:
        raise InvalidInput(
            f"erasing '{namespace}' would remove {held.turns} raw turns of {held.sessions} sessions, "
            f"{held.memories} memories and everything made from them, for good",
            code="confirmation_needed",
            field="confirm",
            remedy="repeat the call with ?confirm=<the namespace> if that is what you want; export it first",
        )
    job = _start(runtime, caller, "namespace", namespace, shown=namespace, reason=reason, is_dry=False)
    return ErasedOut(namespace=namespace, counts=job.wait())


def remove(runtime: Runtime, caller: Caller, body: ErasureIn) -> RemovedOut:
    """Erase one thing when its name is given twice, or count what would go; and wait for it, where that is wanted."""
    name = body.name
    if body.kind == "document":
        binding = choose_binding(caller, user_id=body.user_id, agent_id=body.agent_id)
        name = f"{binding}\n{body.name}"
    elif body.user_id is not None or body.agent_id is not None:
        raise InvalidInput(
            "user_id and agent_id say whose a document is",
            field="user_id",
            remedy=f"name the {body.kind} alone",
        )
    if body.kind == "memory":
        _check_id(body.name)
    elif body.kind == "namespace":
        _find(runtime, caller, body.name)
    is_dry = body.dry_run or body.confirm != body.name
    job = _start(runtime, caller, body.kind, name, shown=body.name, reason=body.reason, is_dry=is_dry)
    if is_dry and not body.dry_run:
        counts = job.wait()
        going = ", ".join(f"{count} {table}" for table, count in counts.items() if count)
        raise InvalidInput(
            f"erasing {body.kind} '{body.name}' would remove {going or 'nothing'}, for good",
            code="confirmation_needed",
            field="confirm",
            remedy="repeat the call with confirm set to the name if that is what you want; export it first",
        )
    if body.wait:
        job.wait()
    return _describe(job)


def read_erasure(runtime: Runtime, caller: Caller, erasure_id: UUID) -> RemovedOut:
    """How far an erasure is, or what went; raises what kept it from being done."""
    job = runtime.erasures.find(erasure_id, tenant_id=caller.tenant_id)
    if job is not None and (caller.namespaces is None or job.token_id == caller.token_id):
        if job.error is not None:
            raise job.error
        return _describe(job)
    with tenant_transaction(runtime.engine, caller) as connection:
        found = list_erasures(connection, tenant_id=caller.tenant_id, count=1, only=erasure_id)
    if not found:
        raise unknown_erasure(erasure_id)
    return RemovedOut(
        id=str(erasure_id),
        kind=found[0].kind,
        name=found[0].target or found[0].namespace,
        dry_run=False,
        is_done=True,
        step=1,
        steps=1,
        counts=dict(found[0].counts),
    )


def _describe(job: Job) -> RemovedOut:
    return RemovedOut(
        id=str(job.id),
        kind=job.kind,
        name=job.name,
        dry_run=job.is_dry,
        is_done=job.counts is not None,
        step=job.step,
        steps=job.steps,
        counts=job.counts or {},
    )


def _check_id(name: str) -> None:
    try:
        UUID(name)
    except ValueError as error:
        raise InvalidInput(
            f"'{name[:64]}' is no memory's id", field="name", remedy=LISTED["memory"]
        ) from error


def _find(runtime: Runtime, caller: Caller, namespace: str) -> NamespaceCounts:
    check_namespace(caller, namespace)
    with runtime.transaction(caller) as connection:
        found = list_namespaces(connection, tenant_id=caller.tenant_id, only=namespace, count=1)
    if not found:
        raise NotFound(f"no namespace '{namespace}' in this tenant", remedy=LISTED["namespace"])
    return found[0]


def _start(
    runtime: Runtime, caller: Caller, kind: Kind, name: str, *, shown: str, reason: str | None, is_dry: bool
) -> Job:
    """The erasure as a job; `shown` is what the thing is called by whoever asks."""

    def do(erasure_id: UUID, on_step: OnStep) -> Counts:
        counts = _erase(
            runtime, caller, kind, name, reason=reason, is_dry=is_dry, erasure_id=erasure_id, on_step=on_step
        )
        if counts is None:
            raise NotFound(f"no {kind} '{shown}' in this tenant", remedy=LISTED[kind])
        if not is_dry and kind in {"namespace", "document"}:
            runtime.rules.drop(caller.tenant_id, [_binding_of(kind, name)])
        return counts

    return runtime.erasures.start(
        do, tenant_id=caller.tenant_id, token_id=caller.token_id, kind=kind, name=shown, is_dry=is_dry
    )


def _binding_of(kind: Kind, name: str) -> str:
    """Whose documents went.

    >>> _binding_of("document", "user:ann\\nrules.md"), _binding_of("namespace", "agent-id:a")
    ('user:ann', 'agent:a')
    """
    if kind == "document":
        return name.partition("\n")[0]
    if name.startswith("authored:"):
        return name.removeprefix("authored:")
    return f"agent:{name.removeprefix('agent-id:')}" if name.startswith("agent-id:") else f"user:{name}"


def _erase(
    runtime: Runtime,
    caller: Caller,
    kind: Kind,
    name: str,
    *,
    reason: str | None,
    is_dry: bool,
    erasure_id: UUID,
    on_step: OnStep,
) -> Counts | None:
    """Erase in one transaction, which a rehearsal rolls back: its counts are those of the deed."""
    for attempt in range(ERASE_ATTEMPTS):
        try:
            with tenant_transaction(runtime.engine, caller, timeout_ms=ERASE_TIMEOUT_MS) as connection:
                point = connection.begin_nested()
                counts = store_erase(
                    connection,
                    kind=kind,
                    name=name,
                    token_id=caller.token_id,
                    reason=reason,
                    erasure_id=erasure_id,
                    on_step=on_step,
                )
                point.rollback() if is_dry else point.commit()
            return counts
        except (IntegrityError, Overtaken):  # somebody was writing to it in this moment; nothing was erased
            time.sleep(0.1 * 2**attempt)
    raise TransientError(f"the {kind} is being written to", remedy="stop its writers, or repeat the call")


def read_erasures(runtime: Runtime, caller: Caller, *, limit: int) -> ErasuresOut:
    """The audit: what was erased, when, by which token."""
    check_whole_tenant(caller)
    with tenant_transaction(runtime.engine, caller) as connection:
        found = list_erasures(connection, tenant_id=caller.tenant_id, count=limit)
    return ErasuresOut(
        erasures=[
            ErasureOut(
                id=str(one.id),
                kind=one.kind,
                target=one.target,
                namespace=one.namespace,
                token_id=str(one.token_id) if one.token_id else None,
                reason=one.reason,
                counts=dict(one.counts),
                erased_at=one.erased_at,
            )
            for one in found
        ]
    )
